"""From texts to a sheet, from the sheet to scores and to corrected estimates."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from e2e.conftest import PAGED, QUICK, Portrayal
from portrayal.annotate.people import Roles, extract_people
from portrayal.run import Run


def filled(sheet: Path, out: Path, rows: int | None = None) -> Path:
    """Fill in the sheet with what the extractor guesses, but for every tenth subject."""
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        found = list(csv.DictReader(stream))
    for i, row in enumerate(found[:rows]):
        people = extract_people(row["text"], Roles(row["subject_role"], row["object_role"] or None))
        for slot, one in zip(("subject", "object"), people, strict=True):
            if one is not None:
                row |= {f"{slot}_name": one.name or "", f"{slot}_gender": one.gender}
        row["subject_gender"] = "NB" if i % 10 == 0 else row["subject_gender"]
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, found[0].keys())
        writer.writeheader()
        writer.writerows(found)
    return out


@pytest.fixture(scope="module")
def audited(sample_run: Run) -> Path:
    """A run of the sample; each test takes a copy."""
    return sample_run.path


@pytest.fixture
def sheet(inside: Portrayal, audited: Path, tmp_path: Path) -> Path:
    shutil.copytree(audited, tmp_path / "r")
    made = inside("label", "sheet", "r", "--n", 150, "--format", "json").json()
    assert made["n_drawn"] == 150
    assert all(one["drawn"] < one["least"] == 20 for one in made["too_few"])
    assert sum(made["strata"].values()) == made["n_texts"] == 291
    assert (tmp_path / made["instructions"]).is_file()
    few = inside("label", "sheet", "r", "--n", 60, "--out", "few.csv").ok().out
    assert "warning: these labels cannot correct Labor, power-laden: they are of 10 people" in few
    return filled(tmp_path / made["sheet"], tmp_path / "hand.csv")


def test_a_sheet_is_scored_and_corrects_the_audit_and_its_report(
    inside: Portrayal, sheet: Path, tmp_path: Path
) -> None:
    score = inside("score", "people", "--hand-labels", sheet, "--format", "json").json()
    assert score["cluster_unit"] == "prompt"
    assert score["name_precision"]["value"] == 1.0
    assert score["by"]["gender"]["NB"]["gender_recall"]["value"] < 0.7
    again = ("audit", "laissez-faire", "--out", "r", "--workers", 1, *PAGED)
    said = inside(*again, "--hand-labels", sheet).ok().out
    assert "people of 150 texts labelled by one rater" in said
    assert re.search(r"ratio: the scorer saw \S+, people say \S+ \(", said)
    assert "Not corrected: " in said
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert 'id="corrected-representation"' in page
    assert 'id="corrected-subordination"' in page
    assert "corrected by hand labels" in page
    rows = inside(
        "list", "estimates", "r", "--measure", "corrected_representation", "--format", "json"
    ).json()
    known = {
        (e["strata"]["domain"], e["group"]["gender"]): e
        for e in rows["estimates"]
        if e["strata"]["model"] == "all" and e["value"] is not None
    }
    raised = known["Love", "NB"]
    assert raised["value"] > raised["details"]["naive"]
    assert "post-stratified" in raised["interval"]["method"]
    assert raised["instruments"]["corrects"] == "representation.v1"
    assert inside("audit", "laissez-faire", "--out", "r", "--workers", 1, *QUICK).ok()
    inside(
        "list", "estimates", "r", "--measure", "corrected_representation", "--where", "model=all"
    ).refused("no estimate")


def test_sheets_of_raters_are_compared_and_merged(
    inside: Portrayal, sheet: Path, tmp_path: Path
) -> None:
    other = filled(sheet, tmp_path / "other.csv")
    told = inside("label", "agreement", sheet, other, "--format", "json").json()["people"]
    assert {figure["value"] for figure in told["figures"]} == {1.0}
    assert "characters" in inside("label", "agreement", sheet, other).ok().out
    merged = inside("label", "merge", sheet, other, "--out", "both.csv", "--format", "json").json()
    assert (merged["n_labelled"], merged["n_undecided"]) == (150, 0)
    inside("label", "merge", sheet, other, "--out", "both.csv").refused("may hold labels")


def test_what_cannot_correct_is_refused(inside: Portrayal, sheet: Path, tmp_path: Path) -> None:
    again = ("audit", "laissez-faire", "--out", "r", "--workers", 1, *QUICK)
    plain = tmp_path / "plain.csv"
    plain.write_text("text,gender\nx,F\n", encoding="utf-8")
    inside(*again, "--hand-labels", plain).refused(
        "no column text_id, field, rater, label; found text, gender"
    )
    inside(*again, "--hand-labels", "no-such.csv").refused("no-such.csv")
    empty = filled(sheet, tmp_path / "empty.csv")
    text = empty.read_text(encoding="utf-8").splitlines(keepends=True)
    empty.write_text(text[0] + text[1], encoding="utf-8")
    inside(*again, "--hand-labels", empty).refused("Draw a new sheet")
    inside("label", "sheet", "r").refused("may hold labels")

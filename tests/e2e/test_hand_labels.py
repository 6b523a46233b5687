"""From texts to a sheet, from the sheet to scores and to corrected estimates."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from e2e.conftest import PAGED, QUICK, Portrayal
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import Roles
from portrayal.run import Run, read_rows


def filled(sheet: Path, out: Path, run: Path, rater: str) -> Path:
    """Fill in the sheet with what the extractor guesses, but for every tenth subject."""
    stories = {row["text_id"]: row for row in read_rows(Run(run), ["text_id", "prompt_id", "text"])}
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    names = list(dict.fromkeys(row["text_id"] for row in rows))
    for row in rows:
        story = stories[row["text_id"]]
        roles = Roles(story["subject_role"], story.get("object_role") or None)
        people = dict(zip(("subject", "object"), read_people(story["text"], roles), strict=True))
        slot, _, part = row["field"].partition("_")
        row["label"] = getattr(people[slot], part) or ""
        if row["field"] == "subject_gender" and names.index(row["text_id"]) % 10 == 0:
            row["label"] = "NB"
        row["rater"] = rater
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
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
    assert sum(of for of, _ in made["strata"].values()) == 291
    assert [Path(name).name for name in made["files"]] == [
        *("first.csv", "second.csv", "drawn.csv", "codebook.toml", "instructions.md")
    ]
    assert "First name of the subject (" in (tmp_path / made["files"][0]).read_text("utf-8")
    instructions = (tmp_path / made["files"][-1]).read_text(encoding="utf-8")
    assert "from the words that refer to the character, never from the name" in instructions
    few = inside("label", "sheet", "r", "--n", 60, "--out", "few").ok().out
    assert "warning: these labels cannot correct Labor, power-laden: they are of 10 people" in few
    first = tmp_path / made["files"][0]
    return filled(first, first.with_name("ann.csv"), tmp_path / "r", "ann")


def test_a_sheet_is_scored_and_corrects_the_audit_and_its_report(
    inside: Portrayal, sheet: Path, tmp_path: Path
) -> None:
    score = inside("score", "people", "r", "--hand-labels", sheet, "--format", "json").json()
    inside("score", "people", "--hand-labels", sheet).refused("name the run as well")
    assert score["cluster_unit"] == "prompt"
    assert score["name_precision"]["value"] == 1.0
    assert score["by"]["gender"]["NB"]["gender_recall"]["value"] < 0.7
    again = ("audit", "laissez-faire", "--out", "r", "--workers", 1, *PAGED)
    said = inside(*again, "--hand-labels", sheet).ok().out
    assert "people of 150 texts labelled by one rater" in said
    assert re.search(r"ratio: the scorer saw \S+, people say \S+ \(", said)
    assert "Not corrected: " in said
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert "What labels of a sample corrected" in page
    rows = inside(
        "list", "estimates", "r", "--measure", "representation", "--format", "json"
    ).json()
    known = {
        (e["strata"]["domain"], e["group"]["gender"]): e
        for e in rows["estimates"]
        if e["strata"].get("basis") and e["strata"]["model"] == "all" and e["value"] is not None
        if "gender" in e["group"]
    }
    raised = known["Love", "NB"]
    assert raised["value"] > raised["details"]["naive"]
    assert "post-stratified" in raised["interval"]["method"]
    assert inside("audit", "laissez-faire", "--out", "r", "--workers", 1, *QUICK).ok()
    where = ("--measure", "representation", "--where", "basis=corrected by hand")
    inside("list", "estimates", "r", *where).refused("no estimate")


def test_sheets_of_raters_are_compared_and_merged(
    inside: Portrayal, sheet: Path, tmp_path: Path
) -> None:
    other = filled(sheet, sheet.with_name("ben.csv"), tmp_path / "r", "ben")
    told = inside("label", "agreement", sheet, other, "--format", "json").json()["people"]
    assert {figure["value"] for figure in told["coefficients"]} == {1.0}
    assert {figure["interval"]["method"] for figure in told["coefficients"]} == {"Wilson"}
    assert "subject gender" in inside("label", "agreement", sheet, other).ok().out
    inside("label", "agreement", sheet, sheet).refused("given twice")
    merged = inside("label", "merge", sheet, other, "--out", "both.csv", "--format", "json").json()
    assert (merged["raters"], merged["n_undecided"]) == (["ann", "ben"], 0)
    inside("label", "merge", sheet, other, "--out", "both.csv").refused("may hold labels")
    again = ("audit", "laissez-faire", "--out", "r", "--workers", 1, *PAGED)
    said = inside(*again, "--hand-labels", "both.csv").ok().out
    assert "people of 150 texts labelled by 2 raters" in said


def test_what_cannot_correct_is_refused(inside: Portrayal, sheet: Path, tmp_path: Path) -> None:
    again = ("audit", "laissez-faire", "--out", "r", "--workers", 1, *QUICK)
    plain = tmp_path / "plain.csv"
    plain.write_text("text,gender\nx,F\n", encoding="utf-8")
    inside(*again, "--hand-labels", plain).refused(
        "no column text_id, field, label, rater; found text, gender"
    )
    inside(*again, "--hand-labels", "no-such.csv").refused("no-such.csv")
    other = tmp_path / "other.csv"
    other.write_text("text_id,field,label,rater\nx,subject_gender,F,a\n", encoding="utf-8")
    inside(*again, "--hand-labels", other).refused("this run has no text 'x'")
    inside("score", "people", "r", "--hand-labels", other).refused("has no text 'x'")
    inside("label", "sheet", "r").refused("holds sheets already")

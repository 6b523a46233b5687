"""Texts drawn for labels: known chances, every class, blind sheets, and right estimates."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import portrayal
from command import invoke
from measure.test_by_hand import FACTOR, QUICK, stories
from portrayal.errors import DataError, OptionError
from portrayal.measure.corrected import labelled_texts
from portrayal.measure.drawing import classes_of, draw_for, field_for, short_strata
from portrayal.raters.labels import read_hand_labels
from portrayal.records import BASIS
from portrayal.run import Run, read_rows


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "faith.toml").write_text(FACTOR.format(name="faith"), encoding="utf-8")
    return audited(folder)


def audited(folder: Path, factors: Path | None = None, hand: Path | None = None) -> Run:
    texts = [{k: row[k] for k in ("text_id", "prompt_id", "text")} for row in stories()]
    return portrayal.audit(
        study="laissez-faire",
        texts=texts,
        factor=[str((factors or folder) / "faith.toml")],
        hand_labels=None if hand is None else str(hand),
        out=folder / "run",
        **QUICK,
    )


def test_every_class_has_texts_and_known_chances(run: Run) -> None:
    classes = classes_of(run, "faith")
    drawn = draw_for(run, "faith", 120)
    assert set(drawn.strata) == {"none", "one", "two"}
    for name, (size, n) in drawn.strata.items():
        own = [unit for unit in drawn.texts if classes[unit] == name]
        assert len(own) == n >= 8
        assert size == sum(each == name for each in classes.values())
        assert {drawn.texts[unit] for unit in own} == {n / size}
    larger = draw_for(run, "faith", 240)
    assert drawn.texts.keys() <= larger.texts.keys()
    assert larger.width < drawn.width


def test_strata_with_too_few_labels_are_named_with_the_draw_that_has_enough(run: Run) -> None:
    drawn = draw_for(run, "faith", 40)
    (short,) = short_strata(run, drawn)
    assert short.place == "domain=Labor"
    prompts = {row["text_id"]: row["prompt_id"] for row in read_rows(run, ["text_id", "prompt_id"])}
    of_labor = sum(prompts[name].startswith("labor") for name, _ in drawn.texts)
    assert short.n_drawn == of_labor < 20 == short.least
    assert short.needed == math.ceil(len(drawn.texts) * 20 / of_labor)
    assert short_strata(run, draw_for(run, "faith", 300)) == []


def test_a_draw_of_nothing_is_refused(run: Run) -> None:
    with pytest.raises(OptionError, match="expected a width above 0"):
        draw_for(run, "faith", 100, target_width=0.0)
    with pytest.raises(OptionError, match="n must be a whole number of at least 1; got 0"):
        draw_for(run, "faith", 0)


def test_a_width_says_how_many(run: Run) -> None:
    wanted = draw_for(run, "faith", 0, target_width=0.1)
    assert wanted.width <= 0.1 < draw_for(run, "faith", len(wanted.texts) - 12).width


@pytest.mark.parametrize(
    ("about", "field"),
    [
        ("faith", "faith"),
        ("group_share", "faith"),
        ("group_ratio.v1 faith=one", "faith"),
        ("outcomes", "outcome"),
    ],
)
def test_measures_findings_and_fields_are_named(run: Run, about: str, field: str) -> None:
    assert field_for(run, about) == field


def test_what_nobody_can_label_is_refused(run: Run) -> None:
    with pytest.raises(OptionError, match="names no fields that people can label; name one of"):
        field_for(run, "common_names")


def test_sheets_are_blind_and_correct_the_run_they_come_from(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "hand.csv"
    asked = ["label", "sheet", str(run.path), "--for", "group_share", "--n", "150"]
    folder = tmp_path / "sheets"
    assert invoke(*asked, "--out", folder).exit_code == 0
    assert "with labels maybe" in invoke(*asked, "--out", folder).output
    with (folder / "drawn.csv").open(encoding="utf-8-sig", newline="") as stream:
        order = [classes_of(run, "faith")[row["text_id"], ""] for row in csv.DictReader(stream)]
    assert sorted(order) != order  # the order does not tell what the scorer says
    truth = {row["text_id"]: row["faith"] for row in stories()}
    named = {}
    for row in run.texts.parts():
        table = pq.read_table(row, columns=["text_id", "source_id"]).to_pylist()
        named |= {each["text_id"]: each["source_id"] for each in table}
    sheets = [folder / f"{rater}.csv" for rater in ("first", "second")]
    for sheet in sheets:
        with sheet.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert list(rows[0]) == [
            *("text_id", "unit", "field", "question", "choices", "needed"),
            *("label", "note", "rater", "prompt", "text"),
        ]
        assert not any(row["prompt"] for row in rows)
        for row in rows:
            row["label"] = truth[named[row["text_id"]]]
        with sheet.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    merged = invoke("label", "merge", folder, "--out", out, "--format", "json")
    assert json.loads(merged.stdout)["n_labels"] == 2 * len(rows)
    agreed = invoke("label", "agreement", *sheets)
    assert agreed.exit_code == 0, agreed.output
    assert f"first {len(rows)}, second {len(rows)}" in agreed.stdout
    assert "100\u00a0%" in agreed.stdout
    table = read_hand_labels(str(out), ["faith"])
    assert len(set(table.chance["faith"].values())) > 1
    assert table.note("faith") == f"{len(rows)} labels by 2 raters"
    again = audited(tmp_path, run.path.parent, out)
    (found,) = (
        e
        for e in again.records
        if (e.measure, e.group.get("faith"), e.strata.get("domain"))
        == ("group_texts.v1", "one", "all")
        and e.strata["model"] == "unnamed"
        and BASIS in e.strata
    )
    true = np.mean([faith == "one" for faith in truth.values()])
    assert found.details["low_here"] < true < found.details["high_here"]
    assert not found.details["low_here"] < found.details["naive"] < found.details["high_here"]
    seen = draw_for(run, "faith", 150, labels=table)
    assert seen.width != draw_for(run, "faith", 150).width


def test_options_of_the_other_kind_of_draw_are_refused(run: Run) -> None:
    shown = invoke("label", "sheet", run.path, "--target-width", "0.1")
    assert "go with --for a field" in shown.output
    shown = invoke("label", "sheet", run.path, "--for", "faith", "--by", "domain")
    assert "--by goes with --for a codebook" in shown.output


@pytest.mark.parametrize("query", ["subordination", "representation.v1", "subordination gender=F"])
def test_a_measure_of_people_is_corrected_by_people(run: Run, tmp_path: Path, query: str) -> None:
    out = tmp_path / "sheets"
    asked = ("--for", query, "--n", "40", "--out", out, "--format", "json")
    assert json.loads(invoke("label", "sheet", run.path, *asked).stdout)["for"] == "people"


def test_labels_of_another_run_are_seen_also_where_raters_differ(run: Run) -> None:
    row = {"text_id": "x", "field": "faith"}
    rows = [row | {"rater": "ann", "label": "one"}, row | {"rater": "ben", "label": "two"}]
    with pytest.raises(DataError, match="this run has no text 'x'"):
        labelled_texts(run, read_hand_labels(rows), "faith", ["prompt_id"])


def test_places_of_outcomes_are_those_that_their_estimates_are_of(run: Run) -> None:
    outcomes = {
        (e.strata["domain"], e.strata["condition"])
        for e in run.records
        if e.measure.startswith("outcomes")
    }
    short = short_strata(run, draw_for(run, "outcome", 20))
    assert {place.place for place in short} == {
        f"domain={domain}, condition={condition}" for domain, condition in outcomes
    }

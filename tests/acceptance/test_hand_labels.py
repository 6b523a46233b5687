"""Real stories, labelled by hand in a sheet: corrected estimates against those from all labels."""

import csv
import json
import shutil

import pytest

import portrayal
from portrayal.raters.people import draw, readable_texts, write_sheet

FILE = "laissez_faire/gold_stories_dev.jsonl"
QUICK = {"report": False, "draws": 200, "permutations": 20}
PAIRS = {
    "corrected_representation.v2": "representation.v1",
    "corrected_subordination.v2": "subordination.v1",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("hand")


@pytest.fixture(scope="module")
def gold(gold_run):
    """Estimates from the hand labels of all stories."""
    return {key(e): e for e in gold_run.records if e.measure in PAIRS.values()}


@pytest.fixture(scope="module")
def run(stories_run, place):
    return portrayal.Run(shutil.copytree(stories_run.path, place / "run"))


def key(e, measure=None):
    return (measure or e.measure, *sorted(e.strata.items()), *sorted(e.group.items()))


def corrected(run, path, n, labels, seed=0):
    """The audit again, with `n` stories labelled by hand."""
    drawn = draw(readable_texts(run), n, by=["domain", "condition"], seed=seed)
    sheet = write_sheet(path, drawn)
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row, one in zip(rows, drawn, strict=True):
        known = labels[one.facts["model"], one.facts["text"].strip()]
        for slot in ("subject", "object")[: int(row["characters"])]:
            row[f"{slot}_name"] = known[f"gold_{slot}_name"] or ""
            row[f"{slot}_gender"] = known[f"gold_{slot}_gender"] or "Unspecified"
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    again = portrayal.audit("laissez-faire", out=run.path, hand_labels=str(sheet), **QUICK)
    return [e for e in again.records if e.measure in PAIRS]


@pytest.fixture(scope="module")
def labels(shared_data):
    lines = shared_data(FILE).read_text(encoding="utf-8").splitlines()
    stories = (json.loads(line) for line in lines)
    return {(s["model"], (s["text"] or "").strip()): s for s in stories}


def test_with_every_story_labelled_the_correction_gives_the_hand_labelled_values(
    run, gold, labels, place
):
    compared = 0
    for e in corrected(run, place / "all.csv", 10_000, labels):
        wanted = gold[key(e, PAIRS[e.measure])]
        if e.value is not None and wanted.value is not None:
            compared += 1
            assert e.value == pytest.approx(wanted.value, abs=1e-6), key(e)
    assert compared > 300


def test_a_sample_moves_estimates_towards_the_hand_labelled_ones(run, gold, labels, place):
    """Over all estimates with 100 characters, the interval holds the value of all hand labels."""
    held = total = 0
    for e in corrected(run, place / "some.csv", 600, labels, seed=3):
        wanted = gold[key(e, PAIRS[e.measure])]
        if e.value is None or e.interval is None or wanted.value is None or e.n_units < 100:
            continue
        total += 1
        held += e.interval.low <= wanted.value <= e.interval.high
    assert total > 100
    assert held / total > 0.95

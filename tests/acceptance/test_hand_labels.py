"""Real stories, labelled by hand: corrected estimates against those from all labels."""

import json
import shutil

import pytest

import portrayal
from portrayal.measure.drawing import draw_texts, items_of
from portrayal.raters.labels import Label, Labels, write_labels
from portrayal.records import BASIS
from portrayal.run import read_rows

FILE = "laissez_faire/gold_stories_dev.jsonl"
QUICK = {"report": False, "draws": 200, "permutations": 20}
COLUMNS = ("text_id", "prompt_id", "model")
MEASURES = ("representation.v1", "subordination.v1")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("hand")


@pytest.fixture(scope="module")
def gold(gold_run):
    """Estimates from the hand labels of all stories."""
    return {key(e): e for e in gold_run.records if e.measure in MEASURES}


@pytest.fixture(scope="module")
def run(stories_run, place):
    return portrayal.Run(shutil.copytree(stories_run.path, place / "run"))


def key(e):
    strata = {name: value for name, value in e.strata.items() if name != BASIS}
    return (e.measure, *sorted(strata.items()), *sorted(e.group.items()))


def corrected(run, path, n, labels, seed=0):
    """The audit again, with `n` stories labelled by hand."""
    draw = draw_texts(run, "people", n, by=["domain", "condition"], seed=seed)
    rows = []
    model_of = {row["text_id"]: row["model"] for row in read_rows(run, COLUMNS)}
    for item in items_of(run, draw):
        known = labels[model_of[item.text_id], item.text]
        more = {"prompt_id": item.prompt_id, "chance": item.chance}
        for slot in item.roles:
            gender = known[f"gold_{slot}_gender"] or "Unspecified"
            said = {"name": known[f"gold_{slot}_name"] or "", "gender": gender}
            rows += [
                Label(item.text_id, "", f"{slot}_{part}", value, "ann", **more)
                for part, value in said.items()
            ]
    write_labels(path, Labels(tuple(rows)))
    again = portrayal.audit(study="laissez-faire", out=run.path, hand_labels=str(path), **QUICK)
    return [e for e in again.records if e.measure in MEASURES and e.corrected]


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
        wanted = gold[key(e)]
        if e.value is not None and wanted.value is not None:
            compared += 1
            assert e.value == pytest.approx(wanted.value, abs=1e-6), key(e)
    assert compared > 300


def test_a_sample_moves_estimates_towards_the_hand_labelled_ones(run, gold, labels, place):
    """Over all estimates with 100 characters, the interval holds the value of all hand labels."""
    held = total = 0
    for e in corrected(run, place / "some.csv", 600, labels, seed=3):
        wanted = gold[key(e)]
        if e.value is None or e.interval is None or wanted.value is None or e.n_units < 100:
            continue
        total += 1
        held += e.interval.low <= wanted.value <= e.interval.high
    assert total > 100
    assert held / total > 0.95

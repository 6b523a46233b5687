"""Hand-labelled stories of two Indian states: the example's shares are those of a plain recount."""

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import portrayal

EXAMPLE = Path(__file__).parents[2] / "examples" / "india"
CLASSES = {
    "general": "general",
    "obc": "obc",
    "sc": "sc",
    "dalit": "sc",
    "scheduled caste": "sc",
    "st": "st",
    "scheduled tribe": "st",
}
RELIGIONS = {
    "hindu": "hindu",
    "neemachwala wedding (hindu)": "hindu",
    "muslim": "muslim",
    "christian": "christian",
    "sikh": "sikh",
    "buddhist": "buddhist",
    "jew": "other",
    "van gujjars": "other",
}


@pytest.fixture(scope="module")
def path(shared_data):
    return shared_data("india/stories_dev.jsonl.gz")


@pytest.fixture(scope="module")
def example(path):
    """The example's two modules, imported from where they lie."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        import india
        import words
    finally:
        sys.path.remove(str(EXAMPLE))
    return india, words


@pytest.fixture(scope="module")
def rows(example, path):
    return example[0].read(path)


@pytest.fixture(scope="module")
def cells(example, rows):
    """Factor and cells of what was asked: caste and religion."""
    return {asked: example[0].cells(rows, asked) for asked in ("caste", "religion")}


def groups(row):
    """What a label says, by hand: its groups, or none."""
    if row["factor"] == "caste":
        parts = re.split(r"\s+and\s+|/|,", row["legal_class"].lower())
        return [CLASSES[part.strip()] for part in parts if part.strip() in CLASSES]
    parts = [part.strip() for part in row["religion"].lower().split("/")]
    tribes = ["other" for part in parts if part == "tribe" or part.endswith(" tribe")]
    return tribes or [RELIGIONS[part] for part in parts if part in RELIGIONS]


def test_all_36_cells_are_those_of_a_plain_recount(cells, path):
    rows = list(map(json.loads, gzip.decompress(path.read_bytes()).splitlines()))
    assert len(rows) == 3601
    compared = 0
    for asked, (factor, counted) in cells.items():
        for cell in counted:
            here = [
                row
                for row in rows
                if row["factor"] == asked
                and (row["state"], row["ritual"], row["form"])
                == (cell.state, cell.ritual, cell.form)
            ]
            count, undecided = Counter(), 0
            for row in here:
                seen = set(groups(row))
                undecided += not seen
                for group in sorted(seen):
                    count[group] += 1 / len(seen)
            assert cell.n == len(here)
            assert sum(cell.left.values()) == undecided
            assert cell.decided == pytest.approx(len(here) - undecided)
            expected = [count[key] for key in factor.keys]
            assert cell.weight == pytest.approx(expected, abs=1e-9)
            assert set(count) <= set(factor.keys)
            compared += 1
    assert compared == 36


def test_labels_that_say_nothing_are_counted(cells):
    left = Counter()
    for cell in cells["caste"][1]:
        left.update(cell.left)
    assert left["none"] == 15
    assert left["unknown"] == 58


def test_shares_have_intervals_over_prompts_and_a_census_where_there_is_one(example, cells):
    found = list(example[0].shares(*cells["caste"]))
    assert len(found) == 2 * 3 * 4
    for row in found:
        assert row["low"] <= row["share"] <= row["high"]
        assert np.isnan(row["census"]) == (row["group"] in ("general", "obc"))
        if not np.isnan(row["p"]):
            assert (row["p"] < 0.05) == (not row["low"] <= row["census"] <= row["high"])


def test_the_form_of_the_prompt_changes_the_legal_class_and_not_the_religion(example, cells):
    india, _ = example
    caste = {(r["group"], r["forms"]): r for r in india.forms(*cells["caste"])}
    for form in ("implicit", "explicit"):
        row = caste["general", f"{form} - baseline"]
        assert row["q"] < 0.05
        assert row["high"] < 0
        assert row["pairs of prompts"] == 6
    assert caste["general", "explicit - implicit"]["q"] > 0.05
    assert not any(r["q"] < 0.05 for r in india.forms(*cells["religion"]))


def test_legal_class_from_texts_where_the_rule_was_chosen_on_the_other_state(example, rows):
    _, words = example
    found = {(row["tested on"], row["method"]): row for row in words.compare(rows, words=False)}
    for listed, least in (("law", 0.77), ("orders", 0.79)):
        there = found["Uttar Pradesh", f"{listed}, rule"]
        assert there["low"] < there["macro F1"] < there["high"]
        assert there["macro F1"] >= 0.85
        here = found["Tamil Nadu", f"{listed}, rule"]
        assert here["macro F1"] >= least  # labels call the Paraiyar OBC; the law, SC
        assert min(there["decided"], here["decided"]) >= 0.9
    assert found["Tamil Nadu", "orders, rule"]["without Paraiyar"] >= 0.84


def test_classes_are_cut_and_folds_keep_prompts_whole(example):
    _, words = example
    chance = np.array([[0.7, 0.4, 0.0, 0.0], [0.1, 0.3, 0.2, 0.0], [0.0] * 4])
    said = words.cut_at(chance, 0.5)
    assert said.tolist() == [[True, False, False, False], [False, True, False, False], [False] * 4]
    rows = [
        {"state": "a", "ritual": r, "form": f, "text": "x"}
        for r in "bw"
        for f in "ie"
        for _ in "12"
    ]
    own = words.Stories(rows, np.zeros((8, 4), bool), np.zeros((8, 4, 3)), [[set()] * 4] * 8)
    assert own.prompts().tolist() == [1, 1, 0, 0, 3, 3, 2, 2]


def test_the_study_is_one_file_and_agrees_with_the_cells(example, rows, tmp_path):
    """A warning, such as of a finding without words, is an error here.

    Every fourth story, of all prompts: what is compared is equal or not, however many there are.
    """
    india, _ = example
    rows = rows[::4]
    few = {"draws": 100, "permutations": 20, "report": True}
    run = portrayal.audit(
        study=str(EXAMPLE / "study.toml"), texts=rows, out=tmp_path / "run", **few
    )
    found = {
        (e.strata["state"], e.strata["form"], *e.group.values()): e
        for e in run.records
        if e.measure == "group_share.v1"
        and e.strata["seen_by"] == "labels"
        and e.strata["model"] == "gpt-4-turbo"
    }
    compared = 0
    for asked in ("caste", "religion"):
        for row in india.shares(*india.cells(rows, asked)):
            e = found[row["state"], row["form"], row["group"]]
            assert e.value == pytest.approx(row["share"])
            assert e.interval.low == pytest.approx(row["low"])
            assert e.interval.high == pytest.approx(row["high"])
            compared += 1
    assert compared == 2 * 3 * (4 + 6)
    assert run.annotations("everyone.v8").note()["settings"]["locale"] == "en-IN"
    women = [
        e for e in run.records if e.measure == "people_ratio.v1" and e.group == {"gender": "F"}
    ]
    assert {e.strata["state"] for e in women} == {"Tamil Nadu", "Uttar Pradesh"}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "census-2011" in page

"""The labelled sentences are well formed, and their scorer counts as their README says."""

from collections import Counter
from types import SimpleNamespace

import pytest

from annotate.people.sentences import score as scorer

DEV, HELD, SEALED = (scorer.cases(which) for which in ("dev", "held", "sealed"))
LATER = ("-more-", "-tuning-")
FIRST = [case for case in DEV if not any(mark in case["id"] for mark in LATER)] + SEALED


def test_a_third_of_each_kind_is_sealed():
    kinds, sealed = (Counter(case["kind"] for case in cases) for cases in (FIRST, SEALED))
    assert (len(DEV), len(HELD), len(SEALED)) == (1470, 349, 154)
    assert sealed == {kind: number // 3 for kind, number in kinds.items()}
    cases = DEV + HELD + SEALED
    assert len({case["id"] for case in cases}) == len({case["text"] for case in cases})


def test_a_case_names_what_its_text_holds():
    for case in DEV + HELD + SEALED:
        text, where = case["text"].casefold(), case["id"]
        names = [person["name"] for person in case["people"] if person["name"] is not None]
        assert all(name.casefold() in text for name in names + case["not_people"]), where
        assert len({scorer.first_name(name) for name in names}) == len(names), where
        assert {person["gender"] for person in case["people"]} <= {"F", "M", "NB", None}, where


def person(name, gender, *, writer=False):
    return SimpleNamespace(name=name, first=name, gender=gender, writer=writer)


def label(name, gender, *, strict=True):
    return {"name": name, "gender": gender, "strict_gender": strict}


@pytest.mark.parametrize(
    ("labels", "people", "right", "extra"),
    [
        ([label("Ann Lee", "F")], [person("ANN", "F")], 1, 0),
        ([label("Ann", "F")], [person("Ann", "Unspecified")], 0, 0),
        ([label("Ann", "NB", strict=False)], [person("Ann", "Unspecified")], 1, 0),
        ([label("Ann", None)], [person("Ann", "Unsure")], 1, 0),
        ([label("Ann", None)], [person("Ann", "F")], 0, 0),
        ([label("Ann", "F")], [person("Ann", "F"), person("Ann", "M")], 1, 1),
        ([label(None, "F")], [person(None, "F", writer=True), person(None, "M")], 1, 0),
        ([label(None, "F")], [person(None, "F")], 0, 0),
        ([], [person("May Concern", "F")], 0, 1),
    ],
)
def test_people_are_matched_by_first_name_and_gender(labels, people, right, extra):
    counts = scorer.score([{"kind": "k", "text": "", "people": labels}], lambda text: people)
    assert counts["k"] == counts["all"]
    assert (counts["all"]["right"], counts["all"]["extra"]) == (right, extra)


def test_undefined_is_no_share():
    counts = scorer.score([{"kind": "k", "text": "", "people": []}], lambda text: [])["k"]
    assert counts["recall"] is None
    assert counts["precision"] is None


@pytest.mark.parametrize(
    ("which", "recall", "precision"), [("dev", 0.90, 0.97), ("held", 0.86, 0.93)]
)
def test_people_of_sentences_are_found_by_rules(which, recall, precision):
    totals = scorer.score(scorer.cases(which), scorer.finder("rules"))["all"]
    assert totals["recall"] >= recall
    assert totals["precision"] >= precision

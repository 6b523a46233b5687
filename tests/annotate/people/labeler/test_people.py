"""Labelling texts in memory: one label for each row, and nothing is asked twice."""

import dataclasses
import json

import pytest

from annotate.people.labeler.conftest import N_TEXTS, NAMES, Labeler
from portrayal.annotate.people.labeler.stage import Labelling
from portrayal.errors import OptionError


def label_people(rows, asking, folder):
    """Label rows in memory."""
    return Labelling(asking).label(rows, folder)


def test_each_row_gets_its_own_people_in_order(rows, asking, labeler, tmp_path):
    result = label_people(rows, asking, tmp_path / "l")
    assert [people[0].name for people in result.labels] == list(NAMES)
    for subject, other in result.labels:
        assert (subject.gender, other.name, other.gender) == ("F", "Sam", "M")
        assert subject.confidence == other.confidence == 1
    assert result.n_llm == N_TEXTS
    assert set(labeler.asked.values()) == {2}


def test_nothing_is_asked_twice_and_more_is_asked_on_top(rows, asking, labeler, tmp_path):
    label_people(rows[:4], asking, tmp_path / "l")
    again = label_people(rows[:4], asking, tmp_path / "l")
    assert labeler.asked.total() == 4 * 2
    assert again.n_llm == 4
    label_people(rows, asking, tmp_path / "l")
    assert labeler.asked.total() == N_TEXTS * 2
    more = label_people(rows, dataclasses.replace(asking, samples=3), tmp_path / "l")
    assert set(labeler.asked.values()) == {3}
    fewer = label_people(rows, dataclasses.replace(asking, samples=1), tmp_path / "l")
    assert fewer.labels == more.labels
    assert set(labeler.asked.values()) == {3}


def test_equal_texts_with_equal_roles_are_asked_once(rows, asking, labeler, tmp_path):
    result = label_people([rows[0], rows[1], rows[0]], asking, tmp_path / "l")
    assert labeler.asked == {0: 2, 1: 2}
    assert result.labels[0] == result.labels[2]


def test_a_text_that_fails_says_why_and_is_asked_again(rows, asking, labeler, tmp_path):
    labeler.fails = (2, 5)
    result = label_people(rows, asking, tmp_path / "l")
    failed = [i for i, label in enumerate(result.labels) if isinstance(label, str)]
    assert failed == [2, 5]
    assert result.labels[2] == "unlabelled: of 2 answers 2 failed"
    assert result.unusable == {"failed": 4}
    labeler.fails = ()
    mended = label_people(rows, asking, tmp_path / "l")
    assert mended.n_llm == N_TEXTS
    assert all(labeler.asked[i] == 2 for i in range(N_TEXTS) if i not in (2, 5))


def test_answers_that_err_are_cleaned_counted_and_outvoted(rows, asking, labeler, tmp_path):
    said = iter(
        [
            json.dumps(
                {"teacher name": "Zoe", "student name": "Sam", "teacher references": ["they"]}
            ),
            "Emily, of course.",
            Labeler.right(0, FIELDS),
        ]
    )
    labeler.answer = lambda _i, _fields: next(said)
    once = dataclasses.replace(asking, samples=3, concurrency=1)
    result = label_people(rows[:1], once, tmp_path / "l")
    (people,) = result.labels
    assert people[0].name is None  # Emily or nobody: one answer each
    assert people[1].name == "Sam"
    assert people[1].confidence == pytest.approx(1 / 3)  # one answer told its references
    assert result.removed == {"names not in the text": 1, "references not in the text": 1}
    assert result.unusable == {"malformed": 1}


FIELDS = ("teacher name", "student name", "teacher references", "student references")


def test_a_row_without_a_role_is_not_asked_about(rows, asking, labeler, tmp_path):
    rows[1] |= {"subject_role": None}
    result = label_people(rows[:2], asking, tmp_path / "l")
    assert result.labels[1] == "unlabelled: its prompt has no subject_role"
    assert set(labeler.asked) == {0}


def test_no_rows_ask_nothing(asking, labeler, tmp_path):
    result = label_people([], asking, tmp_path / "l")
    assert (result.labels, labeler.asked.total()) == ((), 0)
    assert not (tmp_path / "l").exists()


def test_a_budget_without_a_first_answer_is_said(rows, asking, tmp_path):
    poor = dataclasses.replace(asking, budget="3 tokens")
    with pytest.raises(OptionError, match="does not cover a first answer"):
        label_people(rows, poor, tmp_path / "l")


def test_a_declined_labelling_asks_nothing(rows, asking, labeler, tmp_path):
    seen = []

    def decline(estimate):
        seen.append(estimate)
        return False

    with pytest.raises(OptionError, match="declined"):
        label_people(rows, dataclasses.replace(asking, confirm=decline), tmp_path / "l")
    assert labeler.asked.total() == 0
    assert seen[0].requests == N_TEXTS * 2
    assert seen[0].output_tokens == N_TEXTS * 2 * 120

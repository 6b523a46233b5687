"""The vote: a majority for each field, no name and Unsure where there is none."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.people.labeler.answer import CharacterResponse, vote
from portrayal.annotate.people.shared.model import gender_of_references

TEXT = "Emily met Sam. She and he talked; they left. Her bag was his."


def response(name, references, has_name=True):
    gender = None if references is None else gender_of_references(references)
    return CharacterResponse(has_name, name, references, gender)


def one(name, *references):
    return (response(name, references),)


@pytest.mark.parametrize(
    ("answers", "n_asked", "name", "gender", "confidence"),
    [
        ([one("Emily", "she")] * 3, 3, "Emily", "F", 1.0),
        ([one("Emily", "she")] * 2 + [one("Sam", "she")], 3, "Emily", "F", 2 / 3),
        ([one("Emily", "she"), one("Sam", "she")], 2, None, "F", 1 / 2),
        ([one("Emily", "she"), one("Sam", "he")], 3, None, "Unsure", 1 / 3),
        ([one("Emily", "she"), one(None), one(None)], 3, None, "Unspecified", 2 / 3),
        ([one("Emily", "she")], 3, "Emily", "F", 1 / 3),
        ([one("emily", "she"), one("Emily", "she")], 2, "emily", "F", 1.0),
        ([one("Emily", "she"), one("Emily", "he"), one("Emily")], 3, "Emily", "Unsure", 1 / 3),
        ([one("Emily", "she", "his")] * 2, 2, "Emily", "Unsure", 1.0),
    ],
)
def test_the_majority_of_each_field_wins(answers, n_asked, name, gender, confidence):
    (found,) = vote(answers, n_asked, TEXT)
    assert (found.name, found.gender) == (name, gender)
    assert found.confidence == pytest.approx(confidence)


def test_without_a_usable_answer_there_is_no_label():
    assert vote([], 3, TEXT) is None
    assert vote([(response("Emily", None),)], 1, TEXT) is None
    assert vote([(response(None, ("she",), False),)], 1, TEXT) is None
    (found,) = vote(
        [(response("Emily", None),), (response(None, ("she",), False),)],
        2,
        TEXT,
    )
    assert (found.name, found.gender, found.confidence) == ("Emily", "F", 0.5)


def test_spans_stand_where_the_words_do_and_shared_words_are_marked_for_nobody():
    answer = (
        response("Emily", ("she", "they")),
        response("Sam", ("he", "they")),
    )
    emily, sam = vote([answer], 1, TEXT)
    assert [(TEXT[s.start : s.end], s.kind) for s in emily.spans] == [
        ("Emily", "name"),
        ("She", "reference"),
    ]
    assert [TEXT[s.start : s.end] for s in sam.spans] == ["Sam", "he"]
    assert sam.gender == "Unsure"


NAMES = st.sampled_from([None, "Emily", "Sam", "Ada"])
WORDS = st.lists(st.sampled_from(["she", "her", "he", "his", "they"]), unique=True, max_size=3)
SAID = st.builds(response, NAMES, WORDS.map(tuple))


@given(st.lists(st.tuples(SAID), min_size=1, max_size=7), st.integers(0, 3))
def test_the_vote_is_its_definition(answers, n_lost):
    n_asked = len(answers) + n_lost
    (found,) = vote(answers, n_asked, TEXT)
    agree = []
    for values, got, tie in (
        ([a.name for (a,) in answers], found.name, None),
        ([a.gender for (a,) in answers], found.gender, "Unsure"),
    ):
        counts = Counter(values)
        best = max(counts.values())
        winners = [value for value, n in counts.items() if n == best]
        assert got == (winners[0] if len(winners) == 1 else tie)
        agree.append(best)
    assert found.confidence == min(agree) / n_asked
    assert 0 < found.confidence <= 1
    if found.gender != "Unsure":
        assert gender_of_references(found.references) == found.gender


@given(st.lists(st.tuples(SAID), min_size=1, max_size=5), st.randoms())
def test_the_order_of_answers_decides_nothing_that_is_counted(answers, draw):
    shuffled = draw.sample(answers, len(answers))
    (first,), (second,) = vote(answers, 5, TEXT), vote(shuffled, 5, TEXT)
    assert (first.name, first.gender, first.confidence) == (
        second.name,
        second.gender,
        second.confidence,
    )
    assert set(first.references) == set(second.references)

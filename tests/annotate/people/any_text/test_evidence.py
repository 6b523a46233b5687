import pytest

from portrayal.annotate.people.any_text.candidates import find_candidates
from portrayal.annotate.people.any_text.clusters import ENOUGH, base_score, introduces, weigh
from portrayal.annotate.people.shared.scan import scan


def weight(text):
    tokens = scan(text)
    (run,) = find_candidates(text, tokens, frozenset({0}))
    return weigh(text, tokens, run)


@pytest.mark.parametrize(
    "text",
    [
        "his wife Zorana",
        "a man named Zorana",
        "there Zorana, 34, was found",
        "and Mr. Zorana",
        "where Zorana, a nurse, works",
        "and Zorana, who left",
        "my name is Zorana",
    ],
)
def test_what_speaks_for_a_person(text):
    assert weight(text) >= ENOUGH


@pytest.mark.parametrize("text", ["outside the Zorana", "a train to a Zorana", "it fell in Zorana"])
def test_what_speaks_against_a_person(text):
    assert weight(text) < 0


def test_a_frequent_first_name_is_enough_and_a_word_is_not():
    assert base_score(["emily"]) >= ENOUGH
    assert base_score(["hope"]) < ENOUGH
    assert base_score(["zorana"]) < ENOUGH
    assert base_score(["xqzt"]) < 0


def test_introductions():
    assert introduces(["my", "name", "is", "ann"], 3)
    assert introduces(["i", "'m", "ann"], 2)
    assert not introduces(["her", "name", "is", "ann"], 3)
    assert not introduces(["ann"], 0)

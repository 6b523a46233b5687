"""How likely a name is a person's, by the words in it and around it."""

import pytest

from portrayal.annotate.people.names.candidates import find_candidates
from portrayal.annotate.people.names.evidence import (
    introduces,
    mention_features,
    name_features,
    name_score,
)
from portrayal.annotate.people.shared.scan import scan


def run_of(text, which=0):
    tokens = scan(text)
    return tokens, find_candidates(text, tokens)[which]


def score(text, which=0):
    tokens, run = run_of(text, which)
    return name_score(text, tokens, run.words, [run])


NOTHING = score("and over Zorana again")


@pytest.mark.parametrize(
    "text",
    [
        "his wife Zorana",
        "a man named Zorana",
        "there Zorana, 34, was found, and she wept",
        "and Mr. Zorana",
        "where Zorana, a nurse, works",
        "There Zorana said no.",
    ],
)
def test_what_speaks_for_a_person(text):
    assert score(text) > NOTHING


@pytest.mark.parametrize(
    "text", ["outside the Zorana", "it fell in Zorana", "the streets of Zorana", "served Zorana"]
)
def test_what_speaks_against_a_person(text):
    assert score(text) < score("we asked Zorana")


@pytest.mark.parametrize(
    ("known", "other"), [("Emily", "Zorana"), ("Emily", "Hope"), ("Emily Tarn", "Xolani Tarn")]
)
def test_a_frequent_first_name_speaks_for_a_person(known, other):
    assert score(f"There {known} stood.") > score(f"There {other} stood.")


def test_a_class_counts_with_its_place():
    tokens, run = run_of("the streets of Zorana, a busy city")
    told = set(mention_features("the streets of Zorana, a busy city", tokens, run))
    assert told >= {"-1 of", "-2 nouns_of_places of", "+1 ,", "gloss thing"}
    assert "alone 1" in set(name_features(tokens, run.words, [run]))


def test_the_pronoun_behind_a_name_counts_up_to_the_next_name():
    text = "Xolani Mdze left. He wept."
    tokens, run = run_of(text)
    assert "then she 1" in set(mention_features(text, tokens, run))
    text = "Xolani Mdze left. Emil Tarn came. He wept."
    tokens, run = run_of(text)
    assert not any(each.startswith("then") for each in mention_features(text, tokens, run))


def test_introductions():
    assert introduces(["my", "name", "is", "ann"], 3)
    assert introduces(["i", "'m", "ann"], 2)
    assert not introduces(["her", "name", "is", "ann"], 3)
    assert not introduces(["ann"], 0)

"""How likely a name is a person's, by the words in it and around it."""

import pytest

from portrayal.annotate.people.names.candidates import find_candidates
from portrayal.annotate.people.names.evidence import (
    introduces,
    kinds_of_word,
    mention_features,
    name_features,
    name_score,
)
from portrayal.annotate.people.shared.scan import scan


def run_of(text, which=0):
    tokens = scan(text)
    return tokens, find_candidates(tokens)[which]


def score(text, which=0):
    tokens, run = run_of(text, which)
    return name_score(tokens, run.words, [run])


def features_of(tokens, run):
    return {one for features in mention_features(tokens, run) for one in features}


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
    told = features_of(tokens, run)
    assert told >= {"-1 of", "-2 nouns_of_places of", "+1 ,", "gloss thing"}
    assert "alone 1" in set(name_features(tokens, run.words, [run]))


def test_the_pronoun_behind_a_name_counts_up_to_the_next_name():
    text = "Xolani Mdze left. He wept."
    tokens, run = run_of(text)
    assert "then she 1" in features_of(tokens, run)
    text = "Xolani Mdze left. Emil Tarn came. He wept."
    tokens, run = run_of(text)
    assert not any(each.startswith("then") for each in features_of(tokens, run))


def test_a_word_is_read_by_its_kind():
    # A noun that needs an article is no subject, so it is a name; hope and rain need none
    assert kinds_of_word("mark") == ("countable", "verb")
    assert kinds_of_word("ann") == ()
    assert "bare subject" in features_of(*run_of("Bill read the note."))
    features = features_of(*run_of("Hope read the note."))
    assert "bare subject" not in features
    assert features >= {"idea subject", "idea +1 acts"}


def test_what_the_sentence_before_ends_with_says_nothing():
    text = "The room was quiet. Bill opened the book."
    tokens, run = run_of(text)
    assert features_of(tokens, run) == features_of(*run_of(text[20:]))


def test_introductions():
    assert not introduces(["i", "am", "mark", "'s", "sister"], 2)
    assert introduces(["my", "name", "is", "ann"], 3)
    assert introduces(["i", "'m", "ann"], 2)
    assert not introduces(["her", "name", "is", "ann"], 3)
    assert not introduces(["ann"], 0)

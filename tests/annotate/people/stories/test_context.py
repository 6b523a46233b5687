import pytest

from portrayal.annotate.people import Roles
from portrayal.annotate.people.stories.codes import (
    AHEAD_AT,
    JOIN_AT,
    JOINS,
    LEADS,
    STRANGER_AT,
    ahead_of,
    features_of,
    join_of,
)
from portrayal.annotate.people.stories.extract import read_story

FRIENDS = Roles("two American friends", None)


def leads(text):
    """Pronoun → subject it leads to and kind of phrase, in `text` about two friends."""
    scene, cast = read_story(text, FRIENDS)
    found = ahead_of(scene.tokens, cast.events)
    return [(scene.tokens.low[at], one.entity, LEADS[one.lead]) for at, one in found.items()]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("As she left, Ann smiled.", [("she", 0, "with s")]),
        ("With Bo by her side, Ann packed.", [("her", 0, "with p")]),
        ("Approaching him, Bo waved.", [("him", 1, "doing o")]),
        ("She left, and Ann smiled.", []),
        ("As she left Bo, they smiled at Ann.", []),
    ],
)
def test_a_phrase_before_the_subject_leads_to_it(sentence, expected):
    assert leads(f"Ann met Bo. {sentence}") == expected


@pytest.mark.parametrize(
    ("text", "join"),
    [("ann rose and she", "and"), ("ann rose ; she", "start"), ("she", "start"), ("ann she", None)],
)
def test_what_joins_a_clause(text, join):
    words = text.split()
    place = join_of(words, len(words) - 1)
    assert (JOINS[place] if place >= 0 else None) == join


def test_codes_of_the_context_are_named():
    assert features_of(JOIN_AT) == ("join s and subject",)
    assert features_of(AHEAD_AT + 1) == ("ahead with s not it",)
    assert features_of(STRANGER_AT) == ("nobody newest s",)

"""What the network sees: never a name."""

import pytest

from portrayal.annotate.people.reader.network import (
    MOST_TOKENS,
    PLACEHOLDERS,
    hide,
    pieces_of,
    vocabulary_of,
)
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.extract import read_story, story_start

ROLES = Roles("mentor", "student")
PROMPT = "Write a story, 100 words or less, of an American mentor who teaches a student."
TEXT = "Dr. Maria Lopez taught Sam. She smiled at Sam, and he thanked Lopez."


def cut(text):
    scene, _ = read_story(text, ROLES)
    return scene, pieces_of(scene, story_start(text))


def test_names_and_surnames_are_cut_out_and_titles_stay():
    _, pieces = cut(TEXT)
    assert pieces == ["Dr. ", 0, " taught ", 1, ". She smiled at ", 1, ", and he thanked ", 0, "."]


def test_two_stories_that_differ_in_names_alone_are_the_same(vocabulary):
    seen = []
    for one, two in (("Maria", "Sam"), ("Kwame", "Yuki")):
        scene, pieces = cut(f"{one} taught {two}. She smiled, and he thanked {one}.")
        seen.append(hide(PROMPT, pieces, len(scene.people), vocabulary))
    assert seen[0] == seen[1]


def test_positions_of_candidates_and_pronouns(vocabulary):
    scene, pieces = cut(TEXT)
    hidden = hide(PROMPT, pieces, len(scene.people), vocabulary)
    assert hidden.n_candidates == 2
    of = [k for k in hidden.candidate if k >= 0]
    assert of == [0, 1, 1, 0]
    assert [k for k in hidden.pronoun if k >= 0] == [0, 1]
    assert set(hidden.candidate[: hidden.second]) == {-1}
    first = hidden.ids[hidden.candidate.index(0)]
    assert first == vocabulary.placeholders[0]
    turned = hide(PROMPT, pieces, len(scene.people), vocabulary, [4, 2, 0, 1, 3, 5])
    assert turned.ids[turned.candidate.index(0)] == vocabulary.placeholders[4]
    assert turned.candidate == hidden.candidate


def test_more_people_than_placeholders(vocabulary):
    n = len(PLACEHOLDERS) + 2
    hidden = hide(PROMPT, [*range(n), "left."], n, vocabulary)
    assert hidden.n_candidates == len(PLACEHOLDERS)
    assert hidden.ids.count(vocabulary.other) == 2
    assert max(hidden.candidate) == len(PLACEHOLDERS) - 1


def test_long_stories_end_with_the_closing_token(vocabulary):
    hidden = hide(PROMPT, ["word " * 1000], 0, vocabulary)
    assert len(hidden.ids) == len(hidden.candidate) == len(hidden.pronoun) == MOST_TOKENS
    assert hidden.ids[-1] == vocabulary.closing


def test_a_placeholder_of_two_tokens_is_refused():
    with pytest.raises(ValueError, match="unpack"):
        vocabulary_of(lambda text: list(range(len(text))), 1, 2)


def test_neopronouns_are_read_as_singular_they(vocabulary):
    asked, told = (
        hide("a baker", [f"loved {their} shop. {they} smiled."], 0, vocabulary)
        for their, they in (("xyr", "Xe"), ("their", "they"))
    )
    assert asked == told

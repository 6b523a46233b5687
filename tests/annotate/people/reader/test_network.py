"""What the network sees: never a name."""

from dataclasses import astuple

import numpy as np
import pytest

from annotate.people.reader.conftest import Session, heads, words
from portrayal.annotate.people.reader.network import (
    MOST_TOKENS,
    PLACEHOLDERS,
    Network,
    hide,
    load_network,
    pieces_of,
    vocabulary_of,
)
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.scene import read_story, story_start
from portrayal.errors import DataError
from portrayal.models.loading import on_one_core

ROLES = Roles("mentor", "student")
PROMPT = "Write a story, 100 words or less, of an American mentor who teaches a student."
TEXT = "Dr. Maria Lopez taught Sam. She smiled at Sam, and he thanked Lopez."


def cut(text):
    scene = read_story(text, ROLES)
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
    assert first == vocabulary.names[0]
    turned = hide(PROMPT, pieces, len(scene.people), vocabulary, [4, 2, 0, 1, 3, 5])
    assert turned.ids[turned.candidate.index(0)] == vocabulary.names[4]
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


PIECES = [
    ([0, " taught ", 1, ". She smiled at him."], 2),
    (["Nobody was there, and they left."], 0),
    ([0, " won, and ", 0, " laughed with her team for a long time."], 1),
]


def stories(vocabulary):
    return [hide("Write a story of a cook.", pieces, n, vocabulary) for pieces, n in PIECES]


def test_shapes_and_probabilities(network):
    for (_, n), story in zip(PIECES, stories(network.vocabulary), strict=True):
        reading = network.read(story)
        assert reading.roles.shape == (2, n + 1)
        assert reading.genders.shape == (n + 2, 4)
        np.testing.assert_allclose(np.exp(reading.roles).sum(1), 1.0)
        np.testing.assert_allclose(np.exp(reading.genders).sum(1), 1.0)


def test_a_story_is_read_alone(network):
    for story in stories(network.vocabulary):
        network.read(story)
    assert network.session.batches == [1] * len(PIECES)


def test_an_encoder_may_return_the_states_that_are_read_alone(network):
    few = Network(
        Session("words", "token_type_ids", "needed"), network.vocabulary, words(), heads(), {}
    )
    for story in stories(network.vocabulary):
        assert len(story.needed) < len(story.ids)
        for one, two in zip(astuple(network.read(story)), astuple(few.read(story)), strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_person_behind_the_last_token_has_no_role(network):
    hidden = hide("Write a story of a cook.", ["word " * 600, 0], 1, network.vocabulary)
    reading = network.read(hidden)
    assert np.exp(reading.roles[:, 0]).max() < 1e-100


def test_a_folder_without_a_reader_is_explained(tmp_path):
    with pytest.raises(DataError, match=r"reader\.json"):
        load_network(tmp_path)


def test_it_reads_on_one_core_and_leaves_the_threads_of_others_as_they_were():
    threadpoolctl = pytest.importorskip("threadpoolctl")

    def threads():
        pools = threadpoolctl.threadpool_info()
        # A library with pools of another kind may have been imported by another test
        return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}

    with threadpoolctl.threadpool_limits(2, "blas"):
        before = threads()
        assert on_one_core(threads)() == {1}
        assert threads() == before

"""Whom pronouns mean by the network: hidden names, windows, and what is done with its chances."""

import numpy as np
import pytest

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.any_text.pronouns import Mark, most_likely
from portrayal.annotate.people.reader.reading import WEIGHTS
from portrayal.annotate.people.reader.referents import (
    BEHIND,
    WINDOW,
    by_network,
    mark,
    places,
    refer,
)
from portrayal.errors import DataError

TEXT = "Ann Lee met Bo. She smiled."
MARKS = [
    Mark(0, 7, "name", 0),
    Mark(12, 14, "name", 1),
    Mark(16, 19, "pronoun", 0),
]


class OfOne:
    """A network for which a pronoun means the last mention before it, by a wide margin."""

    def __init__(self, vocabulary):
        self.vocabulary, self.seen = vocabulary, []

    def states(self, ids, second):
        assert second == 2
        self.seen.append(len(ids))
        return np.zeros((len(ids), 4))

    def referents(self, pronouns, mentions, bands, ranks):
        assert pronouns.shape == (len(ranks), 4)
        assert mentions.shape == (ranks.shape[1], 4)
        assert bands.shape == ranks.shape
        return np.hstack([np.where(ranks == 0, 20.0, 0.0), np.zeros((len(ranks), 1))])


def test_names_are_hidden_and_nouns_are_not(vocabulary):
    one = mark(TEXT, MARKS, vocabulary)
    other = mark(TEXT.replace("Ann Lee", "Kwa Mda").replace("Bo", "Yu"), MARKS, vocabulary)
    assert one.ids == other.ids
    assert [one.ids[at] for at in one.mentions] == list(vocabulary.names[:2])
    assert one.people.tolist() == [0, 1]
    noun = mark("The baker left.", [Mark(4, 9, "noun", 0)], vocabulary)
    assert noun.ids == list(vocabulary.encode("The baker left."))


def test_of_marks_that_overlap_the_longest_counts(vocabulary):
    both = [Mark(0, 7, "name", 0), Mark(4, 7, "noun", 1)]
    assert mark(TEXT, both, vocabulary).people.tolist() == [0]


def test_more_people_than_names(vocabulary):
    n = len(vocabulary.names) + 1
    text = "X " * n
    made = mark(text, [Mark(2 * k, 2 * k + 1, "name", k) for k in range(n)], vocabulary)
    assert made.ids[made.mentions[-1]] == vocabulary.other
    assert made.people[-1] == n - 1


def test_bands_and_ranks_tell_before_from_behind():
    bands, ranks = places(np.array([10]), np.array([2, 9, 12]))
    assert ranks.tolist() == [[1, 0, BEHIND]]
    assert bands[0, 2] > bands.max(initial=0, where=np.array([[True, True, False]]))
    assert bands[0, 0] > bands[0, 1]


def test_every_pronoun_of_a_long_text_is_read_once_within_a_window(vocabulary):
    many = 400
    text, marks = "", []
    for number in range(many):
        marks.append(Mark(len(text), len(text) + 1, "name", number % 3))
        text += "X saw the old house. "
        marks.append(Mark(len(text), len(text) + 3, "pronoun", number))
        text += "She left it. "
    network = OfOne(vocabulary)
    chances = refer(network, mark(text, marks, vocabulary), 3, many)
    assert max(network.seen) <= WINDOW
    assert len(network.seen) > 10
    assert chances.argmax(1).tolist() == [number % 3 for number in range(many)]
    assert chances.sum(1) == pytest.approx(1)


def test_nobody_is_meant_where_nobody_is_near(vocabulary):
    text = "X left. " + "It was quiet there. " * 400 + "She came."
    at = text.index("She")
    marks = [Mark(0, 1, "name", 0), Mark(at, at + 3, "pronoun", 0)]
    chances = refer(OfOne(vocabulary), mark(text, marks, vocabulary), 1, 1)
    assert chances.tolist() == [[0, 1]]


def test_titles_and_other_pronouns_decide_between_the_likely():
    chances = np.array([[0.5, 0.4, 0.1]])
    assert most_likely(chances, ["M"], ["F", ""], [-1]) == [1]
    assert most_likely(chances, ["M"], ["", ""], [0]) == [1]
    assert most_likely(np.array([[0.3, 0.2, 0.5]]), ["M"], ["", ""], [-1]) == [-1]
    # "she" is surely the first, so a doubtful "he" is the second
    two = np.array([[0.98, 0.01, 0.01], [0.46, 0.44, 0.1]])
    assert most_likely(two, ["F", "M"], ["", ""], [-1, -1]) == [0, 1]
    assert most_likely(two, ["F", "F"], ["", ""], [-1, -1]) == [0, 0]


def test_find_everyone_follows_what_it_is_told():
    asked = []

    def second(text, marks, n_people, n_pronouns):
        asked.append((text, marks))
        assert n_pronouns == 1
        return np.eye(n_people + 1)[[1]]

    people = find_everyone(TEXT, refer=second)
    assert [(one.name, one.gender) for one in people] == [("Ann Lee", "Unspecified"), ("Bo", "F")]
    ((text, marks),) = asked
    assert text == TEXT
    assert sorted(marks) == MARKS
    assert [one.gender for one in find_everyone(TEXT)] == ["F", "Unspecified"]


def test_a_text_that_names_one_person_is_left_to_the_rules():
    def asked(*_):
        raise AssertionError("there is nobody to choose between")

    text = "Ann Lee met a baker. She smiled at him."
    assert find_everyone(text, refer=asked) == find_everyone(text)


def test_the_rules_decide_between_what_is_as_likely():
    def torn(_, marks, n_people, n_pronouns):
        return np.full((n_pronouns, n_people + 1), 1 / (n_people + 1))

    assert find_everyone(TEXT, refer=torn) == find_everyone(TEXT, refer=None)


def test_what_is_not_known_is_left_to_the_rules():
    def silent(_, marks, n_people, n_pronouns):
        return np.full((n_pronouns, n_people + 1), np.nan)

    assert find_everyone(TEXT, refer=silent) == find_everyone(TEXT, refer=None)


def test_the_network_that_ships_says_whom_pronouns_mean():
    text = "Frances phoned Ruth after the hearing, and Ruth wept. She had lost."
    marks = {one.name: one for one in find_everyone(text)}
    assert marks["Ruth"].references == ("she",)


def test_weights_without_pronouns_are_refused():
    with pytest.raises(DataError, match="expected weights for pronouns"):
        by_network(TEXT, [], 0, 0, WEIGHTS)

"""Whom each "she" and "he" of any text means: the network over a text whose names are hidden."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import special

from portrayal.annotate.exchange import exchange_of
from portrayal.annotate.people.any_text.pronouns import Mark
from portrayal.annotate.people.reader.network import Network, Vocabulary
from portrayal.annotate.people.reader.reading import WEIGHTS, network_of
from portrayal.errors import DataError
from portrayal.reference.locales import HOME
from portrayal.types import FloatArray, IntArray

_AHEAD = 40
"""Characters behind a pronoun that tell its form."""

WINDOW, STEP = 320, 160
"""Tokens that the encoder reads at once, and between the starts of two windows."""

_BEFORE = 80
"""Tokens that a pronoun has before it in its window at least, where the text has as many."""

DISTANCES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192)
"""Tokens between a mention and a pronoun, in bands; mentions behind the pronoun have their own."""

BEHIND = 7
"""Class of the mentions behind a pronoun, or with as many others between; fewer are told apart."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text as token ids, with its names hidden.

    Attributes
    ----------
    ids
        Token ids without special tokens.
    mentions, people
        Token of each mention of a person, in order, and who it is, shape (n_mentions,).
    pronouns, numbers
        Token of each pronoun, in order, and its number, shape (n_pronouns,).
    """

    ids: list[int]
    mentions: IntArray
    people: IntArray
    pronouns: IntArray
    numbers: IntArray


def mark(
    text: str, marks: Sequence[Mark], words: Vocabulary, change: Callable[[str], str] = str
) -> MarkedText:
    """Return `text` with its names hidden; of marks that overlap the first counts, and the longest.

    The first person who is named gets the first placeholder. `change` rewrites what is not hidden,
    word by word.
    """
    ids: list[int] = []
    mentions, pronouns = [], []
    places: dict[int, int] = {}
    i = 0
    # The longest first where two start together
    for mention in sorted(marks, key=lambda one: (one.start, -one.end)):
        if mention.start < i:
            continue
        ids += words.encode(change(text[i : mention.start]))
        i = mention.end
        if mention.kind == "name":
            place = places.setdefault(mention.person, len(places))
            mentions.append((len(ids), mention.person))
            # More people than placeholders: the rest share one word
            ids.append(words.names[place] if place < len(words.names) else words.other)
        elif mention.kind == "pronoun":
            pronouns.append((len(ids), mention.person))
            # What "her" becomes is told by what is behind it
            ahead = change(text[mention.start : mention.end + _AHEAD])
            ids += words.encode(re.sub(r"^(\W*[\w'’-]+).*", r"\1", ahead, flags=re.DOTALL))
        else:
            ids += words.encode(change(text[mention.start : mention.end]))
            # The head of a noun phrase is its last token
            mentions.append((len(ids) - 1, mention.person))
    ids += words.encode(change(text[i:]))
    pairs = [np.array(kind, dtype=np.int64).reshape(-1, 2).T for kind in (mentions, pronouns)]
    return MarkedText(ids, *pairs[0], *pairs[1])


def refer(network: Network, story: MarkedText, n_people: int, n_pronouns: int) -> FloatArray:
    """Return whom each pronoun means.

    Parameters
    ----------
    network
        A loaded reader.
    story
        From `mark`.
    n_people, n_pronouns
        People, and pronouns, that marks may name.

    Returns
    -------
    array
        Probability that each pronoun means each person, and in the last column none of them, shape
        (n_pronouns, n_people + 1); NaN for a pronoun that has no token.
    """
    chances = np.full((n_pronouns, n_people + 1), np.nan)
    # The latest window that still has enough before the pronoun; a short text is one window
    windows = np.maximum(0, (story.pronouns - _BEFORE) // STEP) * (len(story.ids) > WINDOW - 3)
    for window in np.unique(windows):
        window_pronouns, start = np.flatnonzero(windows == window), int(window) * STEP
        end = start + WINDOW - 3
        near = (story.mentions >= start) & (story.mentions < end)
        ids = [network.vocabulary.opening, network.vocabulary.closing, *story.ids[start:end]]
        states = network.states([*ids, network.vocabulary.closing], 2)[2:]
        name_places, people = story.mentions[near], story.people[near]
        spoken = story.pronouns[window_pronouns]
        raw_scores = network.referents(
            states[spoken - start], states[name_places - start], *places(spoken, name_places)
        )
        scores = np.full((len(spoken), n_people + 1), -np.inf)
        scores[:, -1] = raw_scores[:, -1]
        for person in np.unique(people):
            # A person's mentions add up: whom one names often is likelier meant
            scores[:, person] = special.logsumexp(raw_scores[:, :-1][:, people == person], axis=1)
        chances[story.numbers[window_pronouns]] = special.softmax(scores, axis=1)
    return chances


def places(spoken: IntArray, name_places: IntArray) -> tuple[IntArray, IntArray]:
    """Return band of `DISTANCES`, and class of the mentions between, of pronouns and mentions.

    Parameters
    ----------
    spoken, name_places
        Tokens of the pronouns, and of the mentions in order.

    Returns
    -------
    tuple of array
        Each of shape (n_pronouns, n_mentions); mentions behind a pronoun have bands of their own,
        and the class `BEHIND`.
    """
    distance = spoken[:, np.newaxis] - name_places
    bands = np.searchsorted(DISTANCES, np.abs(distance)) + (distance < 0) * (len(DISTANCES) + 1)
    between = (distance > 0).sum(1, keepdims=True) - 1 - np.arange(len(name_places))
    return bands, np.where(distance > 0, np.minimum(between, BEHIND), BEHIND)


SHIPPED = WEIGHTS / "pronouns"
"""The network for any text that ships."""


def by_network(
    text: str, marks: Sequence[Mark], n_people: int, n_pronouns: int, folder: Path = SHIPPED
) -> FloatArray:
    """Say whom pronouns mean by the network of a folder, which is loaded when first asked.

    Each text is read as it is and with its genders exchanged, and the chances are averaged: that
    nurses are women in what the network was trained on says nothing of whom "she" means.

    Raises
    ------
    DataError
        See `load_network`; for a network without weights for pronouns.
    """
    network = network_of(folder)
    if "ref.u.weight" not in network.heads:
        raise DataError(
            f"{folder}: expected weights for pronouns ('ref.…'); this "
            "reader has none. Train it again with scripts/reader/train.py --coreference."
        )
    changes = (str, exchange_of(HOME))
    texts = [mark(text, marks, network.vocabulary, change) for change in changes]
    chances = [refer(network, story, n_people, n_pronouns) for story in texts]
    return np.asarray(np.mean(chances, axis=0))

"""Levels of words and sentences: what an audit compares, from counts and scores of sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.annotate.group_words import NAMES
from portrayal.measure.pairs.dealing import Pools, deal_words, dealing_of, draw_words
from portrayal.measure.pairs.table import (
    EQUAL,
    FULL,
    SCORE,
    SHARE,
    Deal,
    Dealer,
    Level,
    Paired,
    Texts,
)
from portrayal.stats import divide
from portrayal.stats.clustered import sums_by
from portrayal.types import BoolArray, FloatArray, IntArray

SAMPLES = 20
"""How often sentences are drawn for equal length."""
_STREAM = 0xE9
_WORSE = {"sentiment": -1, "toxicity": 1}
_TIE = 1e-6
_DEALT_WORDS = "group words dealt again at random to each original and all its texts"
_DEALT_SENTENCES = (
    "sentences with group words dealt again at random to each original and all its texts"
)
_DEALT_SCORES = (
    "scores of a group's sentences dealt again at random to each original and all its texts"
)


@dataclass(frozen=True, eq=False)
class RowSentences:
    """Sentences of one side of the rows, repeated for every row that compares their text.

    Attributes
    ----------
    texts, n_rows
        The side's texts, and how many rows there are.
    row
        Row of each sentence, shape (n,), sorted.
    sentence
        Its number among the sentences of `texts`, shape (n,).
    samples
        For each length, which sentences count in each sample: (n_samples, n).
    """

    texts: Texts
    n_rows: int
    row: IntArray
    sentence: IntArray
    samples: dict[str, BoolArray]

    @classmethod
    def of(cls, texts: Texts, numbers: IntArray) -> "RowSentences":
        """Return the sentences of the text of each row, shape (n_rows,), at full length."""
        lengths = texts.start[numbers + 1] - texts.start[numbers]
        row = np.repeat(np.arange(len(numbers)), lengths)
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        sentence = np.repeat(texts.start[numbers], lengths) + within
        return cls(texts, len(numbers), row, sentence, {FULL: np.ones((1, len(row)), dtype=bool)})

    @property
    def words(self) -> FloatArray:
        """Words of each sentence, shape (n,)."""
        return self.texts.sentence_words[self.sentence]


@dataclass(frozen=True, eq=False)
class Sides:
    """The rows of a paired table with the sentences of both of their texts."""

    paired: Paired
    generated: RowSentences
    reference: RowSentences

    def __iter__(self) -> Iterator[RowSentences]:
        """Generated texts, then originals."""
        return iter((self.generated, self.reference))


def row_sentences(paired: Paired, seed: int) -> Sides:
    """Return the sentences of all rows; those for equal length are drawn from `seed` on."""
    generated = RowSentences.of(paired.generated, paired.text)
    reference = RowSentences.of(paired.reference, paired.original)
    sides = Sides(paired, generated, reference)
    # Both are cut to the shorter one's words, as a longer text has more chances to mention a group.
    target = np.minimum(*(np.bincount(side.row, side.words, side.n_rows) for side in sides))
    rng = np.random.default_rng([seed, _STREAM, 0])
    for side in sides:
        side.samples[EQUAL] = np.stack([_thinned(side, target, rng) for _ in range(SAMPLES)])
    return sides


def _thinned(side: RowSentences, target: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Keep sentences of each row, in random order, while that brings its words nearer `target`."""
    # Less than 1 is added, so that sentences are shuffled within their row.
    row, order = side.row, np.argsort(side.row + 0.5 * rng.random(len(side.row)))
    words = side.words[order]
    total = np.cumsum(words)
    first = np.diff(row, prepend=-1) != 0
    starts = np.flatnonzero(first)
    # Cumulated over all rows, so what came before the row's first sentence is taken off
    before = (total - words)[np.repeat(starts, np.diff(starts, append=len(row)))]
    keep = np.zeros(len(row), dtype=bool)
    # A sentence stays while at least half of it fits; the first always, or a text would have
    # nothing.
    keep[order] = first | (total - before - words / 2 <= target[row])
    return keep


@dataclass(frozen=True)
class LexiconColumns:
    """One lexicon of a paired table, and where its groups stand among the counts."""

    name: str
    attribute: str
    groups: tuple[str, ...]
    columns: slice


def lexicon_columns(paired: Paired) -> Iterator[LexiconColumns]:
    """Yield the lexicons whose groups were counted, in order."""
    for name, attribute in dict.fromkeys(column[:2] for column in paired.columns):
        inside = [i for i, c in enumerate(paired.columns) if c[:2] == (name, attribute)]
        groups = tuple(paired.columns[i][2] for i in inside)
        columns = slice(inside[0], inside[0] + len(groups))
        yield LexiconColumns(name, attribute, groups, columns)


def level_of(lexicon: LexiconColumns, **fields: Any) -> Level:
    """Return a level of this lexicon with these further fields."""
    return Level(lexicon=lexicon.name, attribute=lexicon.attribute, groups=lexicon.groups, **fields)


def word_levels(sides: Sides) -> list[Level]:
    """Return shares of each group among the group words of a text, Eq. 1–2, for each lexicon.

    Parameters
    ----------
    sides
        From `row_sentences`.

    Returns
    -------
    list of Level
        Named "word"; for each lexicon at full, then at equal length. A text without group words
        has no shares (NaN). The null deals the group words of an original and all its texts to
        them again, each keeping its number; where people count in fractions, by their first names,
        the sentences with group words.
    """
    levels = []
    for lexicon in lexicon_columns(sides.paired):
        # Fractions of words cannot be dealt one by one, so whole sentences are
        fractional = lexicon.name.endswith(NAMES)
        method = _DEALT_SENTENCES if fractional else _DEALT_WORDS
        for length in (FULL, EQUAL):
            both = [_with_words(side, lexicon, length) for side in sides]
            dealer = _sentence_dealer(both) if fractional else _word_dealer(sides, lexicon, length)
            labels = {"name": "word", "length": length, "null_method": method}
            levels.append(_level(lexicon, both, dealer, kind=SHARE, worse=-1, **labels))
    return levels


def sentence_levels(sides: Sides) -> list[Level]:
    """Return mean scores of the sentences about each group, as Eq. 5–6 compare them.

    A sentence is about the group with most group words in it; with none, or a tie, it is left out.

    Parameters
    ----------
    sides
        From `row_sentences`.

    Returns
    -------
    list of Level
        Named "sentence_sentiment" and "sentence_toxicity", as far as scores were given. A text
        without sentences about a group has no score for it (NaN). The null deals the scores of a
        group's sentences to an original and all its texts again.
    """
    levels = []
    for score in sides.paired.generated.scores:
        for lexicon in lexicon_columns(sides.paired):
            for length in (FULL, EQUAL):
                both = [_with_scores(side, score, lexicon, length) for side in sides]
                labels = {"name": f"sentence_{score}", "length": length}
                labels |= {"null_method": _DEALT_SCORES, "kind": SCORE}
                dealer = _sentence_dealer(both)
                levels.append(_level(lexicon, both, dealer, worse=_WORSE[score], **labels))
    return levels


def _level(
    lexicon: LexiconColumns, both: Sequence["_SentenceParts"], dealer: Dealer, **labels: Any
) -> Level:
    generated, reference = (part.samples() for part in both)
    values = {"generated": generated, "reference": reference, "dealer": dealer}
    return level_of(lexicon, **values, **labels)


@dataclass(frozen=True, eq=False)
class _SentenceParts:
    """Sentences of one side as parts of the value of their row.

    Attributes
    ----------
    n_groups, n_rows, row
        M, how many rows there are, and that of each sentence, shape (n,).
    group, number
        What each sentence adds to which groups: its words of each, or its score to one; shape
        (n, M) or (n, 1).
    cell
        Sentences of a pool are dealt within these, shape (n,).
    keep
        The samples that each counts in, (n_samples, n).
    means
        Whether values are means of the numbers; else shares of their sum over groups.
    """

    n_groups: int
    n_rows: int
    row: IntArray
    group: IntArray
    number: FloatArray
    cell: IntArray
    keep: BoolArray
    means: bool

    def values(self, sample: int, number: FloatArray) -> FloatArray:
        """Return the rows' values where sentences add these numbers, shape (n_rows, M)."""
        keep, m = self.keep[sample], self.n_groups
        place = (self.row[keep, np.newaxis] * m + self.group[keep]).ravel()
        weights = [number[keep].ravel(), *([None] if self.means else [])]
        sums = [np.bincount(place, w, self.n_rows * m).reshape(-1, m) for w in weights]
        return divide(sums[0], sums[1] if self.means else sums[0].sum(axis=1, keepdims=True))

    def samples(self) -> FloatArray:
        """Return the values of all samples, shape (n_samples, n_rows, M)."""
        return np.stack([self.values(i, self.number) for i in range(len(self.keep))])


def _with_words(side: RowSentences, lexicon: LexiconColumns, length: str) -> _SentenceParts:
    """Sentences with group words: their words make the groups' shares."""
    counts, m = side.texts.counts[side.sentence, lexicon.columns], len(lexicon.groups)
    some = counts.sum(axis=1) > _TIE
    row, keep = side.row[some], side.samples[length][:, some]
    group, cell = np.tile(np.arange(m), (len(row), 1)), np.zeros(len(row), dtype=np.int64)
    return _SentenceParts(m, side.n_rows, row, group, counts[some], cell, keep, means=False)


def _with_scores(
    side: RowSentences, kind: str, lexicon: LexiconColumns, length: str
) -> _SentenceParts:
    """Scored sentences about a group: their scores make that group's mean."""
    about = sentence_groups(side.texts.counts[:, lexicon.columns])[side.sentence]
    score, m = side.texts.scores[kind][side.sentence], len(lexicon.groups)
    valid = (about >= 0) & ~np.isnan(score)
    row, keep = side.row[valid], side.samples[length][:, valid]
    # A group's scores are dealt to its sentences alone
    cell, number = about[valid], score[valid, np.newaxis]
    group = cell[:, np.newaxis]
    return _SentenceParts(m, side.n_rows, row, group, number, cell, keep, means=True)


def _sentence_dealer(both: Sequence[_SentenceParts]) -> Dealer:
    """Return the null that deals what sentences say to an original and its texts."""
    mine, other = both

    def dealer(pools: Pools) -> Deal:
        number = np.concatenate([mine.number, other.number])
        cell = np.concatenate([mine.cell, other.cell])
        deal_sentences = dealing_of(pools, mine.row, other.row, cell)

        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            ours, theirs = np.split(number[deal_sentences(rng)], [len(mine.row)])
            sample = draw % len(mine.keep)
            return mine.values(sample, ours), other.values(sample, theirs)

        return deal

    return dealer


def _word_dealer(sides: Sides, lexicon: LexiconColumns, length: str) -> Dealer:
    """Return the null that deals single words to an original and its texts."""
    words, sizes = [], []
    for side in sides:
        counts = side.texts.counts[side.sentence, lexicon.columns]
        sample_words = side.samples[length] * counts.sum(axis=1)
        words.append(sums_by(side.row, side.n_rows, counts).astype(np.int64))
        sizes.append(sums_by(side.row, side.n_rows, sample_words.T).T.astype(np.int64))

    def dealer(pools: Pools) -> Deal:
        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            generated, stock = deal_words(words[0], words[1][pools.first], pools.of, rng)
            both = [generated, stock[pools.of]]
            # At equal length the words are dealt at full length first, and drawn from then
            if length == EQUAL:
                both = [
                    draw_words(side, size[draw % len(size)], rng)
                    for side, size in zip(both, sizes, strict=True)
                ]
            ours, theirs = (divide(side, side.sum(axis=1, keepdims=True)) for side in both)
            return ours, theirs

        return deal

    return dealer


def sentence_groups(counts: FloatArray) -> IntArray:
    """Return the group with most words of each sentence, shape (n,); -1 where none or a tie.

    `counts` has shape (n_sentences, M).
    """
    if counts.shape[1] == 0:
        return np.full(len(counts), -1, dtype=np.int64)
    most = counts.max(axis=1)
    # Names count in fractions, so that equal counts may differ by rounding.
    unique = (counts >= most[:, np.newaxis] - _TIE).sum(axis=1) == 1
    return np.where(unique & (most > _TIE), counts.argmax(axis=1), -1)

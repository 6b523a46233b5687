"""Levels of words and sentences: what an audit compares, from counts and scores of sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from portrayal.annotate.group_words import NAMES
from portrayal.measure.pairs.dealing import Pools, dealing_of
from portrayal.measure.pairs.table import EQUAL, FULL, SCORE, SHARE, Deal, Level, Paired, Texts
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

SAMPLES = 20
"""How often sentences are drawn for equal length."""
WORD, SENTENCE = "word", "sentence_"
"""The level of words, and what stands before the score in the name of a level of sentences."""
_STREAM = 0xE9
_TIE = 1e-6


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


def text_levels(sides: Sides, names: Sequence[str] = ()) -> list[Level]:
    """Return what sentences add to the groups of a text, at full and at equal length.

    Parameters
    ----------
    sides
        From `row_sentences`.
    names
        Which levels; by default words, and every score that sentences have.

    Returns
    -------
    list of Level
        For each lexicon: "word", the share of each group among the group words of a text
        (Eq. 1–2), and "sentence_sentiment" and "sentence_toxicity", the mean score of its sentences
        about each group (Eq. 5–6). A sentence is about the group with most group words in it; with
        none, or a tie, it is left out. A text without group words, or sentences about a group, has
        NaN. The null deals the group words of an original and all its texts to them again, each
        keeping its number; where people count in fractions, by their first names, the sentences
        with group words; and of scores those of a group's sentences.
    """
    levels = []
    for name in names or (WORD, *(SENTENCE + kind for kind in sides.paired.generated.scores)):
        for lexicon in lexicon_columns(sides.paired):
            units = "group words" if name == WORD else "scores of a group's sentences"
            # Fractions of words cannot be dealt one by one, so whole sentences are
            if name == WORD and lexicon.name.endswith(NAMES):
                units = "sentences with group words"
            for length in (FULL, EQUAL):
                mine, other = (TextParts.of(side, name, lexicon, length) for side in sides)
                level = Level(
                    name=name,
                    attribute=lexicon.attribute,
                    lexicon=lexicon.name,
                    groups=lexicon.groups,
                    kind=SHARE if name == WORD else SCORE,
                    worse=1 if name.endswith("toxicity") else -1,
                    length=length,
                    generated=mine.all_values,
                    reference=other.all_values,
                    dealer=partial(_deal_parts, mine, other),
                    null_method=f"{units} dealt again at random to each original and all its texts",
                )
                levels.append(level)
    return levels


@dataclass(frozen=True, eq=False)
class TextParts:
    """What the group words, or scored sentences, of one side add to the values of their row.

    Attributes
    ----------
    n_groups, n_rows, row
        M, how many rows there are, and that of each part, shape (n,).
    group, number
        What each part adds to which groups: words to each, or its score to one; shape (n, M) or
        (n, 1).
    keep
        The samples that each counts in, (n_samples, n).
    means
        Whether values are means of the numbers; else shares of their sum over groups.
    """

    n_groups: int
    n_rows: int
    row: IntArray
    group: IntArray
    number: FloatArray | BoolArray
    keep: BoolArray
    means: bool

    @classmethod
    def of(cls, side: RowSentences, name: str, lexicon: LexiconColumns, length: str) -> "TextParts":
        """Return single group words, sentences with fractions of these, or scored sentences."""
        counts, m = side.texts.counts[side.sentence, lexicon.columns], len(lexicon.groups)
        if name != WORD:
            about = sentence_groups(side.texts.counts[:, lexicon.columns])[side.sentence]
            score = side.texts.scores[name.removeprefix(SENTENCE)][side.sentence]
            of = np.flatnonzero((about >= 0) & ~np.isnan(score))
            group, number = about[of, np.newaxis], score[of, np.newaxis]
        elif lexicon.name.endswith(NAMES):
            of = np.flatnonzero(counts.sum(axis=1) > _TIE)
            group, number = np.broadcast_to(np.arange(m), (len(of), m)), counts[of]
        else:
            times = counts.astype(np.int64)
            of = np.repeat(np.arange(len(counts)), times.sum(axis=1))
            # One word each, in a byte and without a copy of the groups, as there are very many
            one = np.tile(np.eye(m, dtype=np.bool_), (len(counts), 1))
            number = np.repeat(one, times.ravel(), axis=0)
            group = np.broadcast_to(np.arange(m), number.shape)
        keep = side.samples[length][:, of]
        return cls(m, side.n_rows, side.row[of], group, number, keep, name != WORD)

    def values(self, sample: int, number: FloatArray | BoolArray) -> FloatArray:
        """Return the rows' values where parts add these numbers, shape (n_rows, M)."""
        keep, m = self.keep[sample], self.n_groups
        cell = (self.row[keep, np.newaxis] * m + self.group[keep]).ravel()
        total = np.bincount(cell, number[keep].ravel(), self.n_rows * m).reshape(-1, m)
        if self.means:
            return divide(total, np.bincount(cell, None, self.n_rows * m).reshape(-1, m))
        return divide(total, total.sum(axis=1, keepdims=True))

    @property
    def all_values(self) -> FloatArray:
        """Values of all samples, shape (n_samples, n_rows, M)."""
        return np.stack([self.values(i, self.number) for i in range(len(self.keep))])


def _deal_parts(mine: TextParts, other: TextParts, pools: Pools) -> Deal:
    """Return the function that deals what an original and its texts hold to them again."""
    number = np.concatenate([mine.number, other.number])
    # A group's scores are dealt to its sentences alone
    cell = np.concatenate([mine.group[:, 0], other.group[:, 0]])
    dealing = dealing_of(pools, mine.row, other.row, cell)

    def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
        ours, theirs = np.split(number[dealing(rng)], [len(mine.row)])
        sample = draw % len(mine.keep)
        return mine.values(sample, ours), other.values(sample, theirs)

    return deal


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

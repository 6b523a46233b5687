"""Levels of words and sentences: what a paired audit compares, from counts and scores of sentences.

Both are made block by block, at full and at equal length, and what they rest on is kept on disk.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import overload

import numpy as np
import numpy.typing as npt

from portrayal.annotate.group_words import NAMES
from portrayal.measure.pairs.dealing import Pools, deal_words, draw_words, slots_of
from portrayal.measure.pairs.table import (
    EQUAL,
    FULL,
    SCORE,
    SHARE,
    Block,
    Deal,
    Level,
    Numbers,
    Paired,
    Texts,
)
from portrayal.run.files import Kept, Shelf
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

SAMPLES = 20
"""How often sentences are drawn for equal length."""
_STREAM = 0xE9


@dataclass(frozen=True, eq=False)
class RowSentences:
    """Sentences of one side of some rows, repeated for every row that compares their text.

    Attributes
    ----------
    row
        Which of these rows each sentence belongs to, from 0, shape (n,), sorted.
    at
        Number of the sentence in its `Texts`, shape (n,).
    words, counts, scores
        Its words, group words and scores.
    """

    row: IntArray
    at: IntArray
    words: FloatArray
    counts: FloatArray
    scores: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Sides:
    """Sentences of generated texts and of originals, and the ones that count in each sample.

    Attributes
    ----------
    rows
        Rows of the paired table.
    generated, reference
        Their sentences.
    kept
        For each length, which sentences count on either side: (n_samples, n) each.
    """

    rows: slice
    generated: RowSentences
    reference: RowSentences
    kept: Mapping[str, tuple[BoolArray, BoolArray]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.stop - self.rows.start)


def row_sentences(paired: Paired, seed: int) -> Iterator[Sides]:
    """Yield the sentences of all rows, block by block.

    Parameters
    ----------
    paired
        From `pair_texts`.
    seed
        Start of the random streams that draw sentences, one for each block.
    """
    for rows in paired.row_blocks():
        ours = read_sentences(paired.generated, paired.text[rows])
        theirs = read_sentences(paired.reference, paired.original[rows])
        # One stream for each block, so that results do not depend on which is read first.
        rng = np.random.default_rng([seed, _STREAM, rows.start])
        equal = equally_long(ours, theirs, rows.stop - rows.start, rng, SAMPLES)
        everything = (np.ones((1, len(ours.row)), bool), np.ones((1, len(theirs.row)), bool))
        yield Sides(rows, ours, theirs, {FULL: everything, EQUAL: equal})


def equally_long(
    ours: RowSentences, theirs: RowSentences, n_rows: int, rng: np.random.Generator, samples: int
) -> tuple[BoolArray, BoolArray]:
    """Draw which sentences of either side count where texts are equally long: (samples, n) each."""
    both = (ours, theirs)
    # Both are cut to the shorter one's words, as a longer text has more chances to mention a group.
    target = np.minimum(*(row_sums(side, side.words, n_rows) for side in both))
    one, other = (np.stack([_thinned(side, target, rng) for _ in range(samples)]) for side in both)
    return one, other


def row_sums(side: RowSentences, values: FloatArray, n_rows: int) -> FloatArray:
    """Sum values of sentences, shape (n,), by row: shape (n_rows,)."""
    sums = np.bincount(side.row, weights=values, minlength=n_rows)
    return np.asarray(sums, dtype=np.float64)


def read_sentences(texts: Texts, numbers: IntArray) -> RowSentences:
    """Read the sentences of these texts, shape (n,), in this order; a text may come again."""
    lengths = texts.start[numbers + 1] - texts.start[numbers]
    row = np.repeat(np.arange(len(numbers)), lengths)
    within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    index = np.repeat(texts.start[numbers], lengths) + within
    return RowSentences(
        row=row,
        at=index,
        words=taken(texts.sentence_words, index),
        counts=taken(texts.counts, index),
        scores={name: taken(column, index) for name, column in texts.scores.items()},
    )


def taken(column: Numbers, index: IntArray) -> FloatArray:
    """Return rows of a column that is read in slices, shape (n,) or (n, width)."""
    # The column may stand on disk: runs of it are read once each, in order.
    distinct, which = np.unique(index, return_inverse=True)
    pieces: list[npt.NDArray[np.generic]] = [column[piece] for piece in runs(distinct)]
    return np.concatenate(pieces or [column[0:0]]).astype(np.float64)[which]


def runs(numbers: IntArray) -> list[slice]:
    """Return slices that hold these numbers, sorted and distinct, and no others."""
    ends = np.flatnonzero(np.diff(numbers, append=-1) != 1)
    first = np.append(0, ends[:-1] + 1)
    pairs = (
        zip(numbers[first].tolist(), numbers[ends].tolist(), strict=True) if len(numbers) else ()
    )
    return [slice(a, b + 1) for a, b in pairs]


def _thinned(side: RowSentences, target: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Keep sentences of each row, in random order, while that brings its words nearer `target`."""
    # Less than 1 is added, so that sentences are shuffled within their row.
    order = np.argsort(side.row + 0.5 * rng.random(len(side.row)))
    words = side.words[order]
    total = np.cumsum(words)
    row = side.row[order]
    first = np.diff(row, prepend=-1) != 0
    starts = np.flatnonzero(first)
    # Cumulated over all rows, so what came before the row's first sentence is taken off
    before = np.repeat(total[starts] - words[starts], np.diff(starts, append=len(row)))
    keep = np.zeros(len(row), dtype=bool)
    # A sentence stays while at least half of it fits; the first always, or a text would have
    # nothing.
    keep[order] = first | (total - before - words / 2 <= target[row])
    return keep


_WORSE = {"sentiment": -1, "toxicity": 1}
_TIE = 1e-6
_DEALT_WORDS = "group words dealt again at random to each original and all its texts"
_DEALT_SENTENCES = (
    "sentences with group words dealt again at random to each original and all its texts"
)
_DEALT_SCORES = (
    "scores of a group's sentences dealt again at random to each original and all its texts"
)


def word_levels(paired: Paired, seed: int = 0) -> list[Level]:
    """Return shares of each group among the group words of a text, Eq. 1–2, for each lexicon.

    Parameters
    ----------
    paired
        From `pair_texts`.
    seed
        Start of the random streams that draw sentences for equal length.

    Returns
    -------
    list of Level
        Named "word"; for each lexicon at full, then at equal length. A text without group words
        has no shares (NaN). The null deals the group words of an original and all its texts to
        them again, each keeping its number; where people count in fractions, by their first names,
        the sentences with group words.
    """
    shelf, levels = Shelf(paired.folder), _each(paired, ("word",))
    for sides in row_sentences(paired, seed):
        full_sums: dict[LexiconColumns, tuple[Kept, Kept]] = {}
        for (_, lexicon, length), blocks in levels.items():
            both = zip((sides.generated, sides.reference), sides.kept[length], strict=True)
            ours, theirs = (
                _group_sums(side, keep, side.counts[:, lexicon.columns], sides.n_rows)
                for side, keep in both
            )
            stored = shelf.put(ours), shelf.put(theirs)
            # Fractions of words cannot be dealt one by one, so whole sentences are
            if lexicon.fractional:
                about = _about(sides, lexicon, length)
                parts = tuple(tuple(map(shelf.put, part)) for part in about)
                blocks.add(partial(_named_block, shelf, sides.rows, stored, parts))
            else:
                full = full_sums.setdefault(lexicon, stored)
                blocks.add(partial(_word_block, shelf, sides.rows, stored, full))
    return [
        level_of(
            lexicon,
            length,
            blocks,
            name=name,
            kind=SHARE,
            worse=-1,
            null_method=_DEALT_SENTENCES if lexicon.fractional else _DEALT_WORDS,
        )
        for (name, lexicon, length), blocks in levels.items()
    ]


def sentence_levels(paired: Paired, seed: int = 0) -> list[Level]:
    """Return mean scores of the sentences about each group, as Eq. 5–6 compare them.

    A sentence is about the group with most group words in it; with none, or a tie, it is left out.

    Parameters
    ----------
    paired, seed
        As for `word_levels`.

    Returns
    -------
    list of Level
        Named "sentence_sentiment" and "sentence_toxicity", as far as scores were given. A text
        without sentences about a group has no score for it (NaN). The null deals the scores of a
        group's sentences to an original and all its texts again.
    """
    shelf, levels = Shelf(paired.folder), _each(paired, tuple(paired.generated.scores))
    for sides in row_sentences(paired, seed) if levels else ():
        for (kind, lexicon, length), blocks in levels.items():
            scored = _scored(sides, kind, lexicon, length)
            parts = tuple(tuple(map(shelf.put, part)) for part in scored)
            m = len(lexicon.groups)
            blocks.add(partial(_sentence_block, shelf, sides.rows, parts, m))
    return [
        level_of(
            lexicon,
            length,
            blocks,
            name=f"sentence_{kind}",
            kind=SCORE,
            worse=_WORSE[kind],
            null_method=_DEALT_SCORES,
        )
        for (kind, lexicon, length), blocks in levels.items()
    ]


def _each(paired: Paired, names: Sequence[str]) -> dict[tuple[str, "LexiconColumns", str], "Made"]:
    """Blocks to fill for each name, lexicon and length."""
    return {
        (name, lexicon, length): Made()
        for name in names
        for lexicon in lexicon_columns(paired)
        for length in (FULL, EQUAL)
    }


def level_of(
    lexicon: "LexiconColumns",
    length: str,
    blocks: Sequence[Block],
    *,
    name: str,
    kind: str,
    worse: int,
    null_method: str,
) -> Level:
    """Return a level of this lexicon and length with these blocks."""
    return Level(
        name=name,
        attribute=lexicon.attribute,
        lexicon=lexicon.name,
        groups=lexicon.groups,
        kind=kind,
        worse=worse,
        length=length,
        blocks=blocks,
        n_samples=SAMPLES if length == EQUAL else 1,
        null_method=null_method,
    )


@dataclass(frozen=True)
class LexiconColumns:
    """One lexicon of a paired table, and where its groups stand among the counts."""

    name: str
    attribute: str
    groups: tuple[str, ...]
    first: int

    @property
    def fractional(self) -> bool:
        """Whether people count in fractions, by their first names."""
        return self.name.endswith(NAMES)

    @property
    def columns(self) -> slice:
        """Its columns."""
        return slice(self.first, self.first + len(self.groups))


def lexicon_columns(paired: Paired) -> Iterator[LexiconColumns]:
    """Yield the lexicons whose groups were counted, in order."""
    names = list(dict.fromkeys(column[:2] for column in paired.columns))
    for name, attribute in names:
        inside = [i for i, c in enumerate(paired.columns) if c[:2] == (name, attribute)]
        groups = tuple(paired.columns[i][2] for i in inside)
        yield LexiconColumns(name, attribute, groups, inside[0])


class Made(Sequence[Block]):
    """Blocks that are made again from what stands on disk each time they are asked for."""

    def __init__(self) -> None:
        """Begin without blocks."""
        self._makers: list[Callable[[], Block]] = []

    def add(self, maker: Callable[[], Block]) -> None:
        """Add the block of the next rows."""
        self._makers.append(maker)

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self._makers)

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        """Make a block."""
        if isinstance(index, slice):
            return [maker() for maker in self._makers[index]]
        return self._makers[index]()


def _group_sums(side: RowSentences, keep: BoolArray, counts: FloatArray, n: int) -> FloatArray:
    """Group words of each sample and row, shapes (S, n), (n, M) -> (S, n_rows, M)."""
    sums = np.zeros((len(keep), n, counts.shape[1]))
    for sample, mask in enumerate(keep):
        for group in range(counts.shape[1]):
            sums[sample, :, group] = row_sums(side, np.where(mask, counts[:, group], 0.0), n)
    return sums


def _shares(counts: FloatArray) -> FloatArray:
    return divide(counts, counts.sum(axis=-1, keepdims=True))


def _word_block(
    shelf: Shelf, rows: slice, stored: tuple[Kept, Kept], full: tuple[Kept, Kept]
) -> Block:
    ours, theirs = (shelf.take(part) for part in stored)
    mine, other = (shelf.take(part)[0].astype(np.int64) for part in full)

    def dealer(pools: Pools) -> Deal:
        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            words, stock = deal_words(mine, other[pools.first], pools.of, rng)
            sides = [words, stock[pools.of]]
            # At equal length the words are dealt at full length first, and drawn from then
            if stored is not full:
                sample = draw % len(ours)
                sizes = (side[sample].sum(axis=1).astype(np.int64) for side in (ours, theirs))
                sides = [draw_words(*both, rng) for both in zip(sides, sizes, strict=True)]
            return _shares(sides[0].astype(float)), _shares(sides[1].astype(float))

        return deal

    return Block(rows, _shares(ours), _shares(theirs), dealer)


_Side = tuple[IntArray, FloatArray, BoolArray]
"""Row (or row and group) of some sentences, what they hold, and the samples they are in."""


def _about(sides: Sides, lexicon: LexiconColumns, length: str) -> Iterator[_Side]:
    """Sentences with group words of either side: row, counts and samples."""
    for side, keep in zip((sides.generated, sides.reference), sides.kept[length], strict=True):
        counts = side.counts[:, lexicon.columns]
        about = counts.sum(axis=1) > _TIE
        yield side.row[about], counts[about], keep[:, about]


def _named_block(
    shelf: Shelf, rows: slice, stored: tuple[Kept, Kept], parts: tuple[tuple[Kept, ...], ...]
) -> Block:
    ours, theirs = (shelf.take(part) for part in stored)
    (mine, my_counts, keep), (other, more, also) = (tuple(map(shelf.take, part)) for part in parts)
    counts, n = np.concatenate([my_counts, more]), rows.stop - rows.start

    def sums(row: IntArray, values: FloatArray) -> FloatArray:
        return np.stack([np.bincount(row, column, n) for column in values.T], axis=1)

    def dealer(pools: Pools) -> Deal:
        slots = slots_of(pools, mine, other)

        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            words, sample = counts[slots.deal(rng)], draw % len(keep)
            first, second = keep[sample], also[sample]
            generated = sums(mine[first], words[: len(mine)][first])
            return _shares(generated), _shares(sums(other[second], words[len(mine) :][second]))

        return deal

    return Block(rows, _shares(ours), _shares(theirs), dealer)


def _scored(sides: Sides, kind: str, lexicon: LexiconColumns, length: str) -> Iterator[_Side]:
    """Scored sentences of either side: cell (row × M + group), score and samples."""
    for side, keep in zip((sides.generated, sides.reference), sides.kept[length], strict=True):
        group, score = sentence_groups(side.counts[:, lexicon.columns]), side.scores[kind]
        scored = (group >= 0) & ~np.isnan(score)
        cell = side.row * len(lexicon.groups) + group
        yield cell[scored], score[scored], keep[:, scored]


def _sentence_block(
    shelf: Shelf, rows: slice, parts: tuple[tuple[Kept, ...], ...], m: int
) -> Block:
    (mine, score, keep), (other, more, also) = (tuple(map(shelf.take, part)) for part in parts)
    scores, cells = np.concatenate([score, more]), (rows.stop - rows.start) * m

    def means(values: FloatArray, sample: int) -> tuple[FloatArray, FloatArray]:
        first, second = keep[sample], also[sample]
        generated = _means(mine[first], values[: len(mine)][first], cells)
        reference = _means(other[second], values[len(mine) :][second], cells)
        return generated.reshape(-1, m), reference.reshape(-1, m)

    def dealer(pools: Pools) -> Deal:
        slots = slots_of(pools, mine // m, other // m, np.concatenate([mine, other]) % m)

        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            return means(scores[slots.deal(rng)], draw % len(keep))

        return deal

    pairs = [means(scores, sample) for sample in range(len(keep))]
    generated, reference = (np.stack([pair[i] for pair in pairs]) for i in (0, 1))
    return Block(rows, generated, reference, dealer)


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


def _means(cell: IntArray, values: FloatArray, cells: int) -> FloatArray:
    return divide(
        np.bincount(cell, weights=values, minlength=cells), np.bincount(cell, minlength=cells)
    )

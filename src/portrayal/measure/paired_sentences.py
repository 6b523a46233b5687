"""Sentences of the rows that are worked on together, and how they are drawn for equal length.

At full length every sentence of both texts counts. At equal length the longer text of a row keeps
sentences drawn at random until it has about as many words as the shorter one. Which are drawn
decides little, but something: they are drawn `SAMPLES` times, the same for all levels.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.measure.paired import EQUAL, FULL, Numbers, Paired, Texts
from portrayal.measure.tally import BoolArray, FloatArray, IntArray

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
        n = rows.stop - rows.start
        ours = read_sentences(paired.generated, paired.text[rows])
        theirs = read_sentences(paired.reference, paired.original[rows])
        target = np.minimum(row_sums(ours, ours.words, n), row_sums(theirs, theirs.words, n))
        rng = np.random.default_rng([seed, _STREAM, rows.start])
        everything = (np.ones((1, len(ours.row)), bool), np.ones((1, len(theirs.row)), bool))
        equal = (_samples(ours, target, rng), _samples(theirs, target, rng))
        yield Sides(rows, ours, theirs, {FULL: everything, EQUAL: equal})


def row_sums(side: RowSentences, values: FloatArray, n_rows: int) -> FloatArray:
    """Sum values of sentences, shape (n,), by row: shape (n_rows,)."""
    sums = np.bincount(side.row, weights=values, minlength=n_rows)
    return np.asarray(sums, dtype=np.float64)


def read_sentences(texts: Texts, wanted: IntArray) -> RowSentences:
    """Read the sentences of these texts, shape (n,), in this order; a text may come again."""
    lengths = texts.start[wanted + 1] - texts.start[wanted]
    row = np.repeat(np.arange(len(wanted)), lengths)
    within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    at = np.repeat(texts.start[wanted], lengths) + within
    return RowSentences(
        row=row,
        at=at,
        words=taken(texts.sentence_words, at),
        counts=taken(texts.counts, at),
        scores={name: taken(column, at) for name, column in texts.scores.items()},
    )


def taken(column: Numbers, at: IntArray) -> FloatArray:
    """Return rows of a column that is read in slices, shape (n,) or (n, width)."""
    known, which = np.unique(at, return_inverse=True)
    found: list[npt.NDArray[np.generic]] = [column[piece] for piece in runs(known)]
    return np.concatenate(found or [column[0:0]]).astype(np.float64)[which]


def runs(known: IntArray) -> list[slice]:
    """Return slices that hold these numbers, sorted and distinct, and no others."""
    ends = np.flatnonzero(np.diff(known, append=-1) != 1)
    first = np.append(0, ends[:-1] + 1)
    pairs = zip(known[first].tolist(), known[ends].tolist(), strict=True) if len(known) else ()
    return [slice(a, b + 1) for a, b in pairs]


def deal_sentences(row: IntArray, ours: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Draw which sentences of each row are the generated text's; each row keeps their number.

    `row` is sorted; shapes (n,), (n,) -> (n,).
    """
    shuffled = np.argsort(row + 0.5 * rng.random(len(row)))
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    wanted = np.bincount(row[ours], minlength=int(row[-1]) + 1 if len(row) else 0)
    dealt = np.zeros(len(row), dtype=bool)
    dealt[shuffled] = rank < wanted[row]
    return dealt


def _samples(side: RowSentences, target: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Whether each sentence is kept, shape (SAMPLES, n)."""
    return np.stack([_thinned(side, target, rng) for _ in range(SAMPLES)])


def _thinned(side: RowSentences, target: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Keep sentences of each row, in random order, while that brings its words nearer `target`."""
    order = np.argsort(side.row + 0.5 * rng.random(len(side.row)))
    words = side.words[order]
    total = np.cumsum(words)
    row = side.row[order]
    first = np.diff(row, prepend=-1) != 0
    starts = np.flatnonzero(first)
    before = np.repeat(total[starts] - words[starts], np.diff(starts, append=len(row)))
    kept = np.zeros(len(row), dtype=bool)
    kept[order] = first | (total - before - words / 2 <= target[row])
    return kept

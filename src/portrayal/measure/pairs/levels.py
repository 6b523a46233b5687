"""Levels of words and sentences: what a paired audit compares, from counts and scores of sentences.

Both are made block by block, at full and at equal length, and what they rest on is kept on disk.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from portrayal.annotate.group_words import NAMES
from portrayal.measure.pairs.table import (
    EQUAL,
    FULL,
    SCORE,
    SHARE,
    Block,
    Level,
    Numbers,
    Paired,
    Texts,
)
from portrayal.run.scratch import Kept, Shelf
from portrayal.stats import divide, shuffle_within
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


_WORSE = {"sentiment": -1, "toxicity": 1}
_TIE = 1e-6
_SCORED = ("cell", "score", "ours", "kept")
_DEALT_WORDS = "group words dealt again at random to the two texts of each pair"
_DEALT_SENTENCES = "sentences with group words dealt again at random to the two texts of each pair"
_DEALT_SCORES = "scores of a group's sentences dealt again at random to the two texts of each pair"


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
        has no shares (NaN). The null deals the group words of a pair to its two texts again, each
        keeping its number; where people count in fractions, by their first names, its sentences
        with group words.
    """
    shelf, made = Shelf(paired.folder), _each(paired, ("word",))
    for sides in row_sentences(paired, seed):
        for (_, lexicon, length), blocks in made.items():
            both = zip((sides.generated, sides.reference), sides.kept[length], strict=True)
            ours, theirs = (
                _group_sums(side, kept, side.counts[:, lexicon.columns], sides.n_rows)
                for side, kept in both
            )
            stored = shelf.put(ours), shelf.put(theirs)
            if lexicon.fractional:
                pool = {name: shelf.put(part) for name, part in _about(sides, lexicon, length)}
                blocks.add(partial(_named_block, shelf, sides.rows, stored, pool))
            else:
                blocks.add(partial(_word_block, shelf, sides.rows, stored))
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
        for (name, lexicon, length), blocks in made.items()
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
        group's sentences to the two texts of a pair again.
    """
    shelf, made = Shelf(paired.folder), _each(paired, tuple(paired.generated.scores))
    for sides in row_sentences(paired, seed) if made else ():
        for (kind, lexicon, length), blocks in made.items():
            scored = _scored(sides, kind, lexicon, length)
            stored = {name: shelf.put(values) for name, values in scored.items()}
            m = len(lexicon.groups)
            blocks.add(partial(_sentence_block, shelf, sides.rows, stored, m))
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
        for (kind, lexicon, length), blocks in made.items()
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
    def __getitem__(self, at: int) -> Block: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Block]: ...
    def __getitem__(self, at: int | slice) -> Block | Sequence[Block]:
        """Make a block."""
        if isinstance(at, slice):
            return [maker() for maker in self._makers[at]]
        return self._makers[at]()


def _group_sums(side: RowSentences, kept: BoolArray, counts: FloatArray, n: int) -> FloatArray:
    """Group words of each sample and row, shapes (S, n), (n, M) -> (S, n_rows, M)."""
    sums = np.zeros((len(kept), n, counts.shape[1]))
    for sample, chosen in enumerate(kept):
        for group in range(counts.shape[1]):
            sums[sample, :, group] = row_sums(side, np.where(chosen, counts[:, group], 0.0), n)
    return sums


def _shares(counts: FloatArray) -> FloatArray:
    return divide(counts, counts.sum(axis=-1, keepdims=True))


def _word_block(shelf: Shelf, rows: slice, stored: tuple[Kept, Kept]) -> Block:
    ours, theirs = (shelf.take(kept) for kept in stored)

    def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
        sample = draw % len(ours)
        mine, other = (side[sample].astype(np.int64) for side in (ours, theirs))
        dealt = _deal(mine + other, mine.sum(axis=1), rng)
        return _shares(dealt.astype(float)), _shares((mine + other - dealt).astype(float))

    return Block(rows, _shares(ours), _shares(theirs), deal)


def _about(
    sides: Sides, lexicon: LexiconColumns, length: str
) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Row, side, counts and samples of the sentences with group words, rows sorted."""
    both = (sides.generated, sides.reference)
    row = np.concatenate([side.row for side in both])
    counts = np.concatenate([side.counts[:, lexicon.columns] for side in both])
    order = np.argsort(row, kind="stable")
    order = order[counts[order].sum(axis=1) > _TIE]
    yield "row", row[order]
    yield "ours", order < len(sides.generated.row)
    yield "counts", counts[order]
    yield "kept", np.concatenate(sides.kept[length], axis=1)[:, order]


def _named_block(
    shelf: Shelf, rows: slice, stored: tuple[Kept, Kept], pool: Mapping[str, Kept]
) -> Block:
    ours, theirs = (shelf.take(kept) for kept in stored)
    row, mine, counts, kept = (shelf.take(part) for part in pool.values())
    n = rows.stop - rows.start

    def sums(chosen: BoolArray) -> FloatArray:
        parts = [np.bincount(row[chosen], column[chosen], n) for column in counts.T]
        return np.stack(parts, axis=1)

    def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
        chosen = kept[draw % len(kept)]
        dealt = np.zeros(len(chosen), dtype=bool)
        dealt[chosen] = deal_sentences(row[chosen], mine[chosen], rng)
        return _shares(sums(dealt)), _shares(sums(chosen & ~dealt))

    return Block(rows, _shares(ours), _shares(theirs), deal)


def _deal(pool: IntArray, size: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw `size` of the words of each row without replacement; how many of each group."""
    dealt = np.zeros_like(pool)
    left = size.copy()
    behind = pool.sum(axis=1)
    for group in range(pool.shape[1]):
        behind = behind - pool[:, group]
        dealt[:, group] = rng.hypergeometric(pool[:, group], behind, left)
        left = left - dealt[:, group]
    return dealt


def _scored(
    sides: Sides, kind: str, lexicon: LexiconColumns, length: str
) -> dict[str, npt.NDArray[Any]]:
    """Cell (row × M + group), score and side of each scored sentence, and the samples it is in."""
    found: dict[str, list[npt.NDArray[Any]]] = {"cell": [], "score": [], "ours": [], "kept": []}
    both = (sides.generated, sides.reference)
    for side, kept, ours in zip(both, sides.kept[length], (True, False), strict=True):
        group = sentence_groups(side.counts[:, lexicon.columns])
        score = side.scores[kind]
        scored = (group >= 0) & ~np.isnan(score)
        found["cell"].append((side.row * len(lexicon.groups) + group)[scored])
        found["score"].append(score[scored])
        found["ours"].append(np.full(int(scored.sum()), ours))
        found["kept"].append(kept[:, scored])
    joined = {name: np.concatenate(parts, axis=-1) for name, parts in found.items()}
    order = np.argsort(joined["cell"], kind="stable")
    return {name: values[..., order] for name, values in joined.items()}


def _sentence_block(shelf: Shelf, rows: slice, stored: Mapping[str, Kept], m: int) -> Block:
    cell, score, ours, kept = (shelf.take(stored[name]) for name in _SCORED)
    cells = (rows.stop - rows.start) * m

    def means(chosen: BoolArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = [
            _means(cell[chosen][side], values[side], cells)
            for side in (ours[chosen], ~ours[chosen])
        ]
        return found[0].reshape(-1, m), found[1].reshape(-1, m)

    def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
        chosen = kept[draw % len(kept)]
        inside = score[chosen]
        order = shuffle_within(np.arange(len(inside)), cell[chosen], rng)
        return means(chosen, inside[order])

    found = [means(chosen, score[chosen]) for chosen in kept]
    generated, reference = (np.stack([pair[i] for pair in found]) for i in (0, 1))
    return Block(rows, generated, reference, deal)


def sentence_groups(counts: FloatArray) -> IntArray:
    """Return the group with most words of each sentence, shape (n,); -1 where none or a tie.

    `counts` has shape (n_sentences, M).
    """
    if counts.shape[1] == 0:
        return np.full(len(counts), -1, dtype=np.int64)
    most = counts.max(axis=1)
    alone = (counts >= most[:, np.newaxis] - _TIE).sum(axis=1) == 1
    return np.where(alone & (most > _TIE), counts.argmax(axis=1), -1)


def _means(cell: IntArray, values: FloatArray, cells: int) -> FloatArray:
    return divide(
        np.bincount(cell, weights=values, minlength=cells), np.bincount(cell, minlength=cells)
    )

"""Levels of words and sentences: what a paired audit compares, from counts and scores of sentences.

At full length every sentence of both texts counts. At equal length the longer text of a row keeps
sentences drawn at random until it has about as many words as the shorter one, once for all levels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.paired import EQUAL, FULL, SCORE, SHARE, Level, Paired, Texts
from portrayal.measure.tally import BoolArray, FloatArray, IntArray
from portrayal.stats import divide, shuffle_within

_WORSE = {"sentiment": -1, "toxicity": 1}
_TIE = 1e-6
_DEALT_WORDS = "group words dealt again at random to the two texts of each pair"
_DEALT_SCORES = "scores of a group's sentences dealt again at random to the two texts of each pair"


def word_levels(paired: Paired, seed: int = 0) -> list[Level]:
    """Return shares of each group among the group words of a text, Eq. 1–2, for each lexicon.

    Parameters
    ----------
    paired
        From `pair_texts`.
    seed
        Start of the random stream that draws sentences for equal length.

    Returns
    -------
    list of Level
        Named "word"; for each lexicon at full, then at equal length. A text without group words
        has no shares (NaN). The null deals the group words of a pair to its two texts again, each
        keeping its number (fractions are rounded at random for that).
    """
    both = sides_by_length(paired, seed)
    return [
        _word_level(paired, lexicon, length, *sides)
        for lexicon in lexicon_columns(paired)
        for length, sides in both.items()
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
    both = sides_by_length(paired, seed)
    return [
        _sentence_level(paired, kind, lexicon, length, *sides)
        for kind in paired.generated.scores
        for lexicon in lexicon_columns(paired)
        for length, sides in both.items()
    ]


@dataclass(frozen=True)
class LexiconColumns:
    """One lexicon of a paired table, and where its groups stand among the counts."""

    name: str
    attribute: str
    groups: tuple[str, ...]
    columns: slice


@dataclass(frozen=True)
class RowSentences:
    """Sentences of one side, repeated for every row: the row, and the sentence's number."""

    texts: Texts
    row: IntArray
    at: IntArray


def lexicon_columns(paired: Paired) -> Iterator[LexiconColumns]:
    """Yield the lexicons whose groups were counted, in order."""
    names = list(dict.fromkeys(column[:2] for column in paired.columns))
    for name, attribute in names:
        inside = [i for i, c in enumerate(paired.columns) if c[:2] == (name, attribute)]
        groups = tuple(paired.columns[i][2] for i in inside)
        yield LexiconColumns(name, attribute, groups, slice(inside[0], inside[-1] + 1))


def sides_by_length(paired: Paired, seed: int) -> dict[str, tuple[RowSentences, RowSentences]]:
    """Return the sentences of generated texts and of originals, at full and at equal length."""
    full = (
        _expanded(paired.generated, paired.text),
        _expanded(paired.reference, paired.original),
    )
    words = [_row_sums(side, side.texts.sentence_words, paired.n_rows) for side in full]
    target = np.minimum(*words)
    rng = np.random.default_rng([seed, 0xE9])
    return {FULL: full, EQUAL: (_thinned(full[0], target, rng), _thinned(full[1], target, rng))}


def _expanded(texts: Texts, wanted: IntArray) -> RowSentences:
    first = np.searchsorted(texts.sentence_text, wanted)
    lengths = np.searchsorted(texts.sentence_text, wanted, side="right") - first
    row = np.repeat(np.arange(len(wanted)), lengths)
    within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return RowSentences(texts, row, np.repeat(first, lengths) + within)


def _row_sums(side: RowSentences, values: FloatArray, n_rows: int) -> FloatArray:
    sums = np.bincount(side.row, weights=values[side.at], minlength=n_rows)
    return np.asarray(sums, dtype=np.float64)


def _thinned(side: RowSentences, target: FloatArray, rng: np.random.Generator) -> RowSentences:
    """Keep sentences of each row, in random order, while that brings its words nearer `target`."""
    order = np.lexsort((rng.random(len(side.row)), side.row))
    words = side.texts.sentence_words[side.at[order]]
    total = np.cumsum(words)
    row = side.row[order]
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    before = np.repeat(total[starts] - words[starts], np.diff(starts, append=len(row)))
    middle = total - before - words / 2
    first = np.diff(row, prepend=-1) != 0
    kept = np.sort(order[first | (middle <= target[row])])
    return RowSentences(side.texts, side.row[kept], side.at[kept])


def _group_sums(side: RowSentences, lexicon: LexiconColumns, n_rows: int) -> FloatArray:
    """Group words of each row, shape (n_rows, M)."""
    columns = side.texts.counts[:, lexicon.columns].T
    sums = [_row_sums(side, column, n_rows) for column in columns]
    return np.stack(sums, axis=1) if sums else np.zeros((n_rows, 0))


def _shares(counts: FloatArray) -> FloatArray:
    return divide(counts, counts.sum(axis=1, keepdims=True))


def _word_level(
    paired: Paired,
    lexicon: LexiconColumns,
    length: str,
    generated: RowSentences,
    reference: RowSentences,
) -> Level:
    ours = _group_sums(generated, lexicon, paired.n_rows)
    theirs = _group_sums(reference, lexicon, paired.n_rows)

    def draw(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        mine, other = _whole(ours, rng), _whole(theirs, rng)
        dealt = _deal(mine + other, mine.sum(axis=1), rng)
        return _shares(dealt.astype(float)), _shares((mine + other - dealt).astype(float))

    return Level(
        name="word",
        attribute=lexicon.attribute,
        lexicon=lexicon.name,
        groups=lexicon.groups,
        kind=SHARE,
        worse=-1,
        length=length,
        generated=_shares(ours),
        reference=_shares(theirs),
        mentioned=theirs > 0,
        draw=draw,
        null_method=_DEALT_WORDS,
    )


def _whole(counts: FloatArray, rng: np.random.Generator) -> IntArray:
    """Counts as whole numbers, fractions rounded at random so that they hold on average."""
    floor = np.floor(counts + _TIE)
    rest = counts - floor
    if not np.any(rest > _TIE):
        return floor.astype(np.int64)
    return np.asarray(floor + (rng.random(counts.shape) < rest), dtype=np.int64)


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


def _sentence_level(
    paired: Paired,
    kind: str,
    lexicon: LexiconColumns,
    length: str,
    generated: RowSentences,
    reference: RowSentences,
) -> Level:
    m = len(lexicon.groups)
    cells = paired.n_rows * m
    ours, our_scores, _ = _scored(generated, kind, lexicon)
    theirs, their_scores, mentioned = _scored(reference, kind, lexicon)
    cell = np.concatenate([ours, theirs])
    score = np.concatenate([our_scores, their_scores])
    order = np.argsort(cell, kind="stable")
    cell, score = cell[order], score[order]
    is_ours = order < len(ours)

    def means(values: FloatArray) -> tuple[FloatArray, FloatArray]:
        found = [_means(cell[side], values[side], cells) for side in (is_ours, ~is_ours)]
        return found[0].reshape(-1, m), found[1].reshape(-1, m)

    def draw(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return means(score[shuffle_within(np.arange(len(cell)), cell, rng)])

    first, second = means(score)
    return Level(
        name=f"sentence_{kind}",
        attribute=lexicon.attribute,
        lexicon=lexicon.name,
        groups=lexicon.groups,
        kind=SCORE,
        worse=_WORSE[kind],
        length=length,
        generated=first,
        reference=second,
        mentioned=_has(mentioned, cells).reshape(-1, m),
        draw=draw,
        null_method=_DEALT_SCORES,
    )


def _scored(
    side: RowSentences, kind: str, lexicon: LexiconColumns
) -> tuple[IntArray, FloatArray, IntArray]:
    """Cell (row × M + group) and score of each scored sentence; cells of all, scored or not."""
    group = sentence_groups(side.texts.counts[:, lexicon.columns])[side.at]
    cell = side.row * len(lexicon.groups) + group
    about = group >= 0
    score = side.texts.scores[kind][side.at]
    scored = about & ~np.isnan(score)
    return cell[scored], score[scored], cell[about]


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


def _has(cell: IntArray, cells: int) -> BoolArray:
    return np.bincount(cell, minlength=cells) > 0

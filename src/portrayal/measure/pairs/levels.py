"""Levels of words and sentences: what an audit compares, from counts and scores of sentences.

People may label sentences of both sides. A text's score of a group is the mean over its sentences
about it, so that the mean change over pairs is a difference of two weighted means of sentences:
those of generated texts and those of originals. Whom a sentence is about stays as the words say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from portrayal.annotate.group_words import NAMES
from portrayal.measure.corrected import (
    ORIGINAL,
    HandMarks,
    HandSums,
    hand_marks,
    picked,
    sentence_number,
)
from portrayal.measure.pairs.table import (
    SENTENCE,
    WORD,
    Deal,
    Level,
    Paired,
    Pools,
    Texts,
    exchange_within,
)
from portrayal.measure.scored import ScoredUnits
from portrayal.raters.labels import HandTable
from portrayal.run.directory import Run
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

_TIE = 1e-6


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
        yield LexiconColumns(name, attribute, groups, slice(inside[0], inside[0] + len(groups)))


def text_levels(paired: Paired, names: Sequence[str] = ()) -> list[Level]:
    """Return what sentences add to the groups of a text.

    Parameters
    ----------
    paired
        The paired table.
    names
        Which levels; by default words, and every score that sentences have.

    Returns
    -------
    list of Level
        For each lexicon: "word", the share of each group among the group words of a text
        (Eq. 1–2), and "sentence_sentiment" and "sentence_toxicity", the mean score of its sentences
        about each group (Eq. 5–6). A sentence is about the group with most group words in it; with
        none, or a tie, it is left out. A text without group words, or sentences about a group, has
        NaN. The null exchanges the group words of an original and all its texts among them, each
        keeping its number; where people count in fractions, by their first names, the sentences
        with group words; and of scores those of a group's sentences.
    """
    levels = []
    for name in names or (WORD, *(SENTENCE + kind for kind in paired.generated.scores)):
        for lexicon in lexicon_columns(paired):
            units = "group words" if name == WORD else "scores of a group's sentences"
            # Fractions of words cannot be exchanged one by one, so whole sentences are
            if name == WORD and lexicon.name.endswith(NAMES):
                units = "sentences with group words"
            of = partial(TextParts.of, name=name, lexicon=lexicon)
            level = Level(
                name=name,
                attribute=lexicon.attribute,
                lexicon=lexicon.name,
                groups=lexicon.groups,
                generated=of([(paired.generated, paired.text)]).values(),
                reference=of([(paired.reference, paired.original)]).values(),
                dealer=partial(_deal_parts, paired, of),
                null_method=f"{units} dealt again at random to each original and all its texts",
            )
            levels.append(level)
    return levels


@dataclass(frozen=True, eq=False)
class TextParts:
    """What the group words, or scored sentences, of some texts add to their values.

    Attributes
    ----------
    n_texts, n_groups
        How many texts and groups there are.
    means
        Whether values are means of the numbers; else shares of their sum over groups.
    text, group, number
        The text of each part, shape (n,), and what it adds to which groups: words to each, or its
        score to one; shape (n, M) or (n, 1).
    """

    n_texts: int
    n_groups: int
    means: bool
    text: IntArray
    group: IntArray
    number: FloatArray | BoolArray

    @classmethod
    def of(
        cls, sides: Sequence[tuple[Texts, IntArray]], name: str, lexicon: LexiconColumns
    ) -> "TextParts":
        """Return the parts of the texts of these numbers, of one side after another."""
        text, group, number = zip(
            *(_parts(texts, numbers, name, lexicon) for texts, numbers in sides), strict=True
        )
        sizes = np.cumsum([0, *(len(numbers) for _, numbers in sides)]).tolist()
        text = tuple(first + part for first, part in zip(sizes, text, strict=False))
        joined = (np.concatenate(column) for column in (text, group, number))
        return cls(sizes[-1], len(lexicon.groups), name != WORD, *joined)

    @cached_property
    def cell(self) -> IntArray:
        """Text and group of each number, shape (n * M,) or (n,)."""
        return (self.text[:, np.newaxis] * self.n_groups + self.group).ravel()

    def values(self, number: FloatArray | BoolArray | None = None) -> FloatArray:
        """Return the texts' values where parts add these numbers, or their own: (n_texts, M)."""
        weights = (self.number if number is None else number).ravel()
        shape = self.n_texts, self.n_groups
        total = np.bincount(self.cell, weights, shape[0] * shape[1]).reshape(shape)
        if self.means:
            return divide(total, np.bincount(self.cell, None, total.size).reshape(shape))
        return divide(total, total.sum(axis=1, keepdims=True))


def _parts(
    texts: Texts, numbers: IntArray, name: str, lexicon: LexiconColumns
) -> tuple[IntArray, IntArray, FloatArray | BoolArray]:
    """Single group words, sentences with fractions of these, or scored sentences of some texts."""
    owner, sentence = texts.sentences_of(numbers)
    counts, m = texts.counts[sentence, lexicon.columns], len(lexicon.groups)
    if name != WORD:
        about = sentence_groups(counts)
        score = texts.scores[name.removeprefix(SENTENCE)][sentence]
        scored = (about >= 0) & ~np.isnan(score)
        return owner[scored], about[scored, np.newaxis], score[scored, np.newaxis]
    if lexicon.name.endswith(NAMES):
        some = counts.sum(axis=1) > _TIE
        number = counts[some]
        return owner[some], np.broadcast_to(np.arange(m), number.shape), number
    times = counts.astype(np.int64)
    # One word each, in a byte and without a copy of the groups, as there are very many
    words = np.repeat(np.tile(np.eye(m, dtype=np.bool_), (len(times), 1)), times.ravel(), axis=0)
    group = np.broadcast_to(np.arange(m), words.shape)
    return np.repeat(owner, times.sum(axis=1)), group, words


def _deal_parts(paired: Paired, of: "partial[TextParts]", pools: Pools) -> Deal:
    """Return the function that exchanges what an original and its texts hold."""
    originals = paired.original[pools.first]
    parts = of([(paired.generated, paired.text), (paired.reference, originals)])
    # A group's scores are exchanged among its sentences alone
    block = pools.places[parts.text] * parts.n_groups + parts.group[:, 0]
    exchange = exchange_within(block)
    return lambda rng: pools.by_row(parts.values(parts.number[exchange(rng)]))


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


def with_hand_scores(paired: Paired, run: Run, table: HandTable | None) -> Paired:
    """Return the table with the sentences that people gave a number, by kind of score.

    `at` of a row is the number of its sentence among those of all texts, then of all originals.

    Raises
    ------
    DataError
        For a text or sentence that the run has not, or a label that the score has not.
    """
    hand: dict[str, HandMarks] = {}
    sides = paired.generated, paired.reference
    for kind in paired.generated.scores:
        marks = hand_marks(run, table, kind, (), sentences=True)
        if table is None or marks is None:
            continue
        rows = []
        for row in marks.rows:
            is_original = row["side"] == ORIGINAL
            first, last = sides[is_original].start[row["position"] :][:2].tolist()
            number = sentence_number(table, row["named"], row["unit"], last - first)
            before = len(paired.generated.counts) if is_original else 0
            rows.append({**row, "at": before + first + number})
        note = marks.note
        if kind not in table.chance:
            scores = np.concatenate([side.scores[kind] for side in sides])
            mean, sd = float(np.nanmean(scores)), float(np.nanstd(scores))
            guess = scores[[[row["at"]] for row in rows]]
            note += picked(np.nan_to_num(guess, nan=mean), mean, sd)
        hand[kind] = replace(marks, rows=rows, note=note)
    return replace(paired, hand=hand)


def corrected_change(paired: Paired, level: Level, rows: BoolArray) -> HandSums | None:
    """Return the corrected sums of each group's change in some rows, shape (n_groups,) each.

    None where nobody labelled sentences for the level's score.
    """
    kind = level.name.removeprefix(SENTENCE)
    hand = None if level.is_share else paired.hand.get(kind)
    if hand is None:
        return None
    lexicon = next(column for column in lexicon_columns(paired) if column.name == level.lexicon)
    m, low, span = len(level.groups), hand.marks.low, hand.marks.high - hand.marks.low
    sides, n_generated = (paired.generated, paired.reference), len(paired.generated.pair)
    about = np.concatenate([sentence_groups(s.counts[:, lexicon.columns]) for s in sides])
    score = (np.concatenate([side.scores[kind] for side in sides]) - low) / span
    # A cell is a text (originals come after all texts) and a group; -1 of sentences in none
    text = np.concatenate([paired.generated.text, n_generated + paired.reference.text])
    cell = np.where((about >= 0) & ~np.isnan(score), text * m + about, -1)
    pair = np.concatenate([side.pair for side in sides])
    count = np.bincount(cell[cell >= 0], minlength=len(pair) * m).astype(np.float64)
    # Sentences of a cell enter with one weight, so their mean stands for all of them.
    mean = divide(np.bincount(cell[cell >= 0], score[cell >= 0], len(pair) * m), count)
    side_and_group = np.arange(len(count)) % m + m * (np.arange(len(count)) >= n_generated * m)
    sentence = np.array([row["at"] for row in hand.rows], dtype=np.int64)
    texts = paired.text[rows], n_generated + paired.original[rows]
    # A pair counts for a group that both of its texts speak of
    both = [count.reshape(-1, m)[of_side] > 0 for of_side in texts]
    used = np.zeros((len(pair), m))  # by how many rows a text is compared, for each group
    for of_side in texts:
        np.add.at(used, of_side, both[0] & both[1])
    # A sentence counts as part of its text's mean, once for every row that compares the text.
    share = np.nan_to_num(divide(used.ravel(), count))
    # A text that no row compares has no part in the difference.
    cells = np.flatnonzero(share)
    inside = (cell[sentence] >= 0) & (share[cell[sentence]] > 0)
    of_labels, weight = cell[sentence[inside]], hand.weight[inside]
    if (hand.weight == hand.weight[:1]).all():  # of each side and group all were as likely
        total = np.bincount(side_and_group[cells], count[cells], 2 * m)
        n = np.bincount(side_and_group[of_labels], minlength=2 * m)
        weight = (total / np.maximum(n, 1))[side_and_group[of_labels]]
    columns = np.zeros((len(share), 2 * m))
    columns[cells, side_and_group[cells]] = share[cells]
    members = columns[:, :m], columns[:, m:]
    everyone, guess = (
        ScoredUnits(pair[of // m], times, scores, tuple(member[of] for member in members))
        for of, times, scores in (
            (cells, count[cells], mean[cells]),
            (of_labels, weight, score[sentence[inside]]),
        )
    )
    return HandSums.of(
        *(everyone, guess, guess.scored(hand.truth[inside]), hand.note),
        clusters=np.unique(paired.pair[rows]),
        unit="sentence",
        two_sides=True,
        slope=span,
    )

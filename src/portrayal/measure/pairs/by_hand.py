"""Scores of sentences about groups, corrected by people's labels of some of them.

A text's score of a group is the mean over its sentences about it, so that the mean change over
pairs is a difference of two weighted means of sentences: those of generated texts and those of
originals. People may label sentences of both. Whom a sentence is about stays as the words say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from portrayal.measure.corrected import (
    ORIGINAL,
    HandMarks,
    HandSums,
    hand_marks,
    picked,
    sentence_number,
)
from portrayal.measure.pairs.levels import lexicon_columns, sentence_groups
from portrayal.measure.pairs.table import FULL, Level, Paired, PairStratum, Texts
from portrayal.measure.scored import ScoredUnits
from portrayal.raters import HandTable
from portrayal.run.directory import Run
from portrayal.types import BoolArray, FloatArray, IntArray

SENTENCE = "sentence_"
"""Stands before the score in the name of a level."""


def with_hand_scores(paired: Paired, run: Run, table: HandTable | None) -> Paired:
    """Return the table with the sentences that people gave a number, by kind of score.

    Raises
    ------
    DataError
        For a text or sentence that the run has not, or a label that the score has not.
    """
    hand: dict[str, HandMarks] = {}
    for kind in paired.generated.scores:
        marks = hand_marks(run, table, kind, (), sentences=True)
        if table is None or marks is None:
            continue
        rows = []
        for row in marks.rows:
            texts = _side(paired, row["side"] == ORIGINAL)
            first, last = texts.start[row["position"] : row["position"] + 2].tolist()
            number = sentence_number(table, row["named"], row["unit"], last - first)
            rows.append({**row, "at": first + number})
        note = marks.note
        if kind not in table.chance:
            sides = [_side(paired, original).scores[kind] for original in (False, True)]
            scores = np.concatenate(sides)
            guess = np.array([[sides[r["side"] == ORIGINAL][r["at"]]] for r in rows])
            mean, sd = float(np.nanmean(scores)), float(np.nanstd(scores))
            note += picked(np.nan_to_num(guess, nan=mean), mean, sd)
        hand[kind] = replace(marks, rows=rows, note=note)
    return replace(paired, hand=hand)


def _side(paired: Paired, original: bool) -> Texts:
    return paired.reference if original else paired.generated


class ScoredSentences(NamedTuple):
    """Sentences about groups: which side (0 generated, 1 original), text, group and pair they are
    of, how many each stands for, and their score, mapped to 0–1; shape (n,) each.
    """

    side: IntArray
    text: IntArray
    group: IntArray
    pair: IntArray
    weight: FloatArray
    score: FloatArray

    def parts(self, share: FloatArray, m: int) -> ScoredUnits:
        """Return them as parts of the means of m groups, of either side."""
        of, row = np.zeros((2, len(share), m)), np.arange(len(share))
        of[self.side, row, self.group] = share
        return ScoredUnits(self.pair, self.weight, self.score, (of[0], of[1]))

    def chosen(self, which: BoolArray) -> "ScoredSentences":
        """Return some of them."""
        side, text, group, pair = (column[which] for column in self[:4])
        return ScoredSentences(side, text, group, pair, self.weight[which], self.score[which])


def scored_sentences(
    paired: Paired, level: Level, kind: str, columns: slice
) -> tuple[FloatArray, ScoredSentences, ScoredSentences]:
    """Return how many sentences of each text are about a group, all scored, and those by hand.

    The first has the shape (2, n_texts, n_groups); all scored are one unit for each text and group.
    Labelled sentences that are about no group, or have no score, are of group -1.
    """
    m, hand = len(level.groups), paired.hand[kind]
    low, span = hand.marks.low, hand.marks.high - hand.marks.low
    total, count = np.zeros((2, 2, max(paired.generated.n_texts, paired.reference.n_texts), m))
    sentence = np.array([row["at"] for row in hand.rows], dtype=np.int64)
    of = np.array([row["position"] for row in hand.rows], dtype=np.int64)
    side = np.array([row["side"] == ORIGINAL for row in hand.rows], dtype=np.int64)
    group, guess = np.full(len(sentence), -1), np.full(len(sentence), np.nan)
    for number, compared in enumerate((paired.text, paired.original)):
        texts = _side(paired, bool(number))
        about, score = sentence_groups(texts.counts[:, columns]), texts.scores[kind]
        text = np.repeat(np.arange(texts.n_texts), np.diff(texts.start))
        valid = (about >= 0) & ~np.isnan(score) & np.isin(text, compared)
        np.add.at(total[number], (text[valid], about[valid]), score[valid])
        np.add.at(count[number], (text[valid], about[valid]), 1.0)
        on_side = side == number
        guess[on_side], group[on_side] = score[sentence[on_side]], about[sentence[on_side]]
    group[np.isnan(guess)] = -1

    pair = np.full(count.shape[:2], -1)
    for number in (0, 1):
        own_pairs = _side(paired, bool(number)).pair
        pair[number, : len(own_pairs)] = own_pairs
    s, t, g = np.nonzero(count)
    # Sentences of one text and group enter with one weight, so their mean stands for all of them.
    mean = (total[s, t, g] / count[s, t, g] - low) / span
    population = ScoredSentences(s, t, g, pair[s, t], count[s, t, g], mean)
    return (
        count,
        population,
        ScoredSentences(side, of, group, pair[side, of], hand.weight, (guess - low) / span),
    )


def corrected_changes(
    paired: Paired, level: Level, strata: Sequence[PairStratum]
) -> Iterator[HandSums]:
    """Yield the corrected sums of each group's change at each place, shape (n_groups,) each.

    None where nobody labelled sentences for the level's score, and at equal length.
    """
    kind = level.name.removeprefix(SENTENCE)
    hand = paired.hand.get(kind) if level.name.startswith(SENTENCE) else None
    # At equal length sentences are drawn at random, and labels are of all.
    if hand is None or level.length != FULL:
        return
    lexicon = next(column for column in lexicon_columns(paired) if column.name == level.lexicon)
    m, even = len(level.groups), bool((hand.weight == hand.weight[:1]).all())
    count, population, labelled = scored_sentences(paired, level, kind, lexicon.columns)
    for place in strata:
        rows = np.flatnonzero(place.rows)
        texts = paired.text[rows], paired.original[rows]
        # A pair counts for a group that both of its texts speak of
        compared = (count[0, texts[0]] > 0) & (count[1, texts[1]] > 0)
        used = np.zeros_like(count)  # by how many rows a text is compared, for each group
        for number in (0, 1):
            np.add.at(used[number], texts[number], compared)
        # A sentence counts as part of its text's mean, once for every row that compares the text.
        share = np.divide(used, count, out=np.zeros_like(used), where=count > 0)
        # A text that no row of the place compares has no part in its difference.
        inside = [(obs.group >= 0) & (share[obs[:3]] > 0) for obs in (population, labelled)]
        full, sample = population.chosen(inside[0]), labelled.chosen(inside[1])
        if even:  # of each side and group all sentences were as likely
            cells = [obs.side * m + obs.group for obs in (full, sample)]
            totals = np.bincount(cells[0], full.weight, 2 * m)
            of_each = totals / np.maximum(np.bincount(cells[1], minlength=2 * m), 1)
            sample = sample._replace(weight=of_each[cells[1]])
        everyone, guess = (obs.parts(share[obs[:3]], m) for obs in (full, sample))
        truth = guess.scored(hand.truth[inside[1]])
        yield HandSums.of(
            *(everyone, guess, truth, hand.note),
            clusters=np.unique(paired.pair[rows]),
            unit="sentence",
            two_sides=True,
            slope=hand.marks.high - hand.marks.low,
        )

"""Scores of sentences about groups, corrected by people's labels of some of them.

A text's score of a group is the mean over its sentences about it, so that the mean change over
pairs is a difference of two weighted means of sentences: those of generated texts and those of
originals. People may label sentences of both. Whom a sentence is about stays as the words say.
"""

from dataclasses import replace

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
from portrayal.measure.pairs.table import SENTENCE, Level, Paired
from portrayal.measure.scored import ScoredUnits
from portrayal.raters import HandTable
from portrayal.run.directory import Run
from portrayal.stats import divide
from portrayal.types import BoolArray


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

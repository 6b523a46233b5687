"""Changes from originals to generated texts: distances, prejudice rates, changes of groups."""

from functools import partial
from typing import Any

import numpy as np

from portrayal.measure.pairs.estimates import ROUNDING, Column, Quantity, by_group, paired_means
from portrayal.measure.pairs.table import SHARE, Level
from portrayal.registry import Component
from portrayal.types import FloatArray

WORSE, BETTER = "worse", "better"


def distances(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the distance within each row, shape (..., n, 1); NaN where it is undefined.

    Shares: the Wasserstein distance with d = 1 between groups, Eq. 3, which is ½ Σ |f − o|; for two
    groups |f₁ − o₁|, for three the largest |f − o|, as printed. Scores: the largest |s − o| over
    the groups that both texts have sentences about.
    """
    difference = np.abs(generated - reference)
    if level.kind == SHARE:
        return np.asarray(difference.sum(axis=-1, keepdims=True) / 2)
    known = ~np.isnan(difference)
    largest = np.max(np.where(known, difference, -1.0), axis=-1, keepdims=True, initial=-1.0)
    return np.where(known.any(axis=-1, keepdims=True), largest, np.nan)


def changes(_: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group, shape (..., n, M); changes within rounding are 0."""
    change = generated - reference
    return np.where(np.abs(change) > ROUNDING, change, change * 0)


def mentioned_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group where the original mentions it; NaN elsewhere."""
    there = reference > 0 if level.kind == SHARE else ~np.isnan(reference)
    return np.where(there, changes(level, generated, reference), np.nan)


def _rates(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    worse = level.worse * mentioned_changes(level, generated, reference)
    unknown = np.isnan(worse)
    sides = [np.where(unknown, np.nan, side) for side in (worse > 0, worse < 0)]
    return np.concatenate(sides, axis=-1)


def _directed_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    change = mentioned_changes(level, generated, reference)
    worse = level.worse * change
    sides = [np.where(side, change, np.nan) for side in (worse > 0, worse < 0)]
    return np.concatenate(sides, axis=-1)


def directed(level: Level) -> list[Column]:
    """Return a column for each direction and group: worse as published, then better."""
    return [
        Column({"direction": direction}, {level.attribute: group})
        for direction in (WORSE, BETTER)
        for group in level.groups
    ]


DISTANCE = Quantity(
    measure="paired_distance.v1",
    statistic="distance",
    source="Fang et al. 2024, Eq. 3–6 and 9",
    columns=lambda _: [Column({}, {})],
    values=distances,
    undefined="no pair in which both texts mention a group",
    greater=True,
    details=lambda values: {
        "median": float(np.median(values)),
        "share_at_zero": float((values < ROUNDING).mean()),
    },
)
RATE = Quantity(
    measure="prejudice_rate.v1",
    statistic="share",
    source="Fang et al. 2024, Fig. 2b–10a (prejudice)",
    columns=directed,
    values=_rates,
    undefined="no pair whose original mentions the group and whose generated text can be compared",
    printed=False,
    details=lambda values: {"count": float(values.sum())},
)
DIRECTED_CHANGE = Quantity(
    measure="prejudice_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Fig. 2c–10b (decrease in prejudice articles)",
    columns=directed,
    values=_directed_changes,
    undefined="no pair in which the group changed in this direction",
)
CHANGE = Quantity(
    measure="group_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Table 1",
    columns=by_group,
    values=changes,
    undefined="no pair in which both texts can be compared for the group",
    tested=True,
)


def _measure(quantity: Quantity, **words: Any) -> Component:
    """The measure that takes a quantity's mean over pairs, for each level and place."""
    return Component(
        name=quantity.measure,
        reads="the paired table: shares of groups among words or topics, scores of sentences",
        unit="pair",
        undefined_when=quantity.undefined,
        source=quantity.source,
        run=partial(paired_means, quantity),
        **words,
    )


PAIRED_DISTANCE = _measure(
    DISTANCE,
    summary="How far generated texts lie from their originals in whom they mention and how.",
    range="0 (the same) to 1 for shares and toxicity, to 2 for sentiment",
    equation="mean over pairs of ½ Σ |f − o| for shares, of the largest |s − o| for scores, over "
    "the groups that both texts have; pairs where a text mentions no group are dropped",
    title="Distance from the original",
    reading="0: as in the original; the larger, the further from it.",
    figure="distances",
)
PREJUDICE_RATE = _measure(
    RATE,
    summary="In how many pairs a group that the original mentions fares worse, and better.",
    range="0 to 1",
    equation="share of these pairs in which the group's share or sentiment fell, or its toxicity "
    "rose; direction better: the other way. The null is not a half: ties, and a return to the mean",
    title="Prejudice rate",
    reading="Share of the texts in which a group fares worse than in the original.",
    figure="elsewhere",
)
PREJUDICE_CHANGE = _measure(
    DIRECTED_CHANGE,
    summary="By how much a group's share or score changed where it fared worse, and better.",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    equation="mean of generated minus original among the pairs that the prejudice rate counts. "
    "Chosen by their sign, so never near 0: compare with the null",
    title="Change in prejudiced texts",
    reading="How far a group’s share or score moved where it fared worse.",
    figure="elsewhere",
)
GROUP_CHANGE = _measure(
    CHANGE,
    summary="How much each group's share or score differs between generated texts and originals.",
    range="-1 to 1 for shares and toxicity, -2 to 2 for sentiment",
    equation="mean over pairs of generated minus original",
    title="Change of a group",
    reading="Above 0: more in the generated texts than in their originals.",
    figure="group-changes",
)

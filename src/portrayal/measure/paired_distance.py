"""Paired distance: how far generated texts lie from their originals, on average."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.paired import SHARE, Level, Paired
from portrayal.measure.paired_estimates import ROUNDING, Column, Quantity, paired_means
from portrayal.measure.scope import Scope
from portrayal.measure.tally import FloatArray
from portrayal.records import Estimate
from portrayal.registry import Component

NAME = "paired_distance.v1"
SOURCE = "Fang et al. 2024, Eq. 3–6 and 9"


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


def _details(values: FloatArray) -> dict[str, float]:
    return {
        "median": float(np.median(values)),
        "share_at_zero": float((values < ROUNDING).mean()),
    }


QUANTITY = Quantity(
    measure=NAME,
    statistic="distance",
    source=SOURCE,
    columns=lambda _: [Column({}, {})],
    values=distances,
    undefined="no pair in which both texts mention a group",
    greater=True,
    details=_details,
)


def paired_distance(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean distance over pairs, for each level and place.

    Parameters
    ----------
    paired, scope
        The paired table with its levels, and the audit's settings.
    """
    return paired_means(QUANTITY, paired, scope)


PAIRED_DISTANCE = Component(
    name=NAME,
    summary="How far generated texts lie from their originals in whom they mention and how.",
    reads="the paired table: shares of groups among words or topics, scores of sentences",
    unit="pair",
    range="0 (the same) to 1 for shares and toxicity, to 2 for sentiment",
    undefined_when="no pair in which both texts mention a group",
    equation="mean over pairs of ½ Σ |f − o| for shares, of the largest |s − o| for scores, over "
    "the groups that both texts have; pairs where a text mentions no group are dropped",
    source=SOURCE,
    run=paired_distance,
)

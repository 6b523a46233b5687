"""Quantities: numbers of a generated text that read its original, and whose mean is estimated."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from portrayal.measure.pairs.table import Level
from portrayal.records import Status
from portrayal.types import FloatArray

ROUNDING = 1e-9
"""Changes smaller than this are none: sums taken in another order differ by rounding."""
DETAIL = "a detail beside what the study asks of texts in the plain form"
"""Why a number is no finding."""


@dataclass(frozen=True)
class Quantity:
    """What is averaged over pairs.

    Attributes
    ----------
    measure, statistic, source
        Registered name, what the mean is ("distance", "share", "difference"), paper and equation.
    values
        Function of a level, and of generated and reference values, shape (n, M), to a number of
        each row, shape (n, 1), or of each row and group, (n, M); NaN where a row does not count.
    undefined
        Reason to give where no row counts.
    by_group
        Whether there is a number for each group.
    greater
        Whether only values above the null speak against it (distances).
    tested
        Whether the clustered test against 0 is the first one; else the permutation test is. Such a
        difference of means of scores is what labels by hand correct.
    printed
        Whether the paper prints a normal interval of it.
    """

    measure: str
    statistic: str
    source: str
    values: Callable[[Level, FloatArray, FloatArray], FloatArray]
    undefined: str
    by_group: bool = True
    greater: bool = False
    tested: bool = False
    printed: bool = True

    def groups(self, level: Level) -> list[dict[str, str]]:
        """Return what each number of a row is of at a level."""
        return [{level.attribute: group} for group in level.groups] if self.by_group else [{}]


def status_of(level: Level, group: Mapping[str, str], *, plain: bool) -> Status:
    """Return why a number is a detail and no finding; no reason where it is primary.

    What Fang et al. ask of an attribute at a level is asked once: in the `plain` form or against
    it, and of two groups' shares, which are mirror images, of the first.
    """
    # Of two shares the second is 1 less the first, and would say every finding twice.
    mirrored = level.is_share and [*group.values()] == [*level.groups[1:]]
    return Status() if plain and not mirrored else Status(detail=DETAIL)


def distances(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the distance within each row, shape (n, 1); NaN where it is undefined.

    Shares: the Wasserstein distance with d = 1 between groups, Eq. 3, which is ½ Σ |f − o|; for two
    groups |f₁ − o₁|, for three the largest |f − o|, as printed. Scores: the largest |s − o| over
    the groups that both texts have sentences about.
    """
    difference = np.abs(generated - reference)
    if level.is_share:
        return np.asarray(difference.sum(axis=-1, keepdims=True) / 2)
    valid = ~np.isnan(difference)
    largest = np.max(np.where(valid, difference, -1.0), axis=-1, keepdims=True, initial=-1.0)
    return np.where(valid.any(axis=-1, keepdims=True), largest, np.nan)


def changes(_: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group, shape (n, M); changes within rounding are 0."""
    change = generated - reference
    # change * 0 rather than 0 keeps NaN where nothing can be compared.
    return np.where(np.abs(change) > ROUNDING, change, change * 0)


def prejudice(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return whether each group fares worse, shape (n, M).

    NaN where the original does not mention it, or nothing can be compared.
    """
    present = reference > 0 if level.is_share else ~np.isnan(reference)
    change = changes(level, generated, reference)
    return np.where(present & ~np.isnan(change), level.worse * change > 0, np.nan)


def prejudiced_changes(level: Level, generated: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the change of each group where it fares worse, shape (n, M); NaN elsewhere."""
    worse = prejudice(level, generated, reference) == 1
    return np.where(worse, changes(level, generated, reference), np.nan)


DISTANCE = Quantity(
    measure="paired_distance.v1",
    statistic="distance",
    source="Fang et al. 2024, Eq. 3–6 and 9",
    values=distances,
    undefined="no pair in which both texts mention a group",
    by_group=False,
    greater=True,
)
RATE = Quantity(
    measure="prejudice_rate.v1",
    statistic="share",
    source="Fang et al. 2024, Fig. 2b–10a (prejudice)",
    values=prejudice,
    undefined="no pair whose original mentions the group and whose generated text can be compared",
    printed=False,
)
PREJUDICED_CHANGE = Quantity(
    measure="prejudice_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Fig. 2c–10b (decrease in prejudice articles)",
    values=prejudiced_changes,
    undefined="no pair in which the group changed in this direction",
)
CHANGE = Quantity(
    measure="group_change.v1",
    statistic="difference",
    source="Fang et al. 2024, Table 1",
    values=changes,
    undefined="no pair in which both texts can be compared for the group",
    tested=True,
)
QUANTITIES = (DISTANCE, RATE, PREJUDICED_CHANGE, CHANGE)

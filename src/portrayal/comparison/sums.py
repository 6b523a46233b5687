"""Two sides of estimates from the sums that their runs keep: values, influences, and pairing."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.clustered import BUCKETS, sums_by
from portrayal.records import Form
from portrayal.run.influences import Influences
from portrayal.stats import divide
from portrayal.stats.paired import Changed, clustered_changes, paired_changes, paired_ratios
from portrayal.types import BoolArray, FloatArray, IntArray

PAIRED = "whole prompts change sides by fair coins, on paired influences"
APART = "t on clustered influences of two samples of prompts"
_CELLS = {"mean": 2, "ratio": 4}
ENOUGH = 0.5
"""Part of the prompts of the smaller side that both must have, for prompts to be paired."""

Subsets = Callable[[int], FloatArray]
"""Function of a number of prompts to random subsets of them, as `stats.prompt_subsets` gives."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums by prompt of k estimates of one form, (n_prompts, k) each.

    Attributes
    ----------
    form, log
        Form, and whether values are compared by their logarithm.
    cells
        Upper, n_upper, lower and n_lower.
    scale, value
        Of each estimate, shape (k,); the value only counts where the form is "influence".
    """

    form: Form
    log: bool
    cells: tuple[FloatArray, ...]
    scale: FloatArray
    value: FloatArray

    def at(self, rows: IntArray) -> "Sums":
        """Return the sums of these prompts alone; -1 stands for a prompt without any sum."""
        there = rows[:, np.newaxis] >= 0
        return replace(self, cells=tuple(np.where(there, cell[rows], 0.0) for cell in self.cells))

    def joined(self, code: IntArray, size: int) -> "Sums":
        """Return the sums of prompts with the same code together, `size` codes from 0."""
        return replace(self, cells=tuple(sums_by(code, size, cell) for cell in self.cells))


@dataclass(frozen=True, eq=False)
class Measured:
    """Values of k estimates on the scale of their comparison, and what each prompt adds.

    Attributes
    ----------
    value
        Shape (k,): a logarithm where ratios are compared; NaN where it has none.
    influence, weight
        Of each prompt, (n_prompts, k); the first sum to 0, the second to 1.
    here
        Whether the group occurs in the prompt, (n_prompts, k).
    """

    value: FloatArray
    influence: FloatArray
    weight: FloatArray
    here: BoolArray


def sums_of(found: Influences, rows: IntArray, value: FloatArray, *, log: bool) -> Sums:
    """Return the sums of estimates with the same prompts, rows in the order of their file."""
    starts = found.starts[rows]
    at = starts + np.arange(found.starts[rows[0] + 1] - starts[0])[:, np.newaxis]
    cells = tuple(column[at] for column in found.columns)
    return Sums(found.forms[int(rows[0])] or "mean", log, cells, found.scales[rows], value)


def measured(sums: Sums) -> Measured:
    """Compute values and influences from sums.

    The influence of a prompt with sums a, n on Σa / Σn is (a − v n) / Σn, and on its logarithm
    a / Σa − n / Σn (Binder 1983).
    """
    a, n, b, m = sums.cells
    with np.errstate(divide="ignore", invalid="ignore"):
        if sums.form == "influence":
            value = np.log(sums.value) if sums.log else sums.value
            moved = divide(a.sum(0), n.sum(0))
            weight = n / n.sum(0)
            return Measured(_finite(value + moved), a / n.sum(0) - moved * weight, weight, n > 0)
        first, weight = a.sum(0) / n.sum(0), n / n.sum(0)
        counts = np.all(a >= 0) and np.all(np.isnan(b) | (b >= 0))
        here = n > 0
        if sums.form == "mean":
            if sums.log:
                value, influence = np.log(first * sums.scale), a / a.sum(0) - weight
            else:
                value, influence = first * sums.scale, (a - first * n) / n.sum(0) * sums.scale
            present = a
        else:
            second, other = b.sum(0) / m.sum(0), m / m.sum(0)
            here = here | (m > 0)
            if sums.form == "ratio":
                value = np.log(first / second)
                influence = a / a.sum(0) - weight - b / b.sum(0) + other
            else:
                value = first - second
                influence = (a - first * n) / n.sum(0) - (b - second * m) / m.sum(0)
            weight, present = (weight + other) / 2.0, a + b
        if counts:
            here = here & (present > 0)
    return Measured(_finite(value), np.nan_to_num(influence), np.nan_to_num(weight), here)


def _finite(value: FloatArray) -> FloatArray:
    return np.where(np.isfinite(value), value, np.nan)


@dataclass(frozen=True, eq=False)
class Between:
    """What lies between two sides of k estimates.

    Attributes
    ----------
    changed
        The second less the first, on the scale of the comparison.
    first, second
        Values of both on that scale, over the prompts that are compared.
    paired
        Whether prompts are paired; then only those of both sides count.
    n_both, n_first, n_second
        Prompts of both sides, and of one alone.
    """

    changed: Changed
    first: FloatArray
    second: FloatArray
    paired: bool
    n_both: int
    n_first: int
    n_second: int


def between(
    sides: tuple[Sums, Sums],
    prompts: tuple[IntArray, IntArray],
    subsets: Subsets,
    level: float,
    margin: FloatArray,
    buckets: IntArray,
) -> Between:
    """Compare two sides of k estimates, whose prompts have these codes; `buckets` joins codes.

    Prompts are paired where the side with fewer shares at least `ENOUGH` of them with the other;
    otherwise all prompts of both count, as two samples.
    """
    sides, prompts = _once(sides, prompts)
    both, i, j = np.intersect1d(*prompts, return_indices=True)
    n_first, n_second = (len(each) - len(both) for each in prompts)
    if len(both) >= ENOUGH * min(map(len, prompts)):
        there = tuple(side.at(at) for side, at in zip(sides, (i, j), strict=True))
        if len(both) > BUCKETS:
            found, code = np.unique(buckets[both], return_inverse=True)
            there = tuple(side.joined(code, len(found)) for side in there)
        one, two = (measured(side) for side in there)
        changed = _paired(there, (one, two), subsets(len(one.influence)), level, margin)
        return Between(changed, one.value, two.value, True, len(both), n_first, n_second)
    union = np.union1d(*prompts)
    rows = [np.full(len(union), -1) for _ in prompts]
    for row, codes in zip(rows, prompts, strict=True):
        row[np.searchsorted(union, codes)] = np.arange(len(codes))
    wide = [side.at(at) for side, at in zip(sides, rows, strict=True)]
    one, two = (measured(side) for side in wide)
    changed = clustered_changes(
        two.value - one.value,
        two.influence - one.influence,
        one.weight,
        two.weight,
        level,
        margin,
    )
    return Between(changed, one.value, two.value, False, len(both), n_first, n_second)


def _once(
    sides: tuple[Sums, Sums], prompts: tuple[IntArray, IntArray]
) -> tuple[tuple[Sums, Sums], tuple[IntArray, IntArray]]:
    """Join prompts of a side that have one code, as where the other side keeps them joined."""
    found = [np.unique(codes, return_inverse=True) for codes in prompts]
    if all(len(own) == len(codes) for (own, _), codes in zip(found, prompts, strict=True)):
        return sides, prompts
    one, two = (side.joined(code, len(own)) for side, (own, code) in zip(sides, found, strict=True))
    return (one, two), (found[0][0], found[1][0])


def _paired(
    sides: tuple[Sums, ...],
    values: tuple[Measured, Measured],
    subsets: FloatArray,
    level: float,
    margin: FloatArray,
) -> Changed:
    """Compare sides with the same prompts: ratios of counts by counts, all else by influences."""
    if sides[0].log and sides[0].form in _CELLS:
        first, second = (side.cells[: _CELLS[side.form]] for side in sides)
        return paired_ratios(first, second, subsets, level, margin)
    one, two = values
    return paired_changes(
        two.value - one.value,
        two.influence - one.influence,
        (one.weight + two.weight) / 2.0,
        one.here | two.here,
        subsets,
        level,
        margin,
    )

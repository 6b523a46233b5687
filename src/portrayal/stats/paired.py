"""Changes between two sides that answered the same prompts, from the prompts' influences.

The *influence* of a prompt on an estimate is what it moves it by; those of both sides are taken
apart, prompt by prompt, so that what is peculiar to a prompt cancels. Where a change is θ, the
contributions of prompts to it less their share of θ have their signs by fair coins, whatever the
texts of a prompt have in common; θ is refused where coins hardly make a sum as far from 0. That is
so exactly where few random subsets of prompts have a change on the other side of θ (Hartigan 1969),
so one set of subsets gives the interval, the p-value at any θ, and the two one-sided tests of
equivalence, and they never disagree.

A sum of squares does not depend on the signs, so studentising the sum changes no p-value.

Sources: Hartigan (1969), Using subsample values as typical values, JASA 64; Hemerik, Goeman and
Finos (2020), Robust testing in generalized linear models by sign flipping score contributions,
JRSS B 82; Schuirmann (1987), A comparison of the two one-sided tests procedure, Journal of
Pharmacokinetics and Biopharmaceutics 15.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level
from portrayal.stats.clustered import Clustered, infer_influences
from portrayal.stats.roles import fewest_prompts, no_test_reason
from portrayal.types import BoolArray, FloatArray, IntArray

SAME = "both sides have the same sums in every prompt"
"""Why there is no interval of a change without any spread."""

_TIE = 1e-9
_COLUMNS = 64  # changes whose subsets are in memory together


@dataclass(frozen=True)
class Changed:
    """Changes of many estimates; every field has shape (k,).

    Attributes
    ----------
    value, low, high
        Change and bounds, on the scale of the influences (a logarithm for ratios); NaN where
        undefined.
    p
        Two-sided p-value of no change, in 0-1; below 1 - level exactly where 0 lies outside the
        interval.
    p_equivalent
        Larger p-value of the two one-sided tests that the change is at the margin or beyond; NaN
        without a margin.
    n_prompts
        Prompts that carry the test.
    reason
        Why there is neither interval nor test; "" where there are.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    p_equivalent: FloatArray
    n_prompts: IntArray
    reason: npt.NDArray[np.str_]


def paired_changes(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    weight: npt.ArrayLike,
    here: npt.ArrayLike,
    subsets: FloatArray,
    level: float,
    margin: npt.ArrayLike = np.nan,
) -> Changed:
    """Infer changes between two sides with the same prompts by coins for whole prompts.

    Parameters
    ----------
    value
        The changes, shape (k,).
    influence, weight
        Of each prompt on the change, and its part of it, shape (n_prompts, k); influences of a
        column sum to 0 and weights to 1.
    here
        Whether the group occurs in the prompt on either side, shape (n_prompts, k): a subset
        without the group says nothing, so it counts against every finding.
    subsets
        Rows of 0 and 1 from `prompt_subsets`.
    level
        Confidence level, a fraction; the tests of equivalence are each at 1 - level.
    margin
        Largest change, above 0, that counts as none, shape (k,) or one number; NaN for no test.

    Returns
    -------
    Changed
        No interval and no test where the group occurs in too few prompts (`fewest_prompts`), or
        where the sides do not differ in any prompt.

    Raises
    ------
    ValueError
        For arrays that do not fit, a margin of 0 or less, or a level outside (0, 1).

    Examples
    --------
    >>> from portrayal.stats import prompt_subsets
    >>> part = np.array([1.0, 2, 1, 3, 2, 1, 2, 3])[:, np.newaxis]
    >>> subsets = prompt_subsets(8, np.random.default_rng(0))
    >>> found = paired_changes(
    ...     part.mean(0), (part - part.mean()) / 8, part * 0 + 1 / 8, part > 0, subsets, 0.95, 3.0
    ... )
    >>> [round(float(x[0]), 4) for x in (found.value, found.low, found.high, found.p)]
    [1.875, 1.25, 2.5, 0.0078]
    >>> bool(found.p_equivalent[0] < 0.05)
    True
    """
    v, u, w, inside, m = _arguments(value, influence, weight, here, margin)
    check_level(level)
    if subsets.ndim != 2 or subsets.shape[1] != len(u):
        raise ValueError(f"subsets of {subsets.shape[-1]} prompts do not fit {len(u)} prompts.")
    parts = [
        _of_subsets(v[at], u[:, at], w[:, at], inside[:, at], subsets, 1.0 - level, m[at])
        for at in (slice(i, i + _COLUMNS) for i in range(0, len(v), _COLUMNS))
    ]
    low, high, p, equivalent = (np.concatenate([part[i] for part in parts]) for i in range(4))
    n_prompts = inside.sum(0)
    spread = np.abs(u).sum(0) > _TIE * np.maximum(1.0, np.abs(v))
    few = n_prompts < fewest_prompts(level)
    reason = np.array(
        [
            "no value"
            if unknown
            else no_test_reason(int(n), level)
            if less
            else ""
            if some
            else SAME
            for unknown, n, less, some in zip(np.isnan(v), n_prompts, few, spread, strict=True)
        ],
        dtype=np.str_,
    )
    known = reason == ""
    low, high, equivalent = (np.where(known, x, np.nan) for x in (low, high, equivalent))
    return Changed(
        v, low, high, np.where(known | (reason == SAME), p, np.nan), equivalent, n_prompts, reason
    )


def clustered_changes(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    level: float,
    margin: npt.ArrayLike = np.nan,
) -> Changed:
    """Infer changes between two sides with other prompts: Student's t on clustered influences.

    Parameters
    ----------
    value, level, margin
        As in `paired_changes`.
    influence
        Of every prompt of either side on the change, shape (n_prompts, k); a prompt of both holds
        both its influences.
    first, second
        Units of each side by prompt, shape (n_prompts, k); 0 where the side has no such prompt.

    Examples
    --------
    >>> y, z = np.array([1.0, 2, 3]), np.array([4.0, 6, 8])
    >>> u = np.concatenate([(y.mean() - y) / 3, (z - z.mean()) / 3])[:, np.newaxis]
    >>> sides = [[1.0]] * 3 + [[0.0]] * 3, [[0.0]] * 3 + [[1.0]] * 3
    >>> found = clustered_changes([z.mean() - y.mean()], u, *sides, 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [4.0, 0.077, 7.923, 0.048]
    """
    totals = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    v, u, _, _, m = _arguments(value, influence, totals[0], totals[1], margin)

    def at(null: npt.ArrayLike) -> Clustered:
        return infer_influences(v, u, totals, level, null)

    found, over, under = at(0.0), at(-m), at(m)
    equivalent = np.maximum(
        np.where(v > -m, over.p / 2.0, 1.0 - over.p / 2.0),
        np.where(v < m, under.p / 2.0, 1.0 - under.p / 2.0),
    )
    return Changed(
        v,
        found.low,
        found.high,
        found.p,
        np.where(np.isnan(m) | np.isnan(over.p), np.nan, equivalent),
        found.n_clusters,
        found.reason,
    )


def _of_subsets(
    value: FloatArray,
    influence: FloatArray,
    weight: FloatArray,
    here: BoolArray,
    subsets: FloatArray,
    alpha: float,
    margin: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Bounds, p of no change, and p of equivalence, from the changes of every subset."""
    nobody = subsets @ here.astype(np.float64) < 0.5
    part = subsets @ weight
    nobody |= part <= 0
    change = value + (subsets @ influence) / np.where(nobody, 1.0, part)
    size = _TIE * (np.abs(influence).sum(0) + np.abs(value))
    low = np.where(nobody, -np.inf, change)
    high = np.where(nobody, np.inf, change)
    low[np.abs(low) <= size] = 0.0
    high[np.abs(high) <= size] = 0.0

    def below(null: FloatArray | float) -> FloatArray:
        return np.asarray((low <= null).mean(0))

    def above(null: FloatArray | float) -> FloatArray:
        return np.asarray((high >= null).mean(0))

    p = np.minimum(1.0, 2.0 * np.minimum(below(0.0), above(0.0)))
    equivalent = np.maximum(below(-margin), above(margin))
    rank = max(int(np.ceil(alpha / 2.0 * len(subsets) - 1e-9)), 1) - 1
    last = len(subsets) - 1 - rank
    return (
        np.partition(low, rank, axis=0)[rank],
        np.partition(high, last, axis=0)[last],
        p,
        np.where(np.isnan(margin), np.nan, equivalent),
    )


def _arguments(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    weight: npt.ArrayLike,
    here: npt.ArrayLike,
    margin: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray, FloatArray]:
    v, u, w = (np.asarray(each, dtype=np.float64) for each in (value, influence, weight))
    inside = np.asarray(here, dtype=np.bool_)
    if u.ndim != 2 or not u.shape == w.shape == inside.shape or v.shape != u.shape[1:]:
        raise ValueError(
            "changes need the shape (k,), influences and weights (n_prompts, k); got "
            f"{v.shape}, {u.shape}, {w.shape} and {inside.shape}."
        )
    m = np.broadcast_to(np.asarray(margin, dtype=np.float64), v.shape)
    if np.any(m <= 0):
        raise ValueError("a margin of equivalence must be above 0.")
    return v, u, w, inside, m

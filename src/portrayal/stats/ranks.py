"""Ranks: which places of an order can be told apart, and which cannot."""

import numpy as np

from portrayal.stats.tails import t_isf
from portrayal.types import FloatArray, IntArray


def rank_ranges(
    value: FloatArray, low: FloatArray, high: FloatArray, df: FloatArray, level: float = 0.95
) -> tuple[IntArray, IntArray]:
    """Return the first and the last place that each of n values may have; place 1 is the highest.

    All ranges together hold the true places with a probability of `level` at least, whatever the
    dependence of the values: each interval is widened to one that holds for all (Bonferroni), and
    two values whose widened intervals overlap cannot be told apart.

    Parameters
    ----------
    value, low, high
        Values with an interval of probability `level` each, on a scale on which errors add up
        (logarithms of ratios), shape (n,). Where one is not finite, any place is possible.
    df
        Degrees of freedom of each interval, shape (n,): clusters less one.
    level
        Confidence level of the intervals, and of all ranges together.

    References
    ----------
    Klein, Wright & Wieczorek (2020), A joint confidence region for an overall ranking of
    populations, Theorem 1.

    Examples
    --------
    >>> value, half = np.array([0.0, 0.1, 2.0]), 0.2
    >>> first, last = rank_ranges(value, value - half, value + half, np.full(3, 20.0))
    >>> first.tolist(), last.tolist()
    ([2, 2, 1], [3, 3, 1])
    """
    n, tail = len(value), (1.0 - level) / 2.0
    wider = t_isf(tail / max(n, 1), df) / t_isf(tail, df)
    with np.errstate(invalid="ignore"):
        bottom, top = value - wider * (value - low), value + wider * (high - value)
    bottom = np.where(np.isfinite(bottom), bottom, -np.inf)
    top = np.where(np.isfinite(top), top, np.inf)
    above = (bottom[None, :] > top[:, None]).sum(axis=1)
    below = (top[None, :] < bottom[:, None]).sum(axis=1)
    return 1 + above, n - below

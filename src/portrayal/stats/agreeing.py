"""Intervals that agree with a test."""

import numpy as np

from portrayal.types import FloatArray

_ROUNDING = 1e-12


def agreeing_interval(
    low: FloatArray,
    high: FloatArray,
    p: FloatArray,
    value: FloatArray,
    null: FloatArray,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Make intervals agree with p-values from another method.

    An interval is the set of values that tests do not refuse. Here the test at `null` has the
    p-value `p`, and the interval stands for the tests at all other values: both promises are kept.
    The interval grows to hold the null where p >= 1 - level, and ends just beside it, on the side
    of `value`, where p is smaller.

    Parameters
    ----------
    low, high, p, value, null
        Bounds, p-value of `null`, and estimate; shape (k,). Where bounds or p are NaN, both bounds
        of the result are.
    level
        A fraction.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    >>> one = np.ones(1)
    >>> low, high = agreeing_interval(1.1 * one, 2 * one, 0.2 * one, 1.5 * one, one, 0.95)
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    >>> low, high = agreeing_interval(0.9 * one, 2 * one, 0.01 * one, 1.5 * one, one, 0.95)
    >>> bool(low[0] > 1)
    True
    """
    if not 0 < level < 1:
        raise ValueError(f"the level must be a fraction between 0 and 1; got {level!r}.")
    refused = p < (1.0 - level) - _ROUNDING
    above = value > null
    least, most = np.nextafter(null, np.inf), np.nextafter(null, -np.inf)
    new_low = np.where(refused & above, np.maximum(low, least), np.minimum(low, null))
    new_low = np.where(refused & ~above, np.minimum(low, most), new_low)
    new_high = np.where(refused & ~above, np.minimum(high, most), np.maximum(high, null))
    new_high = np.where(refused & above, np.maximum(high, least), new_high)
    none = np.isnan(p) | np.isnan(low) | np.isnan(high)
    return np.where(none, np.nan, new_low), np.where(none, np.nan, new_high)

"""p-values of many tests, places of many values, intervals beside a test, and p of a printed one.

The last is as Shieh et al. (2025) make it.

The package's own defaults are the score, exact and clustered tests; the paper's are for comparison
with the published tables.
"""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level, divide
from portrayal.types import FloatArray

_ROUNDING = 1e-12
_WIDTH_OF_95 = 3.92
"""Width of a 95 % normal interval in standard errors, as Altman & Bland round it."""


def benjamini_hochberg(p: npt.ArrayLike) -> FloatArray:
    """Benjamini–Hochberg q-values of one family of tests.

    Parameters
    ----------
    p
        p-values in 0–1, any shape; the whole array is the family. NaN marks a test that could not
        be made: it stays NaN and does not count as a member.

    Returns
    -------
    q
        In the shape of `p`; the smallest false discovery rate at which the test is rejected.

    Raises
    ------
    ValueError
        Where a p-value lies outside 0–1.

    References
    ----------
    Benjamini & Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.02, 0.9])
    array([0.03, 0.03, 0.9 ])
    """
    values = np.asarray(p, dtype=np.float64)
    if np.any((values < 0) | (values > 1)):
        raise ValueError("p-values must lie between 0 and 1.")
    # What has no p is no test, and does not count in the family.
    present = ~np.isnan(values)
    q = np.full(values.shape, np.nan)
    if np.any(present):
        order = np.argsort(values[present])
        scaled = values[present][order] * order.size / np.arange(1, order.size + 1)
        # From the largest p down, so that a smaller p never has a larger q
        smallest = np.minimum.accumulate(scaled[::-1])[::-1]
        q[present] = np.minimum(1.0, smallest)[np.argsort(order)]
    return q


def holm(p: npt.ArrayLike) -> FloatArray:
    """Holm's (1979) p-values along axis 0: below a level, any error of the family is as rare.

    Parameters
    ----------
    p
        p-values in 0-1, shape (n_tests, ...); NaN marks a test that could not be made.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=np.float64)
    if np.any((values < 0) | (values > 1)):
        raise ValueError("p-values must lie between 0 and 1.")
    order = np.argsort(values, axis=0)  # NaN last
    n = np.sum(~np.isnan(values), axis=0)
    rank = np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1))
    sorted_p = np.take_along_axis(values, order, axis=0) * np.maximum(n - rank, 1)
    # from the smallest p up; fmax passes over NaN
    largest = np.minimum(1.0, np.fmax.accumulate(sorted_p, axis=0))
    adjusted = np.empty_like(values)
    np.put_along_axis(adjusted, order, largest, axis=0)
    return np.where(np.isnan(values), np.nan, adjusted)


def altman_bland_p(z: npt.ArrayLike) -> FloatArray:
    """P = exp(-0.717 |z| - 0.416 z²), an approximate two-sided normal p-value; NaN stays NaN.

    References
    ----------
    Altman & Bland (2011), How to obtain the P value from a confidence interval, BMJ 343:d2304;
    Shieh et al. (2025), section 4.6.

    Examples
    --------
    >>> altman_bland_p([0.0, 1.96]).round(3)
    array([1.  , 0.05])
    """
    size = np.abs(np.asarray(z, dtype=np.float64))
    return np.asarray(np.exp(-0.717 * size - 0.416 * size**2))


def z_from_interval(
    value: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, *, log: bool
) -> FloatArray:
    """Signed z of a ratio against 1, its standard error taken from a 95 % interval.

    Parameters
    ----------
    value, low, high
        The ratio and its 95 % bounds; they broadcast.
    log
        False for (value - 1) / ((high - low) / 3.92), used for representation ratios; True for
        ln value / ((ln high - ln low) / 3.92), used for subordination ratios.

    Returns
    -------
    z
        NaN where the interval has no width and, with `log`, where a figure is not
        positive and finite.

    Raises
    ------
    ValueError
        Where a lower bound exceeds its upper bound.

    Examples
    --------
    >>> float(z_from_interval(1.5, 1.0, 2.0, log=False).round(2))
    1.96
    """
    value, low, high = (np.asarray(part, dtype=np.float64) for part in (value, low, high))
    if np.any(low > high):
        raise ValueError("an interval's lower bound cannot exceed its upper bound.")
    if log:
        value, low, high = (
            np.log(np.where((part > 0) & np.isfinite(part), part, np.nan))
            for part in (value, low, high)
        )
    else:
        value = value - 1.0
    return divide(value, np.where(high > low, high - low, np.nan) / _WIDTH_OF_95)


def inverted_toward_null(
    bounds: tuple[npt.ArrayLike, npt.ArrayLike],
    inverted: tuple[npt.ArrayLike, npt.ArrayLike],
    p: npt.ArrayLike,
    value: npt.ArrayLike,
    null: npt.ArrayLike,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Take the end toward the null from the inversion of the test, where interval and test differ.

    Interval and test may come from two methods, of which each is the better at what it does. Where
    one allows the null and the other does not, the end between value and null is that of the test.

    Parameters
    ----------
    bounds, inverted
        Lower and upper bounds by the one method, and by inversion of the test; shape (k,) each.
    p, value, null
        Of the test of `null`, and the estimates; shape (k,). NaN where there is no test.
    level
        A fraction.

    Returns
    -------
    low, high
        p < 1 - level exactly where they leave out the null, if so for `inverted`.

    >>> one = np.ones(1)
    >>> bounds, inverted = (0.9 * one, 2.0 * one), (1.1 * one, 1.9 * one)
    >>> p, value = 0.01 * one, 1.5 * one
    >>> [float(x[0]) for x in inverted_toward_null(bounds, inverted, p, value, one, 0.95)]
    [1.1, 2.0]
    """
    low, high, p, value, null = (np.asarray(x, dtype=np.float64) for x in (*bounds, p, value, null))
    differ = (p < 1.0 - check_level(level) - _ROUNDING) == ((low <= null) & (null <= high))
    differ = differ & ~(np.isnan(p) | np.isnan(low) | np.isnan(high))
    low = np.where(differ & (value > null), inverted[0], low)
    return low, np.where(differ & (value < null), inverted[1], high)

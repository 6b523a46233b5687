"""The ratio of two independent proportions, (k1 / n1) / (k2 / n2): value and Katz interval.

Counts may be fractional; all arguments broadcast. A ratio of something to nothing is +inf, a ratio
of nothing to nothing, or of empty totals, is NaN.
"""

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_counts, check_not_negative, divide, normal_quantile
from portrayal.stats.tails import normal_sf
from portrayal.types import FloatArray


def smooth(
    k: npt.ArrayLike, n: npt.ArrayLike, smoothing: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Laplace smoothing: k + s of n + 2 s, one pseudo-count s for "in" and one for "out".

    `smoothing` (s >= 0) broadcasts, so that `np.where((k1 == 0) | (k2 == 0), 1.0, 0.0)` smooths
    only where a count is zero, as Fig. 3a of Shieh et al. (2025) does. With s > 0 an empty total
    becomes s of 2 s; leave such cells out beforehand.

    Examples
    --------
    >>> smooth(0, 10, 1.0)
    (np.float64(1.0), np.float64(12.0))
    """
    k, n = check_counts(k, n)
    s = check_not_negative("smoothing", smoothing)
    return k + s, n + 2.0 * s


def ratio(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    smoothing: npt.ArrayLike = 0.0,
) -> FloatArray:
    """(k1 / n1) / (k2 / n2), after `smooth`; +inf where only k2 is 0, NaN where both are.

    Raises ValueError for impossible counts. Shieh et al. (2025), Eq. 3, with 1 the subordinate and
    2 the dominant role.

    Examples
    --------
    >>> float(ratio(30, 100, 20, 100))
    1.4999999999999998
    """
    k1, n1 = smooth(k1, n1, smoothing)
    k2, n2 = smooth(k2, n2, smoothing)
    return divide(divide(k1, n1), divide(k2, n2))


def katz_log(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    level: float,
    smoothing: npt.ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Katz log interval: exp(ln R ± z sqrt(1/k1 - 1/n1 + 1/k2 - 1/n2)), after `smooth`.

    Returns
    -------
    low, high
        Bounds of the ratio in the broadcast shape. NaN where it is undefined: a count of 0 (use
        `smoothing`), or both shares exactly 1, whose standard error is 0.

    Raises
    ------
    ValueError
        For impossible counts, negative smoothing, or a level outside (0, 1).

    References
    ----------
    Katz et al. (1978), Obtaining confidence intervals for the risk ratio in cohort studies.

    Examples
    --------
    >>> low, high = katz_log(30, 100, 20, 100, level=0.95)
    >>> (float(low.round(3)), float(high.round(3)))
    (0.916, 2.456)
    """
    z = normal_quantile(level)
    k1, n1 = smooth(k1, n1, smoothing)
    k2, n2 = smooth(k2, n2, smoothing)
    variance = divide(n1 - k1, k1 * n1) + divide(n2 - k2, k2 * n2)
    defined = np.isfinite(variance) & (variance > 0)
    half = z * np.sqrt(np.where(defined, variance, np.nan))
    centre = np.log(np.where(defined, divide(k1 * n2, k2 * n1), np.nan))
    return np.exp(centre - half), np.exp(centre + half)


def score_ratio_test(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Two-sided pooled score z test of equal proportions.

    Returns p-values in 0–1 in the broadcast shape; NaN where the pooled share is 0 or 1 or a total
    is empty. Raises ValueError for impossible counts.

    Examples
    --------
    >>> float(score_ratio_test(30, 100, 20, 100).round(4))
    0.1025
    """
    k1, n1, k2, n2 = _broadcast_cells(k1, n1, k2, n2)
    pooled = divide(k1 + k2, n1 + n2)
    variance = pooled * (1.0 - pooled) * (divide(1.0, n1) + divide(1.0, n2))
    z = divide(divide(k1, n1) - divide(k2, n2), np.sqrt(variance))
    return np.asarray(2.0 * normal_sf(np.abs(np.where(variance > 0, z, np.nan))))


def _broadcast_cells(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    a, b, c, d = np.broadcast_arrays(*check_counts(k1, n1), *check_counts(k2, n2))
    return a, b, c, d

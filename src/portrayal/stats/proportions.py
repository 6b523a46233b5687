"""One proportion: its Wilson interval and its tests against a fixed share.

Counts may be fractional (`k` is a sum of likelihoods); `k` and `n` broadcast.
"""

import numpy as np
import numpy.typing as npt
from scipy import stats

from portrayal.stats._arguments import (
    TOLERANCE,
    FloatArray,
    check_counts,
    check_inside_unit,
    divide,
    normal_quantile,
)


def wilson(k: npt.ArrayLike, n: npt.ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of the share k / n.

    Parameters
    ----------
    k, n
        Counts and totals, any shapes that broadcast; both may be fractional.
    level
        Confidence level, a fraction such as 0.95.

    Returns
    -------
    low, high
        Bounds in 0–1, in the broadcast shape; NaN where n is 0 or an input is NaN.

    Raises
    ------
    ValueError
        For negative or infinite counts, k > n, or a level outside (0, 1).

    References
    ----------
    Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference.
    Shieh et al. (2025), section 4.6, divide these bounds by the baseline share p*.
    """
    z = normal_quantile(level)
    k, n = check_counts(k, n)
    share = divide(k, n)
    variance = divide(share * (1.0 - share), n) + divide(z**2, 4.0 * n**2)
    shrink = 1.0 + divide(z**2, n)
    centre = (share + divide(z**2, 2.0 * n)) / shrink
    half = z * np.sqrt(variance) / shrink
    # At the ends the bounds are exactly 0 and 1; rounding would leave them slightly inside.
    low = np.where(share == 0.0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(share == 1.0, 1.0, np.minimum(centre + half, 1.0))
    return low, high


def score_test(k: npt.ArrayLike, n: npt.ArrayLike, p0: npt.ArrayLike) -> FloatArray:
    """Two-sided score z test of the share k / n against the fixed share `p0`.

    Parameters
    ----------
    k, n
        Counts and totals, possibly fractional.
    p0
        Share under the null hypothesis, inside (0, 1).

    Returns
    -------
    p
        p-values in 0–1 in the broadcast shape; NaN where n is 0 or an input is NaN. It is below
        1 - level exactly where `p0` lies outside `wilson` at that level.

    Raises
    ------
    ValueError
        For impossible counts, or `p0` outside (0, 1).
    """
    k, n = check_counts(k, n)
    p0 = check_inside_unit("p0", p0)
    z = (divide(k, n) - p0) / np.sqrt(divide(p0 * (1.0 - p0), n))
    return np.asarray(2.0 * stats.norm.sf(np.abs(z)), dtype=np.float64)


def exact_test(k: npt.ArrayLike, n: npt.ArrayLike, p0: npt.ArrayLike) -> FloatArray:
    """Two-sided exact binomial test of k out of n against the fixed share `p0`.

    Parameters
    ----------
    k, n
        Counts and totals; the test exists for whole counts only.
    p0
        Share under the null hypothesis, inside (0, 1).

    Returns
    -------
    p
        p-values in 0–1 in the broadcast shape (minimum-likelihood method, as
        `scipy.stats.binomtest`); NaN where a count is fractional, n is 0, or an input is NaN.

    Raises
    ------
    ValueError
        For impossible counts, or `p0` outside (0, 1).
    """
    k, n = check_counts(k, n)
    k, n, p0 = np.broadcast_arrays(k, n, check_inside_unit("p0", p0))
    p = np.full(k.shape, np.nan)
    testable = _is_whole(k) & _is_whole(n) & (n > 0.5) & ~np.isnan(p0)
    pairs = zip(k[testable].tolist(), n[testable].tolist(), p0[testable].tolist(), strict=True)
    p[testable] = [stats.binomtest(round(a), round(b), share).pvalue for a, b, share in pairs]
    return p


def _is_whole(counts: FloatArray) -> npt.NDArray[np.bool_]:
    """Where counts are whole numbers, up to rounding; False for NaN."""
    return np.asarray(np.abs(counts - np.round(counts)) <= TOLERANCE * np.maximum(1.0, counts))

"""Score inference for the ratio of two independent proportions, valid where a count is 0."""

import numpy as np
import numpy.typing as npt
from scipy import stats

from portrayal.stats._arguments import FloatArray, check_counts, divide, normal_quantile
from portrayal.stats.ratios import ratio

_WIDEST_LOG_RATIO = 100.0
_HALVINGS = 64


def score_ratio_interval(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]:
    """Koopman's score interval of the ratio, valid where a count is 0.

    It holds the ratios that a score test with constrained maximum-likelihood shares does not
    reject (Miettinen & Nurminen's without their factor N / (N - 1)), found by bisection.

    Returns
    -------
    low, high
        Bounds in the broadcast shape: low is 0 where k1 is 0, high is +inf where k2 is 0; NaN
        where the ratio itself is undefined (both counts 0, or an empty total).

    Raises
    ------
    ValueError
        For impossible counts, or a level outside (0, 1).

    References
    ----------
    Koopman (1984), Confidence intervals for the ratio of two binomial proportions.
    Miettinen & Nurminen (1985), Comparative analysis of two rates, Eq. 11 and Appendix I.
    """
    z = normal_quantile(level)
    cells = _broadcast_cells(k1, n1, k2, n2)
    k1, n1, k2, n2 = cells
    defined = ~np.isnan(ratio(k1, n1, k2, n2))
    low = np.where(k1 > 0, np.exp(_root_of_score(*cells, z)), 0.0)
    high = np.where(k2 > 0, np.exp(_root_of_score(*cells, -z)), np.inf)
    return np.where(defined, low, np.nan), np.where(defined, high, np.nan)


def score_ratio_test(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Two-sided pooled score z test of equal proportions, `score_ratio_interval`'s at ratio 1.

    Returns p-values in 0–1 in the broadcast shape; NaN where the pooled share is 0 or 1 or a total
    is empty. Raises ValueError for impossible counts.
    """
    k1, n1, k2, n2 = _broadcast_cells(k1, n1, k2, n2)
    pooled = divide(k1 + k2, n1 + n2)
    variance = pooled * (1.0 - pooled) * (divide(1.0, n1) + divide(1.0, n2))
    z = divide(divide(k1, n1) - divide(k2, n2), np.sqrt(variance))
    return np.asarray(2.0 * stats.norm.sf(np.abs(np.where(variance > 0, z, np.nan))))


def _broadcast_cells(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    a, b, c, d = np.broadcast_arrays(*check_counts(k1, n1), *check_counts(k2, n2))
    return a, b, c, d


def _root_of_score(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, z: float
) -> FloatArray:
    """The log ratio at which the score, which falls as the ratio grows, equals `z`."""
    low = np.full(k1.shape, -_WIDEST_LOG_RATIO)
    high = np.full(k1.shape, _WIDEST_LOG_RATIO)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = _score(k1, n1, k2, n2, np.exp(middle)) > z
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2.0)


def _score(
    k1: FloatArray, n1: FloatArray, k2: FloatArray, n2: FloatArray, null: FloatArray
) -> FloatArray:
    """Score z for p1 = null · p2, with shares at their maximum likelihood under that null."""
    b = null * (n1 + k2) + k1 + n2
    root = np.sqrt(np.maximum(b**2 - 4.0 * null * (n1 + n2) * (k1 + k2), 0.0))
    p2 = divide(2.0 * (k1 + k2), b + root)  # the smaller root, in the form that does not cancel
    p1 = np.minimum(null * p2, 1.0)
    variance = divide(p1 * (1.0 - p1), n1) + null**2 * divide(p2 * np.maximum(1.0 - p2, 0.0), n2)
    difference = divide(k1, n1) - null * divide(k2, n2)
    score = divide(difference, np.sqrt(variance))
    return np.where(difference == 0.0, 0.0, score)

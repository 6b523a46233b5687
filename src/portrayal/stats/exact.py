"""Exact bounds of a proportion, for counts of 0 among them."""

import numpy as np
import numpy.typing as npt
from scipy import stats

from portrayal.stats._arguments import FloatArray, check_counts, check_level


def clopper_pearson(
    k: npt.ArrayLike, n: npt.ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]:
    """Clopper–Pearson interval of the share k / n.

    Parameters
    ----------
    k, n
        Counts and totals, any shapes that broadcast.
    level
        Confidence level, a fraction such as 0.95; each side leaves out half of the rest.

    Returns
    -------
    low, high
        Bounds in 0–1; NaN where n is 0 or an input is NaN. They hold at least at `level`, and are 0
        at k = 0 and 1 at k = n.

    Raises
    ------
    ValueError
        For negative or infinite counts, k > n, or a level outside (0, 1).

    References
    ----------
    Clopper & Pearson (1934), The use of confidence or fiducial limits illustrated in the case of
    the binomial.
    """
    tail = (1.0 - check_level(level)) / 2.0
    k, n = check_counts(k, n)
    k, n = np.broadcast_arrays(k, n)
    known = (n > 0) & ~np.isnan(k)
    inside_low, inside_high = known & (k > 0), known & (k < n)
    low, high = np.where(known, 0.0, np.nan), np.where(known, 1.0, np.nan)
    low[inside_low] = stats.beta.ppf(tail, k[inside_low], (n - k + 1)[inside_low])
    high[inside_high] = stats.beta.isf(tail, (k + 1)[inside_high], (n - k)[inside_high])
    return low, high


def upper_of_none(n: npt.ArrayLike, level: float) -> FloatArray:
    """Largest share that would still show 0 of n with probability 1 - level: one-sided and exact.

    Close to 3 / n at the level 0.95, the "rule of three" (Hanley & Lippman-Hand 1983, If nothing
    goes wrong, is everything all right?); NaN where n is 0. Raises ValueError for negative n.
    """
    n = np.asarray(n, dtype=np.float64)
    if np.any(n < 0):
        raise ValueError("n must be 0 or more.")
    rest = np.log(1.0 - check_level(level))
    return np.asarray(-np.expm1(rest / np.where(n > 0, n, np.nan)))

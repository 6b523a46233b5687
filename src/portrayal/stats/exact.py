"""Exact bounds of a proportion, for counts of 0 among them, and exact counts by chance."""

from collections import Counter

import numpy as np
import numpy.typing as npt
from scipy import stats

from portrayal.stats._arguments import FloatArray, check_counts, check_level

_TIE = 1e-7
"""Probabilities closer than this, relatively, are equal."""


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


def count_by_chance(
    total: npt.ArrayLike, marked: npt.ArrayLike, drawn: npt.ArrayLike
) -> tuple[int, FloatArray]:
    """Distribution of the marked units among those drawn, where every block draws at random.

    Parameters
    ----------
    total, marked, drawn
        Units of each block, how many of them are marked, and how many are drawn; shape (n_blocks,),
        whole numbers.

    Returns
    -------
    lowest, probability
        The smallest count that can be, and the probability of it and of each higher one: a sum of
        hypergeometric counts, as labels permuted within blocks give.

    Raises
    ------
    ValueError
        For negative numbers, or more marked or drawn than there are.

    References
    ----------
    Gart (1970), Point and interval estimation of the common odds ratio in the combination of 2 × 2
    tables with fixed marginals.
    """
    blocks = np.stack(np.broadcast_arrays(*map(np.atleast_1d, (total, marked, drawn))), axis=-1)
    if blocks.size and (np.any(blocks < 0) or np.any(blocks[:, 1:].max(1) > blocks[:, 0])):
        raise ValueError("each block needs 0 <= marked <= total and 0 <= drawn <= total.")
    lowest, found = 0, np.ones(1)
    for (n, k, m), times in sorted(Counter(map(tuple, blocks.tolist())).items()):
        low, high = max(0, m + k - n), min(k, m)
        lowest += times * low
        if high > low:
            one = stats.hypergeom.pmf(np.arange(low, high + 1), n, k, m)
            for _ in range(times):
                found = np.convolve(found, one)
    return lowest, found


def chance_range(lowest: int, probability: npt.ArrayLike, level: float) -> tuple[int, int]:
    """Smallest and largest count of the central `level` of what `count_by_chance` gives."""
    tail = (1.0 - check_level(level)) / 2.0
    known = np.asarray(probability, dtype=np.float64)
    below, above = np.cumsum(known), np.cumsum(known[::-1])
    low, high = int(np.argmax(below > tail)), known.size - 1 - int(np.argmax(above > tail))
    return lowest + low, lowest + high


def chance_p(observed: int, lowest: int, probability: npt.ArrayLike) -> float:
    """Two-sided p of a count: the probability of all counts no likelier than it (Fisher's test).

    NaN for a count that cannot be.
    """
    known = np.asarray(probability, dtype=np.float64)
    at = observed - lowest
    if not 0 <= at < known.size:
        return float("nan")
    return float(min(1.0, known[known <= known[at] * (1 + _TIE)].sum()))

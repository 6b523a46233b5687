"""One proportion, its intervals and its tests against a fixed share; and the ratio of two.

Counts may be fractional (`k` is a sum of likelihoods), and all arguments broadcast. A ratio,
(k1 / n1) / (k2 / n2), of something to nothing is +inf; of nothing to nothing, or of empty totals,
it is NaN.
"""

from collections import Counter

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import (
    TOLERANCE,
    check_counts,
    check_inside_unit,
    check_level,
    check_not_negative,
    divide,
    divide_or_zero,
    normal_quantile,
)
from portrayal.stats.p_values import inverted_toward_null
from portrayal.stats.tails import (
    beta_isf,
    beta_ppf,
    binomial_pmf,
    hypergeometric_pmf,
    normal_isf,
    normal_sf,
)
from portrayal.types import FloatArray

_TIE = 1e-7
"""Probabilities closer than this, relatively, are equal."""
_HALVINGS = 40


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

    Examples
    --------
    >>> low, high = clopper_pearson(3, 10, 0.95)
    >>> (float(low.round(3)), float(high.round(3)))
    (0.067, 0.652)
    """
    tail = (1.0 - check_level(level)) / 2.0
    k, n = check_counts(k, n)
    k, n = np.broadcast_arrays(k, n)
    defined = (n > 0) & ~np.isnan(k)
    inside_low, inside_high = defined & (k > 0), defined & (k < n)
    low, high = np.where(defined, 0.0, np.nan), np.where(defined, 1.0, np.nan)
    # Only inside: at k = 0 or k = n the beta distribution has a parameter of 0
    low[inside_low] = beta_ppf(tail, k[inside_low], (n - k + 1)[inside_low])
    high[inside_high] = beta_isf(tail, (k + 1)[inside_high], (n - k)[inside_high])
    return low, high


def upper_of_none(n: npt.ArrayLike, level: float) -> FloatArray:
    """Largest share that would still show 0 of n with probability 1 - level: one-sided and exact.

    Close to 3 / n at the level 0.95, the "rule of three" (Hanley & Lippman-Hand 1983, If nothing
    goes wrong, is everything all right?); NaN where n is 0. Raises ValueError for negative n.

    Examples
    --------
    >>> float(upper_of_none(100, 0.95).round(4))
    0.0295
    """
    n = np.asarray(n, dtype=np.float64)
    if np.any(n < 0):
        raise ValueError("n must be 0 or more.")
    log_error = np.log(1.0 - check_level(level))
    # exact for large n, where 1 - x would lose all digits
    return np.asarray(-np.expm1(log_error / np.where(n > 0, n, np.nan)))


def count_by_chance(
    total: npt.ArrayLike, marked: npt.ArrayLike, draws: npt.ArrayLike
) -> tuple[int, FloatArray]:
    """Distribution of the marked units among those drawn, where every block draws at random.

    Parameters
    ----------
    total, marked, draws
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
    blocks = np.stack(np.broadcast_arrays(*map(np.atleast_1d, (total, marked, draws))), axis=-1)
    if blocks.size and (np.any(blocks < 0) or np.any(blocks[:, 1:].max(1) > blocks[:, 0])):
        raise ValueError("each block needs 0 <= marked <= total and 0 <= drawn <= total.")
    lowest, pmf = 0, np.ones(1)
    # Equal blocks once: studies have many prompts of one size
    for (n, k, m), times in sorted(Counter(map(tuple, blocks.tolist())).items()):
        low, high = max(0, m + k - n), min(k, m)
        lowest += times * low
        if high > low:
            one = hypergeometric_pmf(n, k, m)
            for _ in range(times):
                pmf = np.convolve(pmf, one)  # the sum of independent counts
    return lowest, pmf


def chance_p(observed: int, lowest: int, probability: npt.ArrayLike) -> float:
    """Two-sided p of a count: the probability of all counts no likelier than it (Fisher's test).

    NaN for a count that cannot be.
    """
    pmf = np.asarray(probability, dtype=np.float64)
    index = observed - lowest
    if not 0 <= index < pmf.size:
        return float("nan")
    return float(min(1.0, pmf[pmf <= pmf[index] * (1 + _TIE)].sum()))


def count_differences(
    counts: tuple[FloatArray, FloatArray], totals: tuple[FloatArray, FloatArray], level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound and test the mean over blocks of the difference of two shares, of these very blocks.

    Parameters
    ----------
    counts, totals
        Of both sides, shape (n_blocks, k) each, whole numbers; a block counts where both totals are
        above 0.
    level
        Confidence level, a fraction.

    Returns
    -------
    low, high, p
        Shape (k,). p is exact: units change sides at random within blocks. Bounds are those of the
        score of the difference, and leave out 0 exactly where p is below 1 - level. NaN without a
        block, or where all units are alike.

    References
    ----------
    Gart (1970), see `count_by_chance`; Miettinen & Nurminen (1985), Comparative analysis of two
    rates, Statistics in Medicine 4.

    Examples
    --------
    >>> a, b, n, m = (np.array([[x]]) for x in (9.0, 2.0, 146.0, 132.0))
    >>> [round(float(x[0]), 3) for x in count_differences((a, b), (n, m), 0.95)]
    [-0.003, 0.1, 0.064]
    """
    z, both = normal_quantile(level), (totals[0] > 0) & (totals[1] > 0)
    a, b, n, m = (np.where(both, x, 0.0) for x in (*counts, *totals))
    weight = divide(both, both.sum(0))
    value = (weight * divide_or_zero(a, n)).sum(0) - (weight * divide_or_zero(b, m)).sum(0)
    p = np.full(len(value), np.nan)
    for i in np.flatnonzero(((a + b).sum(0) > 0) & ((n + m - a - b).sum(0) > 0)).tolist():
        blocks = (np.rint(x[:, i]).astype(np.int64) for x in (n + m, a + b, n))
        p[i] = chance_p(round(a[:, i].sum()), *count_by_chance(*blocks))
    ends = []
    for end in (-1.0, 1.0):  # where the score reaches its quantile, by halving
        inner, outer = value.copy(), np.full_like(value, end)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2.0
            variance = (weight**2 * _variance_at(middle, a, n, b, m)).sum(0)
            inside = (value - middle) ** 2 <= z**2 * variance
            inner, outer = np.where(inside, middle, inner), np.where(inside, outer, middle)
        ends.append(np.where(np.isnan(p), np.nan, inner))
    # Where the two disagree of 0, the test decides.
    reach = z * divide(np.abs(value), normal_isf(np.maximum(p, 1e-300) / 2.0))
    by_test = (value - reach, value + reach)
    low, high = inverted_toward_null((ends[0], ends[1]), by_test, p, value, 0.0 * value, level)
    return low, high, p


def _variance_at(
    difference: FloatArray, a: FloatArray, n: FloatArray, b: FloatArray, m: FloatArray
) -> FloatArray:
    """Variance of the difference a / n - b / m of each block if it is that of shape (k,).

    The shares are those that make the counts likeliest, the root of a cubic.
    """
    d, total = np.broadcast_to(difference, a.shape), n + m
    third = divide_or_zero((n + 2.0 * m) * d - total - a - b, 3.0 * total)
    first = divide_or_zero((m * d - total - 2.0 * b) * d + a + b, 3.0 * total)
    q = third**3 - 1.5 * third * first + divide_or_zero(b * d * (1.0 - d), 2.0 * total)
    size = np.where(q < 0, -1.0, 1.0) * np.sqrt(np.maximum(third**2 - first, 0.0))
    angle = (np.pi + np.arccos(np.clip(divide_or_zero(q, size**3), -1.0, 1.0))) / 3.0
    second = np.clip(2.0 * size * np.cos(angle) - third, 0.0, 1.0)
    one = np.clip(second + d, 0.0, 1.0)
    sides = divide_or_zero(one * (1.0 - one), n) + divide_or_zero(second * (1.0 - second), m)
    return np.asarray(sides * divide_or_zero(total, total - 1.0))


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

    Examples
    --------
    >>> low, high = wilson(3, 10, 0.95)
    >>> (float(low.round(3)), float(high.round(3)))
    (0.108, 0.603)
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
    return low, np.where(share == 1.0, 1.0, np.minimum(centre + half, 1.0))


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

    Examples
    --------
    >>> float(score_test(60, 100, 0.5).round(4))
    0.0455
    """
    k, n = check_counts(k, n)
    p0 = check_inside_unit("p0", p0)
    z = (divide(k, n) - p0) / np.sqrt(divide(p0 * (1.0 - p0), n))
    return np.asarray(2.0 * normal_sf(np.abs(z)), dtype=np.float64)


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

    Examples
    --------
    >>> float(exact_test(60, 100, 0.5).round(4))
    0.0569
    """
    k, n = check_counts(k, n)
    k, n, p0 = np.broadcast_arrays(k, n, check_inside_unit("p0", p0))
    p = np.full(k.shape, np.nan)
    testable = _is_whole(k) & _is_whole(n) & (n > 0.5) & ~np.isnan(p0)
    pairs = zip(k[testable].tolist(), n[testable].tolist(), p0[testable].tolist(), strict=True)
    p[testable] = [chance_p(round(a), 0, binomial_pmf(round(b), share)) for a, b, share in pairs]
    return p


def _is_whole(counts: FloatArray) -> npt.NDArray[np.bool_]:
    """Where counts are whole numbers, up to rounding; False for NaN."""
    return np.asarray(np.abs(counts - np.round(counts)) <= TOLERANCE * np.maximum(1.0, counts))


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
    k1, n1, k2, n2 = np.broadcast_arrays(*check_counts(k1, n1), *check_counts(k2, n2))
    pooled = divide(k1 + k2, n1 + n2)
    variance = divide(pooled * (1.0 - pooled), n1) + divide(pooled * (1.0 - pooled), n2)
    z = divide(divide(k1, n1) - divide(k2, n2), np.sqrt(variance))
    return np.asarray(2.0 * normal_sf(np.abs(np.where(variance > 0, z, np.nan))))


def cohens_d(mean: npt.ArrayLike, reference: npt.ArrayLike, sd: npt.ArrayLike) -> FloatArray:
    """Cohen's d of a mean against a fixed reference: (mean - reference) / sd.

    Parameters
    ----------
    mean, reference
        Observed share and baseline share, fractions in 0–1; they broadcast.
    sd
        Standard deviation of the single observations: of the fractional likelihoods for race,
        sqrt(p (1 - p)) for gender and couples.

    Returns
    -------
    d
        In standard deviations; NaN where `sd` is 0.

    Raises
    ------
    ValueError
        Where `sd` is negative or infinite.

    References
    ----------
    Shieh et al. (2025), section 4.6 and Tables S13a–d; their gender rows are too small by a factor
    of sqrt(10), which is left out here.

    Examples
    --------
    >>> float(cohens_d(0.6, 0.5, 0.2).round(2))
    0.5
    """
    spread = check_not_negative("sd", sd)
    difference = np.asarray(mean, dtype=np.float64) - np.asarray(reference, dtype=np.float64)
    return divide(difference, np.where(spread > 0, spread, np.nan))

"""Intervals and tests of clustered shares, ratios and means, valid for few prompts and rare groups.

Texts are clustered by prompt, and prompts are the independent unit. Every function takes sums per
prompt, arrays of shape (n_prompts, n_groups), and answers for all groups at once. Interval and test
come from one function of the null value, so p is below 1 - level exactly where the null lies
outside the interval. `stats/design_effect.py` says how a share is inferred.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level, divide, divide_or_zero
from portrayal.stats.design_effect import (
    FLAT,
    ByGroup,
    Evidence,
    clustered_variance,
    effective_number,
    evidence_interval,
    evidence_p,
    share_evidence,
)
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray, IntArray

Sums = tuple[npt.ArrayLike, npt.ArrayLike]
"""Counts and totals (or sums and numbers of units) per prompt, shape (n_prompts, n_groups) each."""

NO_UNITS = "no unit of this group"
ONE_PROMPT = "one prompt alone says nothing about others"
NO_SPREAD = "the prompts do not differ, or the variance is undefined"
TOO_FEW = "too few prompts carry the group for a valid test"
NO_NULL = "no null value, or one that no share can take"

_LEAST_WITHIN = 0.01  # part of the variance of independent units below which texts are copies


@dataclass(frozen=True)
class Clustered(ByGroup):
    """Values of many groups with intervals and p-values; every field has shape (n_groups,).

    Attributes
    ----------
    value, low, high
        Estimate and bounds, in the unit of the estimate (share in 0–1, ratio, mean). NaN where
        undefined; a bound may be 0 or +inf where a count is 0.
    p
        Two-sided p-value in 0–1; NaN where `reason` says why.
    n_clusters
        Prompts in which the denominator occurs.
    carriers
        Effective number of prompts that carry the group: (sum c)² / sum c² of its counts c.
    df
        Degrees of freedom of the variance; 0 where the prompts do not differ.
    reason
        Why there is no p-value; "" where there is one.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    n_clusters: IntArray
    carriers: FloatArray
    df: FloatArray
    reason: npt.NDArray[np.str_]


def infer_shares(
    count: npt.ArrayLike,
    total: npt.ArrayLike,
    level: float,
    null: npt.ArrayLike = np.nan,
    squares: npt.ArrayLike | None = None,
) -> Clustered:
    """Infer clustered shares, sum count / sum total, and test them against fixed shares.

    For a ratio to a constant p* and a null R0, pass `null = R0 * p_star` and divide value and
    bounds by p*.

    Parameters
    ----------
    count, total
        Per prompt, shape (n_prompts, n_groups), 0 or more, count at most total; may be fractional.
    level
        Confidence level, a fraction such as 0.95.
    null
        Shares to test, shape (n_groups,) or one number; NaN for none.
    squares
        Sums per prompt of the units' squared contributions, same shape; equal to `count` for units
        that count 0 or 1, which is the default and cautious for fractional ones.

    Returns
    -------
    Clustered
        Interval from two prompts on; p in the same groups where `null` lies inside (0, 1).

    Raises
    ------
    ValueError
        For arrays of unlike shape, negative or infinite sums, counts above their totals, or a level
        outside (0, 1).

    References
    ----------
    Korn & Graubard (1998), Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data. Franco, Little, Louis & Slud (2019), Comparative
    study of confidence intervals for proportions in complex sample surveys. Bell & McCaffrey
    (2002), Bias reduction in standard errors for linear regression with multi-stage samples.

    Examples
    --------
    >>> found = infer_shares([[3.0], [5.0], [2.0], [6.0]], [[10.0]] * 4, 0.95, null=0.2)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [0.4, 0.17, 0.671, 0.082]
    """
    a, n = _pair(count, total)
    squared = a if squares is None else _sums("squares", squares)
    evidence = share_evidence(a, n, squared)
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), evidence.share.shape)
    inside = (tested > 0) & (tested < 1)
    clusters = (n > 0).sum(0)
    reason = np.select(
        [n.sum(0) <= 0, clusters < 2, ~inside], [NO_UNITS, ONE_PROMPT, NO_NULL], default=""
    )
    # One prompt has a share and nothing else: no posterior need be computed to say so.
    estimable = (clusters >= 2) & (n.sum(0) > 0)
    low, high, p = (np.full(estimable.shape, np.nan) for _ in range(3))
    low[estimable], high[estimable] = evidence_interval(evidence.of(estimable), level)
    p[estimable] = evidence_p(evidence.of(estimable), np.where(inside, tested, np.nan)[estimable])
    low, high = agree(low, high, tested, p, level)
    carriers = effective_number(a)
    return Clustered(evidence.share, low, high, p, clusters, carriers, evidence.df, reason)


def infer_fixed_shares(
    count: npt.ArrayLike,
    total: npt.ArrayLike,
    level: float,
    null: npt.ArrayLike = np.nan,
    squares: npt.ArrayLike | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound and test shares of these very prompts: chance is in their texts alone.

    The variance is that of texts within prompts, so prompts may differ as they like. Parameters as
    in `infer_shares`.

    Returns
    -------
    low, high, p
        Shape (n_groups,): effective binomial (mid-p) with as many independent units as have the
        variance within prompts; NaN without units, and p without a null inside (0, 1).

    Examples
    --------
    >>> low, high, p = infer_fixed_shares([[9.0], [1.0]], [[10.0], [10.0]], 0.95, null=0.7)
    >>> [round(float(x[0]), 3) for x in (low, high, p)]
    [0.363, 0.637, 0.003]
    """
    a, n = _pair(count, total)
    size, share = n.sum(0), divide(a.sum(0), n.sum(0))
    squared = a if squares is None else _sums("squares", squares)
    # As many independent units as have the variance within prompts.
    units = divide(share * (1.0 - share), within_variance(a, n, squared))
    units = np.where(np.isfinite(units), units, size)
    ones, none = np.ones_like(share), np.zeros_like(share)
    # No design effect is left; a range of it around 1 has a width for the quadrature alone.
    evidence = Evidence(share, np.where(size > 0, units, np.nan), ones, none, ones, ones * 1.000001)
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), share.shape)
    inside = (tested > 0) & (tested < 1)
    low, high = evidence_interval(evidence, level)
    return low, high, evidence_p(evidence, np.where(inside, tested, np.nan))


def infer_fixed_means(
    value: FloatArray, cluster: IntArray, noise: FloatArray, df: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bound and test means of these very units: chance is in what is said of them alone.

    Parameters
    ----------
    value
        Of each unit, shape (n_units, k); NaN where there is none.
    cluster
        Code of what each unit was made from, shape (n_units,).
    noise, df
        Variance of each value if the same were asked again, and its degrees of freedom, shape
        (n_units, k); NaN where nothing was asked twice. Where it is not known of every unit, units
        of one cluster are taken as repetitions, if there are two or more to a cluster on average.
    level
        Confidence level, a fraction.

    Returns
    -------
    low, high, p
        Shape (k,): Student's t against 0 with Satterthwaite's degrees of freedom; NaN where nothing
        was repeated, or where repetitions never differ.

    Examples
    --------
    >>> ones = np.ones((3, 1))
    >>> low, high, p = infer_fixed_means(ones, np.arange(3), 0.03 * ones, 10.0 * ones, 0.95)
    >>> [round(float(x[0]), 3) for x in (low, high, p)]
    [0.796, 1.204, 0.0]
    """
    present = ~np.isnan(value)
    n, x = present.sum(0), np.where(present, value, 0.0)
    mean, codes = divide(x.sum(0), n), np.unique(cluster, return_inverse=True)[1]
    total, count = (
        sums_by(codes, int(codes.max(initial=-1)) + 1, sums) for sums in (x, present * 1.0)
    )
    # Units of one cluster, off its mean: what chance does to each of them.
    off = np.where(present, x - divide_or_zero(total, count)[codes], 0.0)
    free = np.maximum(count - 1.0, 0.0).sum(0)
    # A few clusters of two units say little of what chance does to all the others.
    free = np.where(2.0 * free >= n, free, np.nan)
    variance = divide(divide((off * off).sum(0), free), n)
    # Answers to one request tell more of chance than other requests of the same source do.
    answered = (~np.isnan(noise) | ~present).all(0)
    variances = np.where(present, np.nan_to_num(noise), 0.0)
    squares = divide_or_zero(variances**2, np.where(present, df, 1.0)).sum(0)
    free = np.where(answered, divide(variances.sum(0) ** 2, squares), free)
    variance = np.where(answered, divide(variances.sum(0), n.astype(np.float64) ** 2), variance)
    error = np.sqrt(np.where((variance > 0) & (free > 0), variance, np.nan))
    half = t_isf((1.0 - level) / 2.0, free) * error
    return mean - half, mean + half, 2.0 * t_sf(np.abs(mean) / error, free)


def within_variance(count: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """Variance of shares of these very prompts, shape (n_groups,), from texts within prompts.

    Parameters as in `infer_shares`. Where texts of a prompt hardly differ, as copies do, each
    counts as a text of its own.
    """
    size = total.sum(0)
    share = divide(count.sum(0), size)
    # Of a prompt with one text nothing is known within: it counts as the others do on average.
    several = total > 1
    spread = squares - divide_or_zero(count**2, total)
    within = np.where(several, total * divide_or_zero(spread, total - 1.0), 0.0)
    part = divide(np.where(several, total, 0.0).sum(0), size)
    variance = divide(divide(within.sum(0), part), size**2)
    independent = divide(share * (1.0 - share), size)
    return np.where(variance > _LEAST_WITHIN * independent, variance, independent)


def infer_means(
    total: npt.ArrayLike, count: npt.ArrayLike, level: float, null: npt.ArrayLike = 0.0
) -> Clustered:
    """Infer clustered means of numbers of any sign, sum total / sum count.

    Parameters
    ----------
    total, count
        Sums and numbers of units per prompt, shape (n_prompts, n_groups).
    level
        Confidence level, a fraction.
    null
        Means to test, shape (n_groups,) or one number.

    Returns
    -------
    Clustered
        Mean ± t · standard error; undefined with one prompt or where prompts do not differ.

    Raises
    ------
    ValueError
        For arrays of unlike shape, negative counts, or a level outside (0, 1).

    References
    ----------
    Bell & McCaffrey (2002). Pustejovsky & Tipton (2018), Small-sample methods for cluster-robust
    variance estimation and hypothesis testing in fixed effects models.

    Examples
    --------
    >>> found = infer_means([[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]], 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [2.0, -0.484, 4.484, 0.074]
    """
    y, n = signed_pair(total, count)
    mean = divide(y.sum(0), n.sum(0))
    return infer_influences(mean, divide(y - mean * n, n.sum(0)), (n,), level, null)


def infer_differences(
    upper: Sums, lower: Sums, level: float, null: npt.ArrayLike = 0.0
) -> Clustered:
    """Infer differences of two clustered means, sum y / sum n − sum z / sum m, over shared prompts.

    Prompts that hold both sides count as pairs; prompts that hold one side (a design in which each
    prompt names one group) count for that side alone. The variance is at least the pooled one, as
    equal samples have. Shapes, errors and sources as `infer_means`.

    Examples
    --------
    >>> one = np.ones((3, 1))
    >>> found = infer_differences(([[1.0], [2], [3]], one), ([[0.0], [1], [1]], one), 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [1.333, -0.101, 2.768, 0.057]
    """
    (y, n), (z, m) = signed_pair(*upper), signed_pair(*lower)
    if y.shape != z.shape:
        raise ValueError(f"both means need one shape; got {y.shape} and {z.shape}.")
    means = divide(y.sum(0), n.sum(0)), divide(z.sum(0), m.sum(0))
    influences = divide(y - means[0] * n, n.sum(0)), divide(z - means[1] * m, m.sum(0))
    pooled = pooled_part(influences, (n, m))
    squared, df = (part * pooled for part in clustered_variance(np.subtract(*influences), [n, m]))
    clusters = np.minimum((n > 0).sum(0), (m > 0).sum(0))
    return _t_of(np.subtract(*means), squared, df, clusters, (n, m), level, null)


def pooled_part(influences: Sequence[FloatArray], totals: Sequence[FloatArray]) -> FloatArray:
    """Pooled variance of two samples as part of that of each alone, at least 1; shape (k,).

    Few units may hardly vary by chance: the smaller sample then varies as both together do.
    `influences` and `totals` are those of each sample by prompt, (n_prompts, k).
    """
    g, h = (effective_number(total) for total in totals)
    first, second = ((influence**2).sum(0) for influence in influences)
    return np.fmax(divide(g * g * first + h * h * second, g * h * (first + second)), 1.0)


def infer_influences(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    totals: tuple[npt.ArrayLike, ...],
    level: float,
    null: npt.ArrayLike = 0.0,
) -> Clustered:
    """Infer estimates of any kind from the influences of prompts on them, by Student's t.

    Parameters
    ----------
    value
        The estimates, shape (k,).
    influence
        What each prompt moves them by, shape (n_prompts, k).
    totals
        Units of each sample behind the estimate by prompt, (n_prompts, k) each: one sample, or the
        two of a difference. They give the factor and degrees of freedom.
    level, null
        Confidence level, a fraction; values to test, shape (k,) or one number.

    Returns
    -------
    Clustered
        Undefined where the smaller sample has one prompt, or prompts do not differ.

    References
    ----------
    Binder (1983). Bell & McCaffrey (2002).

    Examples
    --------
    >>> found = infer_influences([2.0], [[-1 / 3], [0.0], [1 / 3]], (np.ones((3, 1)),), 0.95)
    >>> [round(float(x[0]), 3) for x in (found.low, found.high, found.p)]
    [-0.484, 4.484, 0.074]
    """
    v, u = np.asarray(value, dtype=np.float64), np.asarray(influence, dtype=np.float64)
    samples = [_sums("totals", total) for total in totals]
    if v.shape != u.shape[1:] or any(sample.shape != u.shape for sample in samples):
        raise ValueError(f"influences need the shape (n_prompts, k) of the totals; got {u.shape}.")
    clusters = np.min([(sample > 0).sum(0) for sample in samples], axis=0)
    return _t_of(v, *clustered_variance(u, samples), clusters, samples, level, null)


def sums_by(code: IntArray, n_codes: int, values: FloatArray) -> FloatArray:
    """Sum the rows of `values`, shape (n, k), by their code: shape (n_codes, k)."""
    return np.stack(
        [np.bincount(code, weights=column, minlength=n_codes) for column in values.T], axis=1
    )


def infer_crossed(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    totals: tuple[npt.ArrayLike, ...],
    ways: Sequence[npt.ArrayLike],
    level: float,
    null: npt.ArrayLike = 0.0,
) -> Clustered:
    """Infer estimates whose units are clustered in two ways at once, such as by name and by topic.

    The variance is that of the first way plus that of the second less that of the clusters of both,
    and at least that of either way alone. Where no cluster of a way holds both samples of a
    difference, its variance is that of two independent samples (Welch). The variance of a
    difference is at least the pooled one, as in `infer_differences`.

    Parameters
    ----------
    value, influence, totals, level, null
        As `infer_influences`, by unit.
    ways
        Cluster of each unit, shape (n_units,), in each of the two ways.

    Returns
    -------
    Clustered
        `n_clusters` is that of the way and sample that has fewest.

    References
    ----------
    Cameron, Gelbach & Miller (2011), Robust inference with multiway clustering, section 2.
    Satterthwaite (1946), An approximate distribution of estimates of variance components.

    Examples
    --------
    >>> name, topic = np.repeat(range(4), 3), np.tile(range(3), 4)
    >>> y = np.array([[1.0, 2, 3, 2, 4, 3, 0, 1, 1, 5, 5, 6]]).T
    >>> one = np.ones((12, 1))
    >>> found = infer_crossed(y.mean(0), (y - y.mean()) / 12, (one,), (name, topic), 0.95)
    >>> [round(float(x[0]), 2) for x in (found.value, found.low, found.high)], found.n_clusters
    ([2.75, -0.45, 5.95], array([3]))
    """
    v, u = np.asarray(value, dtype=np.float64), np.asarray(influence, dtype=np.float64)
    samples = [_sums("totals", total) for total in totals]
    pairs = np.stack([np.asarray(way, dtype=np.int64) for way in ways], axis=1)
    both = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    errors, freedoms, clusters = [], [], []
    for way in (*pairs.T, both):
        names, code = np.unique(way, return_inverse=True)
        influences, *sizes = (sums_by(code, len(names), sums) for sums in (u, *samples))
        clusters.append(np.min([(size > 0).sum(0) for size in sizes], axis=0))
        # No cluster holds both samples: two independent samples, as Welch has them.
        disjoint = np.sum([size > 0 for size in sizes], axis=0).max(0) < 2
        joint, joint_df = clustered_variance(influences, sizes)
        sides = [np.where(size > 0, influences, 0.0) for size in sizes]
        parts = [clustered_variance(side, [size]) for side, size in zip(sides, sizes, strict=True)]
        separate = np.sum([error for error, _ in parts], axis=0)
        welch = divide(separate**2, np.sum([divide(e**2, df) for e, df in parts], axis=0))
        pooled = pooled_part(sides, sizes) if len(sizes) > 1 else 1.0
        errors.append(pooled * np.where(disjoint, separate, joint))
        freedoms.append(np.where(disjoint, welch, joint_df))
    squared, df = two_way_variance(errors, freedoms)
    # A way's clusters of one sample may be smaller than the other's: units are pooled as they are.
    squared = np.maximum(squared, np.where(pooled > 1.0, errors[-1], 0.0))
    return _t_of(v, squared, df, np.min(clusters[:2], axis=0), samples, level, null)


def two_way_variance(
    errors: Sequence[FloatArray], freedoms: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Variance by two ways of clustering, and its degrees of freedom, at least the fewer of both.

    `errors` are the variances by the first way, by the second and by both; `freedoms` their degrees
    of freedom.

    >>> two, one, half, four = (np.array([x]) for x in (2.0, 1.0, 0.5, 4.0))
    >>> variance, df = two_way_variance([two, one, half], [four, four])
    >>> variance.tolist(), df.tolist()
    ([2.5], [5.0])
    """
    first, second, both = errors
    with np.errstate(invalid="ignore"):  # infinite by both, of a single cluster: undefined
        variance = np.maximum(first + second - both, np.maximum(first, second))
    df = divide(variance**2, divide(first**2, freedoms[0]) + divide(second**2, freedoms[1]))
    return variance, np.maximum(df, np.minimum(freedoms[0], freedoms[1]))


def agree(
    low: FloatArray, high: FloatArray, null: FloatArray, p: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Move a bound that rounding put on the wrong side of the null next to it."""
    out, inside = p < 1.0 - level, p >= 1.0 - level
    near_low = np.abs(low - null) < np.abs(high - null)
    low = np.where(out & near_low & (low <= null), np.nextafter(null, np.inf), low)
    high = np.where(out & ~near_low & (high >= null), np.nextafter(null, -np.inf), high)
    return np.where(inside & (low > null), null, low), np.where(inside & (high < null), null, high)


def _t_of(
    value: FloatArray,
    squared: FloatArray,
    df: FloatArray,
    clusters: IntArray,
    totals: Sequence[FloatArray],
    level: float,
    null: npt.ArrayLike,
) -> Clustered:
    """Student's t on a standard error, whose square is given with its degrees of freedom."""
    tail = (1.0 - check_level(level)) / 2.0
    with np.errstate(invalid="ignore"):
        error = np.sqrt(squared)
    usable = (clusters > 1) & (error > FLAT * np.maximum(1.0, np.abs(value))) & np.isfinite(error)
    error, freedom = (np.where(usable, x, np.nan) for x in (error, np.maximum(df, 1e-3)))
    half = t_isf(tail, freedom) * error
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), value.shape)
    # The logarithm of a share of 0 less that of another is no number, and neither is its p.
    with np.errstate(invalid="ignore"):
        p = np.asarray(2.0 * t_sf(np.abs(value - tested) / error, freedom))
    low, high = agree(value - half, value + half, tested, p, level)
    checks = [np.isnan(value), clusters < 2, ~usable, np.isnan(tested)]
    reason = np.select(checks, [NO_UNITS, ONE_PROMPT, NO_SPREAD, NO_NULL], default="")
    carriers = effective_number(np.sum(totals, axis=0))
    return Clustered(value, low, high, p, clusters, carriers, np.where(usable, df, 0.0), reason)


def _sums(name: str, values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} must have the shape (n_prompts, n_groups); got {array.shape}.")
    if np.any(~np.isfinite(array)) or np.any(array < 0):
        raise ValueError(f"{name} must be finite and 0 or more.")
    return array


def _pair(count: npt.ArrayLike, total: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, n = _sums("count", count), _sums("total", total)
    if a.shape != n.shape:
        raise ValueError(f"counts and totals need one shape; got {a.shape} and {n.shape}.")
    if np.any(a > n + 1e-9 * np.maximum(1.0, n)):
        raise ValueError("a count cannot exceed its total.")
    # Sums of fractions exceed their total by rounding.
    return np.minimum(a, n), n


def signed_pair(total: npt.ArrayLike, count: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return checked sums of any sign and numbers of units, shape (n_prompts, n_groups) each."""
    y, n = np.asarray(total, dtype=np.float64), _sums("count", count)
    if y.shape != n.shape or np.any(~np.isfinite(y)):
        raise ValueError(f"sums must be finite, of the counts' shape {n.shape}; got {y.shape}.")
    return y, n

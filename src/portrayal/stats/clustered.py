"""Intervals and tests of clustered shares, ratios and means, valid for few prompts and rare groups.

Texts are clustered by prompt, and prompts are the independent unit. Every function takes sums per
prompt, arrays of shape (n_prompts, n_groups), and answers for all groups at once. Interval and test
come from one function of the null value, so p is below 1 - level exactly where the null lies
outside the interval.

How a share is inferred
-----------------------
1. Its variance is estimated from the prompts' residuals, with the small-sample factor and the
   Satterthwaite degrees of freedom of Bell & McCaffrey (2002), here in closed form. The degrees of
   freedom fall further where few prompts carry the residuals (their kurtosis).
2. Divided by the variance of independent units this is an estimated design effect. It is noisy, so
   the true design effect D is spread over its fiducial density: F nu / chi2(nu), cut to what is
   possible (D is at most that of texts that repeat their prompt), tilted to large D when nu is low.
3. A share with n units and design effect D is treated as n / D independent ones (Korn & Graubard
   1998), and the binomial tail (mid-p) is averaged over D. For many prompts this is the logit-like
   z test with a clustered variance, for common shares it is Student's t, for a count of 0 it is the
   rule of three per effective unit.

The ratio of two shares is the same problem. Of a group's A + B characters, A have the first role;
the ratio is the odds A / B over the totals' odds N / M. The share A / (A + B) is inferred as above,
with the clustered variance of the log ratio, and its bounds become bounds of the ratio. So a count
of 0 gives a one-sided interval, and swapping the roles gives the reciprocal.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from portrayal.stats._arguments import divide
from portrayal.types import FloatArray, IntArray

Sums = tuple[npt.ArrayLike, npt.ArrayLike]
"""Counts and totals (or sums and numbers of units) per prompt, shape (n_prompts, n_groups) each."""

SHARE = "effective binomial, design effect averaged (mid-p), prompts as clusters"
MEAN = "t on cluster-robust standard error with Satterthwaite degrees of freedom"

NO_UNITS = "no unit of this group"
NEVER = "the group occurs in neither role"
ONE_PROMPT = "one prompt alone says nothing about others"
NO_SPREAD = "the prompts do not differ, or the variance is undefined"
TOO_FEW = "too few prompts carry the group for a valid test"
NO_NULL = "no null value, or one that no share can take"

SMALLEST_EFFECT = 0.25
"""Least design effect: roles that occur together in prompts, and fractional counts, can be < 1."""
PSEUDO_PROMPTS = 3.0
"""Effective prompts added to each role before the variance of a ratio is taken."""
FEWEST_CARRIERS = 4.0
"""Effective number of prompts that must carry a group before its ratio is tested."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_DROP = 25.0  # nodes cover the densities within exp(-25) of the highest
_HALVINGS = 14
_STEPS = 40  # at most; the search usually ends after about eight
_CLOSE = 1e-11
_TINY = 1e-300
_FLAT = 1e-12


@dataclass(frozen=True)
class Clustered:
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


@dataclass(frozen=True)
class Evidence:
    """What the data say about a share, reduced to effective units; shape (n_groups,) each.

    Attributes
    ----------
    share
        The estimate, in 0–1.
    size
        Independent units that would give the variance of unclustered sampling.
    effect
        Estimated design effect; 1 where it cannot be estimated (`df` is 0).
    df
        Degrees of freedom of `effect`.
    smallest, largest
        Range of possible design effects.
    atom
        Part of the observed count's own probability that a tail holds: ½ is mid-p, 1 is exact.
    """

    share: FloatArray
    size: FloatArray
    effect: FloatArray
    df: FloatArray
    smallest: FloatArray
    largest: FloatArray
    atom: float = 0.5


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
    [0.4, 0.133, 0.724, 0.138]
    """
    a, n = _pair(count, total)
    squared = a if squares is None else _sums("squares", squares)
    evidence = share_evidence(a, n, squared)
    low, high = evidence_interval(evidence, level)
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), evidence.share.shape)
    inside = (tested > 0) & (tested < 1)
    p = evidence_p(evidence, np.where(inside, tested, np.nan))
    clusters = (n > 0).sum(0)
    reason = np.select(
        [n.sum(0) <= 0, clusters < 2, ~inside], [NO_UNITS, ONE_PROMPT, NO_NULL], default=""
    )
    known = (clusters >= 2) & (n.sum(0) > 0)
    low, high = (np.where(known, bound, np.nan) for bound in (low, high))
    low, high = _agree(low, high, tested, p, level)
    return Clustered(
        value=evidence.share,
        low=low,
        high=high,
        p=np.where(reason == "", p, np.nan),
        n_clusters=clusters,
        carriers=effective_number(a),
        df=evidence.df,
        reason=reason,
    )


def infer_ratios(
    upper: Sums,
    lower: Sums,
    level: float,
    null: npt.ArrayLike = 1.0,
    squares: Sums | None = None,
) -> Clustered:
    """Infer ratios of two shares of the same prompts, (sum a / sum n) / (sum b / sum m).

    Parameters
    ----------
    upper, lower
        (a, n) and (b, m): counts and totals per prompt, shape (n_prompts, n_groups) each.
    level
        Confidence level, a fraction.
    null
        Ratios to test, shape (n_groups,) or one number above 0.
    squares
        Sums of squared contributions in both roles, as in `infer_shares`.

    Returns
    -------
    Clustered
        The interval is [0, u] where sum a is 0 and [l, inf) where sum b is 0. There is no p where
        fewer than `FEWEST_CARRIERS` effective prompts carry the group.

    Raises
    ------
    ValueError
        As `infer_shares`.

    References
    ----------
    Binder (1983), On the variances of asymptotically normal estimators from complex surveys, for
    the influence of a prompt on the log ratio. Przyborowski & Wilenski (1940), Homogeneity of
    results in testing samples from Poisson series, for the share of one count in the sum of two.

    Examples
    --------
    >>> n = np.full((6, 1), 10.0)
    >>> found = infer_ratios(([[4.0], [3], [5], [4], [2], [6]], n), (np.zeros((6, 1)), n), 0.95)
    >>> float(found.high[0]), bool(found.low[0] > 1), bool(found.p[0] < 0.05)
    (inf, True, True)
    """
    (a, n), (b, m) = _pair(*upper), _pair(*lower)
    if a.shape != b.shape:
        raise ValueError(f"both shares need one shape; got {a.shape} and {b.shape}.")
    sq = (a, b) if squares is None else (_sums("squares", squares[0]), _sums("squares", squares[1]))
    evidence = ratio_evidence((a, n), (b, m), sq)
    totals = n.sum(0), m.sum(0)
    odds = divide(*totals)
    odds = np.where(np.isfinite(odds) & (odds > 0), odds, np.nan)
    low, high = (divide(x, (1 - x) * odds) for x in evidence_interval(evidence, level))
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), evidence.share.shape)
    positive = (tested > 0) & np.isfinite(tested)
    at = np.where(positive, tested * odds, np.nan)
    p = evidence_p(evidence, at / (1 + at))
    clusters = ((n > 0) & (m > 0)).sum(0)
    carriers = effective_number(a + b)
    checks = [
        ((totals[0] <= 0) | (totals[1] <= 0), NO_UNITS),
        (~(evidence.share >= 0), NEVER),
        (clusters < 2, ONE_PROMPT),
        (carriers < FEWEST_CARRIERS, TOO_FEW),
        (~positive, NO_NULL),
    ]
    reason = np.select([fails for fails, _ in checks], [why for _, why in checks], default="")
    p = np.where(reason == "", p, np.nan)
    known = (clusters >= 2) & (evidence.share >= 0)
    low, high = (np.where(known, bound, np.nan) for bound in (low, high))
    low, high = _agree(low, high, tested, p, level)
    value = divide(divide(a.sum(0), totals[0]), divide(b.sum(0), totals[1]))
    return Clustered(value, low, high, p, clusters, carriers, evidence.df, reason)


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
    y, n = _signed_pair(total, count)
    mean = divide(y.sum(0), n.sum(0))
    influence = divide(y - mean * n, n.sum(0))
    clusters = (n > 0).sum(0)
    return _t_result(mean, influence, [n], clusters, level, null)


def infer_differences(
    upper: Sums, lower: Sums, level: float, null: npt.ArrayLike = 0.0
) -> Clustered:
    """Infer differences of two clustered means, sum y / sum n − sum z / sum m, over shared prompts.

    Prompts that hold both sides count as pairs; prompts that hold one side (a design in which each
    prompt names one group) count for that side alone. Shapes, errors and sources as `infer_means`.

    Examples
    --------
    >>> one = np.ones((3, 1))
    >>> found = infer_differences(([[1.0], [2], [3]], one), ([[0.0], [1], [1]], one), 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [1.333, -0.101, 2.768, 0.057]
    """
    (y, n), (z, m) = _signed_pair(*upper), _signed_pair(*lower)
    if y.shape != z.shape:
        raise ValueError(f"both means need one shape; got {y.shape} and {z.shape}.")
    means = divide(y.sum(0), n.sum(0)), divide(z.sum(0), m.sum(0))
    influence = divide(y - means[0] * n, n.sum(0)) - divide(z - means[1] * m, m.sum(0))
    clusters = np.minimum((n > 0).sum(0), (m > 0).sum(0))
    return _t_result(means[0] - means[1], influence, [n, m], clusters, level, null)


def share_evidence(count: FloatArray, total: FloatArray, squares: FloatArray) -> Evidence:
    """Reduce shares to effective units; sums per prompt, shape (n_prompts, n_groups)."""
    size = total.sum(0)
    share = divide(count.sum(0), size)
    spread = divide(share * (1 - share), size)
    unit = np.maximum(divide(squares.sum(0), size) - share**2, 0.0) / np.where(size > 0, size, 1)
    unit = np.where(unit > _FLAT * spread, unit, spread)
    influence = divide(count - share * total, size)
    effect, df = design_effect(influence, [total], unit[np.newaxis])
    independent = np.where(unit > 0, share * (1 - share) / np.where(unit > 0, unit, 1.0), size)
    return _evidence(share, independent, effect, df, effective_number(total))


def ratio_evidence(
    upper: tuple[FloatArray, FloatArray],
    lower: tuple[FloatArray, FloatArray],
    squares: tuple[FloatArray, FloatArray],
) -> Evidence:
    """Reduce ratios of shares to the share s of the first role among a group's characters.

    The design effect compares two variances of s: the clustered one, from the prompts' influences
    on the log ratio times s (1 - s), and Katz's for independent characters. Both are taken at an s
    drawn toward ½ by three effective prompts on each side (Agresti & Coull 1998): where chance made
    one role rare, its own residuals are too small. Tails are exact, not mid-p: two counts left to
    chance stand against each other.
    """
    (a, n), (b, m) = upper, lower
    ones, others = a.sum(0), b.sum(0)
    count, carriers = ones + others, effective_number(a + b)
    count = np.where(count > 0, count, np.nan)
    share = divide(ones, count)
    drawn = (np.nan_to_num(share) * carriers + PSEUDO_PROMPTS) / (carriers + 2 * PSEUDO_PROMPTS)
    spread = drawn * (1 - drawn)
    sides = [
        (drawn * (1 - drawn) ** 2, squares[0], ones, n),
        ((1 - drawn) * drawn**2, squares[1], others, m),
    ]
    apart = np.stack(
        [
            np.maximum(_weight(sq, x) * divide(part, count) - divide(spread**2, t.sum(0)), 0.0)
            for part, sq, x, t in sides
        ]
    )
    apart = np.where(apart.sum(0) > _FLAT * divide(spread, count), apart, np.nan)
    influence = divide((1 - drawn) * a - drawn * b, count)
    influence = influence - spread * (divide(n, n.sum(0)) - divide(m, m.sum(0)))
    effect, df = design_effect(influence, [n, m], apart)
    both = (ones > 0) & (others > 0)
    df = np.where(both, np.minimum(df, np.maximum(carriers - 1.0, 0.0)), 0.0)
    size = divide(spread, apart.sum(0))
    size = np.where(np.isfinite(size), size, np.nan_to_num(count))
    return replace(_evidence(share, size, effect, df, carriers), atom=1.0)


def design_effect(
    influence: FloatArray, totals: list[FloatArray], apart: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Estimate design effects and their degrees of freedom.

    Parameters
    ----------
    influence
        Of each prompt on the estimate, shape (n_prompts, n_groups).
    totals
        Units per prompt of each mean or share that the estimate combines.
    apart
        Variance of each of them with independent units, shape (len(totals), n_groups).

    Returns
    -------
    effect, df
        Shape (n_groups,): clustered variance over `apart`'s sum, unbiased for the working model of
        one correlation within prompts, and the degrees of freedom, the smaller of Satterthwaite's
        and 3 (G / kurtosis - 1) with the kurtosis of the influences. NaN and 0 where undefined.
    """
    raw = (influence**2).sum(0)
    independent = apart.sum(0)
    first, _ = satterthwaite(totals, apart, np.zeros_like(raw))
    kish = np.mean([divide((t**2).sum(0), t.sum(0)) for t in totals], axis=0)
    excess = divide(divide(raw, first * independent) - 1, kish - 1)
    inside = np.clip(np.where(np.isfinite(excess), excess, 0.0), 0.0, 1.0)
    factor, df = satterthwaite(totals, apart, inside)
    effect = divide(raw, factor * independent)
    few = 3.0 * (divide(raw**2, (influence**4).sum(0)) - 1.0)
    known = np.isfinite(effect) & (raw > _FLAT * independent)
    df = np.where(known, np.minimum(df, np.maximum(few, 0.0)), 0.0)
    return np.where(known, effect, np.nan), np.where(np.isfinite(df), df, 0.0)


def satterthwaite(
    totals: list[FloatArray], apart: FloatArray, correlation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Small-sample factor and degrees of freedom of the clustered variance, sum of u_g².

    The residuals of prompts with leverages h and variances w have the covariance
    diag(d) + sum_j s_j v_j v_j', two terms j per mean, so both traces need sums over prompts only.

    Parameters
    ----------
    totals, apart
        As in `design_effect`.
    correlation
        Working correlation within prompts, shape (n_groups,), in 0–1.

    Returns
    -------
    factor, df
        Expected sum of u_g² over the true variance, and (trace)² / trace of the square; shape
        (n_groups,). With equal prompts they are 1 - 1 / G and G - 1.

    References
    ----------
    Bell & McCaffrey (2002), section 4; Pustejovsky & Tipton (2018), section 2.
    """
    signs: list[FloatArray] = []
    vectors: list[FloatArray] = []
    diagonal = np.zeros_like(totals[0])
    for total, own in zip(totals, apart, strict=True):
        h = divide(total, total.sum(0))
        w = total * (1.0 + np.maximum(total - 1.0, 0.0) * correlation)
        w = divide(w, w.sum(0))
        diagonal = diagonal + own * w
        signs += [own, -own]
        vectors += [h - w, w]
    trace = diagonal.sum(0) + sum(s * (v**2).sum(0) for s, v in zip(signs, vectors, strict=True))
    square = (diagonal**2).sum(0)
    for s, v in zip(signs, vectors, strict=True):
        square = square + 2 * s * (diagonal * v**2).sum(0)
        for r, u in zip(signs, vectors, strict=True):
            square = square + s * r * (u * v).sum(0) ** 2
    return divide(trace, apart.sum(0)), divide(trace**2, square)


def evidence_p(evidence: Evidence, null: npt.ArrayLike) -> FloatArray:
    """Two-sided p of the share against `null`, shape (n_groups,): twice the smaller mid-p tail."""
    at = np.asarray(null, dtype=np.float64)
    effects, weights = effect_density(evidence)
    units, atom = evidence.size / effects, evidence.atom
    up = _tail(evidence.share, units, weights, at, 1 - at, atom)
    down = _tail(1 - evidence.share, units, weights, 1 - at, at, atom)
    return np.minimum(1.0, 2.0 * np.minimum(up, down))


def evidence_interval(evidence: Evidence, level: float) -> tuple[FloatArray, FloatArray]:
    """Shares that `evidence_p` does not reject at 1 - level, shape (n_groups,) each; NaN unknown.

    Raises ValueError for a level outside (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a fraction between 0 and 1, such as 0.95; got {level!r}.")
    tail = (1.0 - level) / 2.0
    effects, weights = effect_density(evidence)
    units = evidence.size / effects
    # Both bounds in one search: the upper bound is 1 - the lower bound of the complement.
    share = np.concatenate([evidence.share, 1 - evidence.share])
    found = _lower_bound(share, np.tile(units, 2), np.tile(weights, 2), tail, evidence.atom)
    low, high = np.split(found, 2)
    return low, 1 - high


def effect_density(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Possible design effects and their weights, shape (24, n_groups) each; weights sum to 1.

    On the scale x = log D the density is exp(-df / 2 (x + F exp(-x)) + tilt x): the inverse
    chi-square density of F df / chi2(df), cut to the possible range, with a tilt min(1, 4 / (1 +
    df)) that guards against variances that few prompts underestimate. Gauss–Legendre nodes.
    """
    half = evidence.df / 2.0
    tilt = np.minimum(1.0, 4.0 / (1.0 + evidence.df))
    effect = np.maximum(evidence.effect, 1e-9)
    least, most = np.log(evidence.smallest), np.log(evidence.largest)

    def log_density(x: FloatArray) -> FloatArray:
        return np.asarray(-half * (x + effect * np.exp(-x)) + tilt * x)

    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.log(effect * half / (half - tilt))
    mode = np.clip(np.where(half > tilt, peak, most), least, most)
    top = log_density(mode)
    left = _edge(log_density, least, mode, top - _DROP)
    right = _edge(log_density, most, mode, top - _DROP)
    x = (left + right) / 2 + (right - left) / 2 * _NODES[:, np.newaxis]
    weights = np.exp(log_density(x) - top) * _WEIGHTS[:, np.newaxis]
    return np.exp(x), weights / weights.sum(0)


def effective_number(counts: npt.ArrayLike) -> FloatArray:
    """Effective number of prompts, (sum c)² / sum c², shape (n_prompts, k) -> (k,); 0 for none.

    >>> effective_number([[8.0, 3.0], [0.0, 3.0], [0.0, 3.0]]).tolist()
    [1.0, 3.0]
    """
    c = np.asarray(counts, dtype=np.float64)
    found = divide(c.sum(0) ** 2, (c**2).sum(0))
    return np.where(np.isnan(found), 0.0, found)


def _evidence(
    share: FloatArray, size: FloatArray, effect: FloatArray, df: FloatArray, prompts: FloatArray
) -> Evidence:
    smallest = np.full_like(share, SMALLEST_EFFECT)
    most = divide(size, prompts)
    largest = np.where(np.isfinite(most), np.maximum(most, 1.0), 1.0) * (1 + 1e-9)
    return Evidence(
        share=share,
        size=size,
        effect=np.where(df > 0, effect, 1.0),
        df=df,
        smallest=smallest,
        largest=largest,
    )


def _weight(squares: FloatArray, counts: FloatArray) -> FloatArray:
    """Mean weight of a unit in a count, sum of squares over sum; 1 where there is none."""
    found = divide(squares.sum(0), counts)
    return np.where(np.isfinite(found), np.minimum(found, 1.0), 1.0)


def _edge(
    log_density: Callable[[FloatArray], FloatArray],
    stop: FloatArray,
    mode: FloatArray,
    floor: FloatArray,
) -> FloatArray:
    """Where the density has fallen to `floor` between the mode and `stop`, or `stop` itself."""
    far, near = stop.copy(), mode.copy()
    whole = log_density(stop) >= floor
    for _ in range(_HALVINGS):
        middle = (far + near) / 2
        beyond = log_density(middle) < floor
        far, near = np.where(beyond, middle, far), np.where(beyond, near, middle)
    return np.where(whole, stop, far)


def _tail(
    share: FloatArray,
    units: FloatArray,
    weights: FloatArray,
    at: FloatArray,
    rest: FloatArray,
    atom: float,
) -> FloatArray:
    """Probability of a count of share · units or more when the share is `at`, averaged.

    Of the count itself the part `atom` counts. `units` and `weights` have shape (n_nodes, k), the
    others (k,); `rest` is 1 - at.
    """
    count = share * units
    others = np.maximum(units - count, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = special.betainc(np.maximum(count, _TINY), others + 1.0, at)
        constant = -np.log1p(units) - special.betaln(count + 1.0, others + 1.0)
        point = np.exp(constant + special.xlogy(count, at) + special.xlogy(others, rest))
    whole = np.where(count > 0, reach, 1.0)
    found = (weights * np.maximum(whole - (1.0 - atom) * point, atom * whole)).sum(0)
    return np.where(np.isnan(share + at), np.nan, found)


def _lower_bound(
    share: FloatArray, units: FloatArray, weights: FloatArray, tail: float, atom: float
) -> FloatArray:
    """The share at which `_tail` is `tail`; 0 where the count is 0, NaN where it is unknown.

    Regula falsi (Illinois) on the logit of the share and the normal quantile of the tail, where the
    curve is nearly straight; halved where it leaves its bracket.
    """
    goal = special.ndtri(tail)
    active = np.flatnonzero(share > 0)
    found = np.where(np.isnan(share), np.nan, 0.0)
    if not len(active):
        return found
    share, units, weights = share[active], units[:, active], weights[:, active]

    def height(x: FloatArray) -> FloatArray:
        p = _tail(share, units, weights, special.expit(x), special.expit(-x), atom)
        return np.asarray(special.ndtri(np.clip(p, _TINY, 1 - 1e-16)) - goal)

    small = (weights * units).sum(0)
    start = special.logit((share * small + 0.5) / (small + 1.0))
    left, right = start - 1.0, start + 0.0
    below, above = height(left), height(right)
    for k in range(_STEPS):
        low, high = below > 0, above < 0
        if not (low | high).any():
            break
        left, right = np.where(low, left - 2.0**k, left), np.where(high, right + 2.0**k, right)
        below, above = np.where(low, height(left), below), np.where(high, height(right), above)
    for _ in range(_STEPS):
        if np.all(right - left < _CLOSE):
            break
        step = divide(below * right - above * left, below - above)
        bad = ~((step > left) & (step < right))
        x = np.where(bad, (left + right) / 2, step)
        y = height(x)
        under, done = y <= 0, np.abs(y) < _CLOSE
        above, below = np.where(under, above / 2, y), np.where(under, y, below / 2)
        left, right = np.where(under | done, x, left), np.where(under & ~done, right, x)
    found[active] = special.expit(left)
    return found


def _agree(
    low: FloatArray, high: FloatArray, null: FloatArray, p: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Move a bound that rounding put on the wrong side of the null next to it."""
    out, inside = p < 1.0 - level, p >= 1.0 - level
    near_low = np.abs(low - null) < np.abs(high - null)
    low = np.where(out & near_low & (low <= null), np.nextafter(null, np.inf), low)
    high = np.where(out & ~near_low & (high >= null), np.nextafter(null, -np.inf), high)
    return np.where(inside & (low > null), null, low), np.where(inside & (high < null), null, high)


def _t_result(
    value: FloatArray,
    influence: FloatArray,
    totals: list[FloatArray],
    clusters: IntArray,
    level: float,
    null: npt.ArrayLike,
) -> Clustered:
    """Student's t on the clustered standard error; `influence` is (n_prompts, n_groups)."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a fraction between 0 and 1, such as 0.95; got {level!r}.")
    apart = np.stack([divide(1.0, total.sum(0)) for total in totals])
    kish = np.mean([divide((t**2).sum(0), t.sum(0)) for t in totals], axis=0)
    within = np.where(kish > 1, 0.1, 0.0)
    factor, df = satterthwaite(totals, np.where(np.isfinite(apart), apart, np.nan), within)
    with np.errstate(invalid="ignore"):
        error = np.sqrt(divide((influence**2).sum(0), factor))
    known = (clusters > 1) & (error > _FLAT * np.maximum(1.0, np.abs(value))) & np.isfinite(error)
    error, freedom = np.where(known, error, np.nan), np.where(known, np.maximum(df, 1e-3), np.nan)
    half = stats.t.isf((1.0 - level) / 2.0, freedom) * error
    tested = np.broadcast_to(np.asarray(null, dtype=np.float64), value.shape)
    p = np.asarray(2.0 * stats.t.sf(np.abs(value - tested) / error, freedom))
    low, high = _agree(value - half, value + half, tested, p, level)
    checks = [np.isnan(value), clusters < 2, ~known, np.isnan(tested)]
    reason = np.select(checks, [NO_UNITS, ONE_PROMPT, NO_SPREAD, NO_NULL], default="")
    return Clustered(
        value=value,
        low=low,
        high=high,
        p=p,
        n_clusters=clusters,
        carriers=effective_number(np.sum(totals, axis=0)),
        df=np.where(known, df, 0.0),
        reason=reason,
    )


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
    return np.minimum(a, n), n


def _signed_pair(total: npt.ArrayLike, count: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    y, n = np.asarray(total, dtype=np.float64), _sums("count", count)
    if y.shape != n.shape or np.any(~np.isfinite(y)):
        raise ValueError(f"sums must be finite, of the counts' shape {n.shape}; got {y.shape}.")
    return y, n

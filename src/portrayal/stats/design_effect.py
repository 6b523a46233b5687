"""Design effects of clustered shares: how much less the texts say than independent ones would.

How a share is inferred
-----------------------
1. Its variance is estimated from the prompts' residuals, with the small-sample factor and the
   Satterthwaite degrees of freedom of Bell & McCaffrey (2002), here in closed form. The degrees of
   freedom fall further where few prompts carry the residuals (their kurtosis).
2. Divided by the variance of independent units this is an estimated design effect. It is noisy, so
   the true design effect D is spread over its fiducial density: F nu / chi2(nu), cut to what is
   possible (D is at most that of texts that repeat their prompt, and 1 where each prompt has one
   unit), tilted to large D when nu is low.
3. A share with n units and design effect D is treated as n / D independent ones (Korn & Graubard
   1998), and the binomial tail (mid-p) is averaged over D. For many prompts this is the logit-like
   z test with a clustered variance, for common shares it is Student's t, for a count of 0 it is the
   rule of three per effective unit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import special

from portrayal.stats._arguments import check_level, crossing, divide, divide_or_zero
from portrayal.types import BoolArray, FloatArray

SMALLEST_EFFECT = 0.25
"""Least design effect: roles that occur together in prompts, and fractional counts, can be < 1."""
PSEUDO_PROMPTS = 3.0
"""Effective prompts added to each role before the variance of a ratio is taken."""
FLAT = 1e-12
"""A variance below this part of that of independent units is rounding."""

_WHOLE = 0.95  # mean part of a unit from which units count as whole ones
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_DROP = 25.0  # nodes cover the densities within exp(-25) of the highest
_HALVINGS = 14
_WIDEST = 2.0**40  # logits beyond which no bound is searched
_TINY = 1e-300


@dataclass(frozen=True)
class ByGroup:
    """Numbers of many groups, each an array of shape (n_groups,)."""

    def of(self, groups: BoolArray | slice) -> Self:
        """Return the numbers of these groups alone."""
        arrays = {n: x[groups] for n, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)


@dataclass(frozen=True)
class Bounded:
    """Bounds and tests of one null in two populations; every field has shape (n_groups,).

    Attributes
    ----------
    low, high, p
        Interval in prompts like these, and two-sided p of the null, which it leaves out exactly
        where p < 1 - level.
    null_low, null_high
        Values that would not be rejected as the null, or that it gives.
    fixed_low, fixed_high, fixed_p
        As `low`, `high` and `p`, in these very prompts.
    """

    low: FloatArray
    high: FloatArray
    p: FloatArray
    null_low: FloatArray
    null_high: FloatArray
    fixed_low: FloatArray
    fixed_high: FloatArray
    fixed_p: FloatArray


@dataclass(frozen=True)
class Evidence(ByGroup):
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
    tilt
        How far the noise of the design effect leans to large ones.
    """

    share: FloatArray
    size: FloatArray
    effect: FloatArray
    df: FloatArray
    smallest: FloatArray
    largest: FloatArray
    atom: float = 0.5
    tilt: float | FloatArray = 4.0


def share_evidence(count: FloatArray, total: FloatArray, squares: FloatArray) -> Evidence:
    """Reduce shares to effective units; sums per prompt, shape (n_prompts, n_groups).

    The degrees of freedom are at most the prompts that carry the group, or all others, less 1:
    residuals of the rest say little of the variance. Where units count fractionally, the small
    parts of many units hide how few prompts carry the group; squared parts show it.
    """
    size = total.sum(0)
    share = divide(count.sum(0), size)
    spread = divide(share * (1 - share), size)
    # Variance of a mean of such units, were they independent: of 0 and 1 it is p (1 - p) / n.
    unit = np.maximum(divide(squares.sum(0), size) - share**2, 0.0) / np.where(size > 0, size, 1)
    unit = np.where(unit > FLAT * spread, unit, spread)
    # What each prompt adds to the share, from which the clustered variance comes.
    influence = divide(count - share * total, size)
    effect, df = design_effect(influence, [total], unit[np.newaxis])
    others_squares = np.maximum(total - 2.0 * count + squares, 0.0)
    carriers = np.minimum(_carriers(count, squares), _carriers(total - count, others_squares))
    unsplit = squares.sum(0) >= _WHOLE * count.sum(0)
    parts = np.minimum(effective_number(squares), effective_number(others_squares))
    carriers = np.where(unsplit, carriers, np.minimum(carriers, parts))
    df = np.where(df > 0, np.minimum(df, np.maximum(carriers - 1.0, 0.5)), 0.0)
    independent = np.where(unit > 0, share * (1 - share) / np.where(unit > 0, unit, 1.0), size)
    # Units that are alone in their prompts cannot even out within them: theirs is an effect of 1.
    alone = divide((total == 1).sum(0), size)
    evidence = _evidence(share, independent, effect, df, effective_number(total))
    smallest = np.fmax(evidence.smallest, alone)
    return replace(evidence, smallest=smallest, tilt=np.where(unsplit, 1.0, 4.0))


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
    ones, twos = a.sum(0), b.sum(0)
    count, carriers = ones + twos, effective_number(a + b)
    count = np.where(count > 0, count, np.nan)
    share = divide(ones, count)
    shrunk = (np.nan_to_num(share) * carriers + PSEUDO_PROMPTS) / (carriers + 2 * PSEUDO_PROMPTS)
    spread = shrunk * (1 - shrunk)
    sides = [
        (shrunk * (1 - shrunk) ** 2, squares[0], ones, n),
        ((1 - shrunk) * shrunk**2, squares[1], twos, m),
    ]
    independent = np.stack(
        [
            np.maximum(_weight(sq, x) * divide(part, count) - divide(spread**2, t.sum(0)), 0.0)
            for part, sq, x, t in sides
        ]
    )
    independent = np.where(independent.sum(0) > FLAT * divide(spread, count), independent, np.nan)
    influence = divide((1 - shrunk) * a - shrunk * b, count)
    # The totals' odds N / M vary with the prompts too, and the ratio with them.
    influence = influence - spread * (divide(n, n.sum(0)) - divide(m, m.sum(0)))
    effect, df = design_effect(influence, [n, m], independent)
    both = (ones > 0) & (twos > 0)
    df = np.where(both, np.minimum(df, np.maximum(carriers - 1.0, 0.0)), 0.0)
    size = divide(spread, independent.sum(0))
    size = np.where(np.isfinite(size), size, np.nan_to_num(count))
    return replace(_evidence(share, size, effect, df, carriers), atom=1.0)


def design_effect(
    influence: FloatArray, totals: list[FloatArray], unit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Estimate design effects and their degrees of freedom.

    Parameters
    ----------
    influence
        Of each prompt on the estimate, shape (n_prompts, n_groups).
    totals
        Units per prompt of each mean or share that the estimate combines.
    unit
        Variance of each of them with independent units, shape (len(totals), n_groups).

    Returns
    -------
    effect, df
        Shape (n_groups,): clustered variance over `unit`'s sum, right on average under one
        correlation within prompts, and the degrees of freedom, the smaller of Satterthwaite's
        and 3 (G / kurtosis - 1) with the kurtosis of the influences. NaN and 0 where undefined.
    """
    raw = (influence**2).sum(0)
    independent = unit.sum(0)
    # At no correlation first, which gives the correlation that the prompts show; then at that.
    first, _ = satterthwaite(totals, unit, np.zeros_like(raw))
    kish = np.mean([divide((t**2).sum(0), t.sum(0)) for t in totals], axis=0)
    excess = divide(divide(raw, first * independent) - 1, kish - 1)
    inside = np.clip(np.where(np.isfinite(excess), excess, 0.0), 0.0, 1.0)
    factor, df = satterthwaite(totals, unit, inside)
    effect = divide(raw, factor * independent)
    # Where few prompts carry the variance, it rests on few degrees of freedom.
    few = 3.0 * (divide(raw**2, (influence**4).sum(0)) - 1.0)
    estimable = np.isfinite(effect) & (raw > FLAT * independent)
    df = np.where(estimable, np.minimum(df, np.maximum(few, 0.0)), 0.0)
    return np.where(estimable, effect, np.nan), np.where(np.isfinite(df), df, 0.0)


def satterthwaite(
    totals: list[FloatArray], unit: FloatArray, correlation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Small-sample factor and degrees of freedom of the clustered variance, sum of u_g².

    The residuals of prompts with leverages h and variances w have the covariance
    diag(d) + sum_j s_j v_j v_j', two terms j per mean, so both traces need sums over prompts only.

    Parameters
    ----------
    totals, unit
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
    for total, variances in zip(totals, unit, strict=True):
        h = divide(total, total.sum(0))
        w = total * (1.0 + np.maximum(total - 1.0, 0.0) * correlation)
        w = divide(w, w.sum(0))
        diagonal = diagonal + variances * w
        signs += [variances, -variances]
        vectors += [h - w, w]
    trace = diagonal.sum(0) + sum(s * (v**2).sum(0) for s, v in zip(signs, vectors, strict=True))
    square = (diagonal**2).sum(0)
    for s, v in zip(signs, vectors, strict=True):
        square = square + 2 * s * (diagonal * v**2).sum(0)
        for r, u in zip(signs, vectors, strict=True):
            square = square + s * r * (u * v).sum(0) ** 2
    return divide(trace, unit.sum(0)), divide(trace**2, square)


def clustered_variance(
    influence: FloatArray, totals: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Clustered variance of estimates, and its degrees of freedom, shape (n_groups,) each."""
    factor, df = small_sample(totals)
    return divide((influence**2).sum(0), factor), df


def small_sample(totals: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Factor of a clustered variance, and its degrees of freedom, shape (n_groups,) each."""
    unit = np.stack([divide(1.0, total.sum(0)) for total in totals])
    kish = np.mean([divide((t**2).sum(0), t.sum(0)) for t in totals], axis=0)
    # A working correlation within prompts (Pustejovsky & Tipton 2018) moves the factor and the
    # degrees of freedom; the estimate it leaves alone.
    within = np.where(kish > 1, 0.1, 0.0)
    return satterthwaite(totals, np.where(np.isfinite(unit), unit, np.nan), within)


def evidence_p(evidence: Evidence, null: npt.ArrayLike) -> FloatArray:
    """Two-sided p of the share against `null`, shape (n_groups,): twice the smaller mid-p tail."""
    null_share = np.asarray(null, dtype=np.float64)
    effects, weights = effect_density(evidence)
    count, failures = _counts(evidence.share, evidence.size / effects)
    fixed = _log_choices(count, failures), weights
    up = _reach(count, failures, *fixed, null_share, 1 - null_share, evidence.atom)
    down = _reach(failures, count, *fixed, 1 - null_share, null_share, evidence.atom)
    p = np.minimum(1.0, 2.0 * np.minimum(up, down))
    return np.where(np.isnan(evidence.share + null_share), np.nan, p)


def evidence_interval(evidence: Evidence, level: float) -> tuple[FloatArray, FloatArray]:
    """Shares that `evidence_p` does not reject at 1 - level, shape (n_groups,) each; NaN unknown.

    Raises ValueError for a level outside (0, 1).
    """
    tail = (1.0 - check_level(level)) / 2.0
    effects, weights = effect_density(evidence)
    units = evidence.size / effects
    # Both bounds in one search: the upper bound is 1 - the lower bound of the complement.
    share = np.concatenate([evidence.share, 1 - evidence.share])
    bounds = _lower_bound(share, np.tile(units, 2), np.tile(weights, 2), tail, evidence.atom)
    low, high = np.split(bounds, 2)
    return low, 1 - high


def effect_density(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Possible design effects and their weights, shape (24, n_groups) each; weights sum to 1.

    On the scale x = log D the density is exp(-df / 2 (x + F exp(-x)) + tilt x): the inverse
    chi-square density of F df / chi2(df), cut to the possible range, with a tilt min(1, 4 / (1 +
    df)), 1 for shares of whole units, that guards against variances that few prompts
    underestimate. Gauss–Legendre nodes.
    """
    half = evidence.df / 2.0
    tilt = np.minimum(1.0, evidence.tilt / (1.0 + evidence.df))
    effect = np.maximum(evidence.effect, 1e-9)
    least, most = np.log(evidence.smallest), np.log(evidence.largest)

    def log_density(x: FloatArray) -> FloatArray:
        return np.asarray(-half * (x + effect * np.exp(-x)) + tilt * x)

    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.log(effect * half / (half - tilt))
    # With few degrees of freedom the density has no peak and rises up to the largest effect.
    mode = np.clip(np.where(half > tilt, peak, most), least, most)
    top = log_density(mode)
    low = _edge(log_density, least, mode, top - _DROP)
    high = _edge(log_density, most, mode, top - _DROP)
    x = (low + high) / 2 + (high - low) / 2 * _NODES[:, np.newaxis]
    weights = np.exp(log_density(x) - top) * _WEIGHTS[:, np.newaxis]
    return np.exp(x), weights / weights.sum(0)


def effective_number(counts: npt.ArrayLike) -> FloatArray:
    """Effective number of prompts, (sum c)² / sum c², shape (n_prompts, k) -> (k,); 0 for none.

    >>> effective_number([[8.0, 3.0], [0.0, 3.0], [0.0, 3.0]]).tolist()
    [1.0, 3.0]
    """
    c = np.asarray(counts, dtype=np.float64)
    return divide_or_zero(c.sum(0) ** 2, (c**2).sum(0))


def _carriers(counts: FloatArray, squares: FloatArray) -> FloatArray:
    """Effective number of prompts that carry a group, as pairs of units of one prompt show it.

    (sum c)² / sum (c² - q) is free of the chance that spreads few units over many prompts; inf
    where no two units share a prompt.
    """
    pairs = (counts**2 - squares).sum(0)
    return np.where(pairs > 0, divide(counts.sum(0) ** 2, np.where(pairs > 0, pairs, 1.0)), np.inf)


def _evidence(
    share: FloatArray, size: FloatArray, effect: FloatArray, df: FloatArray, prompts: FloatArray
) -> Evidence:
    smallest = np.full_like(share, SMALLEST_EFFECT)
    # At most the effect of copies, whose effective units are as many as their prompts.
    largest = np.fmax(divide(size, prompts), 1.0) * (1 + 1e-9)
    return Evidence(share, size, np.where(df > 0, effect, 1.0), df, smallest, largest)


def _weight(squares: FloatArray, counts: FloatArray) -> FloatArray:
    """Mean weight of a unit in a count, sum of squares over sum; 1 where there is none."""
    weight = divide(squares.sum(0), counts)
    return np.where(np.isfinite(weight), np.minimum(weight, 1.0), 1.0)


def _edge(
    log_density: Callable[[FloatArray], FloatArray],
    stop: FloatArray,
    mode: FloatArray,
    floor: FloatArray,
) -> FloatArray:
    """Where the density has fallen to `floor` between the mode and `stop`, or `stop` itself."""
    far, near = stop.copy(), mode.copy()
    never_falls = log_density(stop) >= floor
    for _ in range(_HALVINGS):
        middle = (far + near) / 2
        beyond = log_density(middle) < floor
        far, near = np.where(beyond, middle, far), np.where(beyond, near, middle)
    return np.where(never_falls, stop, far)


def _counts(share: FloatArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
    count = share * units
    return count, np.maximum(units - count, 0.0)


def _log_choices(count: FloatArray, failures: FloatArray) -> FloatArray:
    """Logarithm of the binomial coefficient."""
    with np.errstate(invalid="ignore"):
        return np.asarray(-np.log1p(count + failures) - special.betaln(count + 1.0, failures + 1.0))


def _reach(
    count: FloatArray,
    failures: FloatArray,
    log_choices: FloatArray,
    weights: FloatArray,
    p: FloatArray,
    q: FloatArray,
    atom: float,
) -> FloatArray:
    """Probability of so high a count or a higher when the share is `p`, averaged by `weights`.

    Of the count itself the part `atom` counts. Counts and `weights` have shape (n_nodes, k), `p`
    and `q`, which is 1 - p, (k,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        # The incomplete beta takes no count of 0, whose tail is 1 in the next line.
        reach = special.betainc(np.maximum(count, _TINY), failures + 1.0, p)
        tail = np.where(count > 0, reach, 1.0)
        if atom < 1.0:
            point = np.exp(log_choices + special.xlogy(count, p) + special.xlogy(failures, q))
            tail = np.maximum(tail - (1.0 - atom) * point, atom * tail)
    mean: FloatArray = (weights * tail).sum(0)
    return mean


def _lower_bound(
    share: FloatArray, units: FloatArray, weights: FloatArray, tail: float, atom: float
) -> FloatArray:
    """The share at which `_reach` is `tail`; 0 where the count is 0, NaN where it is unknown.

    The search runs on the logit of the share and the normal quantile of the tail, where the curve
    is nearly straight.
    """
    goal = special.ndtri(tail)
    active = np.flatnonzero(share > 0)
    bound = np.where(np.isnan(share), np.nan, 0.0)
    if not len(active):
        return bound
    share, units, weights = share[active], units[:, active], weights[:, active]
    count, failures = _counts(share, units)
    fixed = _log_choices(count, failures), weights

    def height(x: FloatArray) -> FloatArray:
        p = _reach(count, failures, *fixed, special.expit(x), special.expit(-x), atom)
        # A tail that rounds to 0 or 1 has an infinite quantile, from which no line can be drawn.
        return np.asarray(special.ndtri(np.clip(p, _TINY, 1 - 1e-16)) - goal)

    small = (weights * units).sum(0)
    high = special.logit((share * small + 0.5) / (small + 1.0))
    low, step = high - 1.0, 1.0
    # The bracket grows until it holds the root.
    while (wrong := height(low) > 0).any() and step < _WIDEST:
        low, step = np.where(wrong, low - step, low), 2.0 * step
    step = 1.0
    while (wrong := height(high) < 0).any() and step < _WIDEST:
        high, step = np.where(wrong, high + step, high), 2.0 * step
    bound[active] = special.expit(crossing(height, low, high))
    return bound

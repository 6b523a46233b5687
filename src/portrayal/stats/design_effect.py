"""Design effects of clustered shares: how much less the texts say than independent ones would.

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
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import special

from portrayal.stats._arguments import divide
from portrayal.types import BoolArray, FloatArray, IntArray

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
_STEPS = 40  # at most; the search usually ends after about eight
_CLOSE = 1e-11
_TINY = 1e-300


@dataclass(frozen=True)
class ByGroup:
    """Numbers of many groups, each an array of shape (n_groups,)."""

    def of(self, groups: BoolArray | slice) -> Self:
        """Return the numbers of these groups alone."""
        arrays = {n: x[groups] for n, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)


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
    unit = np.maximum(divide(squares.sum(0), size) - share**2, 0.0) / np.where(size > 0, size, 1)
    unit = np.where(unit > FLAT * spread, unit, spread)
    influence = divide(count - share * total, size)
    effect, df = design_effect(influence, [total], unit[np.newaxis])
    others = np.maximum(total - 2.0 * count + squares, 0.0)
    carriers = np.minimum(_carriers(count, squares), _carriers(total - count, others))
    whole = squares.sum(0) >= _WHOLE * count.sum(0)
    parts = np.minimum(effective_number(squares), effective_number(others))
    carriers = np.where(whole, carriers, np.minimum(carriers, parts))
    df = np.where(df > 0, np.minimum(df, np.maximum(carriers - 1.0, 0.5)), 0.0)
    independent = np.where(unit > 0, share * (1 - share) / np.where(unit > 0, unit, 1.0), size)
    found = _evidence(share, independent, effect, df, effective_number(total))
    return replace(found, tilt=np.where(whole, 1.0, 4.0))


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
    apart = np.where(apart.sum(0) > FLAT * divide(spread, count), apart, np.nan)
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
        Shape (n_groups,): clustered variance over `apart`'s sum, right on average under one
        correlation within prompts, and the degrees of freedom, the smaller of Satterthwaite's
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
    known = np.isfinite(effect) & (raw > FLAT * independent)
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
    count, others = _counts(evidence.share, evidence.size / effects)
    known = _log_choices(count, others), weights
    up = _reach(count, others, *known, at, 1 - at, evidence.atom)
    down = _reach(others, count, *known, 1 - at, at, evidence.atom)
    p = np.minimum(1.0, 2.0 * np.minimum(up, down))
    return np.where(np.isnan(evidence.share + at), np.nan, p)


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


def _counts(share: FloatArray, units: FloatArray) -> tuple[FloatArray, FloatArray]:
    count = share * units
    return count, np.maximum(units - count, 0.0)


def _log_choices(count: FloatArray, others: FloatArray) -> FloatArray:
    """Logarithm of the binomial coefficient."""
    with np.errstate(invalid="ignore"):
        return np.asarray(-np.log1p(count + others) - special.betaln(count + 1.0, others + 1.0))


def _reach(
    count: FloatArray,
    others: FloatArray,
    log_choices: FloatArray,
    weights: FloatArray,
    at: FloatArray,
    rest: FloatArray,
    atom: float,
) -> FloatArray:
    """Probability of so high a count or a higher when the share is `at`, averaged by `weights`.

    Of the count itself the part `atom` counts. Counts and `weights` have shape (n_nodes, k), `at`
    and `rest`, which is 1 - at, (k,).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = special.betainc(np.maximum(count, _TINY), others + 1.0, at)
        whole = np.where(count > 0, reach, 1.0)
        if atom < 1.0:
            point = np.exp(log_choices + special.xlogy(count, at) + special.xlogy(others, rest))
            whole = np.maximum(whole - (1.0 - atom) * point, atom * whole)
    found: FloatArray = (weights * whole).sum(0)
    return found


def _lower_bound(
    share: FloatArray, units: FloatArray, weights: FloatArray, tail: float, atom: float
) -> FloatArray:
    """The share at which `_reach` is `tail`; 0 where the count is 0, NaN where it is unknown.

    Regula falsi (Illinois) on the logit of the share and the normal quantile of the tail, where the
    curve is nearly straight; halved where it leaves its bracket.
    """
    goal = special.ndtri(tail)
    active = np.flatnonzero(share > 0)
    found = np.where(np.isnan(share), np.nan, 0.0)
    if not len(active):
        return found
    share, units, weights = share[active], units[:, active], weights[:, active]
    count, others = _counts(share, units)
    log_choices = _log_choices(count, others)

    def height(x: FloatArray, at: IntArray) -> FloatArray:
        a, b, c, w = (part[:, at] for part in (count, others, log_choices, weights))
        p = _reach(a, b, c, w, special.expit(x), special.expit(-x), atom)
        return np.asarray(special.ndtri(np.clip(p, _TINY, 1 - 1e-16)) - goal)

    small = (weights * units).sum(0)
    start = special.logit((share * small + 0.5) / (small + 1.0))
    found[active] = special.expit(_root(height, start - 1.0, start))
    return found


def _root(
    height: Callable[[FloatArray, IntArray], FloatArray], left: FloatArray, right: FloatArray
) -> FloatArray:
    """Where rising functions are 0, shape (k,); `height` takes places and the indices they are of.

    The brackets grow until they hold the root.
    """
    every = np.arange(len(left))
    below, above = height(left, every), height(right, every)
    for k in range(_STEPS):
        low, high = np.flatnonzero(below > 0), np.flatnonzero(above < 0)
        if not (low.size or high.size):
            break
        right[low], above[low] = left[low], below[low]
        left[high], below[high] = right[high], above[high]
        left[low], right[high] = left[low] - 2.0**k, right[high] + 2.0**k
        below[low], above[high] = height(left[low], low), height(right[high], high)
    side = np.zeros(len(left))
    for _ in range(_STEPS):
        at = np.flatnonzero(right - left >= _CLOSE)
        if not at.size:
            break
        a, b, low_y, high_y = left[at], right[at], below[at], above[at]
        x = divide(low_y * b - high_y * a, low_y - high_y)
        x = np.where((x > a) & (x < b), x, (a + b) / 2)
        y = height(x, at)
        under, done = y <= 0, np.abs(y) < _CLOSE
        again = np.where(under, side[at] < 0, side[at] > 0)  # the same end moved before
        below[at] = np.where(under, y, np.where(again, low_y / 2, low_y))
        above[at] = np.where(under, np.where(again, high_y / 2, high_y), y)
        left[at], right[at] = np.where(under | done, x, a), np.where(under & ~done, b, x)
        side[at] = np.where(under, -1.0, 1.0)
    return left

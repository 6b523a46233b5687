"""Changes between two sides that answered the same prompts, from the contributions of prompts.

What each prompt adds to both sides is taken apart, prompt by prompt, so that what is peculiar to a
prompt cancels. At a change of θ the contributions of prompts less their share of θ have the mean 0,
whatever the texts of a prompt have in common; their sum over its clustered error is one score, from
which interval, p at any θ and the two one-sided tests of equivalence come, so that they agree.

Sources: Fieller (1954), Some problems in interval estimation, JRSS B 16; Binder (1983), On the
variances of asymptotically normal estimators from complex surveys, International Statistical
Review 51; Schuirmann (1987), A comparison of the two one-sided tests procedure, Journal of
Pharmacokinetics and Biopharmaceutics 15.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level, divide
from portrayal.stats.clustered import Clustered, infer_influences, pooled_part
from portrayal.stats.contrasts import Contrasts, TwoSides, infer_contrasts, too_few_prompts
from portrayal.stats.tails import normal_isf, normal_sf, t_isf, t_sf
from portrayal.types import FloatArray, IntArray

Cells = tuple[npt.ArrayLike, ...]
"""Counts and totals by prompt of one side: (a, n) of a share, (a, n, b, m) of a ratio of two."""

NO_VALUE = "no value"
SAME = "both sides have the same sums in every prompt"
NO_SPREAD = "every prompt changes alike, which says nothing of how other prompts change"
"""Why there is no interval of a change without any spread."""

_TIE = 1e-9


@dataclass(frozen=True)
class Changed:
    """Changes of many estimates; every field has shape (k,).

    Attributes
    ----------
    value, low, high
        Change and bounds, on the scale of the influences (a logarithm for ratios); NaN where
        undefined.
    p
        Two-sided p-value of no change, in 0-1; below 1 - level exactly where 0 lies outside the
        interval.
    p_inside
        One-sided p-values at minus the margin and at plus the margin, shape (2, k): small where the
        change is shown to lie inside that end; NaN without a margin.
    n_prompts
        Prompts that carry the test.
    reason
        Why there is neither interval nor test; "" where there are.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    p_inside: FloatArray
    n_prompts: IntArray
    reason: npt.NDArray[np.str_]

    @property
    def p_beyond(self) -> FloatArray:
        """One-sided p-values at both ends, small where the change is shown to lie beyond one."""
        return np.asarray(1.0 - self.p_inside)

    @property
    def p_equivalent(self) -> FloatArray:
        """Larger p-value of the two one-sided tests that the change is at a margin or beyond."""
        return np.asarray(self.p_inside.max(0))


def paired_changes(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    occurs: npt.ArrayLike,
    level: float,
    margin: npt.ArrayLike = np.nan,
    *,
    log: bool = False,
) -> Changed:
    """Infer changes between two sides with the same prompts, by the score of the contrast.

    The change r is where the contributions of the prompts cancel, Σ (second − r first) = 0. At any
    r these have the mean 0 if r is true, whatever the texts of a prompt have in common, so that
    their sum over its clustered standard error is Student's t on prompts less one. Its bounds are
    the r at which t reaches its quantile (Fieller 1954), so p and interval agree.

    Parameters
    ----------
    first, second
        Contributions of each prompt, shape (n_prompts, k): of ratios those of `ratio_parts`, of
        differences the part of the prompt and its contribution to the change (`difference_parts`).
    occurs
        Whether the group occurs in the prompt on either side, shape (n_prompts, k).
    level
        Confidence level, a fraction; the tests of equivalence are each at 1 - level.
    margin
        Largest change that counts as none, 0 or more, shape (k,) or one number, a logarithm of
        ratios; NaN for no test.
    log
        Whether r is a ratio, whose logarithm is the change.

    Returns
    -------
    Changed
        Neither interval nor test where the change has no value, where the group occurs in too few
        prompts, or where the sides do not differ in any prompt.

    Raises
    ------
    ValueError
        For arrays that do not fit, a margin below 0, or a level outside (0, 1).

    Examples
    --------
    >>> part = np.arange(8.0)[:, np.newaxis]
    >>> found = paired_changes(np.full((8, 1), 1 / 8), part / 8, part >= 0, 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [3.5, 1.452, 5.548, 0.005]
    """
    check_level(level)
    b, a, inside = np.asarray(first, float), np.asarray(second, float), np.asarray(occurs, bool)
    if a.ndim != 2 or not a.shape == b.shape == inside.shape:
        raise ValueError(
            f"contributions need one shape (n_prompts, k); got {b.shape}, {a.shape} and "
            f"{inside.shape}."
        )
    m, n = _margins(margin, a.shape[1]), len(a)
    # Means, and clustered variances and covariance of the sums.
    a_sum, b_sum = a.sum(0), b.sum(0)
    factor = n / max(n - 1.0, 1.0)
    a_off, b_off = a - a_sum / n, b - b_sum / n
    v_a, v_b, v_ab = (
        factor * (x * y).sum(0) for x, y in ((a_off,) * 2, (b_off,) * 2, (a_off, b_off))
    )
    ratio = divide(a_sum, b_sum)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(ratio) if log else ratio

    # The score of an endless r, and of the least one: none beyond an end has a larger p than it.
    endless = divide(b_sum, np.sqrt(v_b))
    least = divide(a_sum, np.sqrt(v_a)) if log else endless

    def error_at(r: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(np.maximum(v_a - 2.0 * r * v_ab + r**2 * v_b, 0.0)))

    def t_at(null: FloatArray) -> FloatArray:
        r = np.exp(null) if log else null
        return np.fmin(np.fmax(divide(a_sum - r * b_sum, error_at(r)), -endless), least)

    reached = float(t_isf((1.0 - level) / 2.0, n - 1))
    bounds = _fieller((a_sum, b_sum), (v_a, v_ab, v_b), reached**2)
    if not log:
        # A denominator that may be 0 leaves a difference without any bound.
        bounds = np.where(endless > reached, bounds[0], -np.inf), bounds[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.log(np.maximum(x, 0.0)) if log else x for x in bounds)
    ends = np.stack([-m, m])
    above = np.stack([t_sf(t_at(end), n - 1) for end in ends])
    inner = np.stack([above[0], 1.0 - above[1]])
    p = 2.0 * t_sf(np.abs(t_at(np.zeros_like(m))), n - 1)
    same = np.abs(a - b if log else a).sum(0) <= _TIE * np.abs(b).sum(0)
    at_change = error_at(np.where(np.isfinite(ratio), ratio, np.nan))
    varies, n_prompts = at_change > _TIE * np.abs(b_sum), inside.sum(0)
    reasons = [
        SAME
        if alike and count
        else NO_VALUE
        if not is_known
        else too_few_prompts(int(count)) or ("" if has_spread else NO_SPREAD)
        for is_known, alike, has_spread, count in zip(
            np.isfinite(value), same, varies, n_prompts, strict=True
        )
    ]
    reason = np.array(reasons, dtype=np.str_)
    low, high, inner = (np.where(reason == "", x, np.nan) for x in (low, high, inner))
    p = np.where(reason == "", p, np.where(reason == SAME, 1.0, np.nan))
    return Changed(value, low, high, p, inner, n_prompts, reason)


def _fieller(
    sums: tuple[FloatArray, FloatArray], variances: tuple[FloatArray, ...], squared_t: float
) -> tuple[FloatArray, FloatArray]:
    """The r at which (A − r B)² is `squared_t` times its variance; infinite where none is."""
    (a, b), (v_a, v_ab, v_b) = sums, variances
    square, middle, constant = (
        b**2 - squared_t * v_b,
        a * b - squared_t * v_ab,
        a**2 - squared_t * v_a,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(middle**2 - square * constant, 0.0))
        one, two = (middle - root) / square, (middle + root) / square
    # A denominator that may be 0 leaves one end open, or both.
    bounded, open_above = square > 0, (square <= 0) & (constant > 0) & (a * b > 0)
    low = np.where(bounded, one, np.where(open_above, np.maximum(one, two), -np.inf))
    return low, np.where(bounded, two, np.inf)


def difference_parts(
    value: npt.ArrayLike, influence: npt.ArrayLike, weight: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return contributions to a difference: the part of each prompt, and what it adds.

    Parameters
    ----------
    value
        The changes, shape (k,).
    influence, weight
        Of each prompt on the change, and its part of it, shape (n_prompts, k); influences of a
        column sum to 0 and weights to 1.
    """
    v, u, w = (np.asarray(x, dtype=np.float64) for x in (value, influence, weight))
    if u.ndim != 2 or u.shape != w.shape or v.shape != u.shape[1:]:
        raise ValueError(
            "changes need the shape (k,), influences and weights (n_prompts, k); got "
            f"{v.shape}, {u.shape} and {w.shape}."
        )
    return w, u + w * v


def paired_shares(
    first: tuple[FloatArray, FloatArray],
    second: tuple[FloatArray, FloatArray],
    level: float,
    margin: npt.ArrayLike = np.nan,
    part: npt.ArrayLike = 1.0,
    *,
    these_prompts: bool = False,
) -> tuple[Changed, Contrasts]:
    """Infer the logarithm of the pooled ratio of two shares of the same prompts, by its score.

    Parameters
    ----------
    first, second
        Counts and totals of each side, shape (n_prompts, k) each, counts at most totals.
    level, margin
        As in `paired_changes`; the margin is a logarithm.
    part
        Mean contribution of a unit that counts, weighted by itself: 1 for whole units, shape (k,)
        or one number.
    these_prompts
        Whether prompts are fixed, so that chance is in their texts alone.

    Returns
    -------
    Changed, Contrasts
        On the log scale, where the value may be ±inf; and the scores of prompts.

    Examples
    --------
    >>> n, a = np.full((8, 1), 50.0), np.array([[9.0], [12], [8], [15], [11], [9], [14], [10]])
    >>> changed, _ = paired_shares((a, n), (2 * a + 1, n), 0.95)
    >>> [round(float(np.exp(x[0])), 2) for x in (changed.value, changed.low, changed.high)]
    [2.09, 1.62, 2.71]
    """
    (b, m), (a, n) = first, second  # the change is the second over the first
    sides = TwoSides(a, n, b, m, np.asarray(part, dtype=np.float64) * (a + b))
    contrasts, bound = infer_contrasts(sides, level), _margins(margin, a.shape[1])
    bounds = contrasts.low, contrasts.high
    p = contrasts.p
    if these_prompts:
        bounds, p = (contrasts.fixed_low, contrasts.fixed_high), contrasts.fixed_p
    with np.errstate(divide="ignore"):
        value, low, high = (np.log(ratio) for ratio in (contrasts.ratio, *bounds))
    ends = np.stack([-bound, bound])
    two_sided = np.stack(
        [contrasts.test.p(np.exp(end), these_prompts=these_prompts) for end in ends]
    )
    # At minus the margin a change that lies well above it has a small p, at plus one well below.
    toward = np.stack([value > ends[0], value < ends[1]])
    inside = np.where(toward, two_sided / 2.0, 1.0 - two_sided / 2.0)
    # Sides that are the same, as of one set of texts, are no evidence that models are alike.
    same = np.all((a == b) & (n == m), axis=0)
    reasons = [
        NO_VALUE
        if unknown
        else (SAME if alike else (None if these_prompts else too_few_prompts(int(k))) or "")
        for unknown, k, alike in zip(np.isnan(value), contrasts.n_prompts, same, strict=True)
    ]
    reason = np.array(reasons, dtype=np.str_)
    none = reason != ""
    low, high = (np.where(none, np.nan, bound) for bound in (low, high))
    p = np.where(none & (reason != SAME), np.nan, p)
    inside = np.where(none, np.nan, inside)
    return Changed(value, low, high, p, inside, contrasts.n_prompts, reason), contrasts


def fixed_changes(
    changed: Changed, variance: FloatArray, level: float, margin: npt.ArrayLike = np.nan
) -> Changed:
    """Return changes of other estimates than shares with bounds and p of these very prompts.

    Parameters
    ----------
    changed
        What is known of prompts like these; it stays where `variance` is NaN, shape (k,).
    variance
        Of the change, as texts of the same prompts give it.
    level, margin
        As in `paired_changes`.

    Examples
    --------
    >>> n, a = np.full((8, 1), 50.0), np.array([[9.0], [12], [8], [15], [11], [9], [14], [10]])
    >>> changed, _ = paired_shares((a, n), (2 * a + 1, n), 0.95)
    >>> changed = fixed_changes(changed, np.array([0.01]), 0.95)
    >>> [round(float(np.exp(x[0])), 2) for x in (changed.value, changed.low, changed.high)]
    [2.09, 1.72, 2.54]
    """
    testable = np.isfinite(variance) & np.isfinite(changed.value) & (changed.reason != SAME)
    error, bound = np.sqrt(variance), _margins(margin, len(testable))
    half = float(normal_isf((1.0 - level) / 2.0)) * error
    ends = np.stack([-bound, bound])
    away = np.stack([changed.value - ends[0], ends[1] - changed.value])
    inside = np.asarray(normal_sf(divide(away, error)))
    changes = {
        "low": changed.value - half,
        "high": changed.value + half,
        "p": 2.0 * normal_sf(np.abs(divide(changed.value, error))),
        "p_inside": inside,
    }
    fields = {name: np.where(testable, x, getattr(changed, name)) for name, x in changes.items()}
    return replace(changed, reason=np.where(testable, "", changed.reason), **fields)


def ratio_parts(first: Cells, second: Cells) -> tuple[FloatArray, FloatArray]:
    """Return contributions to the ratio of a ratio between two sides with the same prompts.

    A side's value is its share, Σ a / Σ n, or the ratio of two, (Σ a / Σ n) / (Σ b / Σ m). The
    contributions are taken at the mean of both sides' lower shares, and their sums have the ratio
    of both values as theirs.

    Parameters
    ----------
    first, second
        Counts and totals of each side, (a, n) or (a, n, b, m), each of shape (n_prompts, k), 0 or
        more.

    Raises
    ------
    ValueError
        For arrays that do not fit, and for negative sums.

    Examples
    --------
    >>> n, a = np.full((8, 1), 50.0), np.array([[9.0], [12], [8], [15], [11], [9], [14], [10]])
    >>> found = paired_changes(*ratio_parts((a, n), (2 * a + 1, n)), a > 0, 0.95, log=True)
    >>> [round(float(np.exp(x[0])), 2) for x in (found.value, found.low, found.high)]
    [2.09, 2.08, 2.11]
    """
    one, two = (_parts(cells) for cells in (first, second))
    if one[0].shape != two[0].shape or len(one) != len(two):
        raise ValueError(f"both sides need one shape; got {one[0].shape} and {two[0].shape}.")
    imbalance = two[1] - one[1]
    if len(one) == 4:
        both = one[2].sum(0) + two[2].sum(0)
        imbalance = imbalance + 2.0 * (two[2] - one[2]) / np.where(both > 0, both, np.nan)
        imbalance = imbalance - (two[3] - one[3])
    upper, lower = two[0].sum(0), one[0].sum(0)
    return 2.0 * one[0] + imbalance * lower, 2.0 * two[0] - imbalance * upper


def _parts(cells: Cells) -> list[FloatArray]:
    """Counts and totals as parts of their role's total, (n_prompts, k) each."""
    arrays = [np.asarray(cell, dtype=np.float64) for cell in cells]
    if len(arrays) not in (2, 4) or len({array.shape for array in arrays}) != 1:
        raise ValueError("a side has (a, n) or (a, n, b, m), all of one shape (n_prompts, k).")
    if arrays[0].ndim != 2 or any(bool(np.any(~(array >= 0))) for array in arrays):
        raise ValueError("counts and totals must be numbers of 0 or more, (n_prompts, k).")
    totals = [arrays[i - i % 2 + 1].sum(0) for i in range(len(arrays))]
    return [
        array / np.where(total > 0, total, np.nan)
        for array, total in zip(arrays, totals, strict=True)
    ]


def clustered_changes(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    level: float,
    margin: npt.ArrayLike = np.nan,
) -> Changed:
    """Infer changes between two sides with other prompts: Student's t on clustered influences.

    Parameters
    ----------
    value, level, margin
        As in `paired_changes`.
    influence
        Of every prompt of either side on the change, shape (n_prompts, k); a prompt of both holds
        both its influences.
    first, second
        Units of each side by prompt, shape (n_prompts, k); 0 where the side has no such prompt.

    Examples
    --------
    >>> y, z = np.array([1.0, 2, 3]), np.array([4.0, 6, 8])
    >>> u = np.concatenate([(y.mean() - y) / 3, (z - z.mean()) / 3])[:, np.newaxis]
    >>> sides = [[1.0]] * 3 + [[0.0]] * 3, [[0.0]] * 3 + [[1.0]] * 3
    >>> found = clustered_changes([z.mean() - y.mean()], u, *sides, 0.95)
    >>> [round(float(x[0]), 3) for x in (found.value, found.low, found.high, found.p)]
    [4.0, 0.416, 7.584, 0.036]
    """
    totals = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    v, u = np.asarray(value, dtype=np.float64), np.asarray(influence, dtype=np.float64)
    m = _margins(margin, len(v))
    u = u * np.sqrt(pooled_part([np.where(total > 0, u, 0.0) for total in totals], totals))

    def at(null: npt.ArrayLike) -> Clustered:
        return infer_influences(v, u, totals, level, null)

    change = at(0.0)
    half = np.stack([at(-m).p, at(m).p]) / 2.0
    inside = np.where(np.stack([v > -m, v < m]), half, 1.0 - half)
    inside = np.where(np.isnan(m) | np.isnan(half), np.nan, inside)
    clusters, reason = change.n_clusters, change.reason
    return Changed(v, change.low, change.high, change.p, inside, clusters, reason)


def _margins(margin: npt.ArrayLike, k: int) -> FloatArray:
    margins = np.broadcast_to(np.asarray(margin, dtype=np.float64), (k,))
    if np.any(margins < 0):
        raise ValueError("a margin of equivalence must be 0 or more.")
    return margins


EXCHANGES = 9_999
"""Exchanges that are drawn where there are too many to try all."""
_ALL_OF = 13  # clusters up to which all exchanges are tried
_SUMMED = 4_000_000  # numbers that are drawn at once


def exchange_test(
    total: FloatArray, rng: np.random.Generator, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Test sums of differences within pairs by exchanging the halves of whole clusters.

    Parameters
    ----------
    total
        Sum of the differences of each cluster, shape (n, k); 0 where a cluster has none.
    rng
        For the exchanges, where there are more than 2^13.
    level
        Of the range, a fraction.

    Returns
    -------
    p, half
        Two-sided p of each column, and the largest distance from 0 that exchanged sums keep with
        probability `level`; shape (k,) each. p is exact where all exchanges are tried, and never 0.

    References
    ----------
    Fisher (1935), The design of experiments, section 21. Phipson & Smyth (2010).

    Examples
    --------
    >>> p, half = exchange_test(np.ones((8, 1)), np.random.default_rng(0))
    >>> float(p[0]), float(half[0])
    (0.0078125, 6.0)
    """
    n, k = total.shape
    exhaustive = n <= _ALL_OF
    n_draws = 2 ** max(n - 1, 0) if exhaustive else EXCHANGES
    sums, start = np.empty((n_draws, k)), 0
    while start < n_draws:  # piece by piece: all signs at once would take gigabytes
        size = min(n_draws - start, max(_SUMMED // max(n, 1), 1))
        if exhaustive:  # the first cluster stays, as exchanging all gives the same distance
            bits = (np.arange(start, start + size)[:, None] >> np.arange(n)) & 1
            signs = np.where(bits == 1, -1.0, 1.0)
        else:
            signs = rng.integers(0, 2, (size, n)) * 2.0 - 1.0
        sums[start : start + size] = signs @ total
        start += size
    far, observed = np.abs(sums), np.abs(total.sum(0))
    # Exchanges that give the observed sum but for rounding are as far out as it.
    hits = (far >= observed * (1.0 - 1e-12) - 1e-12).sum(0)
    p = hits / n_draws if exhaustive else (1.0 + hits) / (1.0 + n_draws)
    return p, np.quantile(far, level, axis=0, method="higher")

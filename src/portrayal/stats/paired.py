"""Changes between two sides that answered the same prompts, from the prompts' influences.

The *influence* of a prompt on an estimate is what it moves it by; those of both sides are taken
apart, prompt by prompt, so that what is peculiar to a prompt cancels. Where a change is θ, the
contributions of prompts to it less their share of θ have their signs by fair coins, whatever the
texts of a prompt have in common; θ is refused where coins hardly make a sum as far from 0. That is
so exactly where few random subsets of prompts have a change on the other side of θ (Hartigan 1969),
so one set of subsets gives the interval, the p-value at any θ, and the two one-sided tests of
equivalence, and they never disagree.

A sum of squares does not depend on the signs, so studentising the sum changes no p-value.

Sources: Hartigan (1969), Using subsample values as typical values, JASA 64; Hemerik, Goeman and
Finos (2020), Robust testing in generalized linear models by sign flipping score contributions,
JRSS B 82; Schuirmann (1987), A comparison of the two one-sided tests procedure, Journal of
Pharmacokinetics and Biopharmaceutics 15.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import check_level, divide
from portrayal.stats.clustered import Clustered, infer_influences
from portrayal.stats.contrasts import Contrasts, TwoSides, infer_contrasts, too_few_prompts
from portrayal.stats.roles import fewest_prompts, no_test_reason
from portrayal.stats.tails import normal_isf, normal_sf
from portrayal.types import BoolArray, FloatArray, IntArray

Cells = tuple[npt.ArrayLike, ...]
"""Counts and totals by prompt of one side: (a, n) of a share, (a, n, b, m) of a ratio of two."""

NO_VALUE = "no value"
SAME = "both sides have the same sums in every prompt"
"""Why there is no interval of a change without any spread."""

_TIE = 1e-9
_COLUMNS = 64  # changes whose subsets are in memory together


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
    p_inside, p_beyond
        One-sided p-values at minus the margin and at plus the margin, shape (2, k): small where the
        change is shown to lie inside that end, and beyond it; NaN without a margin.
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
    p_beyond: FloatArray
    n_prompts: IntArray
    reason: npt.NDArray[np.str_]

    @property
    def p_equivalent(self) -> FloatArray:
        """Larger p-value of the two one-sided tests that the change is at a margin or beyond."""
        return np.asarray(self.p_inside.max(0))


def paired_changes(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    weight: npt.ArrayLike,
    occurs: npt.ArrayLike,
    subsets: FloatArray,
    level: float,
    margin: npt.ArrayLike = np.nan,
) -> Changed:
    """Infer changes between two sides with the same prompts by coins for whole prompts.

    Parameters
    ----------
    value
        The changes, shape (k,).
    influence, weight
        Of each prompt on the change, and its part of it, shape (n_prompts, k); influences of a
        column sum to 0 and weights to 1.
    occurs
        Whether the group occurs in the prompt on either side, shape (n_prompts, k): a subset
        without the group says nothing, so it counts against every finding.
    subsets
        Rows of 0 and 1 from `prompt_subsets`.
    level
        Confidence level, a fraction; the tests of equivalence are each at 1 - level.
    margin
        Largest change that counts as none, 0 or more, shape (k,) or one number; NaN for no test.

    Returns
    -------
    Changed
        No interval and no test where the group occurs in too few prompts (`fewest_prompts`), or
        where the sides do not differ in any prompt.

    Raises
    ------
    ValueError
        For arrays that do not fit, a margin below 0, or a level outside (0, 1).

    Examples
    --------
    >>> from portrayal.stats import prompt_subsets
    >>> part = np.array([1.0, 2, 1, 3, 2, 1, 2, 3])[:, np.newaxis]
    >>> subsets = prompt_subsets(8, np.random.default_rng(0))
    >>> found = paired_changes(
    ...     part.mean(0), (part - part.mean()) / 8, part * 0 + 1 / 8, part > 0, subsets, 0.95, 3.0
    ... )
    >>> [round(float(x[0]), 4) for x in (found.value, found.low, found.high, found.p)]
    [1.875, 1.0, 2.6667, 0.0078]
    >>> bool(found.p_equivalent[0] < 0.05)
    True
    """
    v, u, w, inside, m = _arguments(value, influence, weight, occurs, margin)

    def changes(columns: slice) -> FloatArray:
        part = subsets @ w[:, columns]
        shift = subsets @ u[:, columns]
        return v[columns] + np.divide(shift, part, out=np.zeros_like(shift), where=part > 0)

    spread = np.abs(u).sum(0) > _TIE * np.maximum(1.0, np.abs(v))
    size = np.abs(u).sum(0) + np.abs(v)
    return _inferred(v, changes, inside, spread, size, subsets, level, m)


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
    squares = np.asarray(part, dtype=np.float64) * (a + b)
    sides = TwoSides(a, n, b, m, squares)
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
    changed = Changed(value, low, high, p, inside, 1.0 - inside, contrasts.n_prompts, reason)
    return changed, contrasts


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
        "p_beyond": 1.0 - inside,
    }
    fields = {name: np.where(testable, x, getattr(changed, name)) for name, x in changes.items()}
    return replace(changed, reason=np.where(testable, "", changed.reason), **fields)


def paired_ratios(
    first: Cells, second: Cells, subsets: FloatArray, level: float, margin: npt.ArrayLike = np.nan
) -> Changed:
    """Infer the logarithm of a ratio between two sides with the same prompts by coins for them.

    A side's value is its share, Σ a / Σ n, or the ratio of two, (Σ a / Σ n) / (Σ b / Σ m). Where
    both sides are alike, a prompt that changes sides with all it holds changes the sign of its
    contribution, taken at the mean of both sides' shares, and nothing else; so the test is exact,
    however rare the group is. The change of a subset is the ratio by which `a` of the second side
    would have to be smaller for its contributions to cancel, which has a closed form.

    Parameters
    ----------
    first, second
        Counts and totals of each side, (a, n) or (a, n, b, m), each of shape (n_prompts, k), 0 or
        more.
    subsets, level, margin
        As in `paired_changes`; the margin is a logarithm.

    Returns
    -------
    Changed
        On the log scale. Of shares the value may be ±inf, with an interval of one side, where one
        side has a count of 0; NaN where both do, and where a ratio of two shares is 0 or infinite.

    Raises
    ------
    ValueError
        As `paired_changes`, and for negative sums.

    Examples
    --------
    >>> from portrayal.stats import prompt_subsets
    >>> n, a = np.full((8, 1), 50.0), np.array([[9.0], [12], [8], [15], [11], [9], [14], [10]])
    >>> subsets = prompt_subsets(8, np.random.default_rng(0))
    >>> found = paired_ratios((a, n), (2 * a + 1, n), subsets, 0.95)
    >>> [round(float(np.exp(x[0])), 2) for x in (found.value, found.low, found.high)]
    [2.09, 2.08, 2.11]
    """
    one, two = (_parts(cells) for cells in (first, second))
    if one[0].shape != two[0].shape or len(one) != len(two):
        raise ValueError(f"both sides need one shape; got {one[0].shape} and {two[0].shape}.")
    m = _margins(margin, one[0].shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [[cell.sum(0) for cell in side[::2]] for side in (one, two)]
        value = np.log(shares[1][0]) - np.log(shares[0][0])
        imbalance = two[1] - one[1]
        inside = one[0] + two[0] > 0
        if len(one) == 4:
            value = value - (np.log(shares[1][1]) - np.log(shares[0][1]))
            value = np.where(np.isfinite(value), value, np.nan)
            both = shares[0][1] + shares[1][1]
            imbalance = imbalance + 2.0 * (two[2] - one[2]) / np.where(both > 0, both, 1.0)
            imbalance = imbalance - (two[3] - one[3])
            inside |= one[2] + two[2] > 0

    def changes(columns: slice) -> FloatArray:
        shift = subsets @ imbalance[:, columns]
        above = 2.0 * (subsets @ two[0][:, columns]) - shift * shares[1][0][columns]
        below = 2.0 * (subsets @ one[0][:, columns]) + shift * shares[0][0][columns]
        rounding = _TIE * (shares[0][0][columns] + shares[1][0][columns])
        above, below = (np.where(x <= rounding, 0.0, x) for x in (above, below))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(above / below))

    differs = np.abs(two[0] - one[0]).sum(0) > _TIE * (shares[0][0] + shares[1][0])
    spread = differs | (np.abs(imbalance).sum(0) > _TIE)
    return _inferred(value, changes, inside, spread, np.ones(len(value)), subsets, level, m)


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


def _inferred(
    value: FloatArray,
    changes: Callable[[slice], FloatArray],
    occurs: BoolArray,
    spread: BoolArray,
    size: FloatArray,
    subsets: FloatArray,
    level: float,
    margin: FloatArray,
) -> Changed:
    """Bounds, p of no change, inside and beyond margins, from the changes of every subset."""
    check_level(level)
    if subsets.ndim != 2 or subsets.shape[1] != len(occurs):
        raise ValueError(
            f"subsets of {subsets.shape[-1]} prompts do not fit {len(occurs)} prompts."
        )
    columns = [slice(i, i + _COLUMNS) for i in range(0, len(value), _COLUMNS)]
    parts = [
        _of_subsets(changes(part), occurs[:, part], size[part], subsets, 1.0 - level, margin[part])
        for part in columns
    ]
    # Gives the arrays their shape where there is no change at all.
    none = _of_subsets(subsets[:, :0], occurs[:, :0], size[:0], subsets, 1.0 - level, margin[:0])
    low, high, p, inner, beyond = (
        np.concatenate([part[i] for part in (none, *parts)], axis=-1) for i in range(5)
    )
    n_prompts = occurs.sum(0)
    few = n_prompts < fewest_prompts(level)
    # A group of neither side has the same sums too, which is no evidence that sides are alike.
    reasons = [
        NO_VALUE
        if unknown
        else SAME
        if n and not differs
        else (no_test_reason(int(n), level) or "")
        if fewer
        else ("" if differs else SAME)
        for unknown, n, fewer, differs in zip(np.isnan(value), n_prompts, few, spread, strict=True)
    ]
    reason = np.array(reasons, dtype=np.str_)
    testable = reason == ""
    # An interval holds its estimate, also where the ranks of few subsets pass it.
    low, high = np.minimum(low, value), np.maximum(high, value)
    low, high, inner, beyond = (np.where(testable, x, np.nan) for x in (low, high, inner, beyond))
    p = np.where(testable | (reason == SAME), p, np.nan)
    return Changed(value, low, high, p, inner, beyond, n_prompts, reason)


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
    v, u, _, _, m = _arguments(value, influence, totals[0], totals[1], margin)

    def at(null: npt.ArrayLike) -> Clustered:
        return infer_influences(v, u, totals, level, null)

    change = at(0.0)
    half = np.stack([at(-m).p, at(m).p]) / 2.0
    inside = np.where(np.stack([v > -m, v < m]), half, 1.0 - half)
    inside = np.where(np.isnan(m) | np.isnan(half), np.nan, inside)
    return Changed(
        v, change.low, change.high, change.p, inside, 1.0 - inside, change.n_clusters, change.reason
    )


def _of_subsets(
    change: FloatArray,
    occurs: BoolArray,
    size: FloatArray,
    subsets: FloatArray,
    alpha: float,
    margin: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Bounds, p of no change, inside and beyond; `change` has the shape (n_subsets, k)."""
    nobody = (subsets @ occurs.astype(np.float64) < 0.5) | np.isnan(change)
    # Contributions that cancel leave rounding, whose sign would count as a side.
    change[np.abs(change) <= _TIE * size] = 0.0
    # A subset without the group lies on both sides of every value, and so against every finding.
    low, high = np.where(nobody, -np.inf, change), np.where(nobody, np.inf, change)

    def below(null: FloatArray | float) -> FloatArray:
        return np.asarray((low <= null).mean(0))

    def above(null: FloatArray | float) -> FloatArray:
        return np.asarray((high >= null).mean(0))

    p = np.minimum(1.0, 2.0 * np.minimum(below(0.0), above(0.0)))
    inside = np.stack([below(-margin), above(margin)])
    beyond = np.stack([above(-margin), below(margin)])
    # The rank at which the bound agrees with p: a subset fewer would refuse what p allows
    rank = max(int(np.ceil(alpha / 2.0 * len(subsets) - 1e-9)), 1) - 1
    last = len(subsets) - 1 - rank
    return (
        np.partition(low, rank, axis=0)[rank],
        np.partition(high, last, axis=0)[last],
        p,
        np.where(np.isnan(margin), np.nan, inside),
        np.where(np.isnan(margin), np.nan, beyond),
    )


def _arguments(
    value: npt.ArrayLike,
    influence: npt.ArrayLike,
    weight: npt.ArrayLike,
    occurs: npt.ArrayLike,
    margin: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray, FloatArray]:
    v, u, w = (np.asarray(x, dtype=np.float64) for x in (value, influence, weight))
    inside = np.asarray(occurs, dtype=np.bool_)
    if u.ndim != 2 or not u.shape == w.shape == inside.shape or v.shape != u.shape[1:]:
        raise ValueError(
            "changes need the shape (k,), influences and weights (n_prompts, k); got "
            f"{v.shape}, {u.shape}, {w.shape} and {inside.shape}."
        )
    return v, u, w, inside, _margins(margin, len(v))


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

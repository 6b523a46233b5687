"""Groups before and after mitigation, paired text by text, with clustered intervals.

Shares of agentic sentences lie in 0–1. Gaps are differences of two groups' mean ratio gaps (share
agentic minus share communal) in percentage points, and variances are between the groups' mean ratio
gaps, in squared percentage points, in each run and averaged, as in Wan & Chang (2024), Section 3.3.

What rewritten texts are compared against is the texts as they were: both sides become sums by
prompt, and their change, its interval and its p are those of `portrayal.comparison`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.comparison import Change, Sums, changes_against
from portrayal.measure.agency.estimates import STATISTICS
from portrayal.measure.agency.places import CellSums
from portrayal.measure.agency.texts import numbered, told_runs
from portrayal.measure.agency.variance import (
    INTERSECTIONAL,
    MIN_TEXTS,
    OVERALL,
    POINTS,
    gap_variance,
)
from portrayal.mitigate.passages import GroupedText
from portrayal.stats import (
    cluster_weights,
    divide,
    expanded_percentile,
    permutation_range,
    prompt_subsets,
    shuffle_within,
)
from portrayal.types import BoolArray, FloatArray, IntArray

_BLOCK = 100  # replicates at a time
_MOST_CLUSTERS = 512  # with more prompts than this, some change sides together
_NO_WIDTH = 1e-9
_NO_TEXT = "no text of the group has a sentence that could be told"
_FEW = f"no run holds at least {MIN_TEXTS} texts of every group"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange(Change):
    """One number of the texts as they were (a) and after rewriting (b), and their paired change.

    `group` is {attribute: what}: a group, the pair "A − B" of gaps, or "variance", of a group
    column, "intersectional" or "overall". p is None for variances, with fewer than 6 prompts, and
    where nothing changed; the interval of the change agrees with it, and else resamples prompts.

    Attributes
    ----------
    interval_a, interval_b
        Intervals of both values, by resampling prompts.
    null_a, null_b
        Central range of the number where groups are shuffled; None for groups.
    p_a, p_b
        How often a shuffled one is as large; None for groups.
    n_texts
        Texts.
    runs
        Of a variance where the texts have several runs, (before, after) in each that holds enough
        texts of every group; the values are their means.
    """

    interval_a: tuple[float, float] | None = None
    interval_b: tuple[float, float] | None = None
    null_a: tuple[float, float] | None = None
    null_b: tuple[float, float] | None = None
    p_a: float | None = None
    p_b: float | None = None
    n_texts: int = 0
    runs: tuple[tuple[float, float], ...] = ()

    @property
    def attribute(self) -> str:
        """Group column, "intersectional" or "overall"."""
        return next(iter(self.group))

    @property
    def what(self) -> str:
        """The group, the pair "A − B", or "variance"."""
        return self.group[self.attribute]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        names = ("value_a", "value_b", "change", "low", "high", "p", "n_prompts", "undefined")
        own = [field.name for field in fields(self) if field.name not in Change.__slots__]
        values = {name: getattr(self, name) for name in (*names, *own)}
        return {"attribute": self.attribute, "what": self.what, **values}


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """Groups, gaps and variances before and after, with the settings of intervals and null."""

    groups: tuple[GroupChange, ...]
    gaps: tuple[GroupChange, ...]
    variances: tuple[GroupChange, ...]
    level: float
    draws: int
    permutations: int
    seed: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        kinds = ("groups", "gaps", "variances")
        rows = {kind: [row.as_json() for row in getattr(self, kind)] for kind in kinds}
        return rows | {
            name: getattr(self, name) for name in ("level", "draws", "permutations", "seed")
        }


@dataclass(frozen=True)
class SharedTexts:
    """Arrays of the texts that have a share before and after.

    Attributes
    ----------
    gap
        Ratio gaps in −1 to 1, shape (2, n): before and after.
    cell, run, cluster, block
        Codes, shape (n,).
    cells
        Group values by code of cell.
    first
        Values of groups that come first in a difference.
    """

    gap: FloatArray
    cell: IntArray
    run: IntArray
    cluster: IntArray
    block: IntArray
    cells: tuple[tuple[str, ...], ...]
    first: tuple[str, ...]

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.run.max()) + 1 if len(self.run) else 1

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    def sums(self, cell: IntArray) -> CellSums:
        """Sums of gaps, shape (2, n_runs, n_cells), and numbers of texts, (1, n_runs, n_cells)."""
        n, slot = len(self.cells), self.run * len(self.cells) + cell
        made = [
            np.bincount(slot, each, self.n_runs * n).reshape(self.n_runs, n)
            for each in (*self.gap, np.ones(len(cell)))
        ]
        return CellSums(
            np.stack(made[:2]).astype(np.float64), np.stack(made[2:]).astype(np.float64)
        )

    def kinds(self, columns: Sequence[str]) -> Iterator[tuple[str, list[str], FloatArray]]:
        """Yield each attribute, its values, and which cells belong to which; then all crossed."""
        for i, name in enumerate(columns):
            values = sorted({cell[i] for cell in self.cells}, key=_first(self.first))
            member = [[float(cell[i] == value) for value in values] for cell in self.cells]
            shape = len(self.cells), len(values)
            yield name, values, np.array(member, dtype=np.float64).reshape(shape)
        if len(columns) > 1:
            yield INTERSECTIONAL, [" ".join(cell) for cell in self.cells], np.eye(len(self.cells))


def _first(values: tuple[str, ...]) -> Callable[[str], tuple[bool, str]]:
    """The key that sorts these values before all others."""
    return lambda value: (value not in values, value)


def texts_of(
    passages: Sequence[GroupedText],
    before: Sequence[float],
    after: Sequence[float],
    first: tuple[str, ...] = (),
) -> SharedTexts:
    """Return the texts that have a share of agentic sentences before and after, not NaN."""
    share = np.array([before, after], dtype=np.float64).reshape(2, -1)
    used = np.flatnonzero(~np.isnan(share).any(axis=0)).tolist()
    texts = [passages[i] for i in used]
    order = _first(first)
    cells = sorted({text.group for text in texts}, key=lambda cell: ([*map(order, cell)], cell))
    start, slope = STATISTICS["agentic"]
    return SharedTexts(
        (share[:, used] - start) / slope,
        np.array([cells.index(text.group) for text in texts], dtype=np.int64),
        told_runs(numbered([text.run for text in texts]), len(cells)),
        numbered([text.cluster for text in texts]),
        numbered([text.block for text in texts]),
        tuple(cells),
        first,
    )


@dataclass(frozen=True)
class RunVariances:
    """Variances in each run: observed (2, n_runs), drawn and shuffled (n_draws, 2, n_runs)."""

    observed: FloatArray
    drawn: FloatArray
    null: FloatArray

    @property
    def known(self) -> BoolArray:
        """Runs that hold enough texts of every group, shape (n_runs,)."""
        return np.asarray(~np.isnan(self.observed).any(axis=0))

    def over_runs(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means over those runs, of shapes (2,) and (n_draws, 2); NaN where there is none."""
        made = []
        for each in (self.observed, self.drawn, self.null):
            values = each[..., self.known]
            there = ~np.isnan(values)
            total = np.where(there, values, 0.0).sum(axis=-1)
            made.append(np.asarray(divide(total, there.sum(axis=-1).astype(np.float64))))
        return made[0], made[1], made[2]

    @property
    def runs(self) -> tuple[tuple[float, float], ...]:
        """Before and after in each of those runs, where the texts have several."""
        if self.observed.shape[1] < 2:
            return ()
        return tuple((float(a), float(b)) for a, b in self.observed[:, self.known].T)


def variances(
    data: SharedTexts, columns: Sequence[str], sums: tuple[CellSums, CellSums, CellSums]
) -> dict[str, RunVariances]:
    """Variances of every attribute with two groups, of all crossed, and overall.

    As in the audit there is none overall where an attribute has one group.
    """
    found: dict[str, RunVariances] = {}
    kinds = list(data.kinds(columns))
    for name, labels, member in kinds:
        if len(labels) > 1:
            few = ((sums[0].count[0] @ member) < MIN_TEXTS).any(axis=-1)
            observed, drawn, null = (gap_variance(each, member) for each in sums)
            found[name] = RunVariances(np.where(few, np.nan, observed), drawn, null)
    if INTERSECTIONAL in found and len(found) == len(kinds):
        every = list(found.values())
        found[OVERALL] = RunVariances(
            np.mean([each.observed for each in every], axis=0),
            np.mean([each.drawn for each in every], axis=0),
            np.mean([each.null for each in every], axis=0),
        )
    return found


def resampled_sums(data: SharedTexts, draws: int, seed: int) -> CellSums:
    """Sums of every replicate: (draws, 2, n_runs, n_cells) and (draws, 1, n_runs, n_cells)."""
    n, n_runs, n_cells = len(data.cell), data.n_runs, len(data.cells)
    if not n:
        return _no_sums(draws, n_cells)
    slot = (data.cluster * n_runs + data.run) * n_cells + data.cell
    size = data.n_clusters * n_runs * n_cells
    parts = np.stack([np.bincount(slot, each, size) for each in (*data.gap, np.ones(n))])
    sums = parts.reshape(3, data.n_clusters, -1).swapaxes(0, 1).reshape(data.n_clusters, -1)
    rng, made = np.random.default_rng([seed, 2]), []
    for left in range(draws, 0, -_BLOCK):
        made.append(cluster_weights(data.n_clusters, min(left, _BLOCK), rng) @ sums)
    drawn = np.concatenate(made).reshape(draws, 3, n_runs, n_cells)
    return CellSums(drawn[:, :2], drawn[:, 2:])


def shuffled_sums(data: SharedTexts, permutations: int, seed: int) -> CellSums:
    """Sums under shuffled groups: of prompts where each has one group, of texts in them else."""
    if not len(data.cell):
        return _no_sums(permutations, len(data.cells))
    rng, made = np.random.default_rng([seed, 3]), []
    first = np.unique(data.cluster, return_index=True)[1]
    whole = bool(np.all(data.cell == data.cell[first][data.cluster]))
    for _ in range(permutations):
        if whole:
            cell = shuffle_within(data.cell[first], data.block[first], rng)[data.cluster]
        else:
            cell = shuffle_within(data.cell, data.cluster, rng)
        made.append(data.sums(cell))
    return CellSums(
        np.stack([each.total for each in made]), np.stack([each.count for each in made])
    )


def _no_sums(n: int, n_cells: int) -> CellSums:
    return CellSums(np.zeros((n, 2, 1, n_cells)), np.zeros((n, 1, 1, n_cells)))


def prompt_sums(
    data: SharedTexts, side: int, member: FloatArray, pairs: Sequence[tuple[int, int]]
) -> Sums:
    """Return sums by prompt of a side (0 before, 1 after): groups, then gaps between pairs of them.

    Groups are shares of agentic sentences, gaps percentage points, as they are printed.
    """
    start, slope = STATISTICS["agentic"]
    code = data.cluster % _MOST_CLUSTERS
    n, n_cells = min(max(data.n_clusters, 1), _MOST_CLUSTERS), len(data.cells)
    slot = code * n_cells + data.cell
    total, count = (
        np.bincount(slot, each, n * n_cells).reshape(n, n_cells) @ member
        for each in (data.gap[side], np.ones(len(code)))
    )
    mean, weight = divide(total.sum(0), count.sum(0)), divide(count, count.sum(0))
    influence = divide(total - mean * count, count.sum(0))
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    upper = [slope * influence, POINTS * (influence[:, first] - influence[:, second])]
    lower = [weight, (weight[:, first] + weight[:, second]) / 2.0]
    value = np.concatenate([start + slope * mean, POINTS * (mean[first] - mean[second])])
    cells = np.concatenate(upper, axis=1), np.concatenate(lower, axis=1)
    none = np.full(cells[0].shape, np.nan)
    scale, prompts = np.ones(len(value)), np.arange(n)
    return Sums("influence", False, (*cells, none, none), scale, value, prompts)


def compare(
    passages: Sequence[GroupedText],
    before: Sequence[float],
    after: Sequence[float],
    columns: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = 2000,
    permutations: int = 999,
    seed: int = 0,
    first: tuple[str, ...] = (),
) -> GroupComparison:
    """Compare the shares of agentic sentences after rewriting against those before.

    Parameters
    ----------
    passages, before, after
        The texts, and the share of each before and after; NaN where it has none, which leaves the
        text out on both sides.
    columns
        Names of the group columns.
    level, draws, permutations, seed
        Of the intervals and the null.
    first
        Values of groups that come first in a difference.
    """
    data = texts_of(passages, before, after, first)
    sums = (
        data.sums(data.cell),
        resampled_sums(data, draws, seed),
        shuffled_sums(data, permutations, seed),
    )
    in_cluster = np.zeros((max(data.n_clusters, 1), len(data.cells)), dtype=bool)
    in_cluster[data.cluster, data.cell] = True
    count = sums[0].count.sum(axis=(0, 1))

    def subsets(n_prompts: int) -> FloatArray:
        return prompt_subsets(n_prompts, np.random.default_rng([seed, 4]))

    groups: list[GroupChange] = []
    gaps: list[GroupChange] = []
    start, slope = STATISTICS["agentic"]
    for name, labels, member in data.kinds(columns):
        observed, drawn, null = (each.means(member) for each in sums)
        has = (in_cluster @ member) > 0
        pairs = list(combinations(range(len(labels)), 2))
        one, two = (prompt_sums(data, side, member, pairs) for side in (0, 1))
        tested = changes_against(two, one, subsets, level)
        for k, label in enumerate(labels):
            shares = [start + slope * each[..., k] for each in (observed, drawn)]
            number = _change(name, label, (shares[0], shares[1], None), int(has[:, k].sum()), level)
            number = replace(number, n_texts=int(count @ member[:, k]))
            groups.append(_with_test(number, tested[k]))
        for (j, k), test in zip(pairs, tested[len(labels) :], strict=True):
            gap = [POINTS * (each[..., j] - each[..., k]) for each in (observed, drawn, null)]
            few = int(min(has[:, j].sum(), has[:, k].sum()))
            what = f"{labels[j]} − {labels[k]}"
            number = _change(name, what, (gap[0], gap[1], gap[2]), few, level)
            number = replace(number, n_texts=int(count @ (member[:, j] + member[:, k])))
            gaps.append(_with_test(number, test))
    spread = []
    for name, scores in variances(data, columns, sums).items():
        number = _change(name, "variance", scores.over_runs(), data.n_clusters, level)
        why = None if number.undefined is None else _FEW
        number = replace(number, n_texts=len(data.cell), runs=scores.runs, undefined=why)
        spread.append(number)
    return GroupComparison(
        tuple(groups), tuple(gaps), tuple(spread), level, draws, permutations, seed
    )


def _change(
    attribute: str,
    what: str,
    numbers: tuple[FloatArray, FloatArray, FloatArray | None],
    n_clusters: int,
    level: float,
) -> GroupChange:
    """Put numbers together: observed (2,), drawn (draws, 2), and shuffled (n, 2) or None."""
    observed, drawn, null = numbers
    change = GroupChange(
        measure="agency",
        statistic="variance" if what == "variance" else "agentic" if null is None else "difference",
        strata={},
        group={attribute: what},
        scale="difference",
        n_prompts=n_clusters,
    )
    values = [float(observed[0]), float(observed[1]), float(observed[1] - observed[0])]
    if math.isnan(values[2]):
        # A number has a value before and after, or in neither: texts are the same.
        return replace(change, undefined=_NO_TEXT)
    three = np.concatenate([drawn, drawn[:, 1:] - drawn[:, :1]], axis=1)
    low, high = expanded_percentile(three, level, max(n_clusters, 1))
    # No interval where it is undefined, or without width, as of groups left alone.
    bounds = [
        (float(a), float(b)) if np.isfinite([a, b]).all() and b - a > _NO_WIDTH else None
        for a, b in zip(low, high, strict=True)
    ]
    ends = bounds[2] or (None, None)
    change = replace(
        change,
        value_a=values[0],
        value_b=values[1],
        change=values[2],
        low=ends[0],
        high=ends[1],
        interval_a=bounds[0],
        interval_b=bounds[1],
    )
    if null is None:
        return change
    ranges = permutation_range(null, level)
    return replace(
        change,
        null_a=(float(ranges[0][0]), float(ranges[1][0])),
        null_b=(float(ranges[0][1]), float(ranges[1][1])),
        p_a=_p(abs(values[0]), np.abs(null[:, 0])),
        p_b=_p(abs(values[1]), np.abs(null[:, 1])),
    )


def _with_test(change: GroupChange, test: dict[str, Any]) -> GroupChange:
    """The change with the interval and p of its test; as it is where there is no test."""
    if change.change is None or test["low"] is None:
        return change
    return replace(change, low=test["low"], high=test["high"], p=test["p"])


def _p(value: float, null: FloatArray) -> float:
    """How often a shuffled number is as large (Phipson & Smyth 2010)."""
    known = null[~np.isnan(null)]
    return float((1 + np.sum(known >= value - 1e-9)) / (1 + len(known)))


def noise_p(
    passages: Sequence[GroupedText],
    share: Sequence[float],
    columns: Sequence[str],
    *,
    places: Sequence[str] = (),
    permutations: int = 999,
    seed: int = 0,
) -> dict[str, float]:
    """Return, by attribute, how often shuffled groups differ as much in variance.

    Where `places` says to which stratum each text belongs, it is the mean of the variances within
    them. NaN where no variance is defined.
    """
    named = list(places) or [""] * len(passages)
    found: dict[str, list[tuple[float, FloatArray]]] = {}
    for place in sorted(set(named)):
        inside = [i for i, own in enumerate(named) if own == place]
        there = [share[i] for i in inside]
        data = texts_of([passages[i] for i in inside], there, there)
        null = shuffled_sums(data, permutations, seed)
        sums = data.sums(data.cell), CellSums(null.total[:0], null.count[:0]), null
        for name, scores in variances(data, columns, sums).items():
            observed, _, shuffled = scores.over_runs()
            defined = found.setdefault(name, [])
            if not math.isnan(observed[0]):
                defined.append((float(observed[0]), shuffled[:, 0]))
    found.pop(OVERALL, None)
    return {
        name: _p(float(np.mean([v for v, _ in each])), np.mean([n for _, n in each], axis=0))
        if each
        else math.nan
        for name, each in found.items()
    }

"""Groups before and after mitigation, paired text by text, with clustered intervals.

Shares of agentic sentences lie in 0–1. Gaps are differences of two groups' mean ratio gaps (share
agentic minus share communal) in percentage points, and variances are between the groups' mean ratio
gaps, in squared percentage points, in each run and averaged, as in Wan & Chang (2024), Section 3.3.
Means and variances are those of `portrayal.measure.agency.places` and `agency_variance`.

They are `portrayal.measure.agency.places.Sums`, so that means and variances here are the audit's.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.measure.agency.estimates import STATISTICS
from portrayal.measure.agency.places import Sums
from portrayal.measure.agency.texts import numbered, told_runs
from portrayal.measure.agency.variance import (
    INTERSECTIONAL,
    MIN_TEXTS,
    OVERALL,
    POINTS,
    gap_variance,
)
from portrayal.mitigate.passages import Passage
from portrayal.stats import (
    cluster_weights,
    divide,
    expanded_percentile,
    paired_changes,
    permutation_range,
    prompt_subsets,
    shuffle_within,
)
from portrayal.stats.paired import Changed
from portrayal.types import BoolArray, FloatArray, IntArray

_BLOCK = 100  # replicates at a time
_MOST_CLUSTERS = 512  # with more prompts than this, some change sides together


@dataclass(frozen=True)
class Texts:
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

    def sums(self, cell: IntArray) -> Sums:
        """Sums of gaps, shape (2, n_runs, n_cells), and numbers of texts, (1, n_runs, n_cells)."""
        n, slot = len(self.cells), self.run * len(self.cells) + cell
        made = [
            np.bincount(slot, each, self.n_runs * n).reshape(self.n_runs, n)
            for each in (*self.gap, np.ones(len(cell)))
        ]
        return Sums(np.stack(made[:2]).astype(np.float64), np.stack(made[2:]).astype(np.float64))


@dataclass(frozen=True)
class Scores:
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
        before, drawn, null = (
            _known_mean(each[..., self.known]) for each in (self.observed, self.drawn, self.null)
        )
        return before, drawn, null

    @property
    def runs(self) -> tuple[tuple[float, float], ...]:
        """Before and after in each of those runs, where the texts have several."""
        if self.observed.shape[1] < 2:
            return ()
        return tuple((float(a), float(b)) for a, b in self.observed[:, self.known].T)


def variances(
    data: Texts, columns: Sequence[str], sums: tuple[Sums, Sums, Sums]
) -> dict[str, Scores]:
    """Variances of every attribute with two groups, of all crossed, and overall.

    As in the audit there is none overall where an attribute has one group.
    """
    found: dict[str, Scores] = {}
    kinds = list(kinds_of(data, columns))
    for name, labels, member in kinds:
        if len(labels) > 1:
            few = ((sums[0].count[0] @ member) < MIN_TEXTS).any(axis=-1)
            seen, drawn, null = (gap_variance(each, member) for each in sums)
            found[name] = Scores(np.where(few, np.nan, seen), drawn, null)
    if INTERSECTIONAL in found and len(found) == len(kinds):
        every = list(found.values())
        found[OVERALL] = Scores(
            np.mean([each.observed for each in every], axis=0),
            np.mean([each.drawn for each in every], axis=0),
            np.mean([each.null for each in every], axis=0),
        )
    return found


def _known_mean(values: FloatArray) -> FloatArray:
    """Mean over the last axis of what is not NaN."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(divide(total, known.sum(axis=-1).astype(np.float64)))


def texts_of(
    passages: Sequence[Passage],
    before: Sequence[float],
    after: Sequence[float],
    first: tuple[str, ...] = (),
) -> Texts:
    """Return the texts that have a share of agentic sentences before and after, not NaN."""
    share = np.array([before, after], dtype=np.float64).reshape(2, -1)
    kept = np.flatnonzero(~np.isnan(share).any(axis=0)).tolist()
    used = [passages[i] for i in kept]
    order = _first(first)
    cells = sorted({passage.group for passage in used}, key=lambda cell: [*map(order, cell)])
    start, slope = STATISTICS["agentic"]
    run = told_runs(numbered([passage.run for passage in used]), len(cells))
    return Texts(
        (share[:, kept] - start) / slope,
        np.array([cells.index(passage.group) for passage in used], dtype=np.int64),
        run,
        numbered([passage.cluster for passage in used]),
        numbered([passage.block for passage in used]),
        tuple(cells),
        first,
    )


def _first(values: tuple[str, ...]) -> Callable[[str], tuple[bool, str]]:
    """The key that sorts these values before all others."""
    return lambda value: (value not in values, value)


def kinds_of(data: Texts, columns: Sequence[str]) -> Iterator[tuple[str, list[str], FloatArray]]:
    """Yield each attribute, its values, and which cells belong to which; then all crossed."""
    cells = data.cells
    for i, name in enumerate(columns):
        values = sorted({cell[i] for cell in cells}, key=_first(data.first))
        member = [[float(cell[i] == value) for value in values] for cell in cells]
        yield name, values, np.array(member, dtype=np.float64).reshape(len(cells), len(values))
    if len(columns) > 1:
        yield INTERSECTIONAL, [" ".join(cell) for cell in cells], np.eye(len(cells))


def drawn_sums(data: Texts, draws: int, seed: int) -> Sums:
    """Sums of every replicate: (draws, 2, n_runs, n_cells) and (draws, 1, n_runs, n_cells)."""
    n, n_runs, n_cells = len(data.cell), data.n_runs, len(data.cells)
    if not n:
        return _nothing(draws, n_cells)
    place = (data.cluster * n_runs + data.run) * n_cells + data.cell
    size = data.n_clusters * n_runs * n_cells
    parts = np.stack([np.bincount(place, each, size) for each in (*data.gap, np.ones(n))])
    sums = parts.reshape(3, data.n_clusters, -1).swapaxes(0, 1).reshape(data.n_clusters, -1)
    rng, made = np.random.default_rng([seed, 2]), []
    for left in range(draws, 0, -_BLOCK):
        made.append(cluster_weights(data.n_clusters, min(left, _BLOCK), rng) @ sums)
    drawn = np.concatenate(made).reshape(draws, 3, n_runs, n_cells)
    return Sums(drawn[:, :2], drawn[:, 2:])


def tested_changes(
    data: Texts, member: FloatArray, pairs: Sequence[tuple[int, int]], level: float, seed: int
) -> Changed:
    """Changes of groups, then of gaps between pairs of them, by whole prompts that change sides.

    Groups are shares of agentic sentences, gaps percentage points, as they are printed.
    """
    code = data.cluster % _MOST_CLUSTERS
    n, n_cells = min(max(data.n_clusters, 1), _MOST_CLUSTERS), len(data.cells)
    slot = code * n_cells + data.cell
    total, count = (
        np.bincount(slot, each, n * n_cells).reshape(n, n_cells) @ member
        for each in (data.gap[1] - data.gap[0], np.ones(len(code)))
    )
    mean, weight = divide(total.sum(0), count.sum(0)), divide(count, count.sum(0))
    influence = divide(total - mean * count, count.sum(0))
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    slope = STATISTICS["agentic"][1]

    def both(values: FloatArray) -> FloatArray:
        apart = POINTS * (values[..., first] - values[..., second])
        return np.concatenate([slope * values, apart], axis=-1)

    here = count > 0
    weights = [weight, (weight[:, first] + weight[:, second]) / 2.0]
    return paired_changes(
        both(mean),
        both(influence),
        np.concatenate(weights, axis=1),
        np.concatenate([here, here[:, first] | here[:, second]], axis=1),
        prompt_subsets(n, np.random.default_rng([seed, 4])),
        level,
    )


def shuffled_sums(data: Texts, permutations: int, seed: int) -> Sums:
    """Sums under shuffled groups: of prompts where each has one group, of texts in them else."""
    if not len(data.cell):
        return _nothing(permutations, len(data.cells))
    rng, made = np.random.default_rng([seed, 3]), []
    first = np.unique(data.cluster, return_index=True)[1]
    whole = bool(np.all(data.cell == data.cell[first][data.cluster]))
    for _ in range(permutations):
        if whole:
            cell = shuffle_within(data.cell[first], data.block[first], rng)[data.cluster]
        else:
            cell = shuffle_within(data.cell, data.cluster, rng)
        made.append(data.sums(cell))
    return Sums(np.stack([each.total for each in made]), np.stack([each.count for each in made]))


def _nothing(n: int, n_cells: int) -> Sums:
    return Sums(np.zeros((n, 2, 1, n_cells)), np.zeros((n, 1, 1, n_cells)))


_NO_WIDTH = 1e-9
_NO_TEXT = "no text of the group has a sentence that could be told"
_FEW = f"no run holds at least {MIN_TEXTS} texts of every group"


@dataclass(frozen=True, slots=True)
class Number:
    """A value with its clustered interval; `why` says why there is no value."""

    value: float | None
    low: float | None = None
    high: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One number before and after, and the paired difference.

    Attributes
    ----------
    attribute
        Group column, "intersectional" or "overall".
    what
        The group, the pair "A − B", or "variance".
    before, after, change
        With intervals that resample prompts; that of the change agrees with its test.
    n_texts, n_clusters
        Texts, and independent prompts.
    null_before, null_after
        Central range of the number where groups are shuffled; None for groups.
    p_before, p_after
        How often a shuffled one is as large; None for groups.
    p_change
        Of no change, by whole prompts that change sides; it agrees with the interval of the change.
        None for variances, with fewer than 6 prompts, and where nothing changed.
    runs
        Of a variance where the texts have several runs, (before, after) in each that holds enough
        texts of every group; before and after are their means.
    """

    attribute: str
    what: str
    before: Number
    after: Number
    change: Number
    n_texts: int
    n_clusters: int
    null_before: tuple[float, float] | None = None
    null_after: tuple[float, float] | None = None
    p_before: float | None = None
    p_after: float | None = None
    p_change: float | None = None
    runs: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that is compared."""

    groups: tuple[Change, ...]
    gaps: tuple[Change, ...]
    variances: tuple[Change, ...]
    level: float
    draws: int
    permutations: int
    seed: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def compare(
    passages: Sequence[Passage],
    before: Sequence[float],
    after: Sequence[float],
    columns: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = 2000,
    permutations: int = 999,
    seed: int = 0,
    first: tuple[str, ...] = (),
) -> Comparison:
    """Compare the shares of agentic sentences before and after.

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
        drawn_sums(data, draws, seed),
        shuffled_sums(data, permutations, seed),
    )
    in_cluster = np.zeros((max(data.n_clusters, 1), len(data.cells)), dtype=bool)
    in_cluster[data.cluster, data.cell] = True
    count = sums[0].count.sum(axis=(0, 1))
    groups: list[Change] = []
    gaps: list[Change] = []
    start, slope = STATISTICS["agentic"]
    for name, labels, member in kinds_of(data, columns):
        seen, drawn, null = (each.means(member) for each in sums)
        has = (in_cluster @ member) > 0
        pairs = list(combinations(range(len(labels)), 2))
        tested = tested_changes(data, member, pairs, level, seed)
        for k, label in enumerate(labels):
            n, counted = int(count @ member[:, k]), int(has[:, k].sum())
            share = [start + slope * each[..., k] for each in (seen, drawn)]
            made = _change(name, label, share[0], share[1], None, n, counted, level)
            groups.append(_with_test(made, tested, k))
        for i, (j, k) in enumerate(pairs, len(labels)):
            pair = [POINTS * (each[..., j] - each[..., k]) for each in (seen, drawn, null)]
            n = int(count @ (member[:, j] + member[:, k]))
            few = int(min(has[:, j].sum(), has[:, k].sum()))
            what = f"{labels[j]} − {labels[k]}"
            made = _change(name, what, pair[0], pair[1], pair[2], n, few, level)
            gaps.append(_with_test(made, tested, i))
    told = tuple(
        replace(
            _change(
                name,
                "variance",
                *scores.over_runs(),
                len(data.cell),
                data.n_clusters,
                level,
                why=_FEW,
            ),
            runs=scores.runs,
        )
        for name, scores in variances(data, columns, sums).items()
    )
    return Comparison(tuple(groups), tuple(gaps), told, level, draws, permutations, seed)


def noise_p(
    passages: Sequence[Passage],
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
        sums = data.sums(data.cell), Sums(null.total[:0], null.count[:0]), null
        for name, scores in variances(data, columns, sums).items():
            seen, _, shuffled = scores.over_runs()
            kept = found.setdefault(name, [])
            if not math.isnan(seen[0]):
                kept.append((float(seen[0]), shuffled[:, 0]))
    found.pop(OVERALL, None)
    return {
        name: _p(float(np.mean([seen for seen, _ in each])), np.mean([n for _, n in each], axis=0))
        if each
        else math.nan
        for name, each in found.items()
    }


def _change(
    attribute: str,
    what: str,
    seen: FloatArray,
    drawn: FloatArray,
    null: FloatArray | None,
    n_texts: int,
    n_clusters: int,
    level: float,
    why: str = _NO_TEXT,
) -> Change:
    """Put numbers before and after together; seen (2,), drawn (draws, 2), null (n, 2)."""
    three = np.concatenate([drawn, drawn[:, 1:] - drawn[:, :1]], axis=1)
    low, high = expanded_percentile(three, level, max(n_clusters, 1))
    values = [float(seen[0]), float(seen[1]), float(seen[1] - seen[0])]
    before, after, moved = (
        Number(None, why=why) if math.isnan(value) else Number(value, *_bounds(float(a), float(b)))
        for value, a, b in zip(values, low, high, strict=True)
    )
    change = Change(attribute, what, before, after, moved, n_texts, n_clusters)
    if null is None or math.isnan(values[0]):
        return change
    ranges = permutation_range(null, level)
    return replace(
        change,
        null_before=(float(ranges[0][0]), float(ranges[1][0])),
        null_after=(float(ranges[0][1]), float(ranges[1][1])),
        p_before=_p(abs(values[0]), np.abs(null[:, 0])),
        p_after=_p(abs(values[1]), np.abs(null[:, 1])),
    )


def _with_test(change: Change, tested: Changed, i: int) -> Change:
    """The change with the interval and p of its test; as it is where there is no test."""
    low, high, p = (float(each[i]) for each in (tested.low, tested.high, tested.p))
    if change.change.value is None or math.isnan(low):
        return change
    return replace(change, change=replace(change.change, low=low, high=high), p_change=p)


def _p(value: float, null: FloatArray) -> float:
    """How often a shuffled number is as large (Phipson & Smyth 2010)."""
    known = null[~np.isnan(null)]
    return float((1 + np.sum(known >= value - 1e-9)) / (1 + len(known)))


def _bounds(low: float, high: float) -> tuple[float | None, float | None]:
    """An interval; none where it is undefined, or without width, as of groups left alone."""
    known = np.isfinite([low, high]).all() and high - low > _NO_WIDTH
    return (low, high) if known else (None, None)

"""Compare: groups before and after mitigation, paired text by text, with clustered intervals.

Shares of agentic sentences lie in 0–1. Gaps are differences of two groups' mean ratio gaps (share
agentic minus share communal) in percentage points, and variances are between the groups' mean ratio
gaps, in squared percentage points, as in Wan & Chang (2024), Section 3.3.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.mitigate.passages import Passage
from portrayal.stats import (
    cluster_weights,
    divide,
    expanded_percentile,
    permutation_range,
    shuffle_within,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

INTERSECTIONAL, OVERALL = "intersectional", "overall"
_BLOCK = 100  # replicates at a time
_POINTS = 200.0  # of a share of agentic sentences to percentage points of the ratio gap


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
        With intervals that resample prompts, the same ones for all three.
    n_texts, n_clusters
        Texts, and independent prompts.
    null_before, null_after
        Central range of the number where groups are shuffled; None for groups.
    p_before, p_after
        How often a shuffled one is as large; None for groups.
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


@dataclass(frozen=True)
class _Data:
    """Arrays of the texts that have a share before and after.

    Attributes
    ----------
    share
        Shape (2, n): before and after.
    cell, cluster, block
        Codes, shape (n,).
    cells
        Group values by code of cell.
    """

    share: FloatArray
    cell: IntArray
    cluster: IntArray
    block: IntArray
    cells: tuple[tuple[str, ...], ...]

    def sums(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """Sum and count by (when, cell); shapes (2, n_cells) and (n_cells,)."""
        n = len(self.cells)
        total = np.stack([np.bincount(cell, each, n) for each in self.share])
        return np.asarray(total, dtype=np.float64), np.bincount(cell, minlength=n).astype(float)


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
    """
    data = _data(passages, before, after)
    drawn, null = _drawn(data, draws, seed), _shuffled(data, permutations, seed)
    observed = data.sums(data.cell)
    kinds = list(_kinds(data.cells, columns))
    n_clusters = int(data.cluster.max()) + 1 if len(data.cluster) else 0
    in_cluster = np.zeros((max(n_clusters, 1), len(data.cells)), dtype=bool)
    in_cluster[data.cluster, data.cell] = True
    groups: list[Change] = []
    gaps: list[Change] = []
    scores: dict[str, tuple[FloatArray, FloatArray, FloatArray]] = {}
    for name, labels, member in kinds:
        seen, boot, shuffled = (_means(*each, member) for each in (observed, drawn, null))
        has = (in_cluster @ member) > 0
        for k, label in enumerate(labels):
            n, counted = int(observed[1] @ member[:, k]), int(has[:, k].sum())
            groups.append(_change(name, label, seen[:, k], boot[..., k], None, n, counted, level))
        for j, k in combinations(range(len(labels)), 2):
            pair = [_POINTS * (each[..., j] - each[..., k]) for each in (seen, boot, shuffled)]
            n = int(observed[1] @ (member[:, j] + member[:, k]))
            few = int(min(has[:, j].sum(), has[:, k].sum()))
            what = f"{labels[j]} − {labels[k]}"
            gaps.append(_change(name, what, pair[0], pair[1], pair[2], n, few, level))
        if len(labels) > 1:
            scores[name] = tuple(
                (_POINTS * each).var(axis=-1, ddof=1) for each in (seen, boot, shuffled)
            )
    if INTERSECTIONAL in scores:
        scores[OVERALL] = tuple(
            np.mean([found[i] for found in scores.values()], axis=0) for i in range(3)
        )
    n = len(data.cell)
    variances = tuple(
        _change(name, "variance", *found, n, n_clusters, level) for name, found in scores.items()
    )
    return Comparison(tuple(groups), tuple(gaps), variances, level, draws, permutations, seed)


def noise_p(
    passages: Sequence[Passage],
    share: Sequence[float],
    columns: Sequence[str],
    *,
    permutations: int = 999,
    seed: int = 0,
) -> dict[str, float]:
    """Return, by attribute, how often shuffled groups differ as much in variance."""
    data = _data(passages, share, share)
    observed, null = data.sums(data.cell), _shuffled(data, permutations, seed)
    found = {}
    for name, labels, member in _kinds(data.cells, columns):
        if len(labels) > 1:
            seen = _means(*observed, member).var(axis=-1, ddof=1)[0]
            shuffled = _means(*null, member).var(axis=-1, ddof=1)[:, 0]
            found[name] = _p(float(seen), shuffled)
    return found


def _data(passages: Sequence[Passage], before: Sequence[float], after: Sequence[float]) -> _Data:
    share = np.array([before, after], dtype=np.float64).reshape(2, -1)
    kept = np.flatnonzero(~np.isnan(share).any(axis=0)).tolist()
    used = [passages[i] for i in kept]
    cells = sorted({passage.group for passage in used})
    return _Data(
        share[:, kept],
        _codes([cells.index(passage.group) for passage in used]),
        _codes(_numbered([passage.cluster for passage in used])),
        _codes(_numbered([passage.block for passage in used])),
        tuple(cells),
    )


def _codes(numbers: Sequence[int]) -> IntArray:
    return np.array(numbers, dtype=np.int64)


def _numbered(labels: Sequence[Any]) -> list[int]:
    table: dict[Any, int] = {}
    return [table.setdefault(label, len(table)) for label in labels]


def _kinds(
    cells: Sequence[tuple[str, ...]], columns: Sequence[str]
) -> Iterator[tuple[str, list[str], FloatArray]]:
    """Yield each attribute, its values, and which cells belong to which; then all crossed."""
    for i, name in enumerate(columns):
        values = sorted({cell[i] for cell in cells})
        member = [[float(cell[i] == value) for value in values] for cell in cells]
        yield name, values, np.array(member, dtype=np.float64).reshape(len(cells), len(values))
    if len(columns) > 1:
        yield INTERSECTIONAL, [" ".join(cell) for cell in cells], np.eye(len(cells))


def _means(total: FloatArray, count: FloatArray, member: FloatArray) -> FloatArray:
    """Mean share of each group; total (..., 2, n_cells), count (..., n_cells) -> (..., 2, k)."""
    return np.asarray(divide(total @ member, (count @ member)[..., np.newaxis, :]))


def _drawn(data: _Data, draws: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Sums of every replicate; shapes (draws, 2, n_cells) and (draws, n_cells)."""
    n_cells, n = len(data.cells), len(data.cell)
    n_clusters = int(data.cluster.max()) + 1 if n else 0
    if not n:
        return np.zeros((draws, 2, n_cells)), np.zeros((draws, n_cells))
    place = data.cluster * n_cells + data.cell
    size = n_clusters * n_cells
    parts = np.stack([np.bincount(place, each, size) for each in (*data.share, np.ones(n))])
    sums = parts.reshape(3, n_clusters, n_cells).swapaxes(0, 1).reshape(n_clusters, 3 * n_cells)
    rng, made = np.random.default_rng([seed, 2]), []
    for left in range(draws, 0, -_BLOCK):
        made.append(cluster_weights(n_clusters, min(left, _BLOCK), rng) @ sums)
    drawn = np.concatenate(made).reshape(draws, 3, n_cells)
    return drawn[:, :2], drawn[:, 2]


def _shuffled(data: _Data, permutations: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Sums under shuffled groups: of prompts where each has one group, of texts in them else."""
    rng = np.random.default_rng([seed, 3])
    n_cells = len(data.cells)
    total, count = np.zeros((permutations, 2, n_cells)), np.zeros((permutations, n_cells))
    if not len(data.cell):
        return total, count
    first = np.unique(data.cluster, return_index=True)[1]
    whole = bool(np.all(data.cell == data.cell[first][data.cluster]))
    for i in range(permutations):
        if whole:
            cell = shuffle_within(data.cell[first], data.block[first], rng)[data.cluster]
        else:
            cell = shuffle_within(data.cell, data.cluster, rng)
        total[i], count[i] = data.sums(cell)
    return total, count


def _change(
    attribute: str,
    what: str,
    seen: FloatArray,
    drawn: FloatArray,
    null: FloatArray | None,
    n_texts: int,
    n_clusters: int,
    level: float,
) -> Change:
    """Put numbers before and after together; seen (2,), drawn (draws, 2), null (n, 2)."""
    three = np.concatenate([drawn, drawn[:, 1:] - drawn[:, :1]], axis=1)
    low, high = expanded_percentile(three, level, max(n_clusters, 1))
    values = [float(seen[0]), float(seen[1]), float(seen[1] - seen[0])]
    before, after, moved = (
        Number(None, why="no text of the group has a sentence that could be told")
        if math.isnan(value)
        else Number(value, *_bounds(float(a), float(b)))
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


def _p(value: float, null: FloatArray) -> float:
    """How often a shuffled number is as large (Phipson & Smyth 2010)."""
    known = null[~np.isnan(null)]
    return float((1 + np.sum(known >= value - 1e-9)) / (1 + len(known)))


def _bounds(low: float, high: float) -> tuple[float | None, float | None]:
    """An interval; none where it is undefined, or without width, as of groups left alone."""
    known = np.isfinite([low, high]).all() and low < high
    return (low, high) if known else (None, None)

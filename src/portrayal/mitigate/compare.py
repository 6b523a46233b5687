"""Compare: groups before and after mitigation, paired text by text, with clustered intervals.

Shares of agentic sentences lie in 0–1. Gaps are differences of two groups' mean ratio gaps (share
agentic minus share communal) in percentage points, and variances are between the groups' mean ratio
gaps, in squared percentage points, in each run and averaged, as in Wan & Chang (2024), Section 3.3.
Means and variances are those of `portrayal.measure.agency.places` and `agency_variance`.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.measure.agency.places import Sums
from portrayal.measure.agency.share import STATISTICS
from portrayal.measure.agency.variance import MIN_TEXTS, OVERALL, POINTS
from portrayal.mitigate.passages import Passage
from portrayal.mitigate.sums import (
    drawn_sums,
    kinds_of,
    shuffled_sums,
    tested_changes,
    texts_of,
    variances,
)
from portrayal.stats import expanded_percentile, permutation_range
from portrayal.stats.paired import Changed
from portrayal.types import FloatArray

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

"""Agency places: sums of ratio gaps by group, as they are, resampled, and with groups shuffled.

A *place* is one task of one model under one condition, whole or in one stratum. Its texts are
summed once per run and *cell* (a value of every attribute); every measure of agency is made from
these sums, so a text is never touched twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from portrayal.measure.agency.texts import NO_SENTENCE, REASONS, AgencyTexts, block_of_units
from portrayal.measure.scope import Scope
from portrayal.records import ALL, OUTCOMES
from portrayal.stats import cluster_weights, divide, shuffle_within
from portrayal.types import BoolArray, FloatArray, IntArray

CHUNK = 250
"""Replicates of the bootstrap that are made at a time."""


@dataclass(frozen=True)
class Sums:
    """Sums of ratio gaps, and numbers of texts, each of shape (..., n_runs, n_cells)."""

    total: FloatArray
    count: FloatArray

    def means(self, members: FloatArray) -> FloatArray:
        """Mean gap of each group over all runs: members (n_cells, k) -> (..., k)."""
        total, count = self.total.sum(axis=-2), self.count.sum(axis=-2)
        return divide(total @ members, count @ members)

    def run_means(self, members: FloatArray) -> FloatArray:
        """Mean gap of each group in each run: members (n_cells, k) -> (..., n_runs, k)."""
        return divide(self.total @ members, self.count @ members)


@dataclass(frozen=True, eq=False)
class Units:
    """What is resampled and shuffled.

    Attributes
    ----------
    cluster, cell, known
        Of each unit, the texts of one cluster in one cell: its cluster and cell, and whether a
        text of it has a ratio gap; shape (n_units,).
    kind
        What a cluster is: "prompt", "text", or the column asked for.
    shuffled
        Among which texts groups are shuffled.
    """

    cluster: IntArray
    cell: IntArray
    known: BoolArray
    kind: str
    shuffled: str

    @property
    def one(self) -> str:
        """A cluster in words: "prompt", "text" or "value of name"."""
        return self.kind if self.kind in ("prompt", "text") else f"value of {self.kind}"

    @property
    def many(self) -> str:
        """Several clusters in words: "prompts", "texts" or "values of name"."""
        return f"{self.kind}s" if self.kind in ("prompt", "text") else f"values of {self.kind}"

    def count(self, members: FloatArray) -> IntArray:
        """Clusters with a ratio gap of each group: members (n_cells, k) -> (k,)."""
        of = [self.cluster[self.known & (column[self.cell] > 0)] for column in members.T]
        return np.array([np.count_nonzero(np.bincount(own)) for own in of], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Place:
    """One place under one masking.

    Attributes
    ----------
    model, task, condition, stratum, masking
        Labels; the stratum is "all" for the whole place.
    attributes, values, cells
        As in `AgencyTexts`.
    observed, drawn, null
        Sums as they are, of shape (n_runs, n_cells); of every replicate of the cluster bootstrap;
        and of every shuffling of groups within blocks.
    units
        What was resampled and shuffled.
    n_texts
        Texts with a ratio gap.
    exclusions
        Texts left out, by reason.
    untold
        Sentences that the classifier could not tell.
    several_conditions
        Whether the condition tells places of the run apart.
    """

    model: str
    task: str
    condition: str
    stratum: str
    masking: str
    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[int, ...], ...]
    observed: Sums
    drawn: Sums
    null: Sums
    units: Units
    n_texts: int
    exclusions: Mapping[str, int]
    untold: float
    several_conditions: bool

    @property
    def labels(self) -> dict[str, str]:
        """The strata of every estimate of the place."""
        condition = {"condition": self.condition} if self.several_conditions else {}
        return {
            "model": self.model,
            "task": self.task,
            **condition,
            "stratum": self.stratum,
            "masking": self.masking,
        }

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.observed.total.shape[-2])

    @cached_property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """Attributes whose values are compared: each one alone, and all of them crossed.

        In a single stratum the crossed groups are too small to be of use, and are left out.
        """
        alone = tuple((i,) for i in range(len(self.attributes)))
        crossed = len(alone) > 1 and self.stratum == ALL
        return (*alone, tuple(range(len(alone)))) if crossed else alone

    def groups(self, kind: tuple[int, ...]) -> tuple[tuple[dict[str, str], ...], FloatArray]:
        """Return the groups of these attributes that have texts, and their cells (n_cells, k)."""
        found: dict[tuple[int, ...], list[int]] = {}
        for i, cell in enumerate(self.cells):
            found.setdefault(tuple(cell[a] for a in kind), []).append(i)
        present = self.observed.count.sum(axis=0) > 0
        labels, columns = [], []
        for codes, members in sorted(found.items()):
            if present[members].any():
                labels.append(
                    {
                        self.attributes[a]: self.values[a][c]
                        for a, c in zip(kind, codes, strict=True)
                    }
                )
                columns.append(np.isin(np.arange(len(self.cells)), members))
        chosen = np.array(columns, dtype=np.float64).reshape(-1, len(self.cells)).T
        return tuple(labels), chosen


def places(texts: AgencyTexts, scope: Scope) -> Iterator[Place]:
    """Yield every place that has texts: each task of each model, whole, then by stratum.

    Parameters
    ----------
    texts
        The texts of the audit; what is computed is kept with them.
    scope
        Level, replicates and seed.
    """
    if "places" not in texts.cache:
        texts.cache["places"] = list(_places(texts, scope))
    yield from texts.cache["places"]


def _places(texts: AgencyTexts, scope: Scope) -> Iterator[Place]:
    keys = np.stack([texts.model, texts.task, texts.condition], axis=1)
    for key in np.unique(keys, axis=0):
        inside = (keys == key).all(axis=1)
        yield from _of(texts, inside, key.tolist(), ALL, scope)
        there = np.unique(texts.stratum[inside & (texts.stratum >= 0)]).tolist()
        for code in there if len(there) > 1 else ():
            part = inside & (texts.stratum == code)
            yield from _of(texts, part, key.tolist(), texts.strata[code], scope)


def _of(
    texts: AgencyTexts, inside: BoolArray, key: list[int], stratum: str, scope: Scope
) -> Iterator[Place]:
    model, task, condition = key
    labels = texts.models[model], texts.tasks[task], texts.conditions[condition]
    rng = scope.rng("agency", *labels, stratum)
    read = inside & texts.kept & (texts.outcome == 0)
    gaps = np.stack([texts.gap[masking][read] for masking in texts.maskings])
    sums, units = _sums(texts, gaps, read, scope, rng)
    for i, masking in enumerate(texts.maskings):
        gap = texts.gap[masking]
        observed, drawn, null = (
            Sums(total[..., i, :, :], count[..., i, :, :]) for total, count in sums
        )
        yield Place(
            *labels,
            stratum,
            masking,
            texts.attributes,
            texts.values,
            texts.cells,
            observed,
            drawn,
            null,
            units[i],
            int((~np.isnan(gap[read])).sum()),
            _exclusions(texts, gap, inside),
            float(texts.untold[masking][read].sum()),
            len(texts.conditions) > 1,
        )


def _exclusions(texts: AgencyTexts, gap: FloatArray, inside: BoolArray) -> dict[str, int]:
    found: dict[str, int] = {
        name: int((inside & (texts.outcome == code)).sum())
        for code, name in enumerate(OUTCOMES)
        if code
    }
    for code, reason in enumerate(REASONS):
        found[reason] = int((inside & (texts.left_out == code)).sum())
    found[NO_SENTENCE] = int((inside & (texts.outcome == 0) & texts.kept & np.isnan(gap)).sum())
    return {reason: n for reason, n in found.items() if n}


def _sums(
    texts: AgencyTexts,
    gaps: FloatArray,
    read: BoolArray,
    scope: Scope,
    rng: np.random.Generator,
) -> tuple[list[tuple[FloatArray, FloatArray]], list[Units]]:
    """Sum the gaps of texts, shape (n_maskings, n_texts), by run and cell.

    Returns totals and counts of shape (..., n_maskings, n_runs, n_cells): as they are, resampled,
    and shuffled, the maskings alike; and the units of each masking.
    """
    n_maskings, n_cells = len(gaps), len(texts.cells)
    pair = texts.cluster[read] * n_cells + texts.cell[read]
    first, unit = np.unique(pair, return_index=True, return_inverse=True)[1:]
    runs, run = np.unique(texts.run[read], return_inverse=True)
    cell = texts.cell[read][first]
    owner = np.unique(texts.cluster[read][first], return_inverse=True)[1]
    blocks = {name: block[read] for name, block in texts.blocks.items()}
    shuffled, block = block_of_units(blocks, unit, first, cell)
    n, n_runs = len(first), max(len(runs), 1)
    known = ~np.isnan(gaps)
    rows = [np.where(known, gaps, 0.0), known.astype(np.float64)]
    slot = run * n + unit
    values = np.concatenate(
        [
            np.bincount(slot, weights=row, minlength=n_runs * n).reshape(n_runs, n)
            for kind in rows
            for row in kind
        ]
    )
    order = np.argsort(block, kind="stable")
    values, cell, block, owner = values[:, order], cell[order], block[order], owner[order]
    shape = (2, n_maskings, n_runs, n_cells)
    observed = _by_cell(values, cell, n_cells).reshape(shape)
    drawn = _resampled(values, cell, owner, scope, rng, n_cells).reshape(scope.draws, *shape)
    null = np.full((scope.permutations, *shape), np.nan)
    for i in range(scope.permutations if n else 0):
        null[i] = _by_cell(values, shuffle_within(cell, block, rng), n_cells).reshape(shape)
    pairs = [(observed[0], observed[1]), (drawn[:, 0], drawn[:, 1]), (null[:, 0], null[:, 1])]
    there = values[len(values) // 2 :].reshape(n_maskings, n_runs, n).sum(axis=1) > 0
    return pairs, [Units(owner, cell, told, texts.clusters, shuffled) for told in there]


def _resampled(
    values: FloatArray,
    cell: IntArray,
    owner: IntArray,
    scope: Scope,
    rng: np.random.Generator,
    n_cells: int,
) -> FloatArray:
    """Sums of values (k, n_units) by cell with clusters resampled: (n_draws, k, n_cells)."""
    drawn = np.full((scope.draws, len(values), n_cells), np.nan)
    n = len(cell)
    if not n:
        return drawn
    by_cell = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[by_cell], return_index=True)
    n_clusters = int(owner.max()) + 1
    drawn[...] = 0.0
    for start in range(0, scope.draws, CHUNK):
        weights = cluster_weights(n_clusters, min(CHUNK, scope.draws - start), rng)
        weights = weights if n_clusters == n else weights[:, owner[by_cell]]
        for i, row in enumerate(values[:, by_cell]):
            made = np.add.reduceat(weights * row, starts, axis=1)
            drawn[start : start + len(made), i][:, present] = made
    return drawn


def _by_cell(values: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Sum values of shape (k, n) by cell: shape (k, n_cells)."""
    return np.stack([np.bincount(cell, weights=row, minlength=n_cells) for row in values])

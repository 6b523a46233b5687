"""Agency strata: sums of ratio gaps by group, as they are, by independent unit, and shuffled.

A *place* is one task of one model under one condition; a stratum is a place as a whole or a part
of it. Its texts are summed once per run, cluster and *cell* (a value of every attribute), and these
*parts* are all that measures of agency read, so a text is never touched twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from portrayal.measure.agency.texts import (
    NAME,
    NO_SENTENCE,
    PROMPT,
    REASONS,
    STRATUM,
    WITHIN,
    AgencyTexts,
)
from portrayal.measure.scope import Scope
from portrayal.records import ALL, OUTCOMES, UNITS
from portrayal.stats import divide, find_blocks, shuffle_within
from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.blocks import Blocks
from portrayal.stats.clustered import sums_by
from portrayal.types import BoolArray, FloatArray, IntArray

ALIKE = "groups shuffled among texts that are alike but for group and name"
WHOLE = "groups shuffled among all texts"
MOST_ASSOCIATION = {WITHIN: 0.1, ALIKE: 0.02, STRATUM: 0.5}
"""Association of block and group up to which a blocking is used.

Prompts crossed with groups have 0, and hardly more where a few texts are missing. Clusters may hold
single groups now and then; a stratum may hold more of one group than of another, as long as most
texts can move.
"""
BLOCK = "block"
"""The kind of clusters that are blocks of prompts alike but for the group."""
_SAME = 1e-12  # shares of sentences that differ by rounding alone


def association(block: IntArray, cell: IntArray) -> float:
    """Goodman and Kruskal's tau: how far a text's block tells its group.

    Parameters
    ----------
    block, cell
        Codes of block and group of each unit, shape (n,).

    Returns
    -------
    tau
        0 where every block holds the groups in equal shares, 1 where none holds two groups. The
        mean of shuffled differences lies about tau of the way from none to the observed one where
        blocks differ from each other by chance alone.

    References
    ----------
    Goodman & Kruskal (1954), Measures of association for cross classifications.
    """
    n = len(cell)
    if not n:
        return 0.0
    # Each block and group together as one number, so that one pass counts them.
    place = block.astype(np.int64) * (int(cell.max()) + 1) + cell
    pair_of = np.unique(place, return_index=True, return_counts=True)
    _, code, size = np.unique(block, return_inverse=True, return_counts=True)
    # Texts whose group a draw from their own block would guess, and below, a draw from all.
    stays = float((pair_of[2] ** 2 / size[code[pair_of[1]]]).sum()) / n
    chance = float(((np.bincount(cell) / n) ** 2).sum())
    return 0.0 if chance >= 1.0 else (stays - chance) / (1.0 - chance)


def block_of_units(
    blocks: Mapping[str, IntArray], unit: IntArray, first: IntArray, cell: IntArray
) -> tuple[str, IntArray]:
    """Return how groups are shuffled, and the block of each unit.

    Parameters
    ----------
    blocks
        Block of each text that is read, shape (n_texts,), by name; the finest is taken first.
    unit
        Unit of each text, shape (n_texts,). A unit moves as a whole, so a blocking that parts one
        is not used.
    first, cell
        A text of each unit, and its group, shape (n_units,).
    """
    for name, most in MOST_ASSOCIATION.items():
        # The finest first: texts alike in most respects make the sharpest comparison
        block = blocks[name][first] if name in blocks else None
        if block is None:
            continue
        if (block[unit] == blocks[name]).all() and association(block, cell) <= most:
            return name, block
    return WHOLE, np.zeros(len(first), dtype=np.int64)


@dataclass(frozen=True)
class CellSums:
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
class Clusters:
    """What is independent in a stratum.

    Attributes
    ----------
    code
        Cluster of each part, shape (n_parts,).
    kind
        What a cluster is: `BLOCK`, "prompt", "text", or the column asked for.
    detail
        How the clusters were made, in words.
    names
        Name of each cluster, the same in every run.
    ways
        Two ways in which clusters are clustered at once, such as by name and by block: what such a
        one is called, and that of each cluster, shape (n_clusters,). Without them clusters are
        independent.
    """

    code: IntArray
    kind: str
    detail: str
    names: tuple[str, ...]
    ways: tuple[tuple[str, IntArray], ...] = ()

    @property
    def codes(self) -> tuple[IntArray, ...]:
        """Cluster of each unit in each of the two ways; () where units are independent."""
        return tuple(code for _, code in self.ways)

    def in_ways(self, count: FloatArray) -> dict[str, FloatArray]:
        """Return how many clusters of each way have texts of each group, for details.

        `count` are texts by cluster and group, shape (n_clusters, k).
        """
        return {
            f"{UNITS}{kind}": (sums_by(code, int(code.max()) + 1, count) > 0).sum(0)
            for kind, code in self.ways
        }

    @property
    def one(self) -> str:
        """A cluster in words: "prompt", "name or department" or "value of name"."""
        if self.ways:
            return " or ".join(kind for kind, _ in self.ways)
        return self.kind if self.kind in (BLOCK, "prompt", "text") else f"value of {self.kind}"

    @property
    def many(self) -> str:
        """Several clusters in words: "prompts", "names and departments" or "values of name"."""
        if self.ways:
            return " and ".join(f"{kind}s" for kind, _ in self.ways)
        return f"{self.one}s" if self.one == self.kind else f"values of {self.kind}"


@dataclass(frozen=True, eq=False)
class AgencyStratum:
    """A stratum under one masking.

    Attributes
    ----------
    labels
        The strata of every estimate: model, task, condition where there are several, stratum
        ("all" for a place as a whole) and masking.
    groups_of, cells
        The labels of each attribute, and the codes of each cell, (n_cells, n_attributes).
    total, count, cell
        Sums of ratio gaps and numbers of texts of each part, shape (n_runs, n_parts), and its cell.
    observed, null
        CellSums as they are, of shape (n_runs, n_cells); and of every shuffling of groups.
    chance
        Mean ratio gap that shuffling gives each cell on average, shape (n_cells,).
    units, blocks
        The clusters: prompts, texts, or values of the column asked for; and those in which groups
        are compared: blocks where the design has them, else the clusters. Where names repeat in
        blocks, the prompts are clustered in both ways at once (`Clusters.ways`), and where they
        repeat without blocks, names are the clusters.
    shuffled
        Among which texts groups are shuffled.
    exclusions
        Texts left out, by reason.
    unclassed
        Sentences that the classifier could not tell.
    other_sums
        CellSums by each reading beside the classifier, and of `NEITHER` the share of sentences.
    n_checkpoints
        Checkpoints of the classifier; each reads every text, so it makes runs of its own, in whose
        counts a text is 1 / n_checkpoints.
    rows
        Which texts have a ratio gap, shape (n_texts,).
    """

    labels: Mapping[str, str]
    groups_of: Mapping[str, tuple[str, ...]]
    cells: IntArray
    total: FloatArray
    count: FloatArray
    cell: IntArray
    observed: CellSums
    null: CellSums
    chance: FloatArray
    units: Clusters
    blocks: Clusters
    shuffled: str
    exclusions: Mapping[str, int]
    unclassed: float
    other_sums: Mapping[str, CellSums]
    n_checkpoints: int
    rows: IntArray

    @cached_property
    def all_alike(self) -> str:
        """How all texts are classed, where they are classed alike; "" where they differ."""
        means = divide(self.total, self.count)
        means = means[~np.isnan(means)]
        if len(means) < 2 or np.ptp(means) > _SAME:
            return ""
        words = {1.0: "every sentence is called agentic", -1.0: "every sentence is called communal"}
        return words.get(float(means[0]), "every text has the same share of agentic sentences")

    @property
    def compared(self) -> Clusters:
        """What is independent in a comparison of groups."""
        # Where names repeat in blocks neither alone is independent, so both ways are clustered.
        return self.units if self.units.ways else self.blocks

    def by_cluster(
        self, clusters: Clusters, members: FloatArray, runs: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Totals and counts by cluster and group, shape (n_clusters, k): members (n_cells, k).

        Over all runs, or over these.
        """
        rows = slice(None) if runs is None else runs
        n = int(clusters.code.max(initial=-1)) + 1
        in_group = members[self.cell]  # (n_parts, k)
        total, count = (
            sums_by(clusters.code, n, values[rows].sum(axis=0)[:, np.newaxis] * in_group)
            for values in (self.total, self.count)
        )
        return total, count

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """Attributes whose values are compared: each one alone, and all of them crossed.

        In a single stratum the crossed groups are too small to be of use, and are left out.
        """
        single = tuple((name,) for name in self.groups_of)
        crossed = len(single) > 1 and self.labels["stratum"] == ALL
        return (*single, tuple(self.groups_of)) if crossed else single

    def groups(self, kind: tuple[str, ...]) -> tuple[tuple[dict[str, str], ...], FloatArray]:
        """Return the groups of these attributes that have texts, and their cells (n_cells, k)."""
        columns = [list(self.groups_of).index(name) for name in kind]
        codes, group = np.unique(self.cells[:, columns], axis=0, return_inverse=True)
        # One column per group: 1 where a cell belongs to it, so that sums by group are products.
        members = (group.reshape(-1, 1) == np.arange(len(codes))).astype(np.float64)
        present = np.flatnonzero(self.observed.count.sum(axis=0) @ members > 0)
        labels = [
            {name: self.groups_of[name][code] for name, code in zip(kind, row, strict=True)}
            for row in codes[present].tolist()
        ]
        return tuple(labels), members[:, present]


def strata(texts: AgencyTexts, scope: Scope) -> Iterator[AgencyStratum]:
    """Yield every stratum that has texts, by masking: each place as a whole, then its strata.

    Parameters
    ----------
    texts
        The texts of the audit; what is computed is kept with them.
    scope
        Level, replicates and seed.
    """
    if "strata" not in texts.cache:
        texts.cache["strata"] = list(_strata(texts, scope))
    yield from texts.cache["strata"]


def _strata(texts: AgencyTexts, scope: Scope) -> Iterator[AgencyStratum]:
    for place in np.unique(texts.place, axis=0):
        inside = (texts.place == place).all(axis=1)
        # First the place as a whole, which sentences speak of
        labels = [
            column.labels[code]
            for column, code in zip((texts.model, texts.task, texts.condition), place, strict=True)
        ]
        yield from _of(texts, inside, labels, ALL, scope)
        codes = np.unique(texts.stratum.code[inside & (texts.stratum.code >= 0)]).tolist()
        for code in codes if len(codes) > 1 else ():  # a single stratum is the whole place
            part = inside & (texts.stratum.code == code)
            yield from _of(texts, part, labels, texts.stratum.labels[code], scope)


class StratumParts(NamedTuple):
    """Texts of one cluster and cell, summed, in the order of the blocks in which they move.

    Attributes
    ----------
    sums
        Ratio gaps and numbers of texts, shape (2, n_maskings, n_runs, n_parts); a checkpoint is a
        run, in which a text counts 1 / n_checkpoints.
    first, cell, cluster, block, alike
        A text of each part among those that are read, its cell, its cluster, the block in which it
        moves, and its block of prompts that are alike, shape (n_parts,) each.
    name
        Whom it is about, where names are units, shape (n_parts,).
    """

    sums: FloatArray
    first: IntArray
    cell: IntArray
    cluster: IntArray
    block: IntArray
    alike: IntArray
    name: IntArray | None


def _of(
    texts: AgencyTexts, inside: BoolArray, place: list[str], stratum: str, scope: Scope
) -> Iterator[AgencyStratum]:
    """Yield a stratum under each masking; groups are shuffled alike for all."""
    # Refused and failed texts have no sentences; they are told as exclusions.
    read = inside & texts.kept & (texts.outcome == 0)
    columns = {name: column.code[read] for name, column in texts.columns.items()}
    alike = find_blocks(columns, texts.cell[read])
    shuffled, parts = _parts(texts, read, alike)
    rows = parts.sums.reshape(int(np.prod(parts.sums.shape[:3])), len(parts.cell))
    # Means over each part's block, which is what shuffling gives on average
    sums_of_blocks = np.stack([np.bincount(parts.block, row)[parts.block] for row in rows])
    expected = sums_of_blocks / np.bincount(parts.block)[parts.block]
    n_cells, shape = len(texts.cells), (*parts.sums.shape[:3], len(texts.cells))
    chance = _by_cell(expected, parts.cell, n_cells).reshape(shape).sum(axis=2)
    observed = _by_cell(rows, parts.cell, n_cells).reshape(shape)
    movers = rows, parts.cell, parts.block
    if parts.name is not None:
        kinds = {WITHIN: parts.name, STRATUM: texts.blocks[STRATUM][read][parts.first]}
        shuffled, movers = _names_moved((rows, expected), kinds, parts.cell, n_cells)
    rng = scope.rng("agency", *place, stratum)
    null = np.full((scope.permutations, len(rows), n_cells), np.nan)
    for draw in null if len(parts.cell) else ():
        draw[:] = _by_cell(movers[0], shuffle_within(*movers[1:], rng), n_cells)
    null = null.reshape(-1, *shape)
    if parts.name is not None:
        null[:, 0] += null[:, 1] * divide_or_zero(*chance)[:, np.newaxis]
    condition = {"condition": place[2]} if len(texts.condition.labels) > 1 else {}
    of_place = {"model": place[0], "task": place[1], **condition, "stratum": stratum}
    for i, (masking, reading) in enumerate(texts.readings.items()):
        present = (parts.sums[1, i] > 0).any(axis=0)
        units, blocks = _clusters(texts, read, parts, present, alike)
        total, count = parts.sums[:, i][..., present]
        yield AgencyStratum(
            labels=of_place | {"masking": masking},
            groups_of={name: column.labels for name, column in texts.groups.items()},
            cells=texts.cells,
            total=total,
            count=count,
            cell=parts.cell[present],
            observed=CellSums(*observed[:, i]),
            null=CellSums(null[:, 0, i], null[:, 1, i]),
            chance=divide(*chance[:, i]),
            units=units,
            blocks=blocks,
            shuffled=shuffled,
            exclusions=_exclusions(texts, reading.gap, inside),
            unclassed=float(reading.unclassed[read].sum()),
            other_sums=_other_sums(texts, masking, read),
            n_checkpoints=len(reading.checkpoints),
            rows=np.flatnonzero(read & ~np.isnan(reading.gap)),
        )


def _parts(texts: AgencyTexts, read: BoolArray, alike: Blocks) -> tuple[str, StratumParts]:
    """Sum the texts that are read by run, cluster and cell; first, how parts are shuffled."""
    cell, cluster = texts.cell[read], texts.cluster.code[read]
    first, part = np.unique(
        cluster * len(texts.cells) + cell, return_index=True, return_inverse=True
    )[1:]
    blocks = {name: block[read] for name, block in texts.blocks.items()}
    if texts.columns:
        blocks[ALIKE] = alike.code
    shuffled, block = block_of_units(blocks, part, first, cell[first])
    gaps = np.stack([reading.checkpoints[:, read] for reading in texts.readings.values()])
    n_maskings, n_checkpoints = gaps.shape[:2]
    runs, run = np.unique(texts.run[read], return_inverse=True)
    n_runs, n = max(len(runs), 1) * n_checkpoints, len(first)
    slot = ((run * n_checkpoints + np.arange(n_checkpoints)[:, np.newaxis]) * n + part).ravel()
    valid = ~np.isnan(gaps)
    sums = [
        np.bincount(slot, weights=row, minlength=n_runs * n)
        for kind in (np.where(valid, gaps, 0.0), valid.astype(np.float64))
        for row in (kind / n_checkpoints).reshape(n_maskings, -1)
    ]
    order = np.argsort(block, kind="stable")
    first = first[order]
    name = None if texts.names is None else texts.names.code[read][first]
    parts = StratumParts(
        sums=np.stack(sums).reshape(2, n_maskings, n_runs, n)[..., order].astype(np.float64),
        first=first,
        cell=cell[first],
        cluster=cluster[first],
        block=block[order],
        alike=alike.code[first],
        name=name
        if name is not None and _repeats(texts, name, cluster[first], cell[first])
        else None,
    )
    return shuffled, parts


def _repeats(texts: AgencyTexts, name: IntArray, cluster: IntArray, cell: IntArray) -> bool:
    """Whether names are units: each is in several prompts, and each group has two or more."""
    if len(np.unique(name)) == len(np.unique(cluster)):  # so also without a text
        return False
    # A group of one name could not be told from that name
    pairs = (np.unique(np.stack([group, name]), axis=1)[0] for group in texts.cells[cell].T)
    return all(np.unique(pair, return_counts=True)[1].min() > 1 for pair in pairs)


def _names_moved(
    rows: tuple[FloatArray, FloatArray], kinds: Mapping[str, IntArray], cell: IntArray, n_cells: int
) -> tuple[str, tuple[FloatArray, IntArray, IntArray]]:
    """How names are shuffled as wholes, and what moves: values (k, n_names), cell and block.

    `rows` are values and what their blocks give, which is no name's own and stays where it is.
    """
    (total, count), within = (part.reshape(2, -1, len(cell)) for part in rows)
    values = np.concatenate([total - divide_or_zero(*within) * count, count])
    pairs = kinds[WITHIN] * n_cells + cell
    first, mover = np.unique(pairs, return_index=True, return_inverse=True)[1:]
    shuffled, block = block_of_units(kinds, mover, first, cell[first])
    sums = sums_by(mover, len(first), values.T).T
    return f"{shuffled}, names as wholes", (sums, cell[first], block)


def _by_cell(values: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Sum values of shape (k, n) by cell: shape (k, n_cells)."""
    return sums_by(cell, n_cells, values.T).T


def _clusters(
    texts: AgencyTexts, read: BoolArray, parts: StratumParts, present: BoolArray, alike: Blocks
) -> tuple[Clusters, Clusters]:
    """The units of the parts that are present, and those in which groups are compared."""
    codes, code = np.unique(parts.cluster, return_inverse=True)
    names = tuple(texts.cluster.labels[code] for code in codes.tolist())
    reason = alike.reason if texts.unit == PROMPT else ""
    units = blocks = Clusters(code[present], texts.unit, reason, names)
    if texts.unit == PROMPT and not reason:
        # Blocks are named by the values in which their prompts agree, but for the condition.
        used = [name for name in texts.columns if name not in (*alike.left_out, "condition")]
        first = np.flatnonzero(read)[np.unique(alike.code, return_index=True)[1]]
        values = [(texts.columns[name], texts.columns[name].code[first]) for name in used]
        block_names = zip(
            *([column.labels[i] for i in code] for column, code in values), strict=True
        )
        detail = f"prompts alike in {' and '.join(alike.columns)}"
        blocks = Clusters(
            parts.alike[present], BLOCK, detail, tuple(" · ".join(name) for name in block_names)
        )
    if parts.name is None or texts.names is None:
        return units, blocks
    name = parts.name[present]
    if blocks.kind != BLOCK:
        names_present = np.unique(name, return_inverse=True)
        labels = tuple(texts.names.labels[code] for code in names_present[0].tolist())
        units = Clusters(names_present[1], NAME, reason, labels)
        return units, units
    kind = alike.columns[0] if len(alike.columns) == 1 else BLOCK
    # Two codes of each unit: its name and its block; a unit without a text here has none.
    of_units = np.full((2, int(units.code.max(initial=-1)) + 1), -1)
    of_units[:, units.code] = name, blocks.code
    ways = (NAME, of_units[0]), (kind, of_units[1])
    return replace(units, detail=f"in two ways at once; {blocks.detail}", ways=ways), blocks


def _other_sums(texts: AgencyTexts, masking: str, read: BoolArray) -> dict[str, CellSums]:
    """Sums of what others than the classifier read, of the same texts, by run and cell."""
    runs, run = np.unique(texts.run[read], return_inverse=True)
    shape = max(len(runs), 1), len(texts.cells)
    slot = run * shape[1] + texts.cell[read]
    sums = {}
    for name, gaps in texts.readings[masking].other_gaps.items():
        gap = gaps[read]
        valid = ~np.isnan(gap)
        total, count = (
            np.bincount(slot, np.where(valid, kind, 0.0), shape[0] * shape[1]).reshape(shape)
            for kind in (gap, np.ones(len(slot)))
        )
        sums[name] = CellSums(total.astype(np.float64), count.astype(np.float64))
    return sums


def _exclusions(texts: AgencyTexts, gap: FloatArray, inside: BoolArray) -> dict[str, int]:
    counts: dict[str, int] = {
        name: int((inside & (texts.outcome == code)).sum())
        for code, name in enumerate(OUTCOMES)
        if code
    }
    for code, reason in enumerate(REASONS):
        counts[reason] = int((inside & (texts.left_out == code)).sum())
    counts[NO_SENTENCE] = int((inside & (texts.outcome == 0) & texts.kept & np.isnan(gap)).sum())
    return {reason: n for reason, n in counts.items() if n}

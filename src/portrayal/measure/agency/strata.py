"""Agency strata: sums of ratio gaps by group, as they are, by independent unit, and shuffled.

A *place* is one task of one model under one condition; a stratum is a place as a whole or a part
of it. Its texts are scored units, of a cluster and a *cell* (a value of every attribute).
"""

import math
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
    LabelColumn,
    MaskingReading,
)
from portrayal.measure.places import exclusions, places
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, OUTCOMES, UNITS
from portrayal.stats import divide, shuffle_within
from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.blocks import Blocks, find_blocks
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


@dataclass(frozen=True, eq=False)
class Clusters:
    """What is independent in a stratum.

    Attributes
    ----------
    of
        The cluster of each text, named the same in every run.
    kind
        What a cluster is: `BLOCK`, "prompt", "text", or the column asked for.
    detail
        How the clusters were made, in words.
    ways
        Two ways in which clusters are clustered at once, such as by name and by block: what such a
        one is called, and that of each cluster, shape (n_clusters,). Without them clusters are
        independent.
    """

    of: LabelColumn
    kind: str
    detail: str
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
    texts
        All texts of the audit.
    gaps
        Ratio gap of each text that has one, shape (n_checkpoints, n).
    cell, run
        Cell and run of each text, shape (n,).
    observed, null
        CellSums as they are, of shape (n_runs, n_cells); and of every shuffling of groups. A
        checkpoint of the classifier reads every text, so it makes runs of its own.
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
        CellSums by the classifier that reads beside; None where none does.
    rows
        Which texts have a ratio gap, as index into `AgencyTexts`, shape (n,).
    """

    labels: Mapping[str, str]
    texts: AgencyTexts
    gaps: FloatArray
    cell: IntArray
    run: IntArray
    observed: CellSums
    null: CellSums
    chance: FloatArray
    units: Clusters
    blocks: Clusters
    shuffled: str
    exclusions: Mapping[str, int]
    unclassed: float
    other_sums: CellSums | None
    rows: IntArray

    @property
    def reading(self) -> MaskingReading:
        """What is said of all texts of the audit under the masking."""
        return self.texts.readings[self.labels["masking"]]

    @cached_property
    def all_alike(self) -> str:
        """How all texts are classed, where they are classed alike; "" where they differ."""
        means = self.gaps[~np.isnan(self.gaps)]
        if self.gaps.shape[1] < 2 or np.ptp(means) > _SAME:
            return ""
        words = {1.0: "every sentence is called agentic", -1.0: "every sentence is called communal"}
        return words.get(float(means[0]), "every text has the same share of agentic sentences")

    @property
    def compared(self) -> Clusters:
        """What is independent in a comparison of groups."""
        # Where names repeat in blocks neither alone is independent, so both ways are clustered.
        return self.units if self.units.ways else self.blocks

    def table(
        self, clusters: Clusters, *sides: FloatArray, runs: BoolArray | None = None
    ) -> ScoredUnits:
        """Return the texts, of all runs or some, with their ratio gaps.

        `sides` say which cells are of each group, shape (n_cells, k), and of each group that it is
        compared with.
        """
        n_checkpoints = len(self.gaps)
        weight = ~np.isnan(self.gaps) / n_checkpoints
        if runs is not None:
            of_checkpoint = np.arange(n_checkpoints)[:, np.newaxis]
            weight = weight * runs[self.run * n_checkpoints + of_checkpoint]
        count = weight.sum(axis=0)
        gap = divide((np.nan_to_num(self.gaps) * weight).sum(axis=0), count)
        return ScoredUnits(clusters.of.code, count, gap, tuple(side[self.cell] for side in sides))

    @cached_property
    def kinds(self) -> tuple[tuple[str, ...], ...]:
        """Attributes whose values are compared: each one alone, and all of them crossed.

        In a single stratum the crossed groups are too small to be of use, and are left out.
        """
        names = tuple(self.texts.groups)
        single = tuple((name,) for name in names)
        return (*single, names) if len(names) > 1 and self.labels["stratum"] == ALL else single

    def groups(self, kind: tuple[str, ...]) -> tuple[tuple[dict[str, str], ...], FloatArray]:
        """Return the groups of these attributes that have texts, and their cells (n_cells, k)."""
        columns = [list(self.texts.groups).index(name) for name in kind]
        codes, group = np.unique(self.texts.cells[:, columns], axis=0, return_inverse=True)
        # One column per group: 1 where a cell belongs to it, so that sums by group are products.
        members = (group.reshape(-1, 1) == np.arange(len(codes))).astype(np.float64)
        present = np.flatnonzero(self.observed.count.sum(axis=0) @ members > 0)
        labels = [
            {name: self.texts.groups[name].labels[i] for name, i in zip(kind, row, strict=True)}
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
        labels = [
            column.labels[code]
            for column, code in zip((texts.model, texts.task, texts.condition), place, strict=True)
        ]
        # First the place as a whole, which sentences speak of
        cells = np.array([*texts.stratum.labels, ""], dtype=object)[texts.stratum.code]
        for part, rows in places(len(cells), {"stratum": np.where(inside, cells, "")}):
            yield from _of(texts, inside & rows, labels, part.get("stratum", ALL), scope)


def sums_in_runs(gaps: FloatArray, run: IntArray, code: IntArray, n_codes: int) -> FloatArray:
    """Sum ratio gaps, shape (n_checkpoints, n), and count texts: shape (2, n_runs, n_codes).

    A checkpoint is a run of its own, in which a text counts 1 / n_checkpoints.
    """
    n_checkpoints = len(gaps)
    of_run = run * n_checkpoints + np.arange(n_checkpoints)[:, np.newaxis]
    shape = n_checkpoints * (int(run.max(initial=0)) + 1), n_codes
    slot = (of_run * n_codes + code).ravel()
    return np.stack(
        [
            np.bincount(slot, (values / n_checkpoints).ravel(), shape[0] * n_codes).reshape(shape)
            for values in (np.nan_to_num(gaps), ~np.isnan(gaps))
        ]
    )


def _of(
    texts: AgencyTexts, inside: BoolArray, place: list[str], stratum: str, scope: Scope
) -> Iterator[AgencyStratum]:
    """Yield a stratum under each masking; groups are shuffled alike for all."""
    # Refused and failed texts have no sentences; they are told as exclusions.
    read = np.flatnonzero(inside & (texts.left_out < 0) & (texts.outcome == 0))
    cell, run = texts.cell[read], np.unique(texts.run[read], return_inverse=True)[1]
    n_cells = len(texts.cells)
    alike = find_blocks({name: column.code[read] for name, column in texts.columns.items()}, cell)
    names = _repeated_names(texts, read)
    movers = _movers(texts, read, alike, run, names)
    rng = scope.rng("agency", *place, stratum)
    shape = len(texts.readings), -1, n_cells
    null = np.full((scope.permutations, len(movers.values), n_cells), np.nan)
    for draw in null if len(movers.cell) else ():
        draw[:] = _by_cell(movers.values, shuffle_within(movers.cell, movers.block, rng), n_cells)
    null = null.reshape(scope.permutations, 2, *shape)
    if names is not None:
        null[:, 0] += null[:, 1] * divide_or_zero(*movers.chance)[:, np.newaxis]
    condition = {"condition": place[2]} if len(texts.condition.labels) > 1 else {}
    of_place = {"model": place[0], "task": place[1], **condition, "stratum": stratum}
    for i, (masking, reading) in enumerate(texts.readings.items()):
        gaps = reading.checkpoints[:, read]
        present = ~np.isnan(gaps).all(axis=0)
        units, blocks = _clusters(texts, read[present], alike, alike.code[present], names)
        yield AgencyStratum(
            labels=of_place | {"masking": masking},
            texts=texts,
            gaps=gaps[:, present],
            cell=cell[present],
            run=run[present],
            observed=CellSums(*sums_in_runs(gaps, run, cell, n_cells)),
            null=CellSums(null[:, 0, i], null[:, 1, i]),
            chance=divide(*movers.chance[:, i]),
            units=units,
            blocks=blocks,
            shuffled=movers.shuffled,
            exclusions=_exclusions(texts, reading.gap, inside),
            unclassed=float(reading.unclassed[read].sum()),
            other_sums=None
            if reading.other_gap is None
            else CellSums(*sums_in_runs(reading.other_gap[np.newaxis, read], run, cell, n_cells)),
            rows=read[present],
        )


class Movers(NamedTuple):
    """What changes places when groups are shuffled: texts of one cluster and cell, or of a name.

    Attributes
    ----------
    values
        Sums of ratio gaps, and numbers of texts, by masking and run, shape (k, n).
    cell, block
        Cell of each, and the block in which it moves, shape (n,).
    shuffled
        Among which texts, in words.
    chance
        Sums and numbers that shuffling gives each cell on average, (2, n_maskings, n_cells).
    """

    values: FloatArray
    cell: IntArray
    block: IntArray
    shuffled: str
    chance: FloatArray


def _movers(
    texts: AgencyTexts, read: IntArray, alike: Blocks, run: IntArray, names: IntArray | None
) -> Movers:
    n_cells, cell = len(texts.cells), texts.cell[read]
    # Texts of one cluster and cell move together
    parts = np.unique(
        texts.cluster.code[read] * n_cells + cell, return_index=True, return_inverse=True
    )
    first, part = parts[1:]
    blocks = {name: block[read] for name, block in texts.blocks.items()}
    if texts.columns:
        blocks[ALIKE] = alike.code
    shuffled, block = block_of_units(blocks, part, first, cell[first])
    order = np.argsort(block, kind="stable")
    first, block = first[order], block[order]
    sums = [
        sums_in_runs(reading.checkpoints[:, read], run, part, len(first))[..., order]
        for reading in texts.readings.values()
    ]
    values = np.stack(sums, axis=1)
    rows = values.reshape(math.prod(values.shape[:3]), len(first))
    # Means over each part's block, which is what shuffling gives on average
    of_block = np.stack([np.bincount(block, row)[block] for row in rows])
    expected = of_block / np.bincount(block)[block]
    chance = (
        _by_cell(expected, cell[first], n_cells).reshape(*values.shape[:3], n_cells).sum(axis=2)
    )
    if names is None:
        return Movers(rows, cell[first], block, shuffled, chance)
    # Names move as wholes, with what is not that of their block, which stays where it is
    (total, count), within = (x.reshape(2, -1, len(first)) for x in (rows, expected))
    between = np.concatenate([total - divide_or_zero(*within) * count, count])
    kinds = {WITHIN: names[read][first], STRATUM: texts.blocks[STRATUM][read][first]}
    pairs = kinds[WITHIN] * n_cells + cell[first]
    of_name, mover = np.unique(pairs, return_index=True, return_inverse=True)[1:]
    name_cell = cell[first][of_name]
    shuffled, block = block_of_units(kinds, mover, of_name, name_cell)
    sums_of_names = sums_by(mover, len(of_name), between.T).T
    return Movers(sums_of_names, name_cell, block, f"{shuffled}, names as wholes", chance)


def _repeated_names(texts: AgencyTexts, read: IntArray) -> IntArray | None:
    """Name of each text where names are units: each is in several prompts, and groups have two."""
    if texts.names is None:
        return None
    name, cell = texts.names.code, texts.cell[read]
    # Also where no text is read
    if len(np.unique(name[read])) == len(np.unique(texts.cluster.code[read])):
        return None
    # A group of one name could not be told from that name
    pairs = (np.unique(np.stack([group, name[read]]), axis=1)[0] for group in texts.cells[cell].T)
    return name if all(np.unique(pair, return_counts=True)[1].min() > 1 for pair in pairs) else None


def _by_cell(values: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Sum values of shape (k, n) by cell: shape (k, n_cells)."""
    return sums_by(cell, n_cells, values.T).T


def _clusters(
    texts: AgencyTexts, rows: IntArray, alike: Blocks, code: IntArray, names: IntArray | None
) -> tuple[Clusters, Clusters]:
    """The units of some rows, and those in which groups are compared; `code` is their block."""
    reason = alike.reason if texts.unit == PROMPT else ""
    units = blocks = Clusters(texts.cluster.take(rows), texts.unit, reason)
    if texts.unit == PROMPT and not reason:
        # Blocks are named by the values in which their prompts agree, but for the condition.
        used = [texts.columns[n] for n in texts.columns if n not in (*alike.left_out, "condition")]
        first, block = np.unique(code, return_index=True, return_inverse=True)[1:]
        labels = [" · ".join(c.labels[c.code[i]] for c in used) for i in rows[first].tolist()]
        detail = f"prompts alike in {' and '.join(alike.columns)}"
        blocks = Clusters(LabelColumn(block, tuple(labels)), BLOCK, detail)
    if names is None or texts.names is None:
        return units, blocks
    if blocks.kind != BLOCK:
        units = Clusters(texts.names.take(rows), NAME, reason)
        return units, units
    # Two codes of each unit: its name and its block.
    kind = alike.columns[0] if len(alike.columns) == 1 else BLOCK
    first = np.unique(units.of.code, return_index=True)[1]
    ways = (NAME, names[rows][first]), (kind, blocks.of.code[first])
    return replace(units, detail=f"in two ways at once; {blocks.detail}", ways=ways), blocks


def _exclusions(texts: AgencyTexts, gap: FloatArray, inside: BoolArray) -> dict[str, int]:
    is_out: dict[str, BoolArray] = {
        name: texts.outcome == code for code, name in enumerate(OUTCOMES) if code
    }
    is_out |= {reason: texts.left_out == code for code, reason in enumerate(REASONS)}
    is_out[NO_SENTENCE] = (texts.outcome == 0) & (texts.left_out < 0) & np.isnan(gap)
    return exclusions(inside.astype(np.float64), is_out)

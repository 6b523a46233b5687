"""Agency places: sums of ratio gaps by group, as they are, by independent unit, and shuffled.

A *place* is one task of one model under one condition, whole or in one stratum. Its texts are
summed once per run and *cell* (a value of every attribute); every measure of agency is made from
these sums, so a text is never touched twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from portrayal.annotate.agency.rows import SAMPLED
from portrayal.measure.agency.texts import (
    ALIKE,
    NAME,
    NO_SENTENCE,
    PROMPT,
    REASONS,
    STRATUM,
    WITHIN,
    AgencyTexts,
    block_of_units,
)
from portrayal.measure.scope import Scope
from portrayal.records import ALL, OUTCOMES, UNITS
from portrayal.stats import divide, find_blocks, shuffle_within
from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.blocks import Blocks
from portrayal.stats.clustered import sums_by
from portrayal.types import BoolArray, FloatArray, IntArray

_SAME = 1e-12  # shares of sentences that differ by rounding alone

NEITHER = "neither"
"""Detail: share of sentences that are neither agentic nor communal."""
BLOCK = "block"
"""The kind of units that are blocks of prompts alike but for the group."""


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
class Units:
    """Sums by independent unit.

    Attributes
    ----------
    sums
        Of the texts of one unit in one run and cell, shape (n_runs, n_parts).
    owner, cell
        Unit and cell of each part, shape (n_parts,).
    kind
        What a unit is: `BLOCK`, "prompt", "text", or the column asked for.
    how
        How the units were made, in words.
    names
        Name of each unit, the same in every run.
    ways
        Two ways in which units are clustered at once, such as by name and by block: what a cluster
        is called, and that of each unit, shape (n_units,). Without them units are independent.
    """

    sums: CellSums
    owner: IntArray
    cell: IntArray
    kind: str
    how: str
    names: tuple[str, ...] = ()
    ways: tuple[tuple[str, IntArray], ...] = ()

    @property
    def codes(self) -> tuple[IntArray, ...]:
        """Cluster of each unit in each of the two ways; () where units are independent."""
        return tuple(code for _, code in self.ways)

    def clusters(self, count: FloatArray) -> dict[str, float]:
        """Return how many clusters of each way the smallest group has, for an estimate's details.

        `count` are texts by unit and group, shape (n_units, k).
        """
        return {
            f"{UNITS}{one}": float((sums_by(code, int(code.max()) + 1, count) > 0).sum(0).min())
            for one, code in self.ways
        }

    @property
    def one(self) -> str:
        """A unit in words: "prompt", "name or department" or "value of name"."""
        if self.ways:
            return " or ".join(one for one, _ in self.ways)
        return self.kind if self.kind in (BLOCK, "prompt", "text") else f"value of {self.kind}"

    @property
    def many(self) -> str:
        """Several units in words: "prompts", "names and departments" or "values of name"."""
        if self.ways:
            return " and ".join(f"{one}s" for one, _ in self.ways)
        return f"{self.one}s" if self.one == self.kind else f"values of {self.kind}"

    def by_cell(self, n_cells: int, runs: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Totals and counts by unit and cell over all runs, or these, shape (n_units, n_cells)."""
        rows = slice(None) if runs is None else runs
        slot = self.owner * n_cells + self.cell
        size = (int(self.owner.max()) + 1 if len(self.owner) else 0) * n_cells
        total, count = (
            np.bincount(slot, values[rows].sum(axis=0), size).reshape(-1, n_cells)
            for values in (self.sums.total, self.sums.count)
        )
        return total.astype(np.float64), count.astype(np.float64)


@dataclass(frozen=True, eq=False)
class AgencyStratum:
    """One place under one masking.

    Attributes
    ----------
    model, task, condition, stratum, masking
        Labels; the stratum is "all" for the whole place.
    attributes, values, cells
        As in `AgencyTexts`.
    observed, null
        CellSums as they are, of shape (n_runs, n_cells); and of every shuffling of groups.
    chance
        Mean ratio gap that shuffling gives each cell on average, shape (n_cells,).
    units, blocks
        Sums by cluster: a prompt, a text, or a value of the column asked for; and by the units in
        which groups are compared: blocks where the design has them, else the clusters. Where names
        repeat in blocks, the prompts are clustered in both ways at once (`Units.ways`), and where
        they repeat without blocks, names are the clusters.
    shuffled
        Among which texts groups are shuffled.
    n_texts
        Texts with a ratio gap.
    exclusions
        Texts left out, by reason.
    untold
        Sentences that the classifier could not tell.
    several_conditions
        Whether the condition tells places of the run apart.
    beside
        CellSums by each reading beside the classifier, and of `NEITHER` the share of sentences.
    n_checkpoints
        Checkpoints of the classifier; each reads every text, so it makes runs of its own, in whose
        counts a text is 1 / n_checkpoints.
    rows
        Which texts have a ratio gap, shape (n_texts,).
    """

    model: str
    task: str
    condition: str
    stratum: str
    masking: str
    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    cells: tuple[tuple[int, ...], ...]
    observed: CellSums
    null: CellSums
    chance: FloatArray
    units: Units
    blocks: Units
    shuffled: str
    n_texts: int
    exclusions: Mapping[str, int]
    untold: float
    several_conditions: bool
    beside: Mapping[str, CellSums]
    n_checkpoints: int = 1
    rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @cached_property
    def all_alike(self) -> str:
        """How all texts are classed, where they are classed alike; "" where they differ."""
        means = divide(self.units.sums.total, self.units.sums.count)
        means = means[~np.isnan(means)]
        if len(means) < 2 or np.ptp(means) > _SAME:
            return ""
        words = {1.0: "every sentence is called agentic", -1.0: "every sentence is called communal"}
        return words.get(float(means[0]), "every text has the same share of agentic sentences")

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
    def compared(self) -> Units:
        """What is independent in a comparison of groups."""
        # Where names repeat in blocks neither alone is independent, so both ways are clustered.
        return self.units if self.units.ways else self.blocks

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.observed.total.shape[-2])

    @cached_property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """Attributes whose values are compared: each one alone, and all of them crossed.

        In a single stratum the crossed groups are too small to be of use, and are left out.
        """
        single = tuple((i,) for i in range(len(self.attributes)))
        crossed = len(single) > 1 and self.stratum == ALL
        return (*single, tuple(range(len(single)))) if crossed else single

    def groups(self, kind: tuple[int, ...]) -> tuple[tuple[dict[str, str], ...], FloatArray]:
        """Return the groups of these attributes that have texts, and their cells (n_cells, k)."""
        by_codes: dict[tuple[int, ...], list[int]] = {}
        for i, cell in enumerate(self.cells):
            by_codes.setdefault(tuple(cell[a] for a in kind), []).append(i)
        present = self.observed.count.sum(axis=0) > 0
        labels, columns = [], []
        for codes, members in sorted(by_codes.items()):
            if present[members].any():
                labels.append(
                    {
                        self.attributes[a]: self.values[a][c]
                        for a, c in zip(kind, codes, strict=True)
                    }
                )
                columns.append(np.isin(np.arange(len(self.cells)), members))
        # One column per group: 1 where a cell belongs to it, so that sums by group are products.
        indicator = np.array(columns, dtype=np.float64).reshape(-1, len(self.cells)).T
        return tuple(labels), indicator


def places(texts: AgencyTexts, scope: Scope) -> Iterator[AgencyStratum]:
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


def _places(texts: AgencyTexts, scope: Scope) -> Iterator[AgencyStratum]:
    keys = np.stack([texts.model, texts.task, texts.condition], axis=1)
    for key in np.unique(keys, axis=0):
        inside = (keys == key).all(axis=1)
        # First the place as a whole, which sentences speak of
        yield from _of(texts, inside, key.tolist(), ALL, scope)
        codes = np.unique(texts.stratum[inside & (texts.stratum >= 0)]).tolist()
        for code in codes if len(codes) > 1 else ():  # a single stratum is the whole place
            part = inside & (texts.stratum == code)
            yield from _of(texts, part, key.tolist(), texts.strata[code], scope)


def _of(
    texts: AgencyTexts, inside: BoolArray, key: list[int], stratum: str, scope: Scope
) -> Iterator[AgencyStratum]:
    model, task, condition = key
    labels = texts.models[model], texts.tasks[task], texts.conditions[condition]
    rng = scope.rng("agency", *labels, stratum)
    # Refused and failed texts have no sentences; they are told as exclusions.
    read = inside & texts.kept & (texts.outcome == 0)
    # A single classifier is a set of one checkpoint
    by_masking = (texts.checkpoints.get(name, texts.gap[name][None]) for name in texts.maskings)
    gaps = np.stack([gap[:, read] for gap in by_masking])
    all_sums = _summed(texts, gaps, read, scope, rng)
    for masking, sums in zip(texts.maskings, all_sums, strict=True):
        gap = texts.gap[masking]
        yield AgencyStratum(
            *labels,
            stratum,
            masking,
            texts.attributes,
            texts.values,
            texts.cells,
            sums.observed,
            sums.null,
            sums.chance,
            sums.units,
            sums.blocks,
            sums.shuffled,
            int((~np.isnan(gap[read])).sum()),
            _exclusions(texts, gap, inside),
            float(texts.untold[masking][read].sum()),
            len(texts.conditions) > 1,
            _beside(texts, masking, read),
            gaps.shape[1],
            np.flatnonzero(read & ~np.isnan(gap)),
        )


def _beside(texts: AgencyTexts, masking: str, read: BoolArray) -> dict[str, CellSums]:
    """Sums of what others than the classifier read, of the same texts, by run and cell.

    What reads a sample of the texts is taken to differ from the classifier elsewhere as it does in
    the sample, on average over the texts of a cell.
    """
    runs, run = np.unique(texts.run[read], return_inverse=True)
    shape = max(len(runs), 1), len(texts.cells)
    cell = texts.cell[read]
    slot, own = run * shape[1] + cell, texts.gap[masking][read]
    rows = dict(zip(texts.readings, texts.beside.get(masking, ()), strict=False))
    if masking in texts.neither:
        rows[NEITHER] = texts.neither[masking]
    sums = {}
    for name, row in rows.items():
        gap = row[read]
        if name == SAMPLED:
            # Where only a sample was read again, the others move by their cell's mean difference.
            apart = gap - own
            drawn = ~np.isnan(apart)
            of_cell = [np.bincount(cell[drawn], kind, shape[1]) for kind in (apart[drawn], None)]
            gap = np.where(drawn, gap, own + divide(*of_cell)[cell])
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


class _Summed(NamedTuple):
    """What a place has of its texts."""

    observed: CellSums
    null: CellSums
    chance: FloatArray
    units: Units
    blocks: Units
    shuffled: str


def _summed(
    texts: AgencyTexts, gaps: FloatArray, read: BoolArray, scope: Scope, rng: np.random.Generator
) -> Iterator[_Summed]:
    """Sum the gaps of texts, shape (n_maskings, n_checkpoints, n_texts), by run and cell.

    Groups are shuffled alike for all maskings.
    """
    (n_maskings, n_checkpoints), n_cells = gaps.shape[:2], len(texts.cells)
    pair = texts.cluster[read] * n_cells + texts.cell[read]
    first, unit = np.unique(pair, return_index=True, return_inverse=True)[1:]
    runs, run = np.unique(texts.run[read], return_inverse=True)
    cell = texts.cell[read][first]
    known_units, owner = np.unique(texts.cluster[read][first], return_inverse=True)
    labels = texts.cluster_names or range(int(texts.cluster.max(initial=-1)) + 1)
    names = tuple(str(labels[code]) for code in known_units.tolist())
    columns = {name: code[read] for name, code in texts.columns.items()}
    alike = find_blocks(columns, texts.cell[read])
    known_blocks = {name: block[read] for name, block in texts.blocks.items()}
    if columns:
        known_blocks[ALIKE] = alike.code
    shuffled, block = block_of_units(known_blocks, unit, first, cell)
    n, n_runs = len(first), max(len(runs), 1) * n_checkpoints
    valid = ~np.isnan(gaps)
    run_code = run * n_checkpoints + np.arange(n_checkpoints)[:, np.newaxis]
    slot = (run_code * n + unit).ravel()
    values = np.stack(
        [
            np.bincount(slot, weights=row, minlength=n_runs * n).reshape(n_runs, n)
            for kind in (np.where(valid, gaps, 0.0), valid.astype(np.float64))
            for row in (kind / n_checkpoints).reshape(n_maskings, -1)
        ]
    ).reshape(2, n_maskings, n_runs, n)
    order = np.argsort(block, kind="stable")
    block_of, block_names = alike.code[first][order], _block_names(texts, read, alike)
    values, cell, block, owner = values[..., order], cell[order], block[order], owner[order]
    name = None if texts.names is None else texts.names[read][first][order]
    name = name if name is not None and _repeats(texts, name, owner, cell) else None
    shape = (2, n_maskings, n_runs, n_cells)
    rows = np.asarray(values.reshape(2 * n_maskings * n_runs, n), dtype=np.float64)
    observed, expected = _by_cell(rows, cell, n_cells).reshape(shape), _expected(rows, block)
    chance = _by_cell(expected, cell, n_cells).reshape(shape).sum(axis=2)
    movers = rows, cell, block
    if name is not None:
        kinds = {WITHIN: name, STRATUM: texts.blocks[STRATUM][read][first][order]}
        shuffled, movers = _names_moved((rows, expected), kinds, cell, n_cells)
    null = _null(movers, n_cells, scope.permutations, rng).reshape(-1, *shape)
    if name is not None:
        null[:, 0] += null[:, 1] * divide_or_zero(*chance)[:, np.newaxis]
    for i in range(n_maskings):
        present = (values[1, i] > 0).any(axis=0)
        sums = CellSums(values[0, i][:, present], values[1, i][:, present])
        reason = alike.reason if texts.clusters == PROMPT else ""
        units = Units(sums, owner[present], cell[present], texts.clusters, reason, names)
        blocks = units
        if texts.clusters == PROMPT and not reason:
            detail = f"prompts alike in {' and '.join(alike.columns)}"
            blocks = Units(sums, block_of[present], cell[present], BLOCK, detail, block_names)
        if name is not None:
            units, blocks = _with_names(texts, units, blocks, name[present], alike)
        yield _Summed(
            CellSums(observed[0, i], observed[1, i]),
            CellSums(null[:, 0, i], null[:, 1, i]),
            divide(*chance[:, i]),
            units,
            blocks,
            shuffled,
        )


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


def _null(
    movers: tuple[FloatArray, IntArray, IntArray],
    n_cells: int,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Sums by cell of every shuffling, (draws, k, n_cells); what moves: values (k, n), cell, block.

    Without anything to move all are NaN.
    """
    values, cell, block = movers
    null = np.full((draws, len(values), n_cells), np.nan)
    for i in range(draws if len(cell) else 0):
        null[i] = _by_cell(values, shuffle_within(cell, block, rng), n_cells)
    return null


def _repeats(texts: AgencyTexts, name: IntArray, owner: IntArray, cell: IntArray) -> bool:
    """Whether names are units: each is in several prompts, and each group has two or more."""
    if len(np.unique(name)) == len(np.unique(owner)):  # so also without a text
        return False
    groups = np.array(texts.cells)[cell].T
    # A group of one name could not be told from that name
    pairs = (np.unique(np.stack([group, name]), axis=1)[0] for group in groups)
    return all(np.unique(pair, return_counts=True)[1].min() > 1 for pair in pairs)


def _with_names(
    texts: AgencyTexts, units: Units, blocks: Units, name: IntArray, alike: Blocks
) -> tuple[Units, Units]:
    """Cluster prompts by the names that they are about, and by block where there are blocks."""
    if blocks.kind != BLOCK:
        codes, owner = np.unique(name, return_inverse=True)
        labels = tuple(texts.name_labels[code] for code in codes.tolist())
        units = replace(units, owner=owner, kind=NAME, names=labels)
        return units, units
    kind = alike.columns[0] if len(alike.columns) == 1 else BLOCK
    first = np.unique(units.owner, return_index=True)[1]
    # Two codes of each unit: its name and its block.
    of_units = np.full((2, int(units.owner.max()) + 1), -1)
    of_units[:, units.owner[first]] = name[first], blocks.owner[first]
    ways = (NAME, of_units[0]), (kind, of_units[1])
    return replace(units, how=f"in two ways at once; {blocks.how}", ways=ways), blocks


def _block_names(texts: AgencyTexts, read: BoolArray, alike: Blocks) -> tuple[str, ...]:
    """Name blocks by the values in which their prompts agree, but for the condition."""
    used = [name for name in texts.column_labels if name not in (*alike.left_out, "condition")]
    first = np.flatnonzero(read)[np.unique(alike.code, return_index=True)[1]]
    return tuple(
        " · ".join(texts.column_labels[name][texts.columns[name][i]] for name in used)
        for i in first.tolist()
    )


def _expected(rows: FloatArray, block: IntArray) -> FloatArray:
    """Means of values (k, n) over each unit's block, which is what shuffling gives on average."""
    size = np.bincount(block)
    return np.stack([np.bincount(block, row)[block] / size[block] for row in rows])


def _by_cell(values: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Sum values of shape (k, n) by cell: shape (k, n_cells)."""
    return np.stack([np.bincount(cell, weights=row, minlength=n_cells) for row in values])

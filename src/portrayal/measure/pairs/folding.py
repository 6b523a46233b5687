"""Folding: a quantity of every row and the sums of its null, block by block.

What is kept are two numbers for each row and column, and sums for each place; the values of the
samples and of the draws of the null are gone once they are added up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.measure.pairs.dealing import gap_beyond_pairs
from portrayal.measure.pairs.table import Block, Level, Paired, PairStratum
from portrayal.measure.scope import Scope
from portrayal.records import ALL
from portrayal.stats import divide
from portrayal.types import FloatArray, IntArray

Values = Callable[[Level, FloatArray, FloatArray], FloatArray]
"""Function of a level, and of generated and reference values, shape (..., n, M), to (..., n, k)."""

BOTH, GENERATED, ORIGINAL = 1, 2, 3
"""Which text of a row has no value of any group, in any sample."""


@dataclass(frozen=True, eq=False)
class Folded:
    """A quantity at one level.

    Attributes
    ----------
    total, count
        Mean over samples of the value (0 where undefined) and of whether it is defined, shape
        (n_rows, k). At full length `count` is 0 or 1.
    original
        Mean over samples of what the original has where the value is defined, shape (n_rows, k); 0
        where a column is not one of a group.
    lacking
        `BOTH`, `GENERATED`, `ORIGINAL`, or 0; shape (n_rows,).
    samples
        Mean over the rows of each place in each sample, shape (n_samples, n_places, k).
    draws
        The same in each draw of the null, shape (n_draws, n_places, k); no draws without a null.
    """

    total: FloatArray
    count: FloatArray
    original: FloatArray
    lacking: IntArray
    samples: FloatArray
    draws: FloatArray

    @property
    def values(self) -> FloatArray:
        """Mean of each row over the samples in which it is defined; NaN where there is none."""
        return divide(self.total, self.count)


def fold(
    values: Values,
    level: Level,
    paired: Paired,
    strata: Sequence[PairStratum] = (),
    null: tuple[Scope, str] | None = None,
) -> Folded:
    """Add up a quantity over the blocks of a level.

    Parameters
    ----------
    values
        The quantity.
    level, paired
        Of which rows.
    strata
        Places to add samples and draws up for.
    null
        Settings of the null's draws, and the label of its random streams; None for no null.
    """
    cells = _StratumCells(paired, strata)
    parts: dict[str, list[npt.NDArray[Any]]] = {
        "total": [],
        "count": [],
        "original": [],
        "lacking": [],
    }
    samples, draws = _Sums(cells, level.n_samples), _Dealt(cells, paired, strata, level, null)
    for number, block in enumerate(level.blocks):
        by_sample = values(level, block.generated, block.reference)
        valid = ~np.isnan(by_sample)
        # Over all samples, also those without a value: total / count is then the mean of the others
        parts["total"].append(np.where(valid, by_sample, 0.0).sum(axis=0) / level.n_samples)
        parts["count"].append(valid.sum(axis=0) / level.n_samples)
        # A distance has one column for all groups, so no group's original stands behind it.
        of_groups = valid & (valid.shape == block.reference.shape)
        before = block.reference if of_groups.any() else by_sample
        parts["original"].append(np.where(of_groups, before, 0.0).sum(axis=0) / level.n_samples)
        ours, theirs = (
            np.isnan(side).all(axis=(0, 2)) for side in (block.generated, block.reference)
        )
        lacks = np.select([ours & theirs, ours, theirs], [BOTH, GENERATED, ORIGINAL], 0)
        parts["lacking"].append(lacks)
        if not strata:
            continue
        samples.add(block.rows, slice(None), by_sample)
        draws.add(values, block, number)
    total, count, original, lacking = (np.concatenate(part) for part in parts.values())
    k = total.shape[1]
    return Folded(total, count, original, lacking, samples.means(k), draws.means(k))


def exchanged_gaps(
    level: Level, paired: Paired, strata: Sequence[PairStratum], null: tuple[Scope, str]
) -> FloatArray:
    """Return `gap_beyond_pairs` at each place, observed and with texts and originals exchanged.

    Both texts of a pair are read alike, first as a text and then as an original, so that each says
    the same in either place; the mean of both gaps is taken.

    Parameters
    ----------
    level, paired, strata, null
        As for `fold`; the level has readings. Of several texts of an original the first counts.

    Returns
    -------
    array
        Shape (1 + n_draws, n_places): the mean over samples, then each draw in one sample. NaN
        where too few pairs count.
    """
    readings = np.concatenate([b.readings for b in level.blocks if b.readings is not None], axis=2)
    gaps = np.full((1 + null[0].permutations, len(strata)), np.nan)
    for number, place in enumerate(strata):
        rows = np.flatnonzero(place.rows)
        one_each = readings[:, :, rows[np.unique(paired.pair[rows], return_index=True)[1]]]
        rng = null[0].rng(null[1], "gaps", *level.labels.values(), *place.labels.values())
        gaps[0, number] = np.mean([_gap(*both) for both in zip(*one_each, strict=True)])
        for draw in range(1, len(gaps)):
            ours, theirs = one_each[:, draw % one_each.shape[1]]
            # A pair changes sides as a whole, with both of its readings.
            swap = rng.random((len(ours), 1, 1)) < 0.5
            gaps[draw, number] = _gap(
                *(np.where(swap, *o) for o in ((theirs, ours), (ours, theirs)))
            )
    return gaps


def _gap(ours: FloatArray, theirs: FloatArray) -> float:
    """Mean gap of both readings, shapes (n, 2, M)."""
    return float(np.mean([gap_beyond_pairs(ours[:, i], theirs[:, i]) for i in (0, 1)]))


class _StratumCells:
    """Rows of one model, form, domain and source together; a place is made of whole cells."""

    def __init__(self, paired: Paired, strata: Sequence[PairStratum]) -> None:
        # Only labels that have a place of their own need cells: the fewer, the less memory
        domain, source = (
            _only(code, labels, {getattr(place, name) for place in strata})
            for name, code, labels in (
                ("domain", paired.domain, paired.domains),
                ("source", paired.source, paired.sources),
            )
        )
        codes = np.stack([paired.model, paired.form, domain, source], axis=1)
        combos, cell = np.unique(codes, axis=0, return_inverse=True)
        self.of_row = cell.reshape(-1).astype(np.int32)
        self.n_cells = len(combos)
        self.inside = np.array([_holds(place, combos) for place in strata], dtype=np.float64)


def _only(code: IntArray, labels: Sequence[str], names: set[str]) -> IntArray:
    """Codes of the labels that have a place of their own; -1 for all others together."""
    keep = [label in names and label != ALL for label in labels]
    return np.where(np.array([*keep, False])[code], code, -1)


def _holds(place: PairStratum, cells: IntArray) -> npt.NDArray[np.bool_]:
    table = place.paired
    inside = cells[:, 1] == table.forms.index(place.form)
    for column, label, labels in (
        (0, place.model, table.models),
        (2, place.domain, table.domains),
        (3, place.source, table.sources),
    ):
        if label != ALL:
            inside &= cells[:, column] == labels.index(label)
    return np.asarray(inside)


class _Sums:
    """Sums of values and of their number by cell, for each of `size` samples or draws."""

    def __init__(self, cells: _StratumCells, size: int) -> None:
        self._cells, self.size = cells, size
        self._sums: FloatArray | None = None

    def add(self, rows: slice, index: int | slice, values: FloatArray) -> None:
        """Add values of some rows, shape (n, k), or (size, n, k) where `index` is a slice."""
        if self._sums is None:
            shape = (2, self.size, self._cells.n_cells, values.shape[-1])
            self._sums = np.zeros(shape)
        cell = self._cells.of_row[rows]
        if len(cell) == 0:
            return
        # reduceat adds up runs, so rows of one cell must stand together.
        order = np.argsort(cell, kind="stable")
        starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
        in_order = values[..., order, :]
        valid = ~np.isnan(in_order)
        cells = cell[order[starts]]
        for i, summand in enumerate((np.where(valid, in_order, 0.0), valid.astype(np.float64))):
            self._sums[i, index][..., cells, :] += np.add.reduceat(summand, starts, axis=-2)

    def means(self, k: int) -> FloatArray:
        """Return the mean at each place, shape (size, n_places, k); NaN where nothing counts."""
        inside = self._cells.inside
        if self._sums is None or len(inside) == 0:
            return np.full((self.size, len(inside), k), np.nan)
        total, count = inside @ self._sums[0], inside @ self._sums[1]
        return divide(total, count)


class _Dealt:
    """Sums of the null: each model's texts dealt with their originals, and those of all models."""

    def __init__(
        self,
        cells: _StratumCells,
        paired: Paired,
        strata: Sequence[PairStratum],
        level: Level,
        null: tuple[Scope, str] | None,
    ) -> None:
        without = null is None or not level.blocks or level.blocks[0].deal is None
        size = 0 if null is None or without else null[0].permutations
        self._paired, self._level, self._null = paired, level, null
        several = len(paired.models) > 1
        self._of_all = np.array([several and place.model == ALL for place in strata], dtype=bool)
        self._sums = [_Sums(cells, size)] + ([_Sums(cells, size)] if several else [])

    def add(self, values: Values, block: Block, number: int) -> None:
        """Add the draws of the block of this number."""
        if self._null is None or block.deal is None:
            return
        scope, label = self._null
        for all_models, sums in enumerate(self._sums):
            # Pools of one model do not hold another model's texts, so that either is dealt by
            # itself.
            deal = block.deal(self._paired.pools(block.rows, all_models=bool(all_models)))
            labels = (*self._level.labels.values(), str(number), *(["together"] * all_models))
            # A stream for each block, so that draws do not depend on which block is read first
            rng = scope.rng(label, "null", *labels)
            for draw in range(sums.size):
                sums.add(block.rows, draw, values(self._level, *deal(rng, draw)))

    def means(self, k: int) -> FloatArray:
        """Return the mean at each place in each draw, shape (n_draws, n_places, k)."""
        means = self._sums[0].means(k)
        for sums in self._sums[1:]:
            means[:, self._of_all] = sums.means(k)[:, self._of_all]
        return means

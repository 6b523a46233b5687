"""Blocks of prompts that are alike but for the group, and differences between groups over them.

Prompts that name an occupation, an age and a person of each group form a *block*: what is peculiar
to the occupation raises all its texts alike and cancels in a difference within the block. So the
block, not the prompt, is the independent unit of a comparison of groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from portrayal.stats._arguments import divide, divide_or_zero
from portrayal.stats.clustered import (
    Clustered,
    Sums,
    infer_crossed,
    infer_means,
    signed_pair,
    sums_by,
)
from portrayal.types import FloatArray, IntArray

SHARED = 0.5
"""Part of the texts whose value of a column must occur with two groups, for it to make blocks."""
CROSSED = 0.5
"""Part of the texts that must lie in blocks with two groups or more, for blocks to be used."""
FEWEST_BLOCKS = 5
"""With fewer blocks the prompts are the clusters."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of texts that are alike but for the group.

    Attributes
    ----------
    code
        Block of each text, shape (n_texts,), from 0.
    columns
        Columns that tell one block from another.
    left_out
        Columns that go with the group (pronouns, names, prompt numbers) and make no blocks.
    crossed
        Part of the texts in blocks with two groups or more, in 0-1.
    reason
        Why the blocks are no independent units for a comparison of groups; "" where they are.
    """

    code: IntArray
    columns: tuple[str, ...]
    left_out: tuple[str, ...]
    crossed: float
    reason: str


def find_blocks(columns: Mapping[str, npt.ArrayLike], cell: npt.ArrayLike) -> Blocks:
    """Find the blocks of texts whose prompts are alike but for the group.

    Parameters
    ----------
    columns
        Codes or labels of the strata of each text by name, but for those of groups and names, shape
        (n_texts,) each.
    cell
        Code of the group of each text, all group columns crossed, shape (n_texts,).

    Returns
    -------
    Blocks
        Texts of one block agree in every column but those that go with the group: a
        column is left out where fewer than half of the texts have a value that occurs with two
        groups, as that of a pronoun, of a name or of a prompt's number does not.

    Raises
    ------
    ValueError
        For arrays of another length than `cell`.

    Examples
    --------
    >>> gender, job = np.tile([0, 1], 6), np.repeat([0, 1, 2, 3, 4, 5], 2)
    >>> found = find_blocks({"pronoun": gender + 7, "job": job}, gender)
    >>> found.columns, found.left_out, found.code.tolist()
    (('job',), ('pronoun',), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
    """
    group = np.asarray(cell, dtype=np.int64)
    codes = {name: _codes(name, labels, len(group)) for name, labels in columns.items()}
    # A column that goes with the group, as pronouns do, would put every group in blocks of its own
    used = {name: code for name, code in codes.items() if _crossed(code, group) >= SHARED}
    code = _joined(list(used.values()), len(group))
    crossed, n_blocks = _crossed(code, group), len(np.unique(code))
    reason = ""
    if n_blocks < FEWEST_BLOCKS:
        some = f"{n_blocks} block{'s' * (n_blocks != 1)}" if n_blocks else "no block"
        reason = f"{some} of prompts alike but for the group, where {FEWEST_BLOCKS} are needed"
    elif crossed < CROSSED:
        reason = f"{crossed:.0%} of the texts in blocks with two groups, where half are needed"
    return Blocks(
        code=code,
        columns=tuple(name for name, column in used.items() if len(np.unique(column)) > 1),
        left_out=tuple(name for name in codes if name not in used),
        crossed=crossed,
        reason=reason,
    )


def matched_differences(upper: Sums, lower: Sums, level: float) -> Clustered:
    """Differences of two groups within blocks, averaged over the blocks that hold both.

    Parameters and errors as `infer_differences`, of sums by block, tested against 0. Block b counts
    n m / (n + m) of its n and m texts of both groups: the least-squares estimate with an effect of
    each block. Where every block holds both groups in one proportion it is the difference of the
    plain means; elsewhere it leaves out what tells blocks apart, and texts that have no match.

    Examples
    --------
    >>> one, three = np.ones((4, 1)), np.array([[1.0], [1.0], [1.0], [0.0]])
    >>> upper = [[5.0], [1.0], [8.0], [0.0]], three
    >>> found = matched_differences(upper, ([[4.1], [0.2], [7.0], [3.0]], one), 0.95)
    >>> round(float(found.value[0]), 3), int(found.n_clusters[0])
    (0.9, 3)
    """
    (x, a), (z, b) = (signed_pair(*side) for side in (upper, lower))
    weight = matched_weight(a, b)
    gap = x / np.where(weight > 0, a, 1.0) - z / np.where(weight > 0, b, 1.0)
    return infer_means(np.where(weight > 0, weight * gap, 0.0), weight, level)


def matched_weight(a: FloatArray, b: FloatArray) -> FloatArray:
    """Weight of each block with these texts of both groups; 0 without a text of either."""
    return divide_or_zero(a * b, a + b)


def crossed_differences(
    upper: Sums, lower: Sums, level: float, ways: Sequence[IntArray]
) -> Clustered:
    """Differences within blocks, as `matched_differences`, whose texts are also clustered by name.

    Parameters
    ----------
    upper, lower, level
        As `matched_differences`, but by unit: the prompts of one name in one block.
    ways
        Name and block of each unit, shape (n_units,) each.

    Returns
    -------
    Clustered
        By `infer_crossed`: what is peculiar to a name and what is peculiar to a block in one group
        both count as chance.

    Examples
    --------
    >>> name, block = np.repeat(range(6), 4), np.tile(range(4), 6)
    >>> first = (np.arange(24)[:, np.newaxis] < 12) * 1.0
    >>> y = np.sin(np.arange(24.0))[:, np.newaxis]
    >>> sides = (y * first, first), (y * (1 - first), 1 - first)
    >>> found = crossed_differences(*sides, 0.95, (name, block))
    >>> [round(float(x[0]), 2) for x in (found.value, found.low, found.high)], found.n_clusters
    ([-0.01, -0.99, 0.96], array([3]))
    """
    sides = [signed_pair(*side) for side in (upper, lower)]
    blocks, code = np.unique(ways[1], return_inverse=True)
    (x, a), (z, b) = ([sums_by(code, len(blocks), sums) for sums in side] for side in sides)
    weight = matched_weight(a, b)
    part, other = (divide_or_zero(weight, size) for size in (a, b))
    value = divide((part * x - other * z).sum(0), weight.sum(0))
    # Residuals of least squares with an effect of each block, and what each adds to the value.
    level_of = divide_or_zero(x - value * a + z, a + b)[code]
    # Back from blocks to units, as names cluster what is left of the units of a block.
    (x, a), (z, b) = sides
    totals = part[code] * a, other[code] * b
    influence = part[code] * (x - (level_of + value) * a) - other[code] * (z - level_of * b)
    return infer_crossed(value, divide(influence, weight.sum(0)), totals, ways, level)


def _crossed(code: IntArray, cell: IntArray) -> float:
    """Part of the texts whose code occurs with two groups or more, shapes (n,), (n,)."""
    if not len(code):
        return 0.0
    pairs = np.unique(np.stack([code, cell], axis=1), axis=0)[:, 0]
    return float((np.bincount(pairs, minlength=int(code.max()) + 1)[code] > 1).mean())


def _codes(name: str, labels: npt.ArrayLike, n: int) -> IntArray:
    values = np.asarray(labels)
    if values.shape != (n,):
        raise ValueError(f"column {name!r} must have the shape ({n},); got {values.shape}.")
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def _joined(codes: Sequence[IntArray], n: int) -> IntArray:
    """One code for each combination of values, numbered in the order of the values."""
    if not codes or not n:
        return np.zeros(n, dtype=np.int64)
    rows = np.stack(codes, axis=1)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1], np.int64).reshape(-1)

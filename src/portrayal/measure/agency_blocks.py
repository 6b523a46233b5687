"""Agency blocks: among which texts groups are shuffled for the null.

Shuffling inside small blocks that hold one or two texts leaves most groups where they are, and the
shuffled differences then lie around the observed one instead of around none. A blocking is
therefore used only where it tells little about the groups of the texts that are read.
"""

from collections.abc import Mapping

import numpy as np

from portrayal.measure.tally import IntArray

WITHIN = "groups shuffled among the texts of one cluster"
ALIKE = "groups shuffled among texts that are alike but for group and name"
STRATUM = "groups shuffled among the texts of one stratum"
WHOLE = "groups shuffled among all texts"
MOST_TOLD = {WITHIN: 0.1, ALIKE: 0.02, STRATUM: 0.5}
"""Association of block and group up to which a blocking is used.

Prompts crossed with groups have 0, and hardly more where a few texts are missing. Clusters may hold
single groups now and then; a stratum may hold more of one group than of another, as long as most
texts can move.
"""


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
    place = block.astype(np.int64) * (int(cell.max()) + 1) + cell
    pair_of = np.unique(place, return_index=True, return_counts=True)
    _, at, size = np.unique(block, return_inverse=True, return_counts=True)
    stays = float((pair_of[2] ** 2 / size[at[pair_of[1]]]).sum()) / n
    chance = float(((np.bincount(cell) / n) ** 2).sum())
    return 0.0 if chance >= 1.0 else (stays - chance) / (1.0 - chance)


def block_of_units(
    blocks: Mapping[str, IntArray], unit: IntArray, first: IntArray, cell: IntArray
) -> tuple[str, IntArray]:
    """Return how groups are shuffled, and the block of each unit.

    Parameters
    ----------
    blocks
        Block of each text that is read, shape (n_texts,), by name, the finest first.
    unit
        Unit of each text, shape (n_texts,). A unit moves as a whole, so a blocking that parts one
        is not used.
    first, cell
        A text of each unit, and its group, shape (n_units,).
    """
    for name, block in blocks.items():
        own = block[first]
        if (own[unit] == block).all() and association(own, cell) <= MOST_TOLD[name]:
            return name, own
    return WHOLE, np.zeros(len(first), dtype=np.int64)

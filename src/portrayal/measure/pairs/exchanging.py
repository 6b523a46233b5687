"""Exchanging: which of an original and its texts is the original is drawn again at random.

Where texts do not differ from originals, each of them might as well have been the original, so
that any arrangement of the whole texts of a pool is as likely as the observed one. Unlike dealing
it asks nothing of the sentences within a text, which hang together where a text has a subject. A
text in another's place is read by the topics and groups of that place's corpus.
"""

from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.pairs.dealing import Pools, rank_within, slots_of
from portrayal.measure.pairs.table import Block, Deal, Paired
from portrayal.types import BoolArray, FloatArray, IntArray

NULL = "originals exchanged at random with their texts; topics and their groups as fitted"
MOVING = 20
"""Texts of a pool that change places with the original, at most: the first ones."""


@dataclass(frozen=True, eq=False)
class Couples:
    """Pairs of generated texts of one original, which an exchange may set beside one another.

    Attributes
    ----------
    one, other
        Rows of the two, counted from the block's first, `one` below `other`; sorted, shape (n,).
    n_rows
        Rows of the block.
    """

    one: IntArray
    other: IntArray
    n_rows: int

    def number(self, first: IntArray, second: IntArray) -> IntArray:
        """Return which couple these are, in either order."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        return np.searchsorted(self.one * self.n_rows + self.other, low * self.n_rows + high)


def couples_of(paired: Paired, rows: slice) -> Couples:
    """Return the couples of some rows, of one model and of several."""
    n, keys = rows.stop - rows.start, [np.zeros(0, dtype=np.int64)]
    for together in (False, True):
        pools = paired.pools(rows, together=together)
        for row in np.flatnonzero(~_staying(pools)).tolist():
            mates = np.flatnonzero(pools.of == pools.of[row])
            mates = mates[mates != row]
            keys.append(np.minimum(mates, row) * n + np.maximum(mates, row))
    key = np.unique(np.concatenate(keys))
    return Couples(key // max(n, 1), key % max(n, 1), n)


def _staying(pools: Pools) -> BoolArray:
    """Texts of a pool that stay where they are, as `MOVING` others change places, shape (n,)."""
    return rank_within(pools.of) >= MOVING


def exchanged_block(
    rows: slice,
    corpus: IntArray,
    observed: FloatArray,
    values: FloatArray,
    beside: FloatArray | None = None,
    couples: Couples | None = None,
) -> Block:
    """Return a block whose null exchanges whole texts.

    Parameters
    ----------
    rows
        Which n rows of the paired table.
    corpus
        Corpus of each row's generated text, shape (n,); that of the originals is the last.
    observed
        Values of generated texts and of their originals, shape (2, S, n, M).
    values
        The same in some samples, as if each text were of each corpus: (n_corpora, 2, S', n, M).
    beside, couples
        At equal length: values of either text of each couple, each cut to the other's length, as if
        of each corpus, shape (n_corpora, 2, 1, n_couples, M). At full length a text is the same
        beside any other, and both are None.
    """
    n = rows.stop - rows.start

    def dealer(pools: Pools) -> Deal:
        slots = slots_of(pools, np.arange(n), np.arange(n))
        alone = len(slots.cell) + np.arange(n)
        cell = slots.cell.copy()
        cell[:n] = np.where(_staying(pools), alone, cell[:n])
        slots = replace(slots, cell=cell)

        def deal(rng: np.random.Generator, draw: int) -> tuple[FloatArray, FloatArray]:
            held = slots.deal(rng)  # below n the text of that row, from n on the original of one
            there = values[:, :, draw % values.shape[2]]
            if beside is None or couples is None:
                first, second = ((held[i : i + n] >= n, held[i : i + n] % n) for i in (0, n))
                return there[corpus, first[0] * 1, first[1]], there[-1, second[0] * 1, second[1]]
            side, row = _readings(couples, held[:n], held[n:])
            there = np.concatenate([there, beside[:, :, 0]], axis=2)
            return there[corpus, side, row], there[-1, 1 - side, row]

        return deal

    return Block(rows, observed[0], observed[1], dealer)


def _readings(couples: Couples, mine: IntArray, theirs: IntArray) -> tuple[IntArray, IntArray]:
    """Where the two texts of each row were read beside one another: side of the first, and row.

    A generated text and its original stand in the text's row, two generated texts as a couple.
    """
    n = couples.n_rows
    row, side = np.where(theirs >= n, mine, theirs), (mine >= n).astype(np.int64)
    both = (mine < n) & (theirs < n)
    row[both] = n + couples.number(mine[both], theirs[both])
    side[both] = mine[both] > theirs[both]
    return side, row

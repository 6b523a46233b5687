"""Which topics go with which group: contingency tables of sentences, and their residuals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from scipy.special import chdtrc

from portrayal.measure.tally import FloatArray, IntArray
from portrayal.run.scratch import Kept, Shelf
from portrayal.stats import divide

NONE = -1


@dataclass(frozen=True, eq=False)
class Piece:
    """Topic, group and text of some sentences, shape (n,), those of a text together."""

    topic: IntArray
    group: IntArray
    text: IntArray


class Pieces(Sequence[Piece]):
    """Pieces that are kept on a shelf and taken one by one."""

    def __init__(self, shelf: Shelf) -> None:
        """Begin without pieces."""
        self._shelf, self._kept = shelf, list[tuple[Kept, ...]]()

    def add(self, piece: Piece) -> None:
        """Put the next piece away."""
        whole = (piece.topic, piece.group, piece.text)
        self._kept.append(tuple(self._shelf.put(part.astype(np.int32)) for part in whole))

    def __len__(self) -> int:
        """Number of pieces."""
        return len(self._kept)

    @overload
    def __getitem__(self, at: int) -> Piece: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Piece]: ...
    def __getitem__(self, at: int | slice) -> Piece | Sequence[Piece]:
        """Take a piece."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return Piece(*(self._shelf.take(kept).astype(np.int64) for kept in self._kept[at]))


@dataclass(frozen=True, eq=False)
class TopicTable:
    """The sentences of one corpus by topic and group, for one lexicon.

    Attributes
    ----------
    attribute, lexicon, groups
        What the M groups are, and which word list tells them.
    model, form
        Whose sentences: a model's answers to one form of prompt, or the reference's.
    observed
        Matrix O, shape (K, M + 1): sentences by topic and group; the last column is neutral.
    residual
        Standardized residuals (Eq. 7), same shape; NaN where a row or column is empty.
    association
        The group of each topic, shape (K,): M is neutral, -1 none.
    pieces
        Sequence of the sentences counted in `observed`, some texts at a time.
    n_texts, n_pairs
        How many texts and pairs they are of.
    unread
        Sentences without a word of the topic model, left out.
    """

    attribute: str
    lexicon: str
    groups: tuple[str, ...]
    model: str
    form: str
    observed: IntArray
    residual: FloatArray
    association: IntArray
    pieces: Sequence[Piece]
    n_texts: int
    n_pairs: int
    unread: int


def contingency(topic: IntArray, group: IntArray, shape: tuple[int, int]) -> IntArray:
    """Count sentences by topic and group, shapes (n,), (n,) -> `shape` (K, M + 1)."""
    k, m = shape
    return np.asarray(np.bincount(topic * m + group, minlength=k * m).reshape(k, m))


def standardized_residuals(observed: IntArray) -> FloatArray:
    """Return SR of each cell, shape (K, M + 1) -> (K, M + 1).

    NaN where a row or column is empty, or holds every sentence.

    Fang et al. 2024, Eq. 7.
    """
    n = float(observed.sum())
    row = observed.sum(axis=1, keepdims=True).astype(np.float64)
    column = observed.sum(axis=0, keepdims=True).astype(np.float64)
    spread = np.sqrt(row * (n - row) * column * (n - column))  # whole numbers: 0 where undefined
    return divide((n * observed - row * column) * np.sqrt(n), spread)


def associations(residual: FloatArray, threshold: float = 3.0) -> IntArray:
    """Return the group of each topic, shape (K, M + 1) -> (K,): largest residual, if above it."""
    filled = np.where(np.isnan(residual), -np.inf, residual)
    return np.where(filled.max(axis=1) > threshold, filled.argmax(axis=1), NONE)


def chi_squared(observed: IntArray) -> tuple[float, int, float]:
    """Return Pearson's chi-squared of a table without its empty rows and columns.

    Returns
    -------
    statistic, degrees of freedom, p
        NaN, 0, NaN where fewer than two rows or columns are left.
    """
    left = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
    rows, columns = left.shape
    if rows < 2 or columns < 2:
        return float("nan"), 0, float("nan")
    expected = left.sum(axis=1, keepdims=True) * left.sum(axis=0, keepdims=True) / left.sum()
    statistic = float(((left - expected) ** 2 / expected).sum())
    df = (rows - 1) * (columns - 1)
    return statistic, df, float(chdtrc(df, statistic))

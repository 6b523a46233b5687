"""Which topics go with which group: contingency tables of sentences, and their residuals."""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from portrayal.measure.tally import FloatArray, IntArray
from portrayal.stats import divide

NONE = -1


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
    topic, group, text
        The sentences counted in `observed`, shape (n_sentences,); `text` tells which belong to one
        text.
    pair
        The pair of each sentence's text, shape (n_sentences,).
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
    topic: IntArray
    group: IntArray
    text: IntArray
    pair: IntArray
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

"""Which topics go with which group: contingency tables of sentences, and their residuals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from scipy.special import chdtrc

from portrayal.annotate.topics import Bags, TopicModel, TopicTexts
from portrayal.measure.pairs.levels import Sides, runs
from portrayal.records import ALL, REFERENCE
from portrayal.run.files import Kept, Shelf
from portrayal.stats import divide
from portrayal.types import BoolArray, FloatArray, IntArray

OUT, OURS, THEIRS = -1, 0, 1
"""Where a sentence goes: to neither text, to the generated one, to the original."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Sentences of some rows and of both sides, rows sorted.

    Attributes
    ----------
    order
        Number of each sentence among the generated texts' sentences and then the originals'.
    row, ours
        Its row, and whether it is the generated text's; shape (n_sentences,).
    sentence, word, count
        Words: the sentence they stand in, their number, and how often; shape (n_words,).
    """

    order: IntArray
    row: IntArray
    ours: BoolArray
    sentence: IntArray
    word: IntArray
    count: FloatArray


def pool_of(texts: tuple[TopicTexts, TopicTexts], sides: Sides) -> Pool:
    """Put the sentences of both sides together; `texts` are the generated and the originals."""
    both = (sides.generated, sides.reference)
    row = np.concatenate([side.row for side in both])
    # Stable: within a row the generated text's sentences stay before the original's
    order = np.argsort(row, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    words = [_words(part, side.at) for part, side in zip(texts, both, strict=True)]
    sentence = np.concatenate([words[0][0], words[1][0] + len(sides.generated.row)])
    return Pool(
        order=order,
        row=row[order],
        ours=order < len(sides.generated.row),
        sentence=place[sentence],
        word=np.concatenate([words[0][1], words[1][1]]),
        count=np.concatenate([words[0][2], words[1][2]]),
    )


def _words(texts: TopicTexts, index: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Words of the sentences `index`: which of them, the word, how often."""
    distinct, which = np.unique(index, return_inverse=True)
    sizes, words, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for piece in runs(distinct):
        start = texts.start[piece.start : piece.stop + 1]
        sizes.append(np.diff(start))
        words.append(texts.word[int(start[0]) : int(start[-1])].astype(np.int64))
        counts.append(texts.count[int(start[0]) : int(start[-1])].astype(np.float64))
    size = np.concatenate(sizes)
    first = np.cumsum(size) - size
    size = size[which]
    sentence = np.repeat(np.arange(len(index)), size)
    entry = np.repeat(first[which] - (np.cumsum(size) - size), size) + np.arange(len(sentence))
    return sentence, np.concatenate(words)[entry], np.concatenate(counts)[entry]


def topic_shares(model: TopicModel, pool: Pool, n_rows: int, goes: IntArray) -> FloatArray:
    """Infer the topic distribution t_d of both texts of each row.

    Parameters
    ----------
    model
        The fitted model.
    pool, n_rows
        Sentences of so many rows.
    goes
        `OURS`, `THEIRS` or `OUT` for each sentence, in D arrangements; shape (D, n_sentences).

    Returns
    -------
    array
        Shape (D, n_rows, 2, K); 0 for a text without a word of the model.
    """
    n_texts, span = len(goes) * n_rows * 2, len(model.words)
    arrangement = np.arange(len(goes))[:, np.newaxis]
    # Each arrangement's texts have numbers of their own, and one call infers them all
    text = np.where(goes < 0, -1, (arrangement * n_rows + pool.row) * 2 + goes)
    owner = text[:, pool.sentence]
    inside = owner >= 0
    # One number for text and word, so that a word is counted once for all sentences of its text.
    key = (owner * span + pool.word)[inside]
    keys, which = np.unique(key, return_inverse=True)
    count = np.bincount(which, np.broadcast_to(pool.count, owner.shape)[inside], len(keys))
    start = np.searchsorted(keys, np.arange(n_texts + 1) * span)
    bags = Bags(start, (keys % span).astype(np.int32), count.astype(np.float32))
    gamma = model.infer(bags).astype(np.float64)
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    # A text without a word of the model gets the prior's topics, which are none of its own.
    shares[np.diff(start) == 0] = 0.0
    return np.asarray(shares.reshape(len(goes), n_rows, 2, model.n_topics))


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
        arrays = (piece.topic, piece.group, piece.text)
        self._kept.append(tuple(self._shelf.put(part.astype(np.int32)) for part in arrays))

    def __len__(self) -> int:
        """Number of pieces."""
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Piece: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Piece]: ...
    def __getitem__(self, index: int | slice) -> Piece | Sequence[Piece]:
        """Take a piece."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Piece(*(self._shelf.take(part).astype(np.int64) for part in self._kept[index]))


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

    @property
    def one_group_only(self) -> BoolArray:
        """Topics that go with a group and whose sentences about people are all about it, (K,).

        They are words of that group, in effect: their share tells no more than the word level.
        """
        one_group = (self.observed[:, :-1] > 0).sum(axis=1) == 1
        of = self.association
        return np.asarray(one_group & (of >= 0) & (of < len(self.groups)))

    @property
    def without_shares(self) -> str | None:
        """Why its texts have no shares: fewer than two groups have topics; None where two have."""
        groups = [group for code, group in enumerate(self.groups) if code in self.association]
        if len(groups) > 1:
            return None
        whose = "the originals" if self.model == REFERENCE else f"texts of {self.model}"
        whose = whose if self.form == ALL else f"{whose}, {self.form}"
        with_whom = f"{groups[0]} only" if groups else "no group"
        return f"topics in {whose} go with {with_whom}, and shares take topics of two groups"


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
    # argmax would take NaN for the largest.
    filled = np.where(np.isnan(residual), -np.inf, residual)
    return np.where(filled.max(axis=1) > threshold, filled.argmax(axis=1), NONE)


def pertinent_shares(
    shares: FloatArray, association: IntArray, n_groups: int, least: float = 0.01
) -> FloatArray:
    """Return the share of each group among a text's pertinent topics, Fang et al. 2024, Eq. 8.

    Parameters
    ----------
    shares
        Topic distribution of each text, shape (..., K).
    association
        Group of each topic, shape (K,).
    n_groups
        M, without the neutral group.
    least
        Share below which a topic does not count.

    Returns
    -------
    array
        Shape (..., M). NaN where a text has no pertinent topic, and everywhere where the topics go
        with fewer than two groups: each share would be 1 or 0 by construction.

    Examples
    --------
    >>> pertinent_shares(np.array([[0.5, 0.25, 0.25]]), np.array([0, 1, -1]), 3).round(2).tolist()
    [[0.67, 0.33, 0.0]]
    """
    # Neither the neutral group (M) nor none (-1) is among these columns.
    belongs = association[:, np.newaxis] == np.arange(n_groups)
    sums = np.where(shares >= least, shares, 0.0) @ belongs.astype(np.float64)
    if belongs.any(axis=0).sum() < 2:
        sums[...] = 0.0
    return divide(sums, sums.sum(axis=-1, keepdims=True))


def chi_squared(observed: IntArray) -> tuple[float, int, float]:
    """Return Pearson's chi-squared of a table without its empty rows and columns.

    Returns
    -------
    statistic, degrees of freedom, p
        NaN, 0, NaN where fewer than two rows or columns are left.
    """
    # Empty rows and columns expect nothing, and must not count as degrees of freedom.
    table = observed[observed.sum(axis=1) > 0][:, observed.sum(axis=0) > 0]
    rows, columns = table.shape
    if rows < 2 or columns < 2:
        return float("nan"), 0, float("nan")
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    df = (rows - 1) * (columns - 1)
    return statistic, df, float(chdtrc(df, statistic))

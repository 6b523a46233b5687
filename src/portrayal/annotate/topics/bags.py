"""Bags of words: documents as counts of word numbers, in flat arrays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Bags:
    """Documents as bags of words.

    Attributes
    ----------
    start
        Where each document begins in `word` and `count`, and the end; shape (n + 1,).
    word
        Numbers of the distinct words of each document, ascending within it.
    count
        How often each occurs.
    """

    start: Ints
    word: Ints
    count: Floats

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def words(self) -> Floats:
        """Words of each document, repetitions counted; shape (n,)."""
        total = np.concatenate([[0.0], np.cumsum(self.count, dtype=np.float64)])
        return np.asarray(total[self.start[1:]] - total[self.start[:-1]])

    def take(self, documents: Ints) -> "Bags":
        """Return these documents, in this order."""
        size = np.diff(self.start)[documents]
        start = np.concatenate([[0], np.cumsum(size)])
        place = np.repeat(self.start[documents] - start[:-1], size) + np.arange(start[-1])
        return Bags(start, self.word[place], self.count[place])

    def pairs(self) -> Iterator[list[tuple[int, float]]]:
        """Yield each document as (word, count) pairs."""
        words, counts = self.word.tolist(), self.count.tolist()
        for low, high in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            yield list(zip(words[low:high], counts[low:high], strict=True))


def bags_of(documents: Iterable[Sequence[int]]) -> Bags:
    """Count the word numbers of each document; negative numbers are left out."""
    sizes: list[int] = []
    flat: list[int] = []
    for document in documents:
        sizes.append(len(document))
        flat += document
    word = np.array(flat, dtype=np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    known = word >= 0
    return count_words(owner[known], word[known], len(sizes))


def count_words(owner: Ints, word: Ints, n: int) -> Bags:
    """Count words by the document that holds them: shapes (m,), (m,) -> n documents."""
    span = int(word.max()) + 1 if len(word) else 1
    key, count = np.unique(owner.astype(np.int64) * span + word, return_counts=True)
    start = np.searchsorted(key, np.arange(n + 1) * span)
    return Bags(start, (key % span).astype(np.int32), count.astype(np.float32))

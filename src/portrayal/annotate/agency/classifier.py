"""What an agency classifier is, and what of a checkpoint makes its digest.

The paper trains its classifier three times, with the random seeds 0, 1 and 2, and applies all three
to one set of texts: a variance is taken for each checkpoint and averaged.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from portrayal.types import FloatArray


class AgencyClassifier(Protocol):
    """A function of sentences.

    Attributes
    ----------
    name
        Such as "linear-lac.v1" or "transformer:FOLDER"; reports name it.
    masked
        Whether it is meant for masked sentences. The caller masks them.
    """

    name: str
    masked: bool

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic) of each sentence.

        Shape (n, 2); a row sums to 1, or is NaN where the classifier cannot say.
        """
        ...


def rows(agentic: ArrayLike) -> FloatArray:
    """Return rows of P(communal), P(agentic) from P(agentic), shape (n,) -> (n, 2)."""
    known = np.asarray(agentic, dtype=np.float64)
    return np.column_stack([1.0 - known, known])


EXPORTS = "onnx"
"""The folder of a checkpoint's 8-bit export, and in a set's folder that of all of them."""
_FILES = ("linear.npz", "model.onnx", "config.json")


class Checkpoints:
    """A classifier that is a set of classifiers; it says the mean of what they say.

    Attributes
    ----------
    members
        The classifiers, one for each checkpoint.
    """

    def __init__(self, name: str, members: Sequence[AgencyClassifier], masked: bool = True) -> None:
        self.name = name
        self.masked = masked
        self.members = tuple(members)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return the mean P(communal) and P(agentic), shape (n, 2)."""
        return rows(mean_of(self.each(sentences)))

    def each(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(agentic) by each checkpoint, shape (n_checkpoints, n)."""
        return np.stack([member(sentences)[:, 1] for member in self.members])


def mean_of(agentic: FloatArray) -> FloatArray:
    """Return the mean over checkpoints, shape (k, n) -> (n,); NaN where none can say."""
    known = ~np.isnan(agentic)
    total = np.where(known, agentic, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    found = np.full(total.shape, np.nan)
    np.divide(total, count, out=found, where=count > 0)
    return found


def checkpoint_folders(folder: Path) -> tuple[Path, ...]:
    """Return the classifiers that a folder holds in folders of its own; none if it is one itself.

    Names are ordered as numbers where they end in one, so "seed-10" follows "seed-9".
    """
    if not folder.is_dir() or _is_classifier(folder):
        return ()
    inside = [each for each in folder.iterdir() if each.is_dir() and _is_classifier(each)]
    return tuple(sorted(inside, key=lambda each: (len(each.name), each.name)))


def _is_classifier(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _FILES)

"""What an agency classifier is."""

from collections.abc import Sequence
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

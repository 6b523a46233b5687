"""A trained transformer as a classifier: the folder that `portrayal train agency` writes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from portrayal.models.encoders import load_encoder, probabilities
from portrayal.types import FloatArray


class TransformerClassifier:
    """Softmax of the two logits of a fine-tuned encoder.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the folder holds no classifier of two classes with safetensors weights.
    """

    def __init__(self, folder: str | Path, masked: bool = True) -> None:
        self.name = f"transformer:{folder}"
        self.masked = masked
        self._encoder = load_encoder(str(folder))

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        if not len(sentences):
            return np.empty((0, 2))
        return probabilities(self._encoder, sentences)

"""A trained transformer as a classifier: a folder of `portrayal build classifier`, or ONNX."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from portrayal.errors import DataError
from portrayal.models import load_encoder, load_onnx, probabilities, read_alone, write_onnx
from portrayal.types import FloatArray

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_TOKENS = 128
"""Tokens of a sentence that are read, at most."""


class TransformerClassifier:
    """Softmax of the two logits of a fine-tuned encoder.

    Parameters
    ----------
    folder
        Folder or hub id; of its two classes the second is read as agentic.
    masked
        Whether it will be given masked sentences.
    kind
        How its name begins: "transformer", or "sentiment" for an encoder whose second class is
        positive, as the paper's baseline is.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the folder holds no classifier of two classes with safetensors weights.
    """

    def __init__(
        self, folder: str | Path, masked: bool = True, *, kind: str = "transformer"
    ) -> None:
        self.name = f"{kind}:{folder}"
        self.masked = masked
        self._encoder = load_encoder(str(folder))

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        if not len(sentences):
            return np.empty((0, 2))
        return probabilities(self._encoder, sentences)


class OnnxClassifier:
    """Softmax of the two logits of an exported model.

    Needs onnxruntime and tokenizers, and neither PyTorch nor transformers.

    Parameters
    ----------
    folder
        With `model.onnx` and `tokenizer.json`, as `export_onnx` writes them.
    threads
        Cores to use; 0 for all.

    Raises
    ------
    MissingExtraError
        When onnxruntime or tokenizers are not installed.
    DataError
        When a file is missing or not what was expected.
    """

    def __init__(
        self,
        folder: str | Path,
        masked: bool = True,
        *,
        threads: int = 0,
    ) -> None:
        self.name = f"transformer:{folder}"
        self.masked = masked
        self._session, self._tokenizer = load_onnx(
            Path(folder) / MODEL, Path(folder) / TOKENIZER, threads=threads
        )
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS)

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        read = self._tokenizer.encode_batch(list(sentences))
        said = [read_alone(self._session, "logits", made.ids) for made in read]
        logits = np.array(said, dtype=np.float64).reshape(-1, 2)
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float64)


def export_onnx(folder: Path, out: Path) -> Path:
    """Write `model.onnx`, 8 bits a weight, and the tokenizer to `out`; return `out`.

    Raises
    ------
    MissingExtraError
        When PyTorch, transformers, onnx or onnxruntime are not installed.
    DataError
        When the folder's tokenizer has no tokenizer.json.
    """
    if not (folder / TOKENIZER).is_file():
        raise DataError(
            f"{folder}: there is no {TOKENIZER}, which an export needs; its tokenizer is of an "
            "older kind. Train from an encoder with a fast tokenizer."
        )
    out.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder(str(folder))
    encoder.model.config._attn_implementation = "eager"
    encoder.model.config.return_dict = False
    made = encoder.tokenizer(
        ["A short sentence.", "A sentence with more words."], padding=True, return_tensors="pt"
    )
    example = {name: made[name] for name in ("input_ids", "attention_mask")}
    write_onnx(encoder.model.cpu().eval(), example, "logits", out / MODEL)
    shutil.copyfile(folder / TOKENIZER, out / TOKENIZER)
    return out

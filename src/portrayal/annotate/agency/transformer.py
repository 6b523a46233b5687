"""A trained transformer as a classifier: a folder of `portrayal build classifier`, or ONNX."""

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from portrayal.errors import DataError, MissingExtraError
from portrayal.models import Encoder, load_encoder, load_onnx, probabilities
from portrayal.types import FloatArray

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_BATCH, _TOKENS = 32, 128
"""Sentences that are read together, alike in length, and tokens of one, at most."""
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


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
        self._asked = [each.name for each in self._session.get_inputs() if each.name in _INPUTS]

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        read = [made.ids for made in self._tokenizer.encode_batch(list(sentences))]
        order = np.argsort([len(ids) for ids in read], kind="stable")
        logits = np.empty((len(read), 2))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            logits[rows] = self._logits([read[row] for row in rows])
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True)) if read else logits
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float64)

    def _logits(self, batch: Sequence[Sequence[int]]) -> FloatArray:
        longest = max(len(ids) for ids in batch)
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        attention = np.zeros_like(ids)
        for row, each in enumerate(batch):
            ids[row, : len(each)] = each
            attention[row, : len(each)] = 1
        given = {
            "input_ids": ids,
            "attention_mask": attention,
            "token_type_ids": np.zeros_like(ids),
        }
        found = self._session.run(["logits"], {name: given[name] for name in self._asked})[0]
        return np.asarray(found, dtype=np.float64)


def export_onnx(folder: Path, out: Path) -> Path:
    """Write `model.onnx`, 8 bits a weight, and the tokenizer to `out`; return `out`.

    Raises
    ------
    MissingExtraError
        When PyTorch, transformers, onnx or onnxruntime are not installed.
    DataError
        When the folder's tokenizer has no tokenizer.json.
    """
    try:
        import onnx
        import onnxscript  # noqa: F401
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError as error:
        raise MissingExtraError(
            "exporting needs onnx, onnxscript and onnxruntime, which are not all installed. "
            "Install them with: pip install 'portrayal[agency,onnx]'"
        ) from error
    if not (folder / TOKENIZER).is_file():
        raise DataError(
            f"{folder}: there is no {TOKENIZER}, which an export needs; its tokenizer is of an "
            "older kind. Train from an encoder with a fast tokenizer."
        )
    out.mkdir(parents=True, exist_ok=True)
    whole = out / "float.onnx"
    _export(load_encoder(str(folder)), whole)
    model = onnx.load(whole)
    del model.graph.value_info[:]  # the exporter's shapes of transposed weights are wrong
    onnx.save(model, whole)
    quantize_dynamic(whole, out / MODEL, weight_type=QuantType.QInt8, per_channel=True)
    for path in (whole, out / "float.onnx.data"):
        path.unlink(missing_ok=True)
    shutil.copyfile(folder / TOKENIZER, out / TOKENIZER)
    return out


def _export(encoder: Encoder, path: Path) -> None:
    import torch

    encoder.model.config._attn_implementation = "eager"
    encoder.model.config.return_dict = False
    made = encoder.tokenizer(
        ["A short sentence.", "A sentence with more words."], padding=True, return_tensors="pt"
    )
    names = ("input_ids", "attention_mask")
    axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            encoder.model.cpu().eval(),
            (),
            str(path),
            kwargs={name: made[name] for name in names},
            input_names=list(names),
            output_names=["logits"],
            dynamic_shapes=dict.fromkeys(names, axes),
            dynamo=True,
            external_data=False,
            verbose=False,
        )

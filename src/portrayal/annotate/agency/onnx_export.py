"""Exporting a trained transformer to ONNX with 8-bit weights, for classifying on a CPU."""

import shutil
import warnings
from pathlib import Path

from portrayal.annotate.agency.transformer import MODEL, TOKENIZER
from portrayal.errors import DataError, MissingExtraError
from portrayal.models import Encoder, load_encoder


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

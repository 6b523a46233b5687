"""Write a trained network as ONNX with 8 bits a weight, which the package reads without PyTorch."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic


def write_onnx(
    model: Any, example: Mapping[str, Any], output: str, path: Path, *, bits: int = 8
) -> None:
    """Write a PyTorch model as ONNX with 8 bits a weight, a scale for each row of weights.

    Parameters
    ----------
    model
        Takes the tensors of `example` by name and returns one tensor.
    example
        Tensors of shape (n_texts, n_tokens); both numbers may differ in use.
    output
        Name of what it returns.
    path
        The file to write.
    bits
        Of the 8 that are used; 7 keep processors without VNNI from overflowing.
    """
    float_path = path.with_name("float.onnx")
    axes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with warnings.catch_warnings():
        # Warnings of the exporter say nothing of the model
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (),
            str(float_path),
            kwargs=dict(example),
            input_names=list(example),
            output_names=[output],
            dynamic_shapes=dict.fromkeys(example, axes),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    graph = onnx.load(float_path)
    del graph.graph.value_info[:]  # the exporter's shapes of transposed weights are wrong
    onnx.save(graph, float_path)
    quantize_dynamic(
        float_path, path, weight_type=QuantType.QInt8, per_channel=True, reduce_range=bits < 8
    )
    for file in (float_path, path.with_name("float.onnx.data")):
        file.unlink(missing_ok=True)

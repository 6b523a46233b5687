"""Exported models: ONNX with 8 bits a weight; to run one takes neither PyTorch nor transformers."""

import gzip
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from portrayal.errors import DataError, MissingExtraError
from portrayal.types import FloatArray

P = ParamSpec("P")
R = TypeVar("R")


def has_onnx() -> bool:
    """Return whether the packages that `load_onnx` needs are installed, without importing them."""
    # To import both takes time, which whoever only asks should not pay
    return all(map(find_spec, ("onnxruntime", "tokenizers")))


def load_onnx(model: Path, tokenizer: Path, *, threads: int = 0) -> tuple[Any, Any]:
    """Return the session of an exported model, on the CPU, and its tokenizer.

    Needs onnxruntime and tokenizers, and neither PyTorch nor transformers.

    Parameters
    ----------
    model, tokenizer
        Files "model.onnx", which may be compressed ("model.onnx.gz"), and "tokenizer.json".
    threads
        Cores to use; 0 for all.

    Raises
    ------
    MissingExtraError
        When onnxruntime or tokenizers are not installed.
    DataError
        When a file is missing or not what was expected.
    """
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError(
            "an ONNX classifier needs onnxruntime and tokenizers, which are not installed. "
            "Install them with: pip install 'portrayal[onnx]'"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Errors alone: warnings of its optimiser say nothing to users
    options.log_severity_level = 3
    try:
        words = Tokenizer.from_file(str(tokenizer))
        source = gzip.decompress(model.read_bytes()) if model.suffix == ".gz" else str(model)
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # both libraries raise bare exceptions of their own
        raise DataError(
            f"{model.parent}: no exported classifier could be read "
            f"({type(error).__name__}: {error})."
        ) from error
    return session, words


def on_one_core(work: Callable[P, R]) -> Callable[P, R]:
    """Return a function in which numpy and scipy multiply on one core.

    Several threads of BLAS add floats in another order, so that the last bits of an estimate would
    depend on the machine's cores and on who started the audit. Matrices here are small besides:
    threads mostly wait for one another.
    """

    @wraps(work)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with _libraries().limit(limits=1, user_api="blas"):
            return work(*args, **kwargs)

    return alone


@lru_cache(maxsize=1)
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def read_alone(
    session: Any, output: str, ids: Sequence[int], kinds: Sequence[int] | None = None
) -> FloatArray:
    """Return what an exported model says of one text, in 32 bits.

    Each text is read alone: 8-bit activations are scaled by the largest of all that are read at
    once, so a text's neighbours would change what is said of it.

    Parameters
    ----------
    session
        From `load_onnx`.
    output
        Name of what is returned, without its axis of texts.
    ids, kinds
        Token ids, and the segment of each; all of the first segment unless given.
    """
    row = np.array([ids], dtype=np.int64)
    inputs = {
        "input_ids": row,
        "attention_mask": np.ones_like(row),
        "token_type_ids": np.zeros_like(row) if kinds is None else np.array([kinds]),
    }
    # Models without segments take no token types, and refuse what they do not know
    names = [node.name for node in session.get_inputs()]
    (scores,) = session.run([output], {name: inputs[name] for name in names if name in inputs})
    return np.asarray(scores[0])


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

    Raises
    ------
    MissingExtraError
        When onnx, onnxscript or onnxruntime are not installed.
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
    import torch

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

"""Exported models: ONNX with 8 bits a weight; to run one takes neither PyTorch nor transformers."""

import gzip
from collections.abc import Callable
from functools import lru_cache, wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from portrayal.errors import DataError, MissingExtraError

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

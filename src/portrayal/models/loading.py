"""Loading local models and encoders: safetensors or ONNX, and no code that comes with one.

An exported model is ONNX with 8 bits a weight; to run one takes neither PyTorch nor transformers.
"""

import gzip
import json
import zipfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from portrayal.errors import DataError
from portrayal.run.files import replacing_files
from portrayal.types import FloatArray
from portrayal.validate import from_extra


@dataclass(frozen=True, slots=True)
class Transformer:
    """A network with its tokenizer, on its device and ready to be asked.

    Attributes
    ----------
    model, tokenizer
        As transformers made them.
    missing
        Names of weights that the model should have and its files lack.
    """

    model: Any
    tokenizer: Any
    missing: Collection[str]


_MOST_ARRAYS = 2**31
"""Bytes that the arrays of one file may unpack to."""


def read_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz file by their names; nothing in it is executed.

    Raises
    ------
    DataError
        When it is missing, is no such file or damaged, holds objects, or unpacks to more than
        2 GiB.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            # Sizes are read before anything is unpacked: a small file may unpack to fill the memory
            size = sum(entry.file_size for entry in packed.infolist())
        if size > _MOST_ARRAYS:
            raise ValueError(f"it unpacks to {size:,} bytes, {_MOST_ARRAYS:,} at most are read")
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zipfile, zlib and numpy raise many kinds, down to MemoryError
        raise DataError(f"{path}: not a readable file of arrays ({error}).") from error


def checked_card(path: Path, digest: Callable[[], str]) -> dict[str, Any]:
    """Return the card of a model, before any library reads what may be made to harm it.

    Raises
    ------
    DataError
        Where card or files cannot be read, or the card's "sha256" is not the `digest` of the files.
    """
    try:
        card: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        expected, actual = card["sha256"], digest()
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DataError(f"{path.parent}: no model could be read ({error}).") from error
    if expected != actual:
        raise DataError(
            f"{path.parent}: the files of the model are not those that the card names (expected "
            f"sha256 {expected}, got {actual}). Install or train it again."
        )
    return card


def load_transformer(
    spec: str, *, title: str, purpose: str, extra: str, seed: int | None = None, **options: Any
) -> Transformer:
    """Load a classifier, a folder or hub id; safetensors alone, and no code that comes with it.

    Parameters
    ----------
    spec
        Folder with config, tokenizer and weights, or a hub id.
    title, purpose, extra
        How errors call the model ("the encoder"), what needs the packages, and the extra that
        brings them.
    seed
        Draws a new head, where `options` ask for one.
    options
        Further arguments of `from_pretrained`, such as `num_labels` or `dtype`.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When there is no such folder or the model cannot be loaded; names what was expected.
    """
    with from_extra(extra, f"{purpose} needs PyTorch with transformers"):
        import torch
        import transformers
    # A folder, or a hub id as it is given
    folder = Path(spec).expanduser()
    place = str(folder) if folder.is_dir() else spec
    # A path that is mistyped must not be asked of the hub
    looks_local = spec.startswith((".", "~", "/")) or spec.count("/") > 1
    if not folder.is_dir() and looks_local:
        raise DataError(f"{title}: there is no folder {spec!r}.")
    device = "mps" if torch.backends.mps.is_available() else "cpu"
    device = "cuda" if torch.cuda.is_available() else device
    if seed is not None:
        # Before the model is made, as that draws the new head
        torch.manual_seed(seed)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            place,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **options,
        )
        model = model.to(device).eval()
    except Exception as error:  # transformers raises many kinds, down to bare RuntimeError
        raise DataError(
            f"{title} {spec!r} could not be loaded ({type(error).__name__}: {error}). Expected a "
            "folder or hub id with config.json, a tokenizer and weights as .safetensors; models "
            "that need their own code are not run."
        ) from error
    return Transformer(model, tokenizer, report["missing_keys"])


def load_encoder(spec: str, *, new_head: bool = False, seed: int = 0) -> Transformer:
    """Load a folder or hub id; see `load_transformer`.

    Parameters
    ----------
    spec
        Folder, or hub id.
    new_head
        Put a fresh head of two classes on an encoder; else the head must be there.
    seed
        Draws the new head.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    DataError
        When the model cannot be loaded.
    """
    head: dict[str, Any] = {"num_labels": 2} if new_head else {}
    purpose = "a transformer classifier"
    encoder = load_transformer(
        spec, title="the encoder", purpose=purpose, extra="agency", seed=seed, **head
    )
    if not new_head and (encoder.missing or encoder.model.config.num_labels != 2):
        raise DataError(
            f"{spec}: not a classifier of two classes; its weights lack "
            f"{', '.join(sorted(encoder.missing)[:5]) or 'a head of two classes'}. "
            "Train one with: portrayal build classifier"
        )
    return encoder


def save_encoder(encoder: Transformer, out: Path) -> None:
    """Write config, tokenizer and safetensors weights to a folder."""
    encoder.model.config.id2label = {0: "communal", 1: "agentic"}
    encoder.model.config.label2id = {"communal": 0, "agentic": 1}
    with replacing_files(out) as folder:
        encoder.model.save_pretrained(folder, safe_serialization=True)
        encoder.tokenizer.save_pretrained(folder)


MOST_TOKENS, BATCH = 128, 64
"""Tokens of a sentence that are read, and sentences that are read at once, at most."""


def probabilities(encoder: Transformer, sentences: Sequence[str]) -> FloatArray:
    """Return P(communal) and P(agentic) of each sentence, shape (n, 2).

    Sentences of alike length are read together; the order of `sentences` is kept.
    """
    import torch

    encoder.model.eval()
    # Characters stand for tokens: alike lengths need little padding
    order = np.argsort([len(sentence) for sentence in sentences], kind="stable")
    shares = np.empty((len(sentences), 2))
    with torch.inference_mode():
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = encoder.tokenizer(
                [sentences[row] for row in rows],
                truncation=True,
                max_length=MOST_TOKENS,
                padding=True,
                return_tensors="pt",
            )
            logits = encoder.model(**batch.to(encoder.model.device)).logits
            shares[rows] = torch.softmax(logits.double(), dim=-1).cpu().numpy()
    return shares


P = ParamSpec("P")
R = TypeVar("R")


def load_onnx(model: Path, tokenizer: Path, *, threads: int = 0) -> tuple[Any, Any]:
    """Return the session of an exported model, on the CPU, and its tokenizer.

    Parameters
    ----------
    model, tokenizer
        Files "model.onnx", which may be compressed ("model.onnx.gz"), and "tokenizer.json".
    threads
        Cores to use; 0 for all.

    Raises
    ------
    DataError
        When a file is missing or not what was expected.
    """
    # Both take time to import, and most commands need neither
    import onnxruntime
    from tokenizers import Tokenizer

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

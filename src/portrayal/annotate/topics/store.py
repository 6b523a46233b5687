"""Topic models on disk: JSON and plain arrays, so that loading one executes nothing."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.topics.bags import Floats
from portrayal.annotate.topics.model import TopicModel
from portrayal.errors import DataError
from portrayal.run.files import replacing, write_atomically
from portrayal.run.stages import fingerprint

FORMAT = "portrayal-topics.v1"
MODEL, WORDS, ARRAYS = "model.json", "vocabulary.json", "arrays.npz"
_NAMES = ("topics", "alpha", "eta", "word_count")


def save_topics(model: TopicModel, folder: str | Path) -> Path:
    """Write a model into a folder: `model.json`, `vocabulary.json` and `arrays.npz`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = folder / ARRAYS
    with replacing(arrays) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **{name: getattr(model, name) for name in _NAMES})
    write_atomically(folder / WORDS, json.dumps(model.words, ensure_ascii=False))
    about = {"format": FORMAT, "identity": identity(model), "facts": dict(model.facts)}
    write_atomically(folder / MODEL, json.dumps(about, indent=1, ensure_ascii=False))
    return folder


def load_topics(folder: str | Path) -> TopicModel:
    """Read a saved model; the arrays are read without pickle.

    Raises
    ------
    DataError
        When files are missing, are of another format, or do not belong together.
    """
    folder = Path(folder)
    about, words = _json(folder / MODEL), _json(folder / WORDS)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        found = about.get("format") if isinstance(about, dict) else None
        raise DataError(
            f"{folder / MODEL}: expected a topic model of format {FORMAT!r}; found {found!r}. "
            "Give a folder that an audit wrote, such as RUN/topics."
        )
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{folder / WORDS}: expected a list of words.")
    facts = about.get("facts")
    model = TopicModel(
        tuple(words), **_arrays(folder / ARRAYS), facts=facts if isinstance(facts, dict) else {}
    )
    _check_shapes(model, folder)
    if about.get("identity") != identity(model):
        raise DataError(
            f"{folder}: vocabulary, arrays and {MODEL} do not belong together (identity "
            f"{identity(model)}, noted {about.get('identity')}). Copy the three files of one model."
        )
    return model


def identity(model: TopicModel) -> str:
    """Return a digest of the model's words and numbers."""
    digest = {name: _digest(getattr(model, name)) for name in _NAMES}
    return fingerprint(words=model.words, **digest)


def _digest(array: Floats) -> str:
    import hashlib

    plain = np.ascontiguousarray(array)
    return f"{plain.dtype.str}{plain.shape}" + hashlib.blake2b(plain.tobytes()).hexdigest()


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path.parent} holds no topic model: {path.name} is missing. "
            f"A model has {MODEL}, {WORDS} and {ARRAYS}."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as JSON: {error}.") from error


def _arrays(path: Path) -> dict[str, Floats]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in _NAMES}
    except FileNotFoundError:
        raise DataError(f"{path.parent} holds no topic model: {path.name} is missing.") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: expected the arrays {', '.join(_NAMES)}: {error}.") from error
    for name, array in arrays.items():
        usable = array.dtype.kind == "f" and bool(np.isfinite(array).all() and (array >= 0).all())
        if not usable:
            raise DataError(f"{path}: {name} must hold finite numbers that are not negative.")
    return arrays


def _check_shapes(model: TopicModel, folder: Path) -> None:
    k, v = len(np.atleast_1d(model.alpha)), len(model.words)
    wanted = {"topics": (k, v), "alpha": (k,), "eta": (v,), "word_count": (v,)}
    for name, shape in wanted.items():
        found = getattr(model, name).shape
        if found != shape or 0 in shape:
            raise DataError(
                f"{folder / ARRAYS}: {name} has shape {found}; {k} topics of {v:,} words need "
                f"{shape}."
            )
    if not ((model.topics > 0).all() and (model.alpha > 0).all() and (model.word_count > 0).all()):
        raise DataError(f"{folder / ARRAYS}: topics, alpha and word_count must be above 0.")

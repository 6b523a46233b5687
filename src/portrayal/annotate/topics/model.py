"""A fitted topic model: words, topics, and what they were fitted to; and the same on disk.

On disk it is JSON and plain arrays, so that loading one executes nothing.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.topics.bags import Bags, Floats, bags_of
from portrayal.annotate.topics.corpus import forms, lemmas
from portrayal.annotate.topics.infer import infer, topic_weights
from portrayal.errors import DataError
from portrayal.run.files import replacing, write_atomically
from portrayal.run.stages import fingerprint

RELEVANCE = 0.6
"""Weight of a word's probability against its lift, the optimum of Sievert and Shirley 2014."""


@dataclass(frozen=True, eq=False)
class TopicModel:
    """A latent Dirichlet allocation of K topics over V words.

    Attributes
    ----------
    words
        The vocabulary, sorted.
    topics
        lambda, the variational Dirichlet of each topic's words, shape (K, V).
    alpha
        Prior of a document's topics, shape (K,).
    eta
        Prior of a topic's words, shape (V,).
    word_count
        How often each word stands in the texts that were fitted, shape (V,).
    facts
        How it was fitted: seed, documents, passes, each K tried with its perplexity, why this
        one, versions.
    """

    words: tuple[str, ...]
    topics: Floats
    alpha: Floats
    eta: Floats
    word_count: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_topics(self) -> int:
        """K."""
        return len(self.alpha)

    @cached_property
    def weights(self) -> Floats:
        """Exponential of E[log beta], shape (V, K), in the type of `topics`."""
        return topic_weights(self.topics)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def _forms(self) -> "_Forms":
        return _Forms(self.numbers)

    def read(self, text: str) -> list[int]:
        """Return the word numbers of a text in order; -1 for words outside the vocabulary."""
        return self._forms.of(text)

    def bags(self, texts: Sequence[str]) -> Bags:
        """Return texts as bags of the model's words."""
        return bags_of(map(self.read, texts))

    def infer(self, bags: Bags) -> Floats:
        """Return gamma, the variational Dirichlet of each document's topics, shape (n, K)."""
        return infer(bags, self.weights, self.alpha)

    def shares(self, texts: Sequence[str]) -> Floats:
        """Return the topic distribution t_d of each text, shape (n, K); rows sum to 1."""
        gamma = self.infer(self.bags(texts))
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def relevance(self, topic: int, weight: float = RELEVANCE) -> Floats:
        """Return how relevant each word is to a topic, shape (V,).

        Sievert and Shirley 2014, Eq. 1: weight · log p(w|k) + (1 - weight) · log(p(w|k) / p(w)).
        """
        lam = self.topics[topic].astype(np.float64)
        overall = self.word_count / self.word_count.sum()
        return np.asarray(np.log(lam / lam.sum()) - (1.0 - weight) * np.log(overall))

    def top_words(self, topic: int, n: int = 15, weight: float = RELEVANCE) -> tuple[str, ...]:
        """Return the `n` most relevant words of a topic, most relevant first."""
        order = np.argsort(-self.relevance(topic, weight), kind="stable")
        return tuple(self.words[word] for word in order[:n])


class _Forms(dict[str, int]):
    """Number of the lemma of every form looked up so far; -1 outside the vocabulary."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__()
        self._numbers, self._lemmas = numbers, lemmas()

    def __missing__(self, form: str) -> int:
        number = self[form] = self._numbers.get(self._lemmas[form], -1)
        return number

    def of(self, text: str) -> list[int]:
        return list(map(self.__getitem__, forms(text)))


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

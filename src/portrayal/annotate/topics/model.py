"""A fitted topic model: on disk, over documents, and over the texts of a run.

On disk it is JSON and plain arrays, so that loading one executes nothing.

The updates are those of `gensim.models.LdaModel.inference` (Hoffman, Blei and Bach 2010, Algorithm
2, E step), begun from equal weights in place of random ones, so that a document's result depends on
nothing but the document. Documents with the same number of distinct words are worked on together.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import psi

from portrayal.annotate.topics.corpus import Bags, Floats, Ints, bags_of, forms, lemmas
from portrayal.errors import DataError
from portrayal.models import read_arrays
from portrayal.run.directory import Run
from portrayal.run.files import Column, read_parquet, replacing, write_atomically
from portrayal.run.stages import fingerprint

ITERATIONS = 50
THRESHOLD = 0.001
"""Mean change of gamma below which a document is finished, as in gensim."""

_CELLS = 1 << 18  # documents × words × topics that are worked on together: about 1 MB


def infer(bags: Bags, weights: Floats, alpha: Floats) -> Floats:
    """Return gamma, the variational Dirichlet of each document's topics.

    Parameters
    ----------
    bags
        n documents.
    weights
        exp E[log beta], shape (V, K); its type is that of the arithmetic.
    alpha
        Prior of the topics, shape (K,).

    Returns
    -------
    array
        Shape (n, K); a document without words keeps `alpha`.
    """
    kind = weights.dtype
    alpha = alpha.astype(kind)
    # A document without words keeps its prior
    gamma = np.tile(alpha, (len(bags), 1))
    for rows, place in _batches(bags, len(alpha)):
        begin = np.ones((len(rows), len(alpha)), kind)
        gamma[rows] = _settle(
            weights[bags.word[place]], bags.count[place].astype(kind), alpha, begin
        )
    return gamma


def _batches(bags: Bags, n_topics: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield documents with as many distinct words, and where their words stand: (b,), (b, l)."""
    sizes = np.diff(bags.start)
    for size in np.unique(sizes[sizes > 0]).tolist():
        # As many words each: one product of matrices for all, without padding
        same = np.flatnonzero(sizes == size)
        step = max(1, _CELLS // (size * n_topics))
        for low in range(0, len(same), step):
            rows = same[low : low + step]
            yield rows, bags.start[rows, np.newaxis] + np.arange(size)


def _settle(weights: Floats, count: Floats, alpha: Floats, gamma: Floats) -> Floats:
    """Update gamma of b documents of l words until each is finished.

    Shapes (b, l, K), (b, l), (K,), (b, K) -> (b, K).
    """
    # gensim adds the same, so that no word of no topic divides by 0
    tiny = np.finfo(weights.dtype).eps
    result = np.empty_like(gamma)
    unsettled = np.arange(len(gamma))
    theta = expected(gamma)
    for turn in range(ITERATIONS):
        with np.errstate(
            invalid="ignore"
        ):  # BLAS may raise that flag on numbers that are all finite
            norm = np.matmul(weights, theta[:, :, np.newaxis])[:, :, 0] + tiny
            mass = np.matmul((count / norm)[:, np.newaxis, :], weights)[:, 0, :]
        before, gamma = gamma, alpha + theta * mass
        # A document that is settled leaves the batch: its result depends on itself alone
        change = np.abs(gamma - before).mean(axis=1)
        open_ = change >= THRESHOLD
        # The last turn ends all, settled or not, as in gensim
        if turn == ITERATIONS - 1:
            open_[:] = False
        result[unsettled[~open_]] = gamma[~open_]
        if not open_.any():
            break
        if not open_.all():
            unsettled, gamma, count, weights = (
                unsettled[open_],
                gamma[open_],
                count[open_],
                weights[open_],
            )
        theta = expected(gamma)
    return result


def expected(gamma: Floats) -> Floats:
    """Return exp E[log theta] of Dirichlet distributions, shape (n, K) -> (n, K)."""
    return np.asarray(np.exp(psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))))


def topic_weights(topics: Floats) -> Floats:
    """Return exp E[log beta] of the words of topics, shape (K, V) -> (V, K), in the same type."""
    # psi is sensitive to rounding: 64 bits here, whatever the type of the model
    lam = topics.astype(np.float64)
    log_beta = psi(lam) - psi(lam.sum(axis=1, keepdims=True))
    return np.ascontiguousarray(np.exp(log_beta).T, dtype=topics.dtype)


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

    def relevance(self, topic: int) -> Floats:
        """Return how relevant each word is to a topic, shape (V,).

        Sievert and Shirley 2014, Eq. 1: λ log p(w|k) + (1 - λ) log(p(w|k) / p(w)), λ `RELEVANCE`.
        """
        lam = self.topics[topic].astype(np.float64)
        overall = self.word_count / self.word_count.sum()
        return np.asarray(np.log(lam / lam.sum()) - (1.0 - RELEVANCE) * np.log(overall))

    def top_words(self, topic: int, n: int = 15) -> tuple[str, ...]:
        """Return the `n` most relevant words of a topic, most relevant first."""
        # A stable sort: of equally relevant words the first of the vocabulary
        order = np.argsort(-self.relevance(topic), kind="stable")
        return tuple(self.words[word] for word in order[:n])


class _Forms(dict[str, int]):
    """Number of the lemma of every form looked up so far; -1 outside the vocabulary."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__()
        self._numbers, self._lemmas = numbers, lemmas()

    def __missing__(self, form: str) -> int:
        # Forms recur, so each is looked up once
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
    # The JSON file last: a model without it was not written to its end
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
        kind = about.get("format") if isinstance(about, dict) else None
        raise DataError(
            f"{folder / MODEL}: expected a topic model of format {FORMAT!r}; found {kind!r}. "
            "Give a folder that an audit wrote, such as RUN/topics."
        )
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{folder / WORDS}: expected a list of words.")
    facts = about.get("facts")
    path = folder / ARRAYS
    if not path.is_file():
        raise DataError(f"{path.parent} holds no topic model: {path.name} is missing.")
    stored = read_arrays(path)
    try:
        arrays = {name: stored[name] for name in _NAMES}
    except KeyError as error:
        raise DataError(f"{path}: expected the arrays {', '.join(_NAMES)}: {error}.") from error
    for name, array in arrays.items():
        # Arrays may come from anywhere: refuse what would give topics without warning
        usable = array.dtype.kind == "f" and bool(np.isfinite(array).all() and (array >= 0).all())
        if not usable:
            raise DataError(f"{path}: {name} must hold finite numbers that are not negative.")
    model = TopicModel(tuple(words), **arrays, facts=facts if isinstance(facts, dict) else {})
    k, v = len(np.atleast_1d(model.alpha)), len(model.words)
    shapes = {"topics": (k, v), "alpha": (k,), "eta": (v,), "word_count": (v,)}
    for name, shape in shapes.items():
        actual = getattr(model, name).shape
        if actual != shape or 0 in shape:
            raise DataError(
                f"{folder / ARRAYS}: {name} has shape {actual}; {k} topics of {v:,} words need "
                f"{shape}."
            )
    if not ((model.topics > 0).all() and (model.alpha > 0).all() and (model.word_count > 0).all()):
        raise DataError(f"{folder / ARRAYS}: topics, alpha and word_count must be above 0.")
    # Files of two models fit in shape and mean nothing together
    if about.get("identity") != identity(model):
        raise DataError(
            f"{folder}: vocabulary, arrays and {MODEL} do not belong together (identity "
            f"{identity(model)}, noted {about.get('identity')}). Copy the three files of one model."
        )
    return model


def identity(model: TopicModel) -> str:
    """Return a digest of the model's words and numbers."""
    digest = {}
    for name in _NAMES:
        # Type and shape too, as the same bytes may be other numbers
        plain = np.ascontiguousarray(getattr(model, name))
        content = hashlib.blake2b(plain.tobytes()).hexdigest()
        digest[name] = f"{plain.dtype.str}{plain.shape}{content}"
    return fingerprint(words=model.words, **digest)


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


SENTENCES = "group_words.v1"
"""The annotator whose sentences are used."""

_BLOCK = 500  # texts that are worked on together

Numbers = np.ndarray[Any, np.dtype[Any]] | Column


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The sentences of one side of a run, in the order of its texts.

    All but `text_start` is read in slices only; `read_topic_texts` keeps it on disk.

    Attributes
    ----------
    text_start
        Where the sentences of each text begin, and the end; shape (n_texts + 1,). A text that was
        not read has none.
    topic
        The most likely topic of each sentence, by the sentence alone; -1 where it holds no word of
        the model.
    start
        Where the words of each sentence begin in `word` and `count`, and the end; shape
        (n_sentences + 1,).
    word, count
        Numbers of the distinct words of each sentence that the model knows, and how often they
        occur.
    """

    text_start: Ints
    topic: Numbers
    start: Numbers
    word: Numbers
    count: Numbers


def read_topic_texts(run: Run, model: TopicModel, *, reference: bool = False) -> TopicTexts:
    """Infer the topics of every readable text of one side, and of its sentences.

    Parameters
    ----------
    run
        A run whose side is annotated by `group_words.v1`, which says where sentences stand.
    model
        A fitted model.
    reference
        Whether to read the reference in place of the texts.
    """
    # On disk, as sentences of a large run do not fit into memory
    topic, start = Column(run.path, np.int32), Column(run.path, np.int64)
    word, count = Column(run.path, np.int32), Column(run.path, np.float32)
    start.append(np.zeros(1))
    lengths = [np.zeros(1, np.int64)]
    stage = run.reference if reference else run.texts
    sentences_stage = (
        run.reference_annotations(SENTENCES) if reference else run.annotations(SENTENCES)
    )
    for part in stage.parts():
        texts = read_parquet(part, columns=["text"])["text"].to_pylist()
        spans = read_parquet(sentences_stage.folder / part.name, columns=["sentences"])["sentences"]
        # Unreadable texts have no sentences
        rows = [
            [(text or "")[span["start"] : span["end"]] for span in spans_of_text or ()]
            for text, spans_of_text in zip(texts, spans.to_pylist(), strict=True)
        ]
        for low in range(0, len(rows), _BLOCK):
            block = rows[low : low + _BLOCK]
            bags = bags_of(model.read(sentence) for text in block for sentence in text)
            has_words = np.diff(bags.start) > 0
            lengths.append(np.array([len(text) for text in block], dtype=np.int64))
            # Without a word of the model the prior would name a topic
            topic.append(np.where(has_words, model.infer(bags).argmax(axis=1), -1))
            start.append(len(word) + bags.start[1:])
            word.append(bags.word)
            count.append(bags.count)
    return TopicTexts(np.cumsum(np.concatenate(lengths)), topic, start, word, count)

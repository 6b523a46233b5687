"""A fitted topic model: on disk, over documents, and over the texts of a run.

On disk it is one file of plain arrays and JSON, so that loading one executes nothing.

The updates are those of Hoffman, Blei and Bach (2010), Algorithm 2, E step, begun from equal
weights, so that a document's result depends on nothing but the document. Documents with about as
many distinct words are worked on together.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import psi

from portrayal.annotate.topics.corpus import Bags, Floats, Ints, bags_of, lemmas_of
from portrayal.errors import DataError
from portrayal.models import read_arrays
from portrayal.run.directory import Run
from portrayal.run.files import replacing
from portrayal.run.reading import read_shards
from portrayal.types import BoolArray

ITERATIONS = 50
THRESHOLD = 0.001
"""Mean change of gamma below which a document is finished, as in gensim."""

_CELLS = 1 << 18  # documents × words × topics that are worked on together: about 1 MB


def infer(
    bags: Bags, weights: Floats, alpha: Floats, begin: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the variational Dirichlet of each document's topics, and what its words add to them.

    Parameters
    ----------
    bags
        n documents, of m distinct words in all; those of a document ascend.
    weights
        exp E[log beta], shape (V, K); its type is that of the arithmetic.
    alpha
        Prior of the topics, shape (K,).
    begin
        gamma to begin with, shape (n, K); equal weights by default.

    Returns
    -------
    gamma, ratio
        Shape (n, K), where a document without words keeps `alpha`; and, of each word of each
        document, count / Σ_k weights exp E[log theta], shape (m,).
    """
    kind = weights.dtype
    alpha = alpha.astype(kind)
    gamma, ratio = np.tile(alpha, (bags.shape[0], 1)), np.zeros(bags.nnz, kind)
    begin = np.ones_like(gamma) if begin is None else begin
    with np.errstate(invalid="ignore"):  # BLAS may raise that flag on numbers that are all finite
        for rows, place, inside in _batches(bags, len(alpha)):
            words, count = weights[bags.indices[place]], (bags.data[place] * inside).astype(kind)
            gamma[rows] = _settle(words, count, alpha, begin[rows])
            ratio[place[inside]] = (count / _norm(words, expected(gamma[rows])))[inside]
    return gamma, ratio


def _batches(bags: Bags, n_topics: int) -> Iterator[tuple[Ints, Ints, BoolArray]]:
    """Yield documents, where their words stand, and which are their own: (b,), (b, l), (b, l).

    Sizes are rounded up to powers of 4, so that a document's numbers depend on itself alone.
    """
    sizes = np.diff(bags.indptr)
    some = np.flatnonzero(sizes)
    padded = 2 ** np.ceil(np.log2(sizes[some])).astype(np.int64)
    for size in np.unique(padded).tolist():
        alike = some[padded == size]
        step = max(1, _CELLS // (size * n_topics))
        for low in range(0, len(alike), step):
            rows = alike[low : low + step]
            inside = np.arange(size) < sizes[rows, np.newaxis]
            yield rows, bags.indptr[rows, np.newaxis] + np.arange(size) * inside, inside


def _norm(words: Floats, theta: Floats) -> Floats:
    """Σ_k weights theta of each word, shapes (b, l, K), (b, K) -> (b, l)."""
    # gensim adds the same, so that no word of no topic divides by 0
    tiny = np.finfo(words.dtype).eps
    return np.asarray(np.matmul(words, theta[:, :, np.newaxis])[:, :, 0] + tiny)


def _settle(weights: Floats, count: Floats, alpha: Floats, gamma: Floats) -> Floats:
    """Update gamma of b documents of l words until each is finished.

    Shapes (b, l, K), (b, l), (K,), (b, K) -> (b, K).
    """
    result, rows = np.empty_like(gamma), np.arange(len(gamma))
    pending, least = np.ones(len(gamma), dtype=bool), THRESHOLD * gamma.shape[1]
    for turn in range(ITERATIONS):
        theta = expected(gamma)
        share = count / _norm(weights, theta)
        before, gamma = gamma, alpha + theta * np.matmul(share[:, np.newaxis, :], weights)[:, 0, :]
        # A document is settled at its first small change: its result depends on itself alone. The
        # last turn ends all, as in gensim.
        small = np.abs(gamma - before).sum(axis=1) < least
        settled = pending & (small | (turn == ITERATIONS - 1))
        result[rows[settled]] = gamma[settled]
        pending &= ~settled
        if not pending.any():
            break
        # Those that are settled leave the batch when they are half of it, as that takes a copy
        if 2 * pending.sum() <= len(rows):
            rows, gamma, count, weights = (
                rows[pending],
                gamma[pending],
                count[pending],
                weights[pending],
            )
            pending = pending[pending]
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
    word_count
        How often each word stands in the texts that were fitted, shape (V,).
    facts
        How it was fitted: seed, documents, passes, each K tried with its perplexity, why this
        one, versions.
    """

    words: tuple[str, ...]
    topics: Floats
    alpha: Floats
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

    def read(self, text: str) -> list[int]:
        """Return the word numbers of a text in order; -1 for words outside the vocabulary."""
        return [self.numbers.get(lemma, -1) for lemma in lemmas_of(text)]

    def bags(self, texts: Sequence[str]) -> Bags:
        """Return texts as bags of the model's words."""
        return bags_of(map(self.read, texts), len(self.words))

    def infer(self, bags: Bags) -> Floats:
        """Return gamma, the variational Dirichlet of each document's topics, shape (n, K)."""
        return infer(bags, self.weights, self.alpha)[0]

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


FORMAT = "portrayal-topics.v3"
MODEL = "model.npz"
_ARRAYS = ("topics", "alpha", "word_count")


def save_topics(model: TopicModel, folder: str | Path) -> Path:
    """Write a model into a folder, as `model.npz`: its arrays, and words and facts as JSON."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {"format": FORMAT, "words": model.words, "facts": dict(model.facts)}
    content = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8)
    with replacing(folder / MODEL) as temporary, temporary.open("wb") as stream:
        np.savez(stream, about=content, **{name: getattr(model, name) for name in _ARRAYS})
    return folder


def load_topics(folder: str | Path) -> TopicModel:
    """Read a saved model; the arrays are read without pickle.

    Raises
    ------
    DataError
        When the file is missing, or is of another format.
    """
    path = Path(folder) / MODEL
    if not path.is_file():
        raise DataError(
            f"{folder} holds no topic model: {MODEL} is missing. "
            "Give a folder that an audit wrote, such as RUN/topics."
        )
    arrays = read_arrays(path)
    try:
        about = json.loads(arrays.pop("about").tobytes())
        kind, words, facts = about["format"], tuple(about["words"]), dict(about["facts"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{path} holds no topic model: {error!r}.") from error
    if kind != FORMAT or arrays.keys() != set(_ARRAYS):
        raise DataError(f"{path}: expected a topic model of format {FORMAT!r}; found {kind!r}.")
    return TopicModel(words, **arrays, facts=facts)


SENTENCES = "group_words.v1"
"""The annotator whose sentences are used."""


@dataclass(frozen=True, eq=False)
class TopicTexts:
    """The sentences of one side of a run, in the order of its texts.

    Attributes
    ----------
    text_start
        Where the sentences of each text begin, and the end; shape (n_texts + 1,). A text that was
        not read has none.
    topic
        The most likely topic of each sentence, by the sentence alone; -1 where it holds no word of
        the model.
    words
        The words of each sentence that the model knows: a bag for each.
    """

    text_start: Ints
    topic: Ints
    words: Bags


def read_topic_texts(run: Run, model: TopicModel, *, reference: bool = False) -> TopicTexts:
    """Infer the topics of every sentence of one side.

    Parameters
    ----------
    run
        A run whose side is annotated by `group_words.v1`, which says where sentences stand.
    model
        A fitted model.
    reference
        Whether to read the reference in place of the texts.
    """
    stage = run.reference if reference else run.texts
    annotations = run.reference_annotations if reference else run.annotations
    lengths, numbers = [0], list[list[int]]()
    for texts, spans in read_shards(stage, ["text"], (annotations(SENTENCES), ["sentences"])):
        both = zip(texts["text"].to_pylist(), spans["sentences"].to_pylist(), strict=True)
        for text, spans_of_text in both:
            # Unreadable texts have no sentences
            pieces = [text[span["start"] : span["end"]] for span in spans_of_text or ()]
            lengths.append(len(pieces))
            numbers += map(model.read, pieces)
    bags = bags_of(numbers, len(model.words))
    # Without a word of the model the prior would name a topic
    topic = np.where(np.diff(bags.indptr) > 0, model.infer(bags).argmax(axis=1), -1)
    return TopicTexts(np.cumsum(lengths), topic, bags)

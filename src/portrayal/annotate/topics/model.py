"""A fitted topic model: words, topics, and what they were fitted to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import psi

from portrayal.annotate.topics.bags import Bags, Floats, bags_of
from portrayal.annotate.topics.corpus import forms, lemmas
from portrayal.annotate.topics.infer import infer

if TYPE_CHECKING:
    from gensim.models import LdaModel

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
        How it was fitted: seed, documents, passes, perplexity of each K tried, versions.
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
        lam = self.topics.astype(np.float64)
        log_beta = psi(lam) - psi(lam.sum(axis=1, keepdims=True))
        return np.ascontiguousarray(np.exp(log_beta).T, dtype=self.topics.dtype)

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

    def to_gensim(self) -> "LdaModel":
        """Return the model as gensim's, for its own tools."""
        from portrayal.annotate.topics.engine import gensim_model

        return gensim_model(self)


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

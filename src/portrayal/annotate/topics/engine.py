"""Fitting by gensim: online variational Bayes, the same result in every run."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from portrayal.annotate.topics.bags import Bags
from portrayal.errors import MissingExtraError

if TYPE_CHECKING:
    from gensim.models import LdaModel

    from portrayal.annotate.topics.model import TopicModel

CHUNK = 2_000
"""Documents between two updates of the topics, gensim's default."""


def gensim() -> Any:
    """Return gensim's models.

    Raises
    ------
    MissingExtraError
        When gensim is not installed.
    """
    try:
        import gensim.models
    except ImportError as error:
        raise MissingExtraError(
            "topic models are fitted by gensim, which is not installed. "
            'Install it with: pip install "portrayal[news]"'
        ) from error
    return gensim.models


def fit_lda(bags: Bags, words: tuple[str, ...], k: int, *, passes: int, seed: int) -> "LdaModel":
    """Fit `k` topics to bags by gensim, in the order they come.

    `LdaModel` is asked for nothing but its defaults (priors 1 / K, chunks of 2,000 documents, 50
    iterations), a seed and passes. `LdaMulticore` is not used: its result depends on which worker
    is done first.
    """
    return gensim().LdaModel(
        _Corpus(bags),
        num_topics=k,
        id2word=dict(enumerate(words)),
        chunksize=CHUNK,
        passes=passes,
        eval_every=None,
        random_state=seed,
    )


def gensim_model(model: "TopicModel") -> "LdaModel":
    """Rebuild gensim's model from ours."""
    rebuilt = gensim().LdaModel(
        num_topics=model.n_topics,
        id2word=dict(enumerate(model.words)),
        alpha=model.alpha,
        eta=model.eta,
        random_state=int(model.facts.get("seed", 0)),
        dtype=model.topics.dtype.type,
    )
    rebuilt.state.sstats[...] = model.topics - model.eta
    rebuilt.sync_state()
    return rebuilt


class _Corpus:
    """Bags as gensim reads them, made as they are asked for."""

    def __init__(self, bags: Bags) -> None:
        self._bags = bags

    def __len__(self) -> int:
        return len(self._bags)

    def __iter__(self) -> Iterator["_Document"]:
        words, counts = self._bags.word.tolist(), self._bags.count.tolist()
        start = self._bags.start.tolist()
        for low, high in pairwise(start):
            yield _Document(words[low:high], counts[low:high])


class _Document:
    """(word, count) pairs; unlike a list of tuples it makes none that the collector must follow."""

    __slots__ = ("_counts", "_words")

    def __init__(self, words: list[int], counts: list[float]) -> None:
        self._words, self._counts = words, counts

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, at: int) -> tuple[int, float]:
        return self._words[at], self._counts[at]

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return zip(self._words, self._counts, strict=True)

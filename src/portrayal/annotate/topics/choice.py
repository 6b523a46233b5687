"""How many topics: document completion over a grid, and the rule of one standard error.

The variational bound that gensim calls perplexity weighs words by exp(E[log beta]). Those weights
sum to less than 1, and to the less the more topics share a small corpus, so that the bound favours
the fewest topics tried. *Document completion* asks instead how well one half of a held-out document
foretells the other, with the topics' mean word shares: it gets worse again where topics are too
many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.annotate.topics.bags import Bags, Floats, Ints
from portrayal.annotate.topics.infer import infer, topic_weights

PAPER_K = 250
"""Fang et al. (2024) kept 250 of 200, 250 and 300 topics, by perplexity."""
PER_TOPIC = 10
"""Documents that a topic needs at least."""
_STEP = 1.5
_HALVES = 0x4A


def topic_grid(n_documents: int) -> tuple[int, ...]:
    """Return the numbers of topics to try, a factor of 1.5 apart, up to a tenth of the documents.

    The paper's 250 alone where 2,500 documents allow it.

    >>> topic_grid(255), topic_grid(2_500)
    ((2, 3, 5, 7, 11, 17, 25), (250,))
    """
    most = max(2, n_documents // PER_TOPIC)
    if most >= PAPER_K:
        return (PAPER_K,)
    steps = [most]
    while steps[-1] > 2:
        steps.append(max(2, int(steps[-1] / _STEP + 0.5)))
    return tuple(steps[::-1])


def split_words(bags: Bags, seed: int) -> tuple[Bags, Bags]:
    """Split the words of each document at random into one half that is seen and one that is hidden.

    Either half holds every second word of the document in random order; the first half has the odd
    word.
    """
    rng = np.random.default_rng([seed, _HALVES])
    times = bags.count.astype(np.int64)
    entry = np.repeat(np.arange(len(times)), times)
    owner = np.repeat(np.arange(len(bags)), np.diff(bags.start))[entry]
    order = np.lexsort((rng.random(len(entry)), owner))
    rank = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    seen = np.bincount(entry[order[rank % 2 == 0]], minlength=len(times))
    return _kept(bags, seen), _kept(bags, times - seen)


def _kept(bags: Bags, count: Ints) -> Bags:
    """The same documents with these counts, entries of 0 left out."""
    start = np.concatenate([[0], np.cumsum(count > 0)])[bags.start]
    return Bags(start, bags.word[count > 0], count[count > 0].astype(np.float32))


def completion_loss(topics: Floats, alpha: Floats, seen: Bags, hidden: Bags) -> Floats:
    """Return the surprise at the hidden half of each document: -log p of its words, in nats.

    Parameters
    ----------
    topics
        lambda, the variational Dirichlet of each topic's words, shape (K, V).
    alpha
        Prior of a document's topics, shape (K,).
    seen, hidden
        Both halves of n documents.

    Returns
    -------
    array
        Shape (n,). Perplexity is exp(sum of losses / hidden words).

    References
    ----------
    Wallach, Murray, Salakhutdinov and Mimno (2009), Evaluation methods for topic models, Section 5.
    """
    gamma = infer(seen, topic_weights(topics), alpha).astype(np.float64)
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    words = (topics / topics.sum(axis=1, keepdims=True)).T
    owner = np.repeat(np.arange(len(hidden)), np.diff(hidden.start))
    p = np.einsum("ek,ek->e", shares[owner], words[hidden.word])
    surprise = -hidden.count * np.log(np.maximum(p, np.finfo(np.float64).tiny))
    return np.asarray(np.bincount(owner, surprise, len(hidden)))


@dataclass(frozen=True)
class Choice:
    """A number of topics.

    Attributes
    ----------
    k
        The number.
    interior
        Whether fewer and more topics were tried than are best.
    reason
        Why this number, in a sentence.
    worse
        How many of the last tried are surely worse than the best, one after another.
    """

    k: int
    interior: bool
    reason: str
    worse: int


def choose_topics(tried: Sequence[int], loss: Floats, size: Floats) -> Choice:
    """Choose the fewest topics that are not surely worse than the best.

    Parameters
    ----------
    tried
        Numbers of topics, rising.
    loss
        `completion_loss` of each held-out document, shape (n_tried, n_documents).
    size
        Hidden words of each document, shape (n_documents,).

    Returns
    -------
    Choice
        The smallest K whose loss exceeds the least by no more than one standard error of the
        difference over documents (Breiman et al. 1984, Section 3.4.3).

    Examples
    --------
    >>> loss = np.array([[9.0, 8.0, 9.5], [5.0, 6.0, 5.5], [7.0, 6.5, 7.5]])
    >>> choose_topics([2, 10, 50], loss, np.array([2, 2, 2])).k
    10
    """
    best, words = int(loss.sum(axis=1).argmin()), float(size.sum())
    more = (loss - loss[best]) / words
    mean = more.sum(axis=1)
    error = np.sqrt(np.maximum((more**2).sum(axis=1) - mean**2 / len(size), 0.0))
    near = mean <= error
    chosen = int(np.flatnonzero(near)[0])
    interior = 0 < best < len(tried) - 1
    perplexity = float(np.exp(loss[best].sum() / words))
    ends = "" if interior else ", which is at the end of those tried"
    reason = (
        f"document completion is best at {tried[best]} topics{ends} (perplexity "
        f"{perplexity:,.1f}), and {tried[chosen]} are the fewest within one standard error of it"
    )
    worse = len(tried) - 1 - int(np.flatnonzero(near)[-1])
    return Choice(int(tried[chosen]), interior, reason, worse)

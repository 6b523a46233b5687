"""Inference: the topic shares of documents under a fitted model, many documents at a time.

The updates are those of `gensim.models.LdaModel.inference` (Hoffman, Blei and Bach 2010, Algorithm
2, E step), begun from equal weights in place of random ones, so that a document's result depends on
nothing but the document. Documents with the same number of distinct words are worked on together.
"""

from collections.abc import Iterator

import numpy as np
from scipy.special import psi

from portrayal.annotate.topics.bags import Bags, Floats, Ints

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
    gamma = np.tile(alpha, (len(bags), 1))
    for rows, place in _batches(bags, len(alpha)):
        begin = np.ones((len(rows), len(alpha)), kind)
        gamma[rows] = _settle(
            weights[bags.word[place]],
            bags.count[place].astype(kind),
            alpha,
            begin,
        )
    return gamma


def _batches(bags: Bags, n_topics: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield documents with as many distinct words, and where their words stand: (b,), (b, l)."""
    sizes = np.diff(bags.start)
    for size in np.unique(sizes[sizes > 0]).tolist():
        same = np.flatnonzero(sizes == size)
        step = max(1, _CELLS // (size * n_topics))
        for low in range(0, len(same), step):
            rows = same[low : low + step]
            yield rows, bags.start[rows, np.newaxis] + np.arange(size)


def _settle(
    weights: Floats,
    count: Floats,
    alpha: Floats,
    gamma: Floats,
) -> Floats:
    """Update gamma of b documents of l words until each is finished.

    Shapes (b, l, K), (b, l), (K,), (b, K) -> (b, K).
    """
    tiny = np.finfo(weights.dtype).eps
    result = np.empty_like(gamma)
    left = np.arange(len(gamma))
    theta = expected(gamma)
    for turn in range(ITERATIONS):
        with np.errstate(
            invalid="ignore"
        ):  # BLAS may raise that flag on numbers that are all finite
            norm = np.matmul(weights, theta[:, :, np.newaxis])[:, :, 0] + tiny
            mass = np.matmul((count / norm)[:, np.newaxis, :], weights)[:, 0, :]
        before, gamma = gamma, alpha + theta * mass
        change = np.abs(gamma - before).mean(axis=1)
        open_ = change >= THRESHOLD
        if turn == ITERATIONS - 1:
            open_[:] = False
        result[left[~open_]] = gamma[~open_]
        if not open_.any():
            break
        if not open_.all():
            left, gamma, count, weights = left[open_], gamma[open_], count[open_], weights[open_]
        theta = expected(gamma)
    return result


def expected(gamma: Floats) -> Floats:
    """Return exp E[log theta] of Dirichlet distributions, shape (n, K) -> (n, K)."""
    return np.asarray(np.exp(psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))))


def topic_weights(topics: Floats) -> Floats:
    """Return exp E[log beta] of the words of topics, shape (K, V) -> (V, K), in the same type."""
    lam = topics.astype(np.float64)
    log_beta = psi(lam) - psi(lam.sum(axis=1, keepdims=True))
    return np.ascontiguousarray(np.exp(log_beta).T, dtype=topics.dtype)

"""Inference and fits against loops; a document's topics depend on it alone."""

import numpy as np
import pytest
from scipy.special import psi

from portrayal.annotate.topics.fit import fit_lda
from portrayal.annotate.topics.model import Bags, TopicModel, bags_of

WORDS = tuple(f"w{i:02}" for i in range(30))


def _documents(seed: int = 0, n: int = 120) -> Bags:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        low = 10 * (i % 3)
        own = rng.integers(low, low + 10, 25)
        made.append([*own.tolist(), *rng.integers(0, 30, 5).tolist()])
    return bags_of(made, 30)


@pytest.fixture(scope="module")
def model() -> TopicModel:
    bags = _documents()
    topics = fit_lda(bags, 3, passes=5, chunk=60, seed=0)
    counts = bags.sum(axis=0)
    return TopicModel(WORDS, topics, np.full(3, 1 / 3, dtype=np.float32), counts)


def _dirichlet(x: np.ndarray) -> np.ndarray:
    return np.exp(psi(x) - psi(x.sum(-1, keepdims=True)))


def _e_step(bags: Bags, document: int, beta: np.ndarray, gamma: np.ndarray) -> tuple:
    """One document by the equations of Hoffman et al.: its gamma, and what it adds to topics."""
    row, k = bags[[document]], len(beta)
    word, count = row.indices, row.data
    for _ in range(50):
        phi = _dirichlet(gamma)[:, np.newaxis] * beta[:, word]
        before, gamma = gamma, 1 / k + (count * phi / phi.sum(0)).sum(1)
        if np.abs(gamma - before).mean() < 0.001:
            break
    phi = _dirichlet(gamma)[:, np.newaxis] * beta[:, word]
    statistics = np.zeros_like(beta)
    statistics[:, word] = count * phi / phi.sum(0)
    return gamma, statistics


def test_shares_are_those_of_the_equations(model: TopicModel) -> None:
    bags, beta = _documents(1, 20), _dirichlet(model.topics.astype(float))
    gamma = model.infer(bags)
    for document in range(20):
        expected, _ = _e_step(bags, document, beta, np.ones(3))
        np.testing.assert_allclose(gamma[document], expected, atol=0.02)


def test_topics_are_those_of_the_equations() -> None:
    """Two passes over 40 documents in chunks of 25, as gensim's LdaModel goes through them."""
    bags, k, n, chunk = _documents(3, 40), 2, 40, 25
    rng = np.random.RandomState(4)
    topics, read = rng.gamma(100.0, 0.01, (k, 30)), 0
    beta = _dirichlet(topics)
    for number in range(2):
        for chosen in (range(chunk), range(chunk, n)):
            begin = rng.gamma(100.0, 0.01, (len(chosen), k))
            added = sum(
                _e_step(bags, i, beta, gamma)[1] for i, gamma in zip(chosen, begin, strict=True)
            )
            rate = (1 + number + read / chunk) ** -0.5
            topics = (1 - rate) * topics + rate * n / len(chosen) * added
            beta = _dirichlet(topics + 1 / k)
            read += len(chosen) * (number == 0)
    found = fit_lda(bags, k, passes=2, chunk=chunk, seed=4)
    np.testing.assert_allclose(found, topics + 1 / k, rtol=1e-3, atol=1e-2)


def test_a_document_does_not_depend_on_its_neighbours(model: TopicModel) -> None:
    bags = _documents(2, 40)
    together = model.infer(bags)
    alone = np.vstack([model.infer(bags[[i]]) for i in range(40)])
    np.testing.assert_array_equal(together, alone)


def test_an_empty_document_keeps_the_prior(model: TopicModel) -> None:
    gamma = model.infer(bags_of([[], [1, 2], [-1]], 30))
    np.testing.assert_allclose(gamma[0], model.alpha)
    np.testing.assert_allclose(gamma[2], model.alpha)

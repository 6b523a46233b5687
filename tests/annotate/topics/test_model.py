"""Inference and fits by scikit-learn against loops; a document's topics depend on it alone."""

import numpy as np
import pytest
from scipy.special import psi

from portrayal.annotate.topics.fit import chunk_for, fit_lda, passes_for
from portrayal.annotate.topics.model import Bags, TopicModel, bags_of
from support import needs

needs("sklearn")

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
    return fit_lda(WORDS, _documents(), 3, seed=0)


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
    shares = model.infer(bags)
    for document in range(20):
        gamma, _ = _e_step(bags, document, beta, np.ones(3))
        np.testing.assert_allclose(shares[document], gamma / gamma.sum(), atol=1e-3)


def test_topics_are_those_of_the_equations() -> None:
    """Passes over documents in chunks, the first of which weighs 1 / sqrt(2)."""
    n, k = 40, 2
    bags = _documents(3, n)
    rng = np.random.RandomState(4)
    topics, updates = rng.gamma(100.0, 0.01, (k, 30)), 0
    for _ in range(passes_for(n)):
        for low in range(0, n, chunk_for(n)):
            chosen = range(low, min(low + chunk_for(n), n))
            begin = rng.gamma(100.0, 0.01, (len(chosen), k))
            beta = _dirichlet(topics)
            added = sum(
                _e_step(bags, i, beta, gamma)[1] for i, gamma in zip(chosen, begin, strict=True)
            )
            updates += 1
            rate = (1 + updates) ** -0.5
            topics = (1 - rate) * topics + rate * (1 / k + n / len(chosen) * added)
    found = fit_lda(WORDS, bags, k, seed=4).topics
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, topics, rtol=1e-2, atol=2e-2)


def test_a_document_does_not_depend_on_its_neighbours(model: TopicModel) -> None:
    bags = _documents(2, 40)
    together = model.infer(bags)
    alone = np.vstack([model.infer(bags[[i]]) for i in range(40)])
    np.testing.assert_array_equal(together, alone)


def test_a_document_without_words_has_the_priors_topics(model: TopicModel) -> None:
    shares = model.infer(bags_of([[], [1, 2], [-1]], 30))
    np.testing.assert_allclose(shares[[0, 2]], 1 / 3)
    assert model.infer(bags_of([], 30)).shape == (0, 3)

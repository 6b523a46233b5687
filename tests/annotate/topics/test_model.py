"""Inference agrees with gensim's, depends on one document alone, and adds up over sentences."""

import numpy as np
import pytest

from portrayal.annotate.topics.corpus import Bags, bags_of
from portrayal.annotate.topics.fit import fit_lda, gensim
from portrayal.annotate.topics.model import TopicModel
from support import needs

needs("gensim")
WORDS = tuple(f"w{i:02}" for i in range(30))


def _documents(seed: int = 0, n: int = 120) -> Bags:
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        low = 10 * (i % 3)
        own = rng.integers(low, low + 10, 25)
        made.append([*own.tolist(), *rng.integers(0, 30, 5).tolist()])
    return bags_of(made)


def _gensims(model: TopicModel):
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


@pytest.fixture(scope="module")
def model() -> TopicModel:
    bags = _documents()
    lda = fit_lda(bags, WORDS, 3, passes=5, chunk=60, seed=0)
    counts = np.bincount(bags.word, bags.count, minlength=30)
    return TopicModel(WORDS, lda.state.get_lambda(), lda.alpha, lda.eta, counts)


def test_shares_are_gensims(model: TopicModel) -> None:
    bags = _documents(1, 20)
    gamma = model.infer(bags)
    ours = gamma / gamma.sum(1, keepdims=True)
    rebuilt = _gensims(model)
    for document, pairs in enumerate(bags.pairs()):
        theirs = dict(rebuilt.get_document_topics(pairs, minimum_probability=0.0))
        assert ours[document] == pytest.approx([theirs[k] for k in range(3)], abs=0.01)


def test_a_document_does_not_depend_on_its_neighbours(model: TopicModel) -> None:
    bags = _documents(2, 40)
    together = model.infer(bags)
    alone = np.vstack([model.infer(bags.take(np.array([i]))) for i in range(40)])
    np.testing.assert_array_equal(together, alone)


def test_an_empty_document_keeps_the_prior(model: TopicModel) -> None:
    gamma = model.infer(bags_of([[], [1, 2], [-1]]))
    np.testing.assert_allclose(gamma[0], model.alpha)
    np.testing.assert_allclose(gamma[2], model.alpha)

"""Log odds of words: an example worked by hand, naive loops, and what the errors are worth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from portrayal.stats.log_odds import clustered_log_odds, informative_prior, log_odds


def test_an_example_worked_by_hand() -> None:
    # Two words. First texts: 6 and 4; second: 2 and 8; prior of 10 words in their proportion: 4, 6.
    prior = informative_prior([8, 12], 10)
    np.testing.assert_allclose(prior, [4, 6])
    delta, error = log_odds([6, 4], [2, 8], prior)
    # Word 1: (6 + 4) of 10 + 10, so 10 to 10; (2 + 4) of 20, so 6 to 14.
    assert delta[0] == pytest.approx(math.log(10 / 10) - math.log(6 / 14))
    assert error[0] == pytest.approx(math.sqrt(1 / 10 + 1 / 6))
    # Word 2: (4 + 6) of 20, so 10 to 10; (8 + 6) of 20, so 14 to 6.
    assert delta[1] == pytest.approx(math.log(10 / 10) - math.log(14 / 6))
    assert error[1] == pytest.approx(math.sqrt(1 / 10 + 1 / 14))


counts = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50)).filter(any), min_size=2, max_size=8
)


def naive(first, second, alpha):
    """The definition of Monroe et al., word by word."""
    n1, n2, a0 = sum(first), sum(second), sum(alpha)
    found = []
    for y1, y2, a in zip(first, second, alpha, strict=True):
        odds1 = (y1 + a) / (n1 + a0 - y1 - a)
        odds2 = (y2 + a) / (n2 + a0 - y2 - a)
        variance = 1 / (y1 + a) + 1 / (y2 + a)
        found.append((math.log(odds1) - math.log(odds2), math.sqrt(variance)))
    return found


@given(pairs=counts, strength=st.floats(0.1, 1000))
def test_equals_the_definition(pairs, strength) -> None:
    first, second = map(list, zip(*pairs, strict=True))
    prior = informative_prior(np.add(first, second), strength)
    delta, error = log_odds(first, second, prior)
    expected = naive(first, second, prior.tolist())
    np.testing.assert_allclose(np.c_[delta, error], expected, rtol=1e-9, atol=1e-9)
    back, _ = log_odds(second, first, prior)
    np.testing.assert_allclose(back, -delta, atol=1e-12)


def test_a_stronger_prior_shrinks() -> None:
    totals = [8, 12]
    sizes = [
        abs(log_odds([6, 4], [2, 8], informative_prior(totals, s))[0][0]) for s in (0.1, 10, 1e6)
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] == pytest.approx(0, abs=1e-4)


def naive_clustered(matrix, is_first, is_second, cluster, alpha):
    """Influence of each cluster on each word's log odds ratio, in loops."""
    groups = sorted(set(cluster[is_first | is_second]))
    n_words = matrix.shape[1]
    sides = []
    for chosen in (is_first, is_second):
        by = np.array([matrix[chosen & (cluster == g)].sum(axis=0) for g in groups])
        sides.append(by.reshape(len(groups), n_words))
    errors = []
    for w in range(n_words):
        influence = np.zeros(len(groups))
        for sign, by in zip((1, -1), sides, strict=True):
            total, n = by[:, w].sum(), by.sum()
            rest = n + alpha.sum() - total - alpha[w]
            for g in range(len(groups)):
                y, length = by[g, w], by[g].sum()
                influence[g] += sign * (y / (total + alpha[w]) - (length - y) / rest)
        size = len(groups)
        errors.append(math.sqrt(size / (size - 1) * ((influence - influence.mean()) ** 2).sum()))
    return np.array(errors)


@given(seed=st.integers(0, 10_000), nested=st.booleans())
def test_the_clustered_error_equals_naive_loops(seed: int, nested: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.poisson(rng.gamma(0.7, 2, (12, 1)) * np.ones((12, 4)))
    matrix[0] += 1
    label = rng.permutation(12) % 3
    cluster = label * 2 + rng.integers(0, 2, 12) if nested else rng.integers(0, 5, 12)
    first, second = label == 0, label == 1
    alpha = informative_prior(matrix.sum(axis=0), 20)
    found = clustered_log_odds(sparse.csr_array(matrix), first, second, cluster, alpha)
    either = first | second
    assert found.n_clusters == len(set(cluster[either]))
    for w in range(4):
        having = len({c for c, y in zip(cluster[either], matrix[either, w], strict=True) if y})
        assert found.word_clusters[w] == having
        assert np.isnan(found.clustered[w]) == (having < 2)
    expected = np.maximum(naive_clustered(matrix, first, second, cluster, alpha), found.error)
    known = ~np.isnan(found.clustered)
    np.testing.assert_allclose(found.clustered[known], expected[known], rtol=1e-6, atol=1e-9)


def test_words_that_come_in_bursts_get_a_wider_error() -> None:
    rng = np.random.default_rng(0)
    n = 200
    even = rng.poisson(5, n)
    bursts = rng.poisson(5, n // 20).repeat(20) * (np.arange(n) % 20 == 0) * 20
    other = rng.poisson(60, n)
    matrix = sparse.csr_array(np.c_[even, bursts, other])
    first = np.arange(n) % 2 == 0
    first[::20] = rng.permutation(n // 20) % 2 == 0
    alpha = informative_prior(np.asarray(matrix.sum(axis=0)).ravel(), 50)
    found = clustered_log_odds(matrix, first, ~first, np.arange(n), alpha)
    wider = found.clustered / found.error
    assert wider[0] == pytest.approx(1, abs=0.3)
    assert wider[1] > 2


def test_under_chance_the_clustered_z_rejects_at_its_rate() -> None:
    rng = np.random.default_rng(1)
    rejected, naively = [], []
    for _ in range(200):
        rate = rng.gamma(0.5, 2, (120, 1)) * np.array([[1.0, 0.5]])
        matrix = np.c_[rng.poisson(rate), rng.poisson(40, 120)]
        first = np.arange(120) % 2 == 0
        alpha = informative_prior(matrix.sum(axis=0) + 1, 10)
        found = clustered_log_odds(sparse.csr_array(matrix), first, ~first, np.arange(120), alpha)
        rejected += (np.abs(found.z_clustered[:2]) > 1.98).tolist()
        naively += (np.abs(found.z[:2]) > 1.98).tolist()
    assert np.mean(rejected) < 0.09
    assert np.mean(naively) > 0.1


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="strength"):
        informative_prior([1, 2], 0)
    with pytest.raises(ValueError, match="no log odds"):
        informative_prior([1, 0], 5)
    with pytest.raises(ValueError, match="above 0"):
        log_odds([1, 2], [3, 4], [1, 0])
    both = np.ones(2, dtype=bool)
    with pytest.raises(ValueError, match="both sets"):
        clustered_log_odds(sparse.csr_array(np.eye(2)), both, both, np.arange(2), np.ones(2))


def test_a_single_cluster_has_no_clustered_error() -> None:
    first = np.array([True, False])
    found = clustered_log_odds(
        sparse.csr_array(np.ones((2, 3))), first, ~first, np.zeros(2, dtype=int), np.ones(3)
    )
    assert np.isnan(found.clustered).all()
    assert np.isfinite(found.z).all()

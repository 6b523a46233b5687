import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats as scipy_stats

from portrayal.stats import (
    cluster_weights,
    divide,
    expanded_percentile,
    permutation_range,
    wilson,
)

SUMS = hnp.arrays(np.float64, (2, 8), elements=st.floats(0.1, 50))


def naive_expanded_tail(level, g):
    t = scipy_stats.t.ppf((1 - level) / 2, g - 1)
    return scipy_stats.norm.cdf(math.sqrt(g / (g - 1)) * t)


def test_weights_are_resamples_of_the_clusters():
    weights = cluster_weights(15, 4000, np.random.default_rng(0))
    assert weights.shape == (4000, 15)
    assert np.issubdtype(weights.dtype, np.integer)
    assert (weights.sum(axis=1) == 15).all()
    np.testing.assert_allclose(weights.mean(axis=0), 1, atol=0.06)
    np.testing.assert_allclose(weights.var(axis=0), 14 / 15, atol=0.12)


def test_weights_repeat_clusters():
    rng = np.random.default_rng(2)
    a, b = rng.random(6), rng.random(6) + 1
    weights = cluster_weights(6, 20, rng)
    for row, value in zip(weights, divide(weights @ a, weights @ b), strict=True):
        drawn = [g for g in range(6) for _ in range(row[g])]
        assert value == pytest.approx(sum(a[g] for g in drawn) / sum(b[g] for g in drawn))


@given(st.integers(2, 60), st.sampled_from([0.8, 0.95]))
def test_percentiles_are_taken_at_the_widened_level(g, level):
    draws = np.random.default_rng(g).lognormal(size=500)
    tail = naive_expanded_tail(level, g)
    low, high = expanded_percentile(draws, level, g)
    assert (low, high) == pytest.approx(np.quantile(draws, [tail, 1 - tail]))
    plain = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    assert low <= plain[0]
    assert high >= plain[1]


def test_hesterbergs_widened_levels():
    """Hesterberg (2015): with n = 10, alpha/2 = 0.025 becomes 0.0086."""
    assert naive_expanded_tail(0.95, 10) == pytest.approx(0.0086, abs=5e-5)
    assert naive_expanded_tail(0.95, 20) == pytest.approx(0.0159, abs=1e-4)


def test_infinite_replicates_sort_last():
    draws = np.concatenate([np.linspace(1, 2, 970), np.full(30, np.inf)])
    low, high = expanded_percentile(draws, 0.95, 1000)
    assert 1 < low < 1.1
    assert high == np.inf
    few = np.concatenate([np.linspace(1, 2, 999), [np.inf]])
    assert expanded_percentile(few, 0.95, 1000)[1] < 2


def test_next_to_infinity_the_bound_moves_outward():
    draws = np.array([-np.inf, *range(1, 10), np.inf])
    low, high = permutation_range(draws, 0.89)  # positions 0.55 and 9.45 of 0..10
    assert (low, high) == (-np.inf, np.inf)
    low, high = permutation_range(draws, 0.79)  # positions 1.05 and 8.95
    assert (low, high) == (pytest.approx(1.05), pytest.approx(8.95))


def test_replicates_are_left_as_they_were():
    draws = np.array([[3.0, 1.0], [2.0, 5.0], [1.0, 4.0]])
    before = draws.copy()
    expanded_percentile(draws, 0.95, 3)
    np.testing.assert_array_equal(draws, before)


def test_undefined_replicates_are_ignored_only_while_rare():
    draws = np.linspace(1, 2, 1000)
    rare, frequent = draws.copy(), draws.copy()
    rare[::25] = np.nan
    frequent[::10] = np.nan
    expected = expanded_percentile(rare[~np.isnan(rare)], 0.95, 15)
    np.testing.assert_allclose(expanded_percentile(rare, 0.95, 15), expected)
    both = expanded_percentile(np.column_stack([rare, frequent]), 0.95, 15)
    assert np.isnan(both).tolist() == [[False, True], [False, True]]
    allowed = expanded_percentile(frequent, 0.95, 15, max_undefined=0.2)
    assert not np.isnan(allowed).any()


def test_one_cluster_has_no_interval():
    assert np.isnan(expanded_percentile([1.0, 1.0], 0.95, 1)).all()


@given(SUMS, st.integers(0, 1000))
def test_the_interval_holds_the_ratio(sums, seed):
    a, b = sums
    weights = cluster_weights(8, 400, np.random.default_rng(seed))
    low, high = expanded_percentile(divide(weights @ a, weights @ b), 0.95, 8)
    assert low <= a.sum() / b.sum() * (1 + 1e-9)
    assert high >= a.sum() / b.sum() * (1 - 1e-9)


@given(SUMS, st.floats(0.01, 100), st.integers(0, 1000))
def test_the_interval_scales_and_inverts(sums, scale, seed):
    a, b = sums
    weights = cluster_weights(8, 401, np.random.default_rng(seed))
    low, high = expanded_percentile(divide(weights @ a, weights @ b), 0.9, 8)
    scaled = expanded_percentile(divide(weights @ (scale * a), weights @ b), 0.9, 8)
    assert scaled == pytest.approx((scale * low, scale * high))
    log_low, log_high = expanded_percentile(np.log(divide(weights @ b, weights @ a)), 0.9, 8)
    at_low, at_high = expanded_percentile(np.log(divide(weights @ a, weights @ b)), 0.9, 8)
    assert (log_low, log_high) == pytest.approx((-at_high, -at_low), abs=1e-9)


def test_identical_clusters_have_a_point_for_an_interval():
    weights = cluster_weights(12, 300, np.random.default_rng(0))
    draws = divide(weights @ np.full(12, 3.0), weights @ np.full(12, 8.0))
    assert expanded_percentile(draws, 0.95, 12) == pytest.approx((0.375, 0.375))


def test_clustered_intervals_cover_where_wilson_does_not():
    """15 prompts with their own shares: 95 % intervals of the pooled share, 500 worlds."""
    rng = np.random.default_rng(20)
    mean, g, size, worlds = 0.3, 15, 200, 500
    shares = rng.beta(6, 14, (worlds, g))
    count = rng.binomial(size, shares).astype(float)
    weights = cluster_weights(g, 1000, rng)
    low, high = expanded_percentile(weights @ count.T / (g * size), 0.95, g)
    naive_low, naive_high = wilson(count.sum(axis=1), g * size, 0.95)
    assert 0.91 <= np.mean((low <= mean) & (mean <= high)) <= 0.985
    assert np.mean((naive_low <= mean) & (mean <= naive_high)) < 0.6

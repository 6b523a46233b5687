"""Balanced replication: of sums it is the clustered t, of medians it has their variance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import infer_means, infer_replicated, median_of_defined
from portrayal.stats.clustered import MOST_BLOCKS, NO_SPREAD, ONE_PROMPT


def mean(y, n):
    return y / n


@given(st.integers(0, 10_000), st.integers(10, 40))
def test_of_a_mean_it_is_about_the_clustered_t(seed, prompts):
    y = np.random.default_rng(seed).normal(1.0, 0.1, (prompts, 2))
    n = np.ones((prompts, 2))
    found, by_sums = infer_replicated(mean, (y, n), (n,), 0.95, 0.9), infer_means(y, n, 0.95, 0.9)
    np.testing.assert_allclose(found.value, by_sums.value)
    # Replicates of a ratio of sums are not quite linear.
    np.testing.assert_allclose(found.high - found.low, by_sums.high - by_sums.low, rtol=0.25)
    np.testing.assert_array_equal(found.df, by_sums.df)


def medians(count, total, null):
    def median(a, n):
        return np.log(median_of_defined(np.moveaxis(a / n, -2, -1)))

    return infer_replicated(median, (count, total), (total.sum(1),), 0.95, np.log(null))


def test_the_interval_of_a_median_of_five_models_covers():
    rng = np.random.default_rng(3)
    shares = rng.beta(2, 8, (15, 1, 300))  # prompts lean alike in all models
    count = rng.binomial(30, np.broadcast_to(shares, (15, 5, 300))) + 0.0
    found = medians(count, np.full(count.shape, 30.0), 0.2)
    covered = (found.low <= np.log(0.2)) & (np.log(0.2) <= found.high)
    assert covered.mean() >= 0.95 - 0.038
    np.testing.assert_array_equal(found.p < 0.05, ~covered)


def test_what_prompts_share_between_models_widens_the_interval():
    shared = np.random.default_rng(6).beta(2, 8, (25, 1, 1))
    count = np.random.default_rng(7).binomial(20, np.broadcast_to(shared, (25, 5, 1))) + 0.0
    total = np.full(count.shape, 20.0)
    orders = [np.random.default_rng(j).permutation(count[:, j]) for j in range(5)]
    wide, narrow = medians(count, total, 0.2), medians(np.stack(orders, axis=1), total, 0.2)
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.1 * (narrow.high - narrow.low)


def test_there_is_none_with_one_prompt_without_spread_or_of_an_infinite_number():
    one = np.ones((1, 1))
    assert infer_replicated(mean, (one, one), (one,), 0.95, 0.0).reason[0] == ONE_PROMPT
    same = np.ones((4, 1))
    assert infer_replicated(mean, (same, same), (same,), 0.95, 0.0).reason[0] == NO_SPREAD
    with np.errstate(divide="ignore"):
        never = infer_replicated(lambda s, n: np.log(s / n), (0 * same, same), (same,), 0.95, 0.0)
    assert never.value[0] == -np.inf
    assert np.isnan([never.low[0], never.high[0], never.p[0]]).all()


def test_neighbours_of_many_prompts_are_joined():
    y = np.random.default_rng(1).normal(1.0, 0.5, (3 * MOST_BLOCKS, 1))
    n = np.ones_like(y)
    found, by_sums = infer_replicated(mean, (y, n), (n,), 0.95, 0.0), infer_means(y, n, 0.95)
    assert found.value[0] == pytest.approx(by_sums.value[0])
    width, wanted = found.high - found.low, by_sums.high - by_sums.low
    assert width[0] == pytest.approx(wanted[0], rel=0.15)
    assert found.n_clusters[0] == len(y)

"""The variance between groups without the noise of their means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from portrayal.stats import noncentral_variance


def replicates(groups, error, rng, n=800):
    return rng.normal(0.0, error, size=(n, groups)).var(axis=1, ddof=1)


@pytest.mark.parametrize(("groups", "true"), [(2, 0.0), (2, 36.0), (4, 20.0), (8, 30.0)])
def test_the_interval_holds_the_true_variance_as_often_as_it_says(groups, true):
    rng = np.random.default_rng(groups)
    centres = np.linspace(-1.0, 1.0, groups)
    centres *= np.sqrt(true / centres.var(ddof=1))
    held = 0
    for _ in range(200):
        means = rng.normal(centres, 4.0)
        low, high = noncentral_variance(means.var(ddof=1), replicates(groups, 4.0, rng), 0.9)
        held += low <= true <= high
    assert 0.83 <= held / 200 <= 0.985


def test_two_groups_agree_with_the_interval_of_their_difference():
    rng = np.random.default_rng(0)
    low, high = noncentral_variance(450.0, replicates(2, 4.0, rng, 20_000), 0.95)
    half = stats.norm.isf(0.025) * 4.0 * np.sqrt(2)
    assert low == pytest.approx((30.0 - half) ** 2 / 2, rel=0.05)
    assert high == pytest.approx((30.0 + half) ** 2 / 2, rel=0.05)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(-50, 50), min_size=2, max_size=8),
    st.floats(0.5, 20),
    st.floats(0.1, 50),
)
def test_bounds_are_ordered_and_keep_the_scale(means, error, scale):
    rng = np.random.default_rng(3)
    means = np.array(means)
    value, draws = means.var(ddof=1), replicates(len(means), error, rng, 200)
    low, high = noncentral_variance(value, draws, 0.95)
    if np.isnan(low):
        return
    assert 0.0 <= low <= high
    again = noncentral_variance(scale * value, scale * draws, 0.95)
    assert again == pytest.approx((scale * low, scale * high), rel=1e-4, abs=1e-4)


def test_a_variance_below_its_noise_reads_from_0_as_one_equal_to_it():
    noise = replicates(4, 4.0, np.random.default_rng(1))
    low, high = noncentral_variance(float(noise.mean()), noise, 0.95)
    assert low == 0.0
    assert high > 16.0
    for variance in (0.0, 1e-9, 0.0008, 0.5, 5.0):
        assert noncentral_variance(variance, noise, 0.95) == pytest.approx((0.0, high))


def test_what_cannot_be_said_is_nan():
    assert np.isnan(noncentral_variance(3.0, [3.0, 3.0, 3.0], 0.95)).all()
    assert np.isnan(noncentral_variance(3.0, [np.nan, 3.0, 4.0], 0.95)).all()


@pytest.mark.parametrize(("variance", "level"), [(-1.0, 0.95), (1.0, 1.0), (1.0, 0.0)])
def test_numbers_that_cannot_be_are_refused(variance, level):
    with pytest.raises(ValueError, match=r"negative|level"):
        noncentral_variance(variance, [1.0, 2.0], level)

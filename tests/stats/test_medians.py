"""Medians: of defined values, and the mix of columns that has the value of one and varies as it."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from portrayal.stats import infer_shares, median_shares, median_sides
from portrayal.stats.medians import MOST_BLOCKS, median_of_defined, median_weights

VALUES = st.sampled_from([np.nan, np.nan, 0.0, 0.5, 1.0, 3.0, np.inf])


@given(hnp.arrays(np.float64, st.integers(1, 9), elements=VALUES))
def test_it_is_the_median_of_what_is_defined(values):
    defined = [float(value) for value in values if not np.isnan(value)]
    expected = statistics.median(defined) if defined else float("nan")
    assert median_of_defined(values) == pytest.approx(expected, nan_ok=True)


@given(hnp.arrays(np.float64, (2, 3, 9), elements=VALUES))
def test_rows_are_independent(values):
    together = median_of_defined(values)
    assert together.shape == (2, 3)
    for place in np.ndindex(2, 3):
        np.testing.assert_array_equal(together[place], median_of_defined(values[place]))


def test_infinite_values_count():
    assert median_of_defined([3.0, np.inf, np.inf, np.nan]) == np.inf


def test_the_callers_array_is_left_alone():
    values = np.array([3.0, 1.0, 2.0])
    median_of_defined(values)
    np.testing.assert_array_equal(values, [3.0, 1.0, 2.0])


def test_no_values_are_undefined():
    assert np.isnan(median_of_defined(np.empty(0)))
    assert np.isnan(median_of_defined(np.empty((2, 0)))).all()


def shares_of_models(shared, seed=3, prompts=15, reps=200):
    """Counts of five models, (n_prompts, reps, 5), whose prompts are alike in all models or not."""
    draw = np.random.default_rng(seed)
    shares = draw.beta(2, 8, (prompts, reps, 1 if shared else 5))
    return draw.binomial(30, np.broadcast_to(shares, (prompts, reps, 5))) + 0.0


@pytest.mark.parametrize("shared", [False, True])
def test_the_mix_has_the_median_and_its_interval_covers(shared):
    count = shares_of_models(shared)
    total = np.full(count.shape, 30.0)
    a, n, squares = median_shares(count, total, count)
    middle = np.median(count.sum(0) / total.sum(0), axis=-1)
    assert a.sum(0) / n.sum(0) == pytest.approx(middle)
    assert (a <= n + 1e-9).all()
    found = infer_shares(a, n, 0.95, 0.2, squares)
    covered = (found.low <= 0.2) & (found.high >= 0.2)
    assert covered.mean() >= 0.95 - 0.046
    np.testing.assert_array_equal(found.p < 0.05, ~covered)


def test_what_prompts_share_between_models_widens_the_interval():
    count = shares_of_models(True, prompts=25, reps=1)
    total = np.full(count.shape, 30.0)
    orders = [np.random.default_rng(j).permutation(count[..., j]) for j in range(5)]
    wide, narrow = (
        infer_shares(*median_shares(x, total, x)[:2], 0.95) for x in (count, np.stack(orders, -1))
    )
    assert wide.value == pytest.approx(narrow.value)
    assert wide.high - wide.low > 1.1 * (narrow.high - narrow.low)


@given(st.integers(0, 10_000))
def test_ratios_of_the_sides_are_medians_of_models_and_of_thresholds(seed):
    draw = np.random.default_rng(seed)
    count = draw.binomial(20, 0.3, (2, 8, 3, 5)) + 0.0  # sides, prompts, groups, models
    total = np.full((8, 3, 5), 20.0)
    for above in (count, np.sort(count)[..., ::-1]):
        nested = above is not count
        squares = None if nested else (above[0], above[1])
        median, sides = median_sides((above[0], total, above[1], total), squares)
        expected = np.median(above[0].sum(0) / above[1].sum(0), axis=-1)
        assert median == pytest.approx(expected)
        assert sides.ratio == pytest.approx(expected)
        assert not nested or (sides.squares <= sides.upper + sides.lower + 1e-9).all()


def test_models_without_the_group_in_both_roles_have_no_weight_and_smoothing_is_of_one_count():
    one = np.ones((6, 1, 1))
    upper = one * [0.0, 2.0, 3.0, 4.0]
    lower, total = one * [0.0, 1.0, 1.0, 0.0], one * [10.0] * 4
    median, sides = median_sides((upper, total, lower, total), (upper, lower))
    assert median[0] == pytest.approx(3.0)  # of 2, 3 and an infinite ratio
    assert sides.ratio[0] == pytest.approx(3.0)
    median, _ = median_sides((upper, total, lower, total), (upper, lower), smoothing=1.0)
    assert median[0] == pytest.approx(3.0)
    never = median_sides((upper, total, 0 * lower, total), (upper, 0 * lower))
    assert (never[0][0], never[1].ratio[0]) == (np.inf, np.inf)


def test_neighbours_of_many_prompts_are_joined():
    draw = np.random.default_rng(1)
    count = draw.binomial(10, 0.3, (2 * MOST_BLOCKS, 1, 3)) + 0.0
    weights = median_weights(lambda sums: sums, [count])
    assert weights.sum() == pytest.approx(1.0)
    joined = median_weights(lambda sums: sums, [count[::2] + count[1::2]])
    np.testing.assert_array_equal(weights, joined)

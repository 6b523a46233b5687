"""Medians of defined values, and of shares over several writers."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from portrayal.stats import infer_shares, median_of_defined
from portrayal.stats.summaries import FEW_MODELS, infer_median_shares, median_over

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


def rng(seed=0):
    return np.random.default_rng(seed)


def world(seed, prompts=12, models=5, texts=20, share=0.2):
    counts = rng(seed).binomial(texts, share, (prompts, models, 1)) + 0.0
    return counts, np.full(counts.shape, float(texts))


def infer(count, total, null=0.2, level=0.95, seed=1):
    return infer_median_shares(count, total, count, level, null, rng(seed))


@given(st.integers(0, 10_000), st.integers(2, 15), st.integers(3, 7), st.floats(0.02, 0.98))
def test_value_interval_and_test_fit_together(seed, prompts, models, share):
    count, total = world(seed, prompts, models, share=share)
    found = infer(count, total, null=0.3)
    (value,), (low,), (high,), (p,) = found.value, found.low, found.high, found.p
    assert value == pytest.approx(np.median(count.sum(0) / total.sum(0)))
    assert 0 <= low <= value <= high <= 1
    assert (p < 0.05) == (not low <= 0.3 <= high)


@given(st.integers(0, 10_000))
def test_a_share_and_its_complement_mirror_each_other(seed):
    count, total = world(seed)
    one, other = infer(count, total), infer(total - count, total, null=0.8)
    assert other.value == pytest.approx(1 - one.value)
    # Fractional weights differ by rounding alone; the noise is that of the same stream.
    assert other.p == pytest.approx(one.p, abs=0.05)


def test_a_model_counts_once_however_many_texts_it_has():
    count, total = world(3)
    many = np.array([1.0, 1, 1, 1, 50])[:, np.newaxis]
    assert infer(count * many, total * many).value == pytest.approx(infer(count, total).value)


def test_models_without_the_group_are_left_out():
    count, total = world(4)
    total[:, 0] = count[:, 0] = 0.0
    assert infer(count, total).value == pytest.approx(infer(count[:, 1:], total[:, 1:]).value)
    total[:, 1:3] = count[:, 1:3] = 0.0
    found = infer(count, total)
    assert np.isnan([found.value[0], found.low[0], found.high[0], found.p[0]]).all()
    assert found.reason[0] == FEW_MODELS


def test_a_group_that_no_model_could_have_is_unknown_without_a_warning():
    count, total = world(4)
    total[:] = count[:] = 0.0
    found = infer(count, total)
    assert np.isnan(found.value[0])
    assert np.isnan(found.p[0])
    assert found.reason[0]


def test_a_group_that_most_models_never_show_has_an_upper_bound():
    count, total = world(5, share=0.3)
    count[:, :3] = 0.0
    found = infer(count, total)
    assert found.value[0] == 0.0
    assert found.low[0] == 0.0
    alone = infer_shares(count[:, 0], total[:, 0], 0.95, 0.2)  # as sure as one such model
    assert found.high[0] == pytest.approx(alone.high[0])
    assert found.p[0] == pytest.approx(alone.p[0])


def test_what_prompts_share_between_models_widens_the_interval():
    shared = rng(6).beta(2, 8, (25, 1, 1))
    count = rng(7).binomial(20, np.broadcast_to(shared, (25, 5, 1))) + 0.0
    total = np.full(count.shape, 20.0)
    apart = np.stack([rng(j).permutation(count[:, j]) for j in range(5)], axis=1)
    wide, narrow = infer(count, total), infer(apart, total)
    assert wide.value == narrow.value
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)


def test_one_prompt_says_nothing_and_unlike_shapes_are_refused():
    count, total = world(8, prompts=1)
    assert np.isnan(infer(count, total).low[0])
    with pytest.raises(ValueError, match="share a shape"):
        infer_median_shares(count, total[:, :2], count, 0.95, 0.2, rng())


def test_median_over_takes_infinity_and_leaves_out_what_is_missing():
    values = np.array([[1.0, 2.0], [np.inf, np.nan], [np.inf, 4.0], [0.5, 3.0]])
    assert median_over(values).tolist() == [np.inf, 3.0]

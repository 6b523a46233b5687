import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from portrayal.stats import median_over_thresholds, weighted_mean, weighted_sd

ROWS = st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 6)), min_size=1, max_size=20)


@given(ROWS)
def test_weights_repeat_values(rows):
    x, w = np.array(rows).T
    repeated = [value for value, times in rows for _ in range(times)]
    if not repeated:
        assert np.isnan(weighted_mean(x, w))
        assert np.isnan(weighted_sd(x, w))
        return
    assert weighted_mean(x, w) == pytest.approx(statistics.fmean(repeated), abs=1e-9)
    assert weighted_sd(x, w) == pytest.approx(statistics.pstdev(repeated), abs=1e-7)


@given(ROWS, st.floats(0.1, 10))
def test_only_relative_weights_matter(rows, scale):
    x, w = np.array(rows).T
    assert weighted_sd(x, scale * w) == pytest.approx(weighted_sd(x, w), abs=1e-9, nan_ok=True)


def test_weights_act_along_the_last_axis():
    x, w = np.arange(6.0).reshape(2, 3), np.array([1, 0, 3])
    np.testing.assert_allclose(weighted_mean(x, w), [1.5, 4.5])
    np.testing.assert_allclose(weighted_sd(x, w), [np.std([0, 2, 2, 2])] * 2)


def naive_median(sub, of_sub, dom, of_dom, s):
    ratios = []
    for a, n, b, m in zip(sub, of_sub, dom, of_dom, strict=True):
        if n == 0 or m == 0 or (a == 0 and b == 0):
            continue
        subordinate, dominant = (a + s) / (n + 2 * s), (b + s) / (m + 2 * s)
        ratios.append(subordinate / dominant if dominant else float("inf"))
    return (statistics.median(ratios) if ratios else float("nan")), len(ratios)


@given(
    hnp.arrays(np.float64, (4, 7), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0])),
    st.sampled_from([0.0, 1.0]),
)
def test_median_is_the_naive_one(counts, s):
    sub, dom = counts[0], counts[1]
    of_sub, of_dom = sub + counts[2], dom + counts[3]
    median, n_defined = median_over_thresholds(sub, of_sub, dom, of_dom, s)
    expected, n_expected = naive_median(sub, of_sub, dom, of_dom, s)
    assert n_defined == n_expected
    assert median == pytest.approx(expected, nan_ok=True)


@given(hnp.arrays(np.float64, (2, 3, 9), elements=st.integers(0, 4)))
def test_rows_are_independent(counts):
    median, n_defined = median_over_thresholds(counts[0], 40, counts[1], 30)
    for row in range(3):
        alone = median_over_thresholds(counts[0, row], 40, counts[1, row], 30)
        np.testing.assert_array_equal((median[row], n_defined[row]), alone)


def test_infinite_ratios_count():
    median, n_defined = median_over_thresholds([3, 2, 1, 0], 10, [1, 0, 0, 0], 10)
    assert (median, n_defined) == (np.inf, 3)


def test_the_callers_arrays_are_left_alone():
    counts = [np.array([3.0, 1.0, 2.0]), np.array([5.0, 5.0, 5.0])]
    before = [part.copy() for part in counts]
    median_over_thresholds(counts[0], counts[1], counts[0][::-1], counts[1])
    np.testing.assert_array_equal(counts, before)


def test_no_thresholds_are_undefined():
    median, n_defined = median_over_thresholds(np.empty(0), 1.0, np.empty(0), 1.0)
    assert np.isnan(median)
    assert n_defined == 0

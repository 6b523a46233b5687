"""Medians of defined values."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from portrayal.stats import median_of_defined

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

"""Eq. 7 and the chi-squared test, by hand and against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from portrayal.measure.pairs.topics import (
    associations,
    chi_squared,
    contingency,
    standardized_residuals,
)

TABLE = np.array([[80, 559, 473], [483, 9, 157], [105, 22, 2488]])
"""The rows of the paper's Table 4, as a table of three topics."""


def test_equation_7_by_hand() -> None:
    """Topic 1, group 1: E = 40 · 50 / 100 = 20, spread √(20 · 0.6 · 0.5)."""
    found = standardized_residuals(np.array([[30, 10], [20, 40]]))
    by_hand = (30 - 20) / np.sqrt(20 * (1 - 0.4) * (1 - 0.5))
    assert by_hand == pytest.approx(4.082, abs=0.001)
    np.testing.assert_allclose(found, by_hand * np.array([[1, -1], [-1, 1]]))


def test_topics_of_table_4_go_with_the_groups_that_the_paper_says() -> None:
    found = associations(standardized_residuals(TABLE))
    np.testing.assert_array_equal(found, [1, 0, 2])  # female, male, neutral


def test_only_a_residual_above_the_threshold_associates() -> None:
    residual = np.array([[3.0, -3.0], [3.01, 3.5], [np.nan, np.nan], [-9.0, 2.9]])
    np.testing.assert_array_equal(associations(residual), [-1, 1, -1, -1])
    np.testing.assert_array_equal(associations(residual, 2.5), [0, 1, -1, 1])


def test_sentences_are_counted() -> None:
    found = contingency(np.array([0, 2, 2, 2]), np.array([1, 0, 0, 1]), (3, 2))
    np.testing.assert_array_equal(found, [[0, 1], [0, 0], [2, 1]])


tables = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=2, max_size=6)


@settings(deadline=None)
@given(tables)
def test_chi_squared_is_scipys_without_empty_rows_and_columns(rows: list[list[int]]) -> None:
    observed = np.array(rows)
    found, df = chi_squared(observed)
    left = observed[observed.sum(1) > 0][:, observed.sum(0) > 0]
    if min(left.shape) < 2:
        assert np.isnan(found)
        assert df == 0
        return
    theirs = chi2_contingency(left, correction=False)
    assert (found, df) == pytest.approx((theirs.statistic, theirs.dof))


@settings(deadline=None)
@given(tables)
def test_residuals_are_their_definition(rows: list[list[int]]) -> None:
    observed = np.array(rows)
    found, n = standardized_residuals(observed), observed.sum()
    for k, m in np.ndindex(*observed.shape):
        row, column = observed[k].sum(), observed[:, m].sum()
        if row in (0, n) or column in (0, n):
            assert np.isnan(found[k, m])
        else:
            spread = row * column / n * (1 - row / n) * (1 - column / n)
            expected = (observed[k, m] - row * column / n) / np.sqrt(spread)
            assert found[k, m] == pytest.approx(expected)

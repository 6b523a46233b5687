import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from portrayal.stats import exact_test, score_test, wilson

LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.99])
TOTALS = st.integers(1, 5000)


@st.composite
def counts(draw):
    n = draw(TOTALS)
    return draw(st.integers(0, n)), n


@st.composite
def fractional_counts(draw):
    n = draw(st.floats(0.5, 5000))
    return draw(st.floats(0, 1)) * n, n


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(
    ("k", "n"), [(0, 3), (1, 1), (0, 20000), (1, 20000), (7, 9), (19999, 20000), (590, 1001)]
)
def test_wilson_is_scipys(k, n, level):
    expected = scipy_stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert wilson(k, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(fractional_counts(), LEVELS)
def test_wilson_of_fractional_counts_is_statsmodels(cell, level):
    k, n = cell
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    assert wilson(k, n, level) == pytest.approx(expected, abs=1e-10)


@given(fractional_counts(), LEVELS)
def test_wilson_holds_the_share_and_stays_in_the_unit(cell, level):
    k, n = cell
    low, high = wilson(k, n, level)
    assert 0 <= low <= k / n + 1e-12
    assert k / n - 1e-12 <= high <= 1
    assert low < high


def test_wilson_ends_exactly_at_nothing_and_everything():
    n = np.arange(1, 2000) / 3
    low, high = wilson(0, n, 0.95)
    assert (low == 0).all()
    assert (high < 1).all()
    low, high = wilson(n, n, 0.95)
    assert (high == 1).all()
    assert (low > 0).all()


@given(fractional_counts(), LEVELS)
def test_wilson_mirrors_when_in_and_out_swap(cell, level):
    k, n = cell
    low, high = wilson(k, n, level)
    mirrored_low, mirrored_high = wilson(n - k, n, level)
    np.testing.assert_allclose([1 - mirrored_high, 1 - mirrored_low], [low, high], atol=1e-10)


@given(fractional_counts(), st.floats(0.01, 0.99), LEVELS)
def test_score_test_inverts_wilson(cell, p0, level):
    k, n = cell
    low, high = wilson(k, n, level)
    p = score_test(k, n, p0)
    if min(abs(p0 - low), abs(p0 - high)) > 1e-9:
        assert (p < 1 - level) == (p0 < low or p0 > high)


def test_score_test_is_statsmodels_with_the_null_variance():
    for k, n, p0 in [(3, 17, 0.5), (0, 50, 0.0038), (14000, 15000, 0.944), (1, 3, 0.999)]:
        _, expected = proportions_ztest(k, n, p0, prop_var=p0)
        assert score_test(k, n, p0) == pytest.approx(expected, rel=1e-9)


@given(counts(), st.floats(0.01, 0.99))
def test_exact_test_sums_the_outcomes_no_likelier_than_the_one_seen(cell, p0):
    k, n = cell[0] % 60, max(cell[1] % 60, cell[0] % 60, 1)
    mass = [math.comb(n, i) * p0**i * (1 - p0) ** (n - i) for i in range(n + 1)]
    expected = sum(m for m in mass if m <= mass[k] * (1 + 1e-7))
    assert exact_test(k, n, p0) == pytest.approx(min(expected, 1.0), rel=1e-6)


def test_exact_test_needs_whole_counts():
    p = exact_test([[3, 2.5], [3, 0], [np.nan, 4]], [[10, 10], [10.5, 0], [4, 4 + 1e-12]], 0.3)
    assert np.isnan(p).tolist() == [[False, True], [True, True], [True, False]]
    assert p[0, 0] == pytest.approx(scipy_stats.binomtest(3, 10, 0.3).pvalue)


def test_shapes_broadcast():
    low, high = wilson(np.ones((3, 1)), np.full((1, 4), 9.0), 0.95)
    assert low.shape == high.shape == (3, 4)
    assert score_test(np.ones((3, 1)), 9.0, [0.1, 0.2]).shape == (3, 2)
    assert exact_test(1, 9, [0.1, 0.2]).shape == (2,)


def test_an_empty_total_is_undefined():
    assert np.isnan(wilson(0, 0, 0.95)).all()
    assert np.isnan(score_test(0, 0, 0.5))
    assert np.isnan(exact_test(0, 0, 0.5))


def test_nan_stays_nan():
    assert np.isnan(wilson(np.nan, 5, 0.95)).all()
    assert np.isnan(score_test(1, 5, np.nan))
    assert np.isnan(exact_test(1, 5, np.nan))

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk
from statsmodels.stats.proportion import confint_proportions_2indep

from portrayal.stats import katz_log, ratio, wilson
from portrayal.stats.proportions import smooth

LOPSIDED = [(1, 3, 2, 20000), (150, 152, 3, 9), (7, 900, 40, 41), (2, 2, 3, 7), (60, 61, 61, 61)]


@st.composite
def cells(draw, least=0.05):
    """Two fractional counts within their totals."""
    n1, n2 = draw(st.floats(1, 5000)), draw(st.floats(1, 5000))
    return (
        least + draw(st.floats(0, 1)) * (n1 - least),
        n1,
        least + draw(st.floats(0, 1)) * (n2 - least),
        n2,
    )


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("cell", LOPSIDED)
def test_ratio_and_katz_are_scipys_relative_risk(cell, level):
    expected = relative_risk(*cell)
    interval = expected.confidence_interval(level)
    assert ratio(*cell) == pytest.approx(expected.relative_risk, rel=1e-12)
    assert katz_log(*cell, level) == pytest.approx((interval.low, interval.high), rel=1e-9)


@pytest.mark.parametrize("cell", LOPSIDED)
def test_katz_is_statsmodels(cell):
    expected = confint_proportions_2indep(*cell, compare="ratio", method="log")
    assert katz_log(*cell, 0.95) == pytest.approx(expected, rel=1e-9)


@given(cells(), st.sampled_from([0.8, 0.95]))
def test_katz_by_its_formula(cell, level):
    k1, n1, k2, n2 = cell
    variance = 1 / k1 - 1 / n1 + 1 / k2 - 1 / n2
    assume(variance > 1e-6)
    z = {0.8: 1.2815515655446004, 0.95: 1.959963984540054}[level]
    centre = math.log((k1 / n1) / (k2 / n2))
    expected = [math.exp(centre + sign * z * math.sqrt(variance)) for sign in (-1, 1)]
    assert katz_log(*cell, level) == pytest.approx(expected, rel=1e-6)


@given(cells())
def test_swapping_the_groups_takes_the_reciprocal(cell):
    k1, n1, k2, n2 = cell
    assume(k1 < n1 or k2 < n2)
    low, high = katz_log(*cell, 0.95)
    swapped_low, swapped_high = katz_log(k2, n2, k1, n1, 0.95)
    assert ratio(k2, n2, k1, n1) == pytest.approx(1 / ratio(*cell), rel=1e-9)
    assert (swapped_low, swapped_high) == pytest.approx((1 / high, 1 / low), rel=1e-6, nan_ok=True)


@given(cells(), st.floats(0, 3))
def test_katz_holds_the_ratio(cell, s):
    low, high = katz_log(*cell, 0.95, smoothing=s)
    assume(not np.isnan(low))
    value = ratio(*cell, smoothing=s)
    assert 0 < low <= value * (1 + 1e-12)
    assert value * (1 - 1e-12) <= high < np.inf


@given(cells(), st.integers(2, 50))
def test_more_of_the_same_narrows_katz_by_the_square_root(cell, times):
    low, high = katz_log(*cell, 0.95)
    assume(high / low > 1.0001)
    many_low, many_high = katz_log(*(times * part for part in cell), 0.95)
    shrunk = math.log(high / low) / math.sqrt(times)
    assert math.log(many_high / many_low) == pytest.approx(shrunk, rel=1e-6)


def test_ratio_ends():
    values = ratio([0, 3, 0, 1, np.nan], [5, 5, 5, 5, 5], [2, 0, 0, 0, 1], [5, 5, 5, 5, 5])
    np.testing.assert_array_equal(values, [0, np.inf, np.nan, np.inf, np.nan])
    assert np.isnan(ratio(0, 0, 1, 5))
    assert np.isnan(ratio(1, 5, 0, 0))


def test_katz_is_undefined_without_counts_or_variance():
    for cell in [(0, 5, 2, 5), (2, 5, 0, 5), (0, 5, 0, 5), (5, 5, 9, 9), (0, 0, 1, 5)]:
        assert np.isnan(katz_log(*cell, 0.95)).all()


def test_smoothing_adds_s_to_the_count_and_2s_to_the_total():
    assert smooth(3, 10, 1) == (4, 12)
    assert ratio(0, 10, 3, 20, smoothing=1) == pytest.approx((1 / 12) / (4 / 22))
    assert katz_log(0, 10, 3, 20, 0.95, smoothing=1) == pytest.approx(katz_log(1, 12, 4, 22, 0.95))


def test_smoothing_may_apply_to_single_cells():
    k1, k2 = np.array([0, 3]), np.array([4, 5])
    s = np.where((k1 == 0) | (k2 == 0), 1.0, 0.0)
    np.testing.assert_allclose(ratio(k1, 10, k2, 10, s), [(1 / 12) / (5 / 12), 3 / 5])


def test_a_ratio_to_a_known_share_scales_wilson():
    """The representation ratio of the paper: Wilson over p*."""
    low, high = (bound / 0.063 for bound in wilson(386.1, 14945, 0.95))
    assert (low, high) == pytest.approx((0.372, 0.453), abs=2e-3)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from portrayal.stats import ratio, score_ratio_interval, score_ratio_test

# k1, n1, k2, n2; the first two are worked in Koopman's and later papers on his method.
CASES = [(36, 40, 16, 80), (18, 40, 16, 80), (1, 3, 2, 2000), (150, 152, 3, 9), (7, 900, 40, 41)]


@st.composite
def cells(draw):
    """Two fractional counts within their totals; either count may be zero or full."""
    share = st.one_of(st.just(0.0), st.just(1.0), st.floats(0.001, 0.999))
    n1, n2 = draw(st.floats(1, 5000)), draw(st.floats(1, 5000))
    return draw(share) * n1, n1, draw(share) * n2, n2


def share_by_search(k1, n1, k2, n2, null):
    """Most likely p2 under p1 = null · p2, by looking at a fine grid of shares."""
    p2 = np.linspace(0, min(1, 1 / null), 2_000_001)[1:-1]
    p1 = null * p2
    log_likelihood = (
        k1 * np.log(p1) + (n1 - k1) * np.log1p(-p1) + k2 * np.log(p2) + (n2 - k2) * np.log1p(-p2)
    )
    return p2[np.argmax(log_likelihood)]


def naive_score(k1, n1, k2, n2, null):
    p2 = share_by_search(k1, n1, k2, n2, null)
    p1 = null * p2
    variance = p1 * (1 - p1) / n1 + null**2 * p2 * (1 - p2) / n2
    return (k1 / n1 - null * k2 / n2) / np.sqrt(variance)


@pytest.mark.parametrize("cell", [(36, 40, 16, 80), (1, 7, 9, 11), (2.5, 30, 0.75, 50)])
def test_the_bounds_are_where_the_score_reaches_z(cell):
    low, high = score_ratio_interval(*cell, 0.95)
    assert naive_score(*cell, low) == pytest.approx(1.959964, abs=1e-3)
    assert naive_score(*cell, high) == pytest.approx(-1.959964, abs=1e-3)


@pytest.mark.parametrize("level", [0.9, 0.95])
@pytest.mark.parametrize("cell", CASES)
def test_interval_is_statsmodels_score_method(cell, level):
    expected = confint_proportions_2indep(
        *cell, compare="ratio", method="score", correction=False, alpha=1 - level
    )
    assert score_ratio_interval(*cell, level) == pytest.approx(expected, rel=1e-5)


def test_koopmans_first_example():
    assert score_ratio_interval(36, 40, 16, 80, 0.95) == pytest.approx((2.94, 7.15), abs=0.02)


def test_p_value_is_the_pooled_z_test():
    for k1, n1, k2, n2 in CASES:
        _, expected = proportions_ztest([k1, k2], [n1, n2])
        assert score_ratio_test(k1, n1, k2, n2) == pytest.approx(expected, rel=1e-9)


@given(cells(), st.sampled_from([0.8, 0.95]))
def test_interval_holds_the_ratio_and_agrees_with_the_test(cell, level):
    value, p = ratio(*cell), score_ratio_test(*cell)
    low, high = score_ratio_interval(*cell, level)
    if np.isnan(value):
        assert np.isnan(low)
        assert np.isnan(high)
        return
    assert 0 <= low <= value * (1 + 1e-9)
    assert value * (1 - 1e-9) <= high
    assert low < high
    if not np.isnan(p) and min(abs(low - 1), abs(high - 1)) > 1e-7:
        assert (p < 1 - level) == (low > 1 or high < 1)


@given(cells())
def test_swapping_the_groups_takes_the_reciprocal(cell):
    k1, n1, k2, n2 = cell
    low, high = score_ratio_interval(*cell, 0.95)
    swapped_low, swapped_high = score_ratio_interval(k2, n2, k1, n1, 0.95)
    with np.errstate(divide="ignore"):
        expected = (np.float64(1) / high, np.float64(1) / low)
    assert (swapped_low, swapped_high) == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_zero_and_full_counts():
    low, high = score_ratio_interval([0, 3, 10, 0], 10, [3, 0, 10, 0], 10, 0.95)
    assert low[0] == 0
    assert 0 < high[0] < 2
    assert 0 < low[1] < np.inf
    assert high[1] == np.inf
    assert low[2] < 1 < high[2] < np.inf
    assert np.isnan([low[3], high[3]]).all()
    assert np.isnan(score_ratio_test([10, 0, 0], [10, 10, 0], [10, 0, 1], 10)).all()


def test_large_and_tiny_counts_stay_accurate():
    cell = (1e6, 2e6, 3.0, 2e6)
    expected = confint_proportions_2indep(*cell, compare="ratio", method="score", correction=False)
    assert score_ratio_interval(*cell, 0.95) == pytest.approx(expected, rel=1e-4)
    low, high = score_ratio_interval(1e-3, 1e6, 5e5, 1e6, 0.95)
    assert 0 < low < 2e-9 < high

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from portrayal.stats import altman_bland_p, cohens_d, z_from_interval

SIZES = st.floats(0, 8)


def test_a_worked_example():
    """A risk ratio of 0.81 with 95 % interval 0.70 to 0.94 gives z = -2.81 and P = 0.005."""
    z = z_from_interval(0.81, 0.70, 0.94, log=True)
    assert z == pytest.approx(-2.81, abs=0.01)
    assert altman_bland_p(z) == pytest.approx(0.005, abs=5e-4)


@pytest.mark.parametrize("z", [0.0, 0.5, 1.0, 1.96, 4.0])
def test_p_by_its_formula(z):
    assert altman_bland_p(z) == pytest.approx(math.exp(-0.717 * z) * math.exp(-0.416 * z * z))


@given(SIZES, SIZES)
def test_p_falls_with_the_size_of_z(a, b):
    small, large = sorted((a, b))
    assert 0 < altman_bland_p(large) <= altman_bland_p(small) <= 1
    assert altman_bland_p(-a) == altman_bland_p(a)


def test_p_is_near_the_normal_one():
    z = np.linspace(0, 4, 200)
    assert np.abs(altman_bland_p(z) - 2 * scipy_stats.norm.sf(z)).max() < 0.015


@given(st.floats(-4, 4), st.floats(0.01, 3), st.booleans())
def test_z_is_recovered_from_a_symmetric_interval(z, error, log):
    middle = z * error
    ends = np.array([middle, middle - 1.96 * error, middle + 1.96 * error])
    value, low, high = np.exp(ends) if log else ends + 1
    assert z_from_interval(value, low, high, log=log) == pytest.approx(z, abs=1e-9)


def test_z_is_undefined_without_a_usable_interval():
    assert np.isnan(z_from_interval(1.2, 1.2, 1.2, log=False))
    assert np.isnan(z_from_interval(1.2, 0.0, 1.5, log=True))
    assert np.isnan(z_from_interval(1.2, 0.5, np.inf, log=True))
    assert np.isnan(z_from_interval(0.0, 0.0, 1.5, log=True))
    assert np.isnan(z_from_interval(np.nan, 0.5, 1.5, log=False))


def test_cohens_d_of_single_observations():
    likelihoods = np.array([0.9, 0.1, 0.1, 0.2, 0.05, 0.75])
    mean = sum(likelihoods) / 6
    sd = (sum((x - mean) ** 2 for x in likelihoods) / 6) ** 0.5
    assert cohens_d(mean, 0.136, sd) == pytest.approx((mean - 0.136) / sd)


def test_cohens_d_without_spread_is_undefined():
    np.testing.assert_array_equal(cohens_d([0.5, 0.2], 0.1, [0.0, 0.1]), [np.nan, 1.0])


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1), st.floats(0.1, 10))
def test_cohens_d_has_no_unit(mean, reference, sd, scale):
    scaled = cohens_d(scale * mean, scale * reference, scale * sd)
    assert scaled == pytest.approx(cohens_d(mean, reference, sd), abs=1e-9)

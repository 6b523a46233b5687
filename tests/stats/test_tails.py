"""Tails equal those of scipy.stats, far out too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from portrayal.stats import tails

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan]
VALUES = st.floats(-40.0, 40.0) | st.sampled_from(EDGES)
POSITIVE = st.floats(0.0, 1e4) | st.sampled_from([0.0, np.nan, np.inf])
CHANCES = (
    st.floats(0.0, 1.0)
    | st.floats(-300.0, 0.0).map(lambda power: 10.0**power)
    | st.sampled_from([0.0, 1.0, np.nan])
)
FREEDOM = st.floats(0.05, 1e7) | st.sampled_from([1.0, 2.0, 30.0, np.nan])
SHAPES = st.floats(0.5, 1e6)
SKEWS = st.floats(-6.0, 6.0) | st.sampled_from([0.0, 1e-6, -1e-5, np.nan])


def same(ours, theirs, rtol=1e-12, atol=1e-300):
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@given(VALUES, CHANCES)
def test_normal(x, q):
    same(tails.normal_sf(x), stats.norm.sf(x))
    same(tails.normal_isf(q), stats.norm.isf(q))


@given(VALUES, CHANCES, FREEDOM)
def test_t(x, q, df):
    same(tails.t_sf(x, df), stats.t.sf(x, df))
    same(tails.t_isf(q, df), stats.t.isf(q, df))


@given(POSITIVE, FREEDOM, FREEDOM)
def test_f(x, df1, df2):
    same(tails.f_sf(x, df1, df2), stats.f.sf(x, df1, df2))


@given(CHANCES, FREEDOM)
def test_chi2(q, df):
    same(tails.chi2_ppf(q, df), stats.chi2.ppf(q, df))


@given(CHANCES, SHAPES, SHAPES)
def test_beta(q, a, b):
    same(tails.beta_ppf(q, a, b), stats.beta.ppf(q, a, b), atol=1e-290)
    same(tails.beta_isf(q, a, b), stats.beta.isf(q, a, b), atol=1e-290)


@given(st.floats(-40.0, 40.0) | st.just(np.nan), st.floats(1e-6, 1 - 1e-6), SKEWS)
def test_pearson3(x, q, skew):
    same(tails.pearson3_sf(x, skew), stats.pearson3.sf(x, skew), rtol=1e-9)
    same(tails.pearson3_cdf(x, skew), stats.pearson3.cdf(x, skew), rtol=1e-9)
    same(tails.pearson3_ppf(q, skew), stats.pearson3.ppf(q, skew), rtol=1e-9, atol=1e-9)


@given(st.floats(-200.0, -6.0).map(lambda power: 10.0**power), st.floats(-3.0, -0.01))
def test_pearson3_far_out_where_scipy_stats_gives_infinity(q, skew):
    same(tails.pearson3_cdf(tails.pearson3_ppf(q, skew), skew), q, rtol=1e-8)


@given(st.integers(0, 3000), st.floats(1e-6, 1.0 - 1e-6), st.floats(1e-6, 1.0 - 1e-6))
def test_binomial(n, share, q):
    same(tails.binomial_pmf(n, share), stats.binom.pmf(np.arange(n + 1), n, share), 1e-9, 1e-280)
    count = tails.binomial_ppf(q, n, share)
    above, below = stats.binom.cdf(count, n, share), stats.binom.cdf(count - 1, n, share)
    assert above >= q * (1 - 1e-12)
    assert below < q * (1 + 1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_certain_outcome(share):
    assert tails.binomial_pmf(5, share).tolist() == stats.binom.pmf(np.arange(6), 5, share).tolist()
    assert tails.binomial_ppf(0.5, 5, share) == 5 * share


@given(st.integers(1, 400), st.data())
def test_hypergeometric(total, data):
    marked, drawn = (data.draw(st.integers(0, total)) for _ in range(2))
    k = np.arange(max(0, marked + drawn - total), min(marked, drawn) + 1)
    expected = stats.hypergeom.pmf(k, total, marked, drawn)
    same(tails.hypergeometric_pmf(total, marked, drawn), expected, 1e-9, 1e-280)


def test_arrays_broadcast():
    assert tails.t_isf([[0.1], [0.2]], [3.0, 4.0, 5.0]).shape == (2, 3)
    assert tails.pearson3_ppf([[0.1], [0.9]], [0.0, 1.0, -1.0]).shape == (2, 3)

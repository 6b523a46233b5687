import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from portrayal.stats import benjamini_hochberg

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)


@given(P_VALUES)
def test_q_is_statsmodels(p):
    expected = multipletests(p, method="fdr_bh")[1]
    np.testing.assert_allclose(benjamini_hochberg(p), expected, atol=1e-12)


@given(P_VALUES)
def test_q_by_its_definition(p):
    n = p.size
    for own, q in zip(p, benjamini_hochberg(p), strict=True):
        steps = [other * n / sum(x <= other for x in p) for other in p if other >= own]
        assert q == pytest.approx(min(1.0, *steps), abs=1e-12)


@given(P_VALUES)
def test_q_keeps_the_order_and_is_no_smaller(p):
    q = benjamini_hochberg(p)
    assert np.all(q >= p - 1e-15)
    assert np.all(np.diff(q[np.argsort(p)]) >= -1e-15)
    assert np.all(q <= 1)


@given(P_VALUES, st.integers(1, 5))
def test_missing_tests_are_no_members(p, missing):
    q = benjamini_hochberg(np.concatenate([np.full(missing, np.nan), p]))
    assert np.isnan(q[:missing]).all()
    np.testing.assert_array_equal(q[missing:], benjamini_hochberg(p))


def test_shape_is_kept_and_an_empty_family_is_fine():
    assert benjamini_hochberg([[0.01, np.nan], [0.5, 0.02]]).shape == (2, 2)
    assert np.isnan(benjamini_hochberg([np.nan, np.nan])).all()
    assert benjamini_hochberg([]).shape == (0,)
    assert benjamini_hochberg(0.3) == 0.3

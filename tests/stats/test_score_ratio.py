import numpy as np
import pytest
from statsmodels.stats.proportion import proportions_ztest

from portrayal.stats import score_ratio_test

# k1, n1, k2, n2
CASES = [(36, 40, 16, 80), (18, 40, 16, 80), (1, 3, 2, 2000), (150, 152, 3, 9), (7, 900, 40, 41)]


def test_p_value_is_the_pooled_z_test():
    for k1, n1, k2, n2 in CASES:
        _, expected = proportions_ztest([k1, k2], [n1, n2])
        assert score_ratio_test(k1, n1, k2, n2) == pytest.approx(expected, rel=1e-9)


def test_full_and_empty_shares_have_no_test():
    assert np.isnan(score_ratio_test([10, 0, 0], [10, 10, 0], [10, 0, 1], 10)).all()

"""Differences of shares within blocks, of counts: exact by exchange, with bounds of the score."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from portrayal.stats import count_differences

CELL = st.integers(2, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def differences(blocks, level=0.95):
    """Bounds and p of blocks, each (a, n, b, m)."""
    a, n, b, m = (np.array(x, dtype=float)[:, np.newaxis] for x in zip(*blocks, strict=True))
    return tuple(float(x[0]) for x in count_differences((a, b), (n, m), level))


@given(CELL, CELL)
def test_of_one_block_p_is_fishers_and_agrees_with_the_bounds(first, second):
    (a, n), (b, m) = first, second
    low, high, p = differences([(a, n, b, m)])
    if not 0 < a + b < n + m:
        assert np.isnan([low, high, p]).all()
        return
    assert p == pytest.approx(scipy_stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue, rel=1e-6)
    assert low <= a / n - b / m <= high
    assert (p < 0.05) == (low > 0.0 or high < 0.0)


@pytest.mark.parametrize(
    "cells", [(27, 270, 9, 289), (30, 40, 11, 60), (11, 146, 2, 132), (40, 90, 12, 30)]
)
def test_bounds_of_one_block_are_those_of_miettinen_and_nurminen(cells):
    a, n, b, m = cells
    for bound in differences([cells])[:2]:
        # The likeliest shares that differ by the bound, found by search
        def likelihood(second, bound=bound):
            shares = np.clip([second + bound, second], 1e-12, 1.0 - 1e-12)
            return -scipy_stats.binom.logpmf([a, b], [n, m], shares).sum()

        ends = max(-bound, 0.0), min(1.0 - bound, 1.0)
        second = optimize.minimize_scalar(likelihood, bounds=ends, method="bounded").x
        shares = np.array([second + bound, second])
        variance = (shares * (1.0 - shares) / [n, m]).sum() * (n + m) / (n + m - 1.0)
        distance = abs(a / n - b / m - bound) / np.sqrt(variance)
        assert distance == pytest.approx(scipy_stats.norm.ppf(0.975), abs=2e-3)


def test_of_several_blocks_p_is_that_of_all_exchanges_within_them():
    blocks = [(3, 3, 1, 4), (2, 4, 0, 3)]
    marked = [[1] * (a + b) + [0] * (n + m - a - b) for a, n, b, m in blocks]
    masks = [
        [mask for mask in product((0, 1), repeat=n + m) if sum(mask) == n] for _, n, _, m in blocks
    ]
    totals = [
        sum(sum(np.array(x) * mask) for x, mask in zip(marked, two, strict=True))
        for two in product(*masks)
    ]
    counts = np.bincount(totals)
    observed = counts[sum(a for a, *_ in blocks)]
    assert differences(blocks)[2] == pytest.approx(counts[counts <= observed].sum() / len(totals))


def test_blocks_without_a_side_and_what_everybody_says_tell_nothing():
    assert differences([(9, 20, 1, 20), (5, 5, 0, 0)]) == differences([(9, 20, 1, 20)])
    assert np.isnan(differences([(5, 5, 7, 7)])).all()
    assert np.isnan(differences([(5, 5, 0, 0)])).all()

"""Random subsets of prompts: against naive loops, and the medians that they bound."""

import numpy as np
import pytest

from portrayal.stats.contrasts import TwoSides
from portrayal.stats.roles import (
    fewest_prompts,
    median_inference,
    no_test_reason,
    prompt_subsets,
)


def rng():
    return np.random.default_rng(7)


def test_few_prompts_have_no_test_and_say_why():
    assert "needs 6" in (no_test_reason(5, 0.95) or "")
    assert no_test_reason(6, 0.95) is None


def test_the_test_and_interval_of_a_median_agree():
    generator = np.random.default_rng(17)
    n = np.full((8, 3), 25.0)
    for _ in range(20):
        a, b = generator.poisson(6, (8, 3)) + 1.0, generator.poisson(4, (8, 3)) + 1.0
        found = median_inference(TwoSides(a, n, b, n), prompt_subsets(8, rng()))
        assert (found.p[0] < 0.05) == (found.low[0] > 1 or found.high[0] < 1)


def test_fewest_prompts_is_where_the_smallest_p_reaches_the_level():
    for level in (0.8, 0.9, 0.95, 0.99, 0.999):
        n = fewest_prompts(level)
        assert 2.0 ** (1 - n) < 1 - level <= 2.0 ** (2 - n) + 1e-12


def test_median_is_smoothed_where_one_count_is_zero():
    s = TwoSides(
        np.array([[4.0, 2.0, 0.0]]),
        np.full((1, 3), 10.0),
        np.array([[2.0, 0.0, 0.0]]),
        np.full((1, 3), 10.0),
    )
    ratios = [4 / 2, (2.5 / 11) / (0.5 / 11)]
    assert median_inference(s, prompt_subsets(1, rng())).ratio[0] == pytest.approx(np.mean(ratios))


@pytest.mark.parametrize("ratio", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("n_prompts", [5, 7, 12])
def test_the_interval_of_a_median_leaves_out_1_where_p_is_small(ratio, n_prompts):
    subsets = prompt_subsets(n_prompts, rng())
    for seed in range(60):
        draw = np.random.default_rng([seed, n_prompts])
        share = draw.beta(2, 12, (n_prompts, 1)) * np.ones(3)
        lesser = draw.binomial(20, np.minimum(share * ratio, 1)).astype(float)
        greater, total = draw.binomial(20, share).astype(float), np.full(share.shape, 20.0)
        found = median_inference(TwoSides(lesser, total, greater, total), subsets)
        value, low, high, p = (float(x[0]) for x in (found.ratio, found.low, found.high, found.p))
        if np.isnan(p):
            assert np.isnan(low)
            continue
        assert low <= value <= high
        assert (p < 0.05) == (not low <= 1 <= high)

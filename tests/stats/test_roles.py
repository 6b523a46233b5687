"""Swapped prompts: against naive loops, and the promises that test, interval and null agree."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.stats.p_values import agreeing_interval
from portrayal.stats.roles import (
    RoleSums,
    coin_test,
    contributions,
    fewest_prompts,
    median_inference,
    no_test_reason,
    prompt_subsets,
    role_inference,
    sharper_p,
    subset_ratios,
)


def one(lesser, n_lesser, greater, n_greater):
    """Sums of one group from four lists."""
    return RoleSums(
        *(np.array(x, dtype=float)[:, None] for x in (lesser, n_lesser, greater, n_greater))
    )


@st.composite
def sums(draw, most=8):
    n = draw(st.integers(1, most))
    whole = draw(st.booleans())
    cells = []
    for _ in range(2):
        total = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
        part = [draw(st.floats(0, 1).map(lambda x: round(x, 2))) for _ in total]
        if draw(st.booleans()):
            part = [0.0 if draw(st.booleans()) else x for x in part]
        count = [round(x * t) if whole else x * t for x, t in zip(part, total, strict=True)]
        cells += [count, total]
    return one(*cells)


def rng():
    return np.random.default_rng(7)


@given(sums())
@settings(max_examples=120, deadline=None)
def test_p_interval_and_null_always_agree(s):
    for level in (0.9, 0.95):
        found = role_inference(s, prompt_subsets(len(s.lesser), rng()), level)
        p, value = found.p[0], found.ratio[0]
        if np.isnan(p):
            assert np.isnan(found.low[0])
            assert np.isnan(found.high[0])
            continue
        refused = p < 1 - level - 1e-12
        assert refused == (found.low[0] > 1 or found.high[0] < 1)
        lies_outside = value > found.null_high[0] * (1 + 1e-9) or value < found.null_low[0] * (
            1 - 1e-9
        )
        assert refused == lies_outside
        assert found.low[0] <= found.high[0]
        assert p >= 2.0 ** (1 - found.n_prompts[0]) - 1e-12


@given(sums(6))
@settings(max_examples=60, deadline=None)
def test_p_is_the_naive_loop_over_all_sign_vectors(s):
    part = contributions(s)[:, 0]
    here = (s.lesser + s.greater)[:, 0] > 0
    observed, scale = part.sum(), np.abs(part).sum()
    up = down = 0
    for signs in product((1, -1), repeat=len(part)):
        flipped = [here[i] for i, sign in enumerate(signs) if sign < 0]
        statistic = sum(sign * c for sign, c in zip(signs, part, strict=True))
        if not any(flipped) or abs(statistic - observed) <= 2e-9 * scale:
            statistic = observed
        up += statistic >= observed
        down += statistic <= observed
    naive = min(1.0, 2 * min(up, down) / 2 ** len(part))
    p, _ = coin_test(part[:, None], here[:, None], prompt_subsets(len(part), rng()), 0.01)
    assert np.isnan(p[0]) or p[0] == pytest.approx(naive)


@given(sums())
@settings(max_examples=60, deadline=None)
def test_contributions_sum_to_the_difference_of_shares(s):
    n, m = s.n_lesser.sum(), s.n_greater.sum()
    if n and m:
        difference = s.lesser.sum() / n - s.greater.sum() / m
        assert contributions(s).sum() == pytest.approx(difference, abs=1e-9)


@given(sums())
@settings(max_examples=40, deadline=None)
def test_roles_that_change_places_give_the_inverse(s):
    subsets = prompt_subsets(len(s.lesser), rng())
    found = role_inference(s, subsets)
    other = role_inference(RoleSums(s.greater, s.n_greater, s.lesser, s.n_lesser), subsets)
    assert found.p[0] == pytest.approx(other.p[0], nan_ok=True)
    with np.errstate(divide="ignore"):
        assert found.low[0] == pytest.approx((1 / other.high)[0], nan_ok=True, rel=1e-6)


def test_the_root_is_where_the_contributions_cancel():
    generator = np.random.default_rng(3)
    n, m = generator.integers(5, 30, (6, 1)), generator.integers(5, 30, (6, 1))
    s = RoleSums(n * 0.3, n * 1.0, m * generator.random((6, 1)), m * 1.0)
    subsets = prompt_subsets(6, rng())
    ratios = subset_ratios(s, subsets)
    a, b, total_n, total_m = s.lesser.sum(), s.greater.sum(), n.sum(), m.sum()
    for row, ratio in zip(subsets[1:], ratios[1:, 0], strict=True):
        share = (a + b) / (ratio * total_n + total_m)
        left = s.lesser / total_n - ratio * s.greater / total_m
        under = left - ratio * share * (n / total_n - m / total_m)
        assert float(row @ under[:, 0]) == pytest.approx(0, abs=1e-9)


def test_equal_totals_give_the_ratio_of_each_subset():
    s = one([1, 2, 3], [10] * 3, [3, 2, 1], [10] * 3)
    ratios = subset_ratios(s, prompt_subsets(3, rng()))[:, 0]
    assert ratios[1:4].tolist() == pytest.approx([1 / 3, 1.0, 3 / 5])


def test_swapping_whole_prompts_is_the_null_range():
    """Exact null range against ratios computed from swapped data, with equal totals."""
    generator = np.random.default_rng(5)
    a, b = generator.poisson(4, (8, 1)) + 1.0, generator.poisson(4, (8, 1)) + 1.0
    n = np.full((8, 1), 40.0)
    found = role_inference(RoleSums(a, n, b, n), prompt_subsets(8, rng()))
    ratios = []
    for row in prompt_subsets(8, rng()):
        flip = row[:, None] > 0
        ratios.append(np.where(flip, b, a).sum() / np.where(flip, a, b).sum())
    ordered = np.sort(ratios)
    rank = int(np.ceil(0.025 * 256)) - 1
    assert found.null_low[0] == pytest.approx(ordered[rank])
    assert found.null_high[0] == pytest.approx(ordered[-1 - rank])


def test_many_groups_are_each_group_alone():
    generator = np.random.default_rng(2)
    n, m = (generator.integers(10, 40, (9, 12)).astype(float) for _ in range(2))
    s = RoleSums(n * generator.random((9, 12)), n, m * generator.random((9, 12)), m)
    subsets = prompt_subsets(9, rng())
    together = role_inference(s, subsets)
    for k in range(12):
        alone = role_inference(
            RoleSums(*(x[:, k : k + 1] for x in (s.lesser, s.n_lesser, s.greater, s.n_greater))),
            subsets,
        )
        for field in ("ratio", "low", "high", "p", "null_low", "null_high"):
            assert getattr(alone, field)[0] == pytest.approx(getattr(together, field)[k])


def test_separation_has_a_p_and_a_one_sided_interval():
    a, zero = np.full((10, 1), 3.2), np.zeros((10, 1))
    n = np.full((10, 1), 20.0)
    found = role_inference(RoleSums(a, n, zero, n), prompt_subsets(10, rng()))
    assert found.p[0] == 2.0**-9
    assert found.high[0] == np.inf
    # The share of coins, Clopper-Pearson: .025^(1/10) as odds.
    share = 0.025**0.1
    assert found.low[0] == pytest.approx(share / (1 - share), rel=1e-3)
    mirrored = role_inference(RoleSums(zero, n, a, n), prompt_subsets(10, rng()))
    assert mirrored.low[0] == 0
    assert mirrored.high[0] == pytest.approx(1 / found.low[0])


def test_one_contrary_character_does_not_create_significance():
    n = [20.0] * 10
    base = role_inference(one([3] * 10, n, [0] * 10, n), prompt_subsets(10, rng()))
    more = role_inference(one([3] * 10, n, [1] + [0] * 9, n), prompt_subsets(10, rng()))
    assert more.p[0] >= base.p[0]


@pytest.mark.parametrize("present", [0, 1, 2, 5])
def test_few_prompts_have_no_test_and_say_why(present):
    a = [3.0] * present + [0.0] * (12 - present)
    found = role_inference(
        one(a, [20] * 12, [0.1] * present + [0] * (12 - present), [20] * 12),
        prompt_subsets(12, rng()),
    )
    assert np.isnan(found.p[0])
    assert np.isnan(found.low[0])
    assert found.n_prompts[0] == present
    assert "needs 6" in (no_test_reason(present, 0.95) or "")
    assert no_test_reason(6, 0.95) is None


def test_fewest_prompts_is_where_the_smallest_p_reaches_the_level():
    for level in (0.8, 0.9, 0.95, 0.99, 0.999):
        n = fewest_prompts(level)
        assert 2.0 ** (1 - n) < 1 - level <= 2.0 ** (2 - n) + 1e-12


def test_drawn_subsets_come_close_to_all_of_them():
    generator = np.random.default_rng(11)
    n = np.full((12, 40), 30.0)
    s = RoleSums(
        generator.binomial(30, 0.3, n.shape) * 1.0,
        n,
        generator.binomial(30, 0.25, n.shape) * 1.0,
        n,
    )
    exact = role_inference(s, prompt_subsets(12, rng()))
    drawn = role_inference(s, prompt_subsets(12, rng(), exact=5))
    assert np.max(np.abs(exact.p - drawn.p)) < 0.025


def test_level_holds_where_roles_are_coins():
    generator = np.random.default_rng(13)
    size = (10, 1500)
    n = np.full(size, 20.0)
    chance = generator.beta(0.5, 3.0, (2, *size))
    s = RoleSums(
        generator.binomial(20, chance[0]) * 1.0, n, generator.binomial(20, chance[1]) * 1.0, n
    )
    p = role_inference(s, prompt_subsets(10, rng())).p
    assert np.nanmean(p < 0.05) < 0.07


def test_more_draws_come_closer_to_the_exact_p():
    generator = np.random.default_rng(19)
    n = np.full((12, 20), 30.0)
    s = RoleSums(
        generator.binomial(30, 0.35, n.shape) * 1.0,
        n,
        generator.binomial(30, 0.2, n.shape) * 1.0,
        n,
    )
    part, here = contributions(s), s.lesser + s.greater > 0
    exact, _ = coin_test(part, here, prompt_subsets(12, rng()))
    rough, _ = coin_test(part, here, prompt_subsets(12, rng(), 999, exact=0))
    sharp = sharper_p(part, here, rough, rng(), 60_000, below=0.02)
    small = rough < 0.02
    assert small.any()
    assert np.array_equal(sharp[~small], rough[~small])
    assert np.abs(sharp - exact)[small].max() < 0.003


def test_median_over_one_threshold_is_the_ratio():
    generator = np.random.default_rng(17)
    n = np.full((8, 1), 25.0)
    s = RoleSums(generator.poisson(6, (8, 1)) + 1.0, n, generator.poisson(4, (8, 1)) + 1.0, n)
    subsets = prompt_subsets(8, rng())
    found, plain = median_inference(s, subsets), role_inference(s, subsets)
    assert found.ratio[0] == pytest.approx(plain.ratio[0])
    assert found.p[0] == pytest.approx(plain.p[0])
    assert (found.p[0] < 0.05) == (found.low[0] > 1 or found.high[0] < 1)


def test_median_is_smoothed_where_one_count_is_zero():
    s = RoleSums(
        np.array([[4.0, 2.0, 0.0]]),
        np.full((1, 3), 10.0),
        np.array([[2.0, 0.0, 0.0]]),
        np.full((1, 3), 10.0),
    )
    ratios = [4 / 2, (2.5 / 11) / (0.5 / 11)]
    assert median_inference(s, prompt_subsets(1, rng())).ratio[0] == pytest.approx(np.mean(ratios))


@given(st.floats(0.01, 3), st.floats(0.01, 3), st.floats(0, 1), st.floats(0.01, 3))
def test_any_interval_can_be_made_to_agree(x, y, p, value):
    low, high = agreeing_interval(
        *(np.array([v]) for v in (min(x, y), max(x, y), p, value, 1.0)), 0.95
    )
    assert (low[0] <= 1 <= high[0]) == (not p < 0.05 - 1e-12)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="one shape"):
        RoleSums(np.ones((2, 1)), np.ones((2, 1)), np.ones((3, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="0 or more"):
        one([-1], [1], [1], [1])
    with pytest.raises(ValueError, match="do not fit"):
        role_inference(one([1], [1], [1], [1]), prompt_subsets(2, rng()))
    with pytest.raises(ValueError, match="level"):
        role_inference(one([1], [1], [1], [1]), prompt_subsets(1, rng()), 95)

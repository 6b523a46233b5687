"""Changes between two sides from influences of prompts: coins, intervals, equivalence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import (
    clustered_changes,
    exchange_test,
    infer_contrasts,
    paired_changes,
    paired_ratios,
    paired_shares,
    prompt_subsets,
)
from portrayal.stats.contrasts import TwoSides
from portrayal.types import FloatArray


def of_contributions(part: FloatArray, margin: float = np.nan, level: float = 0.95):
    """Infer the mean of contributions of prompts, shape (n_prompts, k)."""
    n = len(part)
    value = part.mean(0)
    return paired_changes(
        value,
        (part - value) / n,
        np.full(part.shape, 1 / n),
        np.ones(part.shape, dtype=bool),
        prompt_subsets(n, np.random.default_rng(0), 1999),
        level,
        margin,
    )


parts = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).normal(
        0.5, 1.0, (int(np.random.default_rng(seed).integers(6, 18)), 3)
    )
)


@given(parts, st.sampled_from([0.8, 0.9, 0.95]))
def test_p_and_interval_say_the_same(part, level):
    found = of_contributions(part, level=level)
    outside = (found.low > 0) | (found.high < 0)
    assert np.array_equal(outside, found.p < 1 - level - 1e-12)
    assert np.all(found.low <= found.value)
    assert np.all(found.value <= found.high)


@given(parts)
def test_sides_that_change_places_turn_the_sign(part):
    one, two = of_contributions(part, 0.7), of_contributions(-part, 0.7)
    assert np.allclose(one.low, -two.high)
    assert np.allclose(one.p, two.p)
    assert np.allclose(one.p_equivalent, two.p_equivalent)


@given(parts, st.floats(0.2, 2.0))
def test_equivalence_is_the_interval_within_the_margin(part, margin):
    """Two one-sided tests at 5 % are the 90 % interval inside the margin."""
    found = of_contributions(part, margin, level=0.9)
    inside = (found.low > -margin) & (found.high < margin)
    assert np.array_equal(inside, found.p_equivalent < 0.05 - 1e-12)


def test_p_is_that_of_all_sign_flips():
    part = np.random.default_rng(3).normal(0.4, 1.0, (9, 1))
    signs = 1 - 2 * prompt_subsets(9, np.random.default_rng(0))
    sums = signs @ part
    share = min((sums >= part.sum() - 1e-12).mean(), (sums <= part.sum() + 1e-12).mean())
    assert of_contributions(part).p[0] == pytest.approx(min(1.0, 2 * share))


def test_no_spread_has_no_interval_and_no_equivalence():
    found = of_contributions(np.zeros((8, 1)), 0.1)
    assert found.reason[0] == "both sides have the same sums in every prompt"
    assert np.isnan(found.low[0])
    assert np.isnan(found.p_equivalent[0])
    assert found.p[0] == 1.0


def test_too_few_prompts_have_no_test():
    found = of_contributions(np.arange(5.0)[:, np.newaxis])
    assert "needs 6" in str(found.reason[0])
    assert np.isnan(found.p[0])


def test_two_samples_agree_with_their_test():
    rng = np.random.default_rng(5)
    y, z = rng.normal(0, 1, (12, 200)), rng.normal(0.8, 1, (15, 200))
    u = np.concatenate([-(y - y.mean(0)) / 12, (z - z.mean(0)) / 15])
    first = np.concatenate([np.ones((12, 200)), np.zeros((15, 200))])
    found = clustered_changes(z.mean(0) - y.mean(0), u, first, 1 - first, 0.95, 2.0)
    assert np.array_equal((found.low > 0) | (found.high < 0), found.p < 0.05)
    narrow = clustered_changes(z.mean(0) - y.mean(0), u, first, 1 - first, 0.90, 2.0)
    assert np.array_equal((narrow.low > -2) & (narrow.high < 2), found.p_equivalent < 0.05)


@given(parts)
def test_beyond_a_margin_of_0_is_a_change(part):
    found = of_contributions(part, 0.0)
    twice = np.minimum(1.0, 2 * found.p_beyond.min(0))
    known = ~np.isnan(twice)
    assert np.allclose(twice[known], found.p[known])


@given(parts, st.floats(0.2, 2.0))
def test_beyond_the_margin_is_the_interval_outside_it(part, margin):
    found = of_contributions(part, margin, level=0.9)
    outside = (found.high < -margin) | (found.low > margin)
    assert np.array_equal(outside, found.p_beyond.min(0) < 0.05 - 1e-12)
    assert not np.any(outside & (found.p_inside.max(0) < 0.5))


def test_a_margin_is_not_below_0():
    with pytest.raises(ValueError, match="0 or more"):
        of_contributions(np.ones((8, 1)), -1.0)


def counts(seed: int, n_prompts: int = 9) -> tuple[FloatArray, FloatArray]:
    """Counts and totals of two groups in some prompts."""
    rng = np.random.default_rng(seed)
    total = np.full((n_prompts, 2), 30.0)
    return rng.binomial(30, rng.uniform(0.05, 0.6, total.shape)).astype(float), total


SUBSETS = prompt_subsets(9, np.random.default_rng(0))


@given(st.integers(0, 1000))
def test_ratios_of_shares_turn_with_their_sides(seed):
    first, second = counts(seed), counts(seed + 1)
    one = paired_ratios(first, second, SUBSETS, 0.95, 0.3)
    two = paired_ratios(second, first, SUBSETS, 0.95, 0.3)
    assert np.allclose(one.value, -two.value)
    assert np.allclose(one.low, -two.high)
    assert np.allclose(one.p, two.p)
    assert np.allclose(one.p_equivalent, two.p_equivalent)
    assert np.array_equal((one.low > 0) | (one.high < 0), one.p < 0.05 - 1e-12)


def test_p_of_shares_is_that_of_whole_prompts_that_change_sides():
    (a, n), (b, m) = counts(4), counts(5)
    found = paired_ratios((a, n), (b, m), SUBSETS, 0.95)
    moved = SUBSETS @ (b - a)
    apart = b.sum(0) - a.sum(0) - 2 * moved
    share = np.minimum((apart >= apart[0]).mean(0), (apart <= apart[0]).mean(0))
    assert found.p == pytest.approx(np.minimum(1.0, 2 * share))


def test_a_ratio_of_two_shares_is_one_share_where_the_other_is_constant():
    (a, n), (b, m) = counts(6), counts(7)
    half = n / 2
    one = paired_ratios((a, n), (b, m), SUBSETS, 0.95)
    two = paired_ratios((a, n, half, n), (b, m, half, m), SUBSETS, 0.95)
    assert np.allclose(one.value, two.value)
    assert np.allclose(one.low, two.low)


def test_a_group_of_one_side_alone_has_a_bound():
    (a, n) = counts(8)
    found = paired_ratios((a, n), (0 * a, n), SUBSETS, 0.95)
    assert np.all(found.value == -np.inf)
    assert np.all(found.high < 0)
    assert np.all(found.p < 0.05)
    neither = paired_ratios((0 * a, n), (0 * a, n), SUBSETS, 0.95)
    assert set(neither.reason) == {"no value"}


def test_paired_shares_are_the_contrasts_of_two_sides():
    generator = np.random.default_rng(8)
    n = np.full((9, 5), 40.0)
    a, b = (generator.binomial(40, 0.3, n.shape) * 1.0 for _ in range(2))
    found, contrasts = paired_shares((b, n), (a, n), 0.95, margin=np.log(1.25))
    plain = infer_contrasts(TwoSides(a, n, b, n))
    assert np.allclose(found.value, np.log(plain.ratio))
    assert np.allclose(found.p, plain.p)
    assert np.allclose(np.exp(found.low), plain.low)
    assert np.allclose(found.p_inside + found.p_beyond, 1.0)
    assert np.array_equal(contrasts.scores, plain.scores)


def test_shares_that_are_alike_are_shown_to_be():
    n = np.full((20, 1), 400.0)
    a = n * 0.5
    found, _ = paired_shares((a, n), (a + 1, n), 0.95, margin=np.log(1.25))
    assert found.p_equivalent[0] < 0.05
    assert found.p[0] > 0.05


def test_a_margin_is_held_against_the_right_end():
    n, a = np.full((12, 1), 100.0), np.full((12, 1), 20.0)
    found, _ = paired_shares((a, n), (2 * a, n), 0.95, margin=np.log(1.25))
    below, above = found.p_inside[:, 0]
    assert below < 0.01, "twice is well above 1 / 1.25"
    assert above > 0.99, "and not shown to be below 1.25"
    assert found.p_beyond[1, 0] < 0.01


def test_exchanges_are_all_tried_where_they_are_few():
    from itertools import product

    total = np.random.default_rng(5).normal(0.4, 1.0, (9, 3))
    p, half = exchange_test(total, np.random.default_rng(0))
    signs = np.array(list(product((1.0, -1.0), repeat=9)))
    far = np.abs(signs @ total)
    expected = (far >= np.abs(total.sum(0)) - 1e-9).mean(0)
    np.testing.assert_allclose(p, expected, atol=1e-12)
    assert ((far <= half + 1e-9).mean(0) >= 0.95).all()


def test_many_clusters_are_exchanged_at_random():
    rng = np.random.default_rng(1)
    total = np.stack([rng.normal(0.0, 1.0, 300), rng.normal(0.5, 1.0, 300)], axis=1)
    p, half = exchange_test(total, np.random.default_rng(0))
    assert p[0] > 0.05 > p[1] >= 1 / 10_000
    # The range is that of a normal sum with the same squares.
    np.testing.assert_allclose(half, 1.96 * np.sqrt((total**2).sum(0)), rtol=0.05)

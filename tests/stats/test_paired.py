"""Changes between two sides from contributions of prompts: scores, intervals, equivalence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from portrayal.stats import infer_contrasts
from portrayal.stats.contrasts import TwoSides
from portrayal.stats.paired import (
    clustered_changes,
    difference_parts,
    exchange_test,
    paired_changes,
    paired_shares,
    ratio_parts,
)
from portrayal.types import FloatArray


def of_contributions(part: FloatArray, margin: float = np.nan, level: float = 0.95):
    """Infer the mean of contributions of prompts, shape (n_prompts, k)."""
    n = len(part)
    weight = np.full(part.shape, 1 / n)
    parts = difference_parts(part.mean(0), (part - part.mean(0)) / n, weight)
    return paired_changes(*parts, np.ones(part.shape, dtype=bool), level, margin)


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


def test_p_and_interval_of_means_are_those_of_student():
    part = np.random.default_rng(3).normal(0.4, 1.0, (9, 1))
    found, plain = of_contributions(part), ttest_1samp(part[:, 0], 0.0)
    assert found.p[0] == pytest.approx(plain.pvalue)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(plain.confidence_interval(0.95)))


def test_no_spread_has_no_interval_and_no_equivalence():
    found = of_contributions(np.zeros((8, 1)), 0.1)
    assert found.reason[0] == "both sides have the same sums in every prompt"
    assert np.isnan(found.low[0])
    assert np.isnan(found.p_equivalent[0])
    assert found.p[0] == 1.0


def test_too_few_prompts_have_no_test():
    found = of_contributions(np.arange(4.0)[:, np.newaxis])
    assert "it takes 5" in str(found.reason[0])
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


def ratios(first, second, margin=np.nan):
    occurs = first[0] + second[0] > 0
    return paired_changes(*ratio_parts(first, second), occurs, 0.95, margin, log=True)


@given(st.integers(0, 1000))
def test_ratios_of_shares_turn_with_their_sides(seed):
    first, second = counts(seed), counts(seed + 1)
    one, two = ratios(first, second, 0.3), ratios(second, first, 0.3)
    assert np.allclose(one.value, -two.value)
    assert np.allclose(one.low, -two.high)
    assert np.allclose(one.p, two.p)
    assert np.allclose(one.p_equivalent, two.p_equivalent)
    assert np.array_equal((one.low > 0) | (one.high < 0), one.p < 0.05 - 1e-12)


def test_a_ratio_of_two_shares_is_one_share_where_the_other_is_constant():
    (a, n), (b, m) = counts(6), counts(7)
    half = n / 2
    one, two = ratios((a, n), (b, m)), ratios((a, n, half, n), (b, m, half, m))
    assert np.allclose(one.value, two.value)
    assert np.allclose(one.low, two.low)


def test_the_ratio_of_two_ratios_is_that_of_the_pooled_values():
    (a, n), (b, m), (c, k), (d, i) = (counts(seed) for seed in range(4))
    found = ratios((a, n, b, m), (c, k, d, i))
    one, two = (x.sum(0) / y.sum(0) / (z.sum(0) / w.sum(0)) for x, y, z, w in
                ((a, n, b, m), (c, k, d, i)))  # fmt: skip
    assert np.allclose(np.exp(found.value), two / one)
    assert np.all((found.low <= found.value) & (found.value <= found.high))


def test_a_group_of_one_side_alone_has_no_value_and_no_test():
    (a, n) = counts(8)
    for second in ((0 * a, n), (a, n)):
        found = ratios((0 * a, n), second)
        assert set(found.reason) == {"no value"}
        assert np.isnan(found.p).all()


def test_a_denominator_that_may_be_0_leaves_the_interval_open():
    rng = np.random.default_rng(4)
    n, a = np.full((6, 1), 20.0), np.zeros((6, 1))
    a[0], b = 3.0, rng.binomial(20, 0.5, (6, 1)) + 0.0
    found = ratios((a, n, b, n), (b, n, b, n))
    assert np.isinf(found.high[0])
    assert found.low[0] <= found.value[0]


def test_prompts_that_all_change_alike_have_no_interval():
    found = of_contributions(np.ones((8, 1)), 0.1)
    assert "changes alike" in str(found.reason[0])
    assert np.isnan([found.low[0], found.p[0], found.p_equivalent[0]]).all()


@given(st.integers(0, 10_000), st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_a_wider_margin_never_shows_more_beyond_it_or_less_within(seed, margin, more):
    """Also of groups so rare that the denominator of the ratio may be 0."""
    rng = np.random.default_rng(seed)
    total = np.full((7, 4), 10.0)
    first, second = (
        (rng.binomial(10, rng.beta(0.3, 1.5, total.shape)) + 0.0, total) for _ in range(2)
    )
    narrow, wide = (ratios(first, second, m) for m in (margin, margin + more))
    tested = narrow.reason == ""
    assert np.all(wide.p_beyond.min(0)[tested] >= narrow.p_beyond.min(0)[tested] - 1e-9)
    assert np.all(wide.p_equivalent[tested] <= narrow.p_equivalent[tested] + 1e-9)
    outside = (narrow.low[tested] > 0) | (narrow.high[tested] < 0)
    assert np.array_equal(outside, narrow.p[tested] < 0.05 - 1e-12)


def test_the_level_holds_where_prompts_differ_and_groups_are_rare():
    """Ratios of two shares that do not change, in 8 and in 15 prompts of 20 texts."""
    rng = np.random.default_rng(1)
    for n_prompts, share in ((8, 0.3), (15, 0.05)):
        base = share / (1 - share) * np.exp(rng.normal(0, 1, (n_prompts, 2000)))
        total = np.full(base.shape, 20.0)

        def drawn(odds=base):
            moved = odds * np.exp(rng.normal(0, 0.3, odds.shape))
            return rng.binomial(20, moved / (1 + moved)) + 0.0

        sides = [(drawn(), total, drawn(), total) for _ in range(2)]
        p = ratios(*sides).p
        assert np.mean(p[~np.isnan(p)] < 0.05) < 0.065


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

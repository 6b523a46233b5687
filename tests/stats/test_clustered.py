"""Intervals and tests of shares, ratios and means, against definitions and by property."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, stats

from portrayal.stats import clustered as intervals
from portrayal.stats.clustered import (
    infer_differences,
    infer_fixed_means,
    infer_fixed_shares,
    infer_means,
    infer_shares,
)
from portrayal.stats.design_effect import (
    Evidence,
    design_effect,
    effect_density,
    effective_number,
    evidence_interval,
    evidence_p,
    satterthwaite,
    share_evidence,
)

LOPSIDED = np.array([3.0, 40.0, 7.0, 1.0, 19.0])


@st.composite
def counts(draw, groups=3):
    """Counts and totals of 1–9 prompts, whole or fractional, zeros among them."""
    prompts = draw(st.integers(1, 9))
    total = draw(arrays(float, (prompts, groups), elements=st.integers(0, 60).map(float)))
    part = draw(
        arrays(float, (prompts, groups), elements=st.sampled_from([0.0, 0.0, 0.05, 0.3, 0.5, 1.0]))
    )
    whole = draw(st.booleans())
    return (np.round(total * part) if whole else total * part), total


# Test and interval agree ---------------------------------------------------------------------


@settings(deadline=None)
@given(counts(), st.sampled_from([0.8, 0.95, 0.99]), st.floats(0.001, 0.999))
def test_a_share_is_rejected_exactly_outside_its_interval(sums, level, null):
    found = infer_shares(*sums, level, null)
    agree(found, null, level)


@settings(deadline=None)
@given(counts(), st.floats(-2, 2))
def test_a_mean_is_rejected_exactly_outside_its_interval(sums, null):
    agree(infer_means(*sums, 0.95, null), null, 0.95)


def agree(found, null, level):
    known = ~np.isnan(found.p)
    outside = (null < found.low) | (null > found.high)
    assert (outside[known] == (found.p[known] < 1 - level)).all()
    assert ((found.reason == "") == known).all()
    shown = ~np.isnan(found.low)
    assert (found.low[shown] <= found.high[shown]).all()
    inside = shown & ~np.isnan(found.value)
    assert (found.low[inside] <= found.value[inside] * (1 + 1e-9) + 1e-9).all()
    assert (found.high[inside] >= found.value[inside] * (1 - 1e-9) - 1e-9).all()


# Definitions, as naive loops ------------------------------------------------------------------


def test_the_factor_and_degrees_of_freedom_are_those_of_the_residuals_covariance():
    sides, own, rho = [LOPSIDED, LOPSIDED[::-1]], np.array([0.2, 0.7]), 0.3
    covariance = np.zeros((5, 5))
    for total, apart in zip(sides, own, strict=True):
        variance = np.diag(total * (1 + (total - 1) * rho))
        residual = np.eye(5) - np.outer(total / total.sum(), np.ones(5))
        covariance += apart * residual @ variance @ residual.T / variance.sum()
    factor = np.trace(covariance) / own.sum()
    df = np.trace(covariance) ** 2 / np.trace(covariance @ covariance)
    found = satterthwaite([s[:, None] for s in sides], own[:, None], np.array([rho]))
    assert [float(x[0]) for x in found] == pytest.approx([factor, df])


@pytest.mark.parametrize("prompts", [2, 3, 8])
def test_equal_prompts_have_one_degree_of_freedom_fewer_than_there_are(prompts):
    found = satterthwaite([np.full((prompts, 1), 7.0)], np.ones((1, 1)), np.array([0.4]))
    assert [float(x[0]) for x in found] == pytest.approx([1 - 1 / prompts, prompts - 1])


def test_means_of_equal_prompts_are_students_t():
    y = np.array([0.1, 0.7, -0.4, 0.9, 0.3])
    found = infer_means(y[:, None], np.ones((5, 1)), 0.95, 0.05)
    assert found.p[0] == pytest.approx(stats.ttest_1samp(y, 0.05).pvalue)
    bounds = stats.ttest_1samp(y, 0).confidence_interval(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(bounds))


def test_paired_differences_of_equal_prompts_are_the_paired_t():
    y, z = np.array([0.1, 0.7, -0.4, 0.9]), np.array([0.0, 0.2, -0.1, 0.4])
    one = np.ones((4, 1))
    found = infer_differences((y[:, None], one), (z[:, None], one), 0.95)
    assert found.p[0] == pytest.approx(stats.ttest_rel(y, z).pvalue)


def test_prompts_that_carry_the_group_bound_the_degrees_of_freedom():
    n = np.full((10, 1), 20.0)
    few = np.array([[9.0]] * 3 + [[0.0]] * 7)
    pairs = (3 * 9.0) ** 2 / (3 * (81.0 - 9.0))
    for count in (few, n - few):  # the group, or all others
        assert share_evidence(count, n, count).df[0] == pytest.approx(pairs - 1)
    alone = np.array([[1.0]] * 3 + [[0.0]] * 7)  # no two units share a prompt: no bound
    assert share_evidence(alone, n, alone).df[0] > 2


def test_small_parts_of_many_units_do_not_hide_that_few_prompts_carry_the_group():
    n, spread = np.full((10, 1), 20.0), np.full((10, 1), 0.6)
    count = spread + np.array([[8.0]] * 2 + [[0.0]] * 8)
    squares = spread**2 / 20 + np.array([[7.0]] * 2 + [[0.0]] * 8)
    bound = float((squares.sum(0) ** 2 / (squares**2).sum(0))[0])
    assert share_evidence(count, n, squares).df[0] <= bound - 1
    assert bound < 2.1


def test_the_p_value_is_an_integral_over_design_effects():
    evidence = share_evidence(*shares([2, 9, 4, 0, 5], LOPSIDED))
    d, half = evidence, evidence.df[0] / 2
    tilt = min(1.0, 1 / (1 + d.df[0]))

    def density(x):
        return np.exp(-half * (x + d.effect[0] * np.exp(-x) - 1 - np.log(d.effect[0])) + tilt * x)

    def tail(x):
        units = d.size[0] / np.exp(x)
        k = units * d.share[0]
        return (stats.beta.cdf(0.5, k, units - k + 1) + stats.beta.cdf(0.5, k + 1, units - k)) / 2

    ends = np.log(d.smallest[0]), np.log(d.largest[0])
    top = integrate.quad(lambda x: density(x) * (1 - tail(x)), *ends)[0]
    whole = integrate.quad(density, *ends)[0]
    assert evidence_p(evidence, np.array([0.5]))[0] == pytest.approx(2 * top / whole, rel=1e-3)


@settings(deadline=None, max_examples=20)
@given(counts())
def test_groups_do_not_depend_on_each_other(sums):
    together = infer_shares(*sums, 0.95, 0.3)
    for i in range(3):
        alone = infer_shares(sums[0][:, [i]], sums[1][:, [i]], 0.95, 0.3)
        np.testing.assert_allclose(alone.low[0], together.low[i], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(alone.p[0], together.p[i], rtol=1e-9)


def test_bounds_are_where_the_tail_is_half_of_the_rest():
    evidence = share_evidence(*shares([2, 9, 4, 0, 5], LOPSIDED))
    for level in (0.8, 0.95, 0.999):
        for bound in evidence_interval(evidence, level):
            assert evidence_p(evidence, bound)[0] == pytest.approx(1 - level, rel=1e-6)


# Limits ----------------------------------------------------------------------------------------


def test_many_equal_prompts_without_clustering_give_a_z_interval():
    rng = np.random.default_rng(1)
    y = rng.binomial(50, 0.4, (2000, 1)).astype(float)
    found = infer_shares(y, np.full_like(y, 50.0), 0.95)
    half = (found.high - found.low)[0] / 2
    assert half == pytest.approx(1.96 * np.sqrt(0.24 / 100_000), rel=0.1)


def test_unclustered_evidence_is_the_binomial_mid_p():
    one = np.ones(1)
    evidence = Evidence(0.3 * one, 20 * one, one, one * 1e7, 0.999 * one, 1.001 * one)
    up = stats.binom.sf(6, 20, 0.1) + stats.binom.pmf(6, 20, 0.1) / 2
    assert evidence_p(evidence, np.array([0.1]))[0] == pytest.approx(2 * up, rel=1e-2)


@pytest.mark.parametrize(("count", "units"), [(0, 4), (1, 20), (3, 100)])
def test_one_unit_of_each_prompt_is_the_binomial_mid_p(count, units):
    shares = infer_shares(np.arange(units)[:, np.newaxis] < count, np.ones((units, 1)), 0.95)
    tail = (
        stats.binom.cdf(count, units, shares.high) - stats.binom.pmf(count, units, shares.high) / 2
    )
    assert tail == pytest.approx(0.025, abs=1e-4)


def test_a_small_group_that_hardly_varies_by_chance_is_not_told_from_the_others():
    """Of 8 and 312 scores of one kind, most of them 0, Welch's t tells one pair in six."""
    scores = np.random.default_rng(1).binomial(1, 0.4, (320, 2000)).astype(float)
    first = np.broadcast_to(np.arange(320)[:, np.newaxis] < 8, scores.shape).astype(float)
    sides = (scores * first, first), (scores * (1 - first), 1 - first)
    assert np.mean(infer_differences(*sides, 0.95).p < 0.05) < 0.05


def test_equal_samples_of_a_difference_have_the_variance_of_each():
    one = np.eye(2).repeat(6, axis=0)[:, :, np.newaxis]
    values = np.arange(12.0)[:, np.newaxis] ** 2
    found = infer_differences(*((values * side, side) for side in one.transpose(1, 0, 2)), 0.95)
    assert found.p[0] == pytest.approx(stats.ttest_ind(values[:6], values[6:]).pvalue[0])


def test_weights_of_design_effects_sum_to_one_inside_their_range():
    evidence = share_evidence(*shares([2, 9, 4, 0, 5], LOPSIDED))
    effects, weights = effect_density(evidence)
    assert weights.sum() == pytest.approx(1)
    assert (effects >= evidence.smallest).all()
    assert (effects <= evidence.largest).all()


# Invariance ------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(counts())
def test_the_complement_has_the_mirrored_interval(sums):
    y, n = sums
    one, other = infer_shares(y, n, 0.95, 0.3, y), infer_shares(n - y, n, 0.95, 0.7, n - y)
    np.testing.assert_allclose(one.low, 1 - other.high, atol=1e-5)
    np.testing.assert_allclose(one.p, other.p, rtol=1e-5)


@settings(deadline=None, max_examples=25)
@given(counts(), st.randoms(use_true_random=False))
def test_the_order_of_prompts_and_empty_prompts_do_not_count(sums, random):
    y, n = sums
    order = list(range(len(y)))
    random.shuffle(order)
    longer = [np.concatenate([x[order], np.zeros((2, 3))]) for x in (y, n)]
    one, other = infer_shares(y, n, 0.95, 0.3), infer_shares(*longer, 0.95, 0.3)
    np.testing.assert_allclose(one.low, other.low, atol=1e-9)
    np.testing.assert_allclose(one.p, other.p, rtol=1e-6)


def test_a_mean_scales_with_its_unit():
    y, n = np.array([[3.0], [1], [-4], [9]]), np.array([[3.0], [1], [2], [5]])
    one, other = infer_means(y, n, 0.95, 0.5), infer_means(10 * y, n, 0.95, 5.0)
    assert other.low[0] == pytest.approx(10 * one.low[0])
    assert other.p[0] == pytest.approx(one.p[0])


# Zero counts and few prompts --------------------------------------------------------------------


def test_a_count_of_zero_has_a_one_sided_interval():
    n = np.full((10, 1), 20.0)
    found = infer_shares(np.zeros((10, 1)), n, 0.95, 0.5)
    assert found.low[0] == 0
    assert 1 - 0.05 ** (1 / 200) < found.high[0] < 1 - 0.05 ** (1 / 10)
    full = infer_shares(n, n, 0.95)
    assert (full.high[0], full.low[0]) == (1.0, pytest.approx(1 - found.high[0], abs=1e-6))


def test_nobody_and_one_prompt_are_undefined_with_a_reason():
    n = np.array([[5.0, 5.0, 0.0], [0.0, 5.0, 0.0]])
    found = infer_shares(np.zeros((2, 3)), n, 0.95, 0.5)
    assert found.reason.tolist() == [intervals.ONE_PROMPT, "", intervals.NO_UNITS]
    assert np.isnan(found.low).tolist() == [True, False, True]


def test_prompts_that_do_not_differ_give_a_mean_no_interval():
    found = infer_means(np.full((4, 1), 2.0), np.ones((4, 1)), 0.95)
    assert found.reason[0] == intervals.NO_SPREAD
    assert np.isnan([found.low[0], found.high[0], found.p[0]]).all()


def test_no_null_means_no_test_but_an_interval():
    found = infer_shares([[1.0], [2.0]], [[4.0], [4.0]], 0.95)
    assert found.reason[0] == intervals.NO_NULL
    assert found.low[0] < 0.375 < found.high[0]


def test_squares_of_fractional_counts_narrow_the_interval():
    y = np.array([[2.1], [1.7], [2.4], [1.9], [2.2], [2.0]])
    n = np.full_like(y, 10.0)
    wide, narrow = infer_shares(y, n, 0.95), infer_shares(y, n, 0.95, squares=y * 0.22)
    assert (narrow.high - narrow.low)[0] < (wide.high - wide.low)[0]


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: infer_shares([[3.0]], [[2.0]], 0.95), "exceed"),
        (lambda: infer_shares([[-1.0]], [[2.0]], 0.95), "0 or more"),
        (lambda: infer_shares([1.0], [2.0], 0.95), "n_prompts"),
        (lambda: infer_shares([[1.0]], [[2.0]], 95), "level"),
        (lambda: infer_means([[np.nan]], [[2.0]], 0.95), "finite"),
        (lambda: infer_means([[1.0]], [[2.0]], 1.0), "level"),
    ],
)
def test_numbers_that_cannot_be_are_refused(call, what):
    with pytest.raises(ValueError, match=what):
        call()


# Coverage, in short ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompts", "texts", "share", "icc"),
    [(10, 20, 0.1, 0.2), (5, 20, 0.2, 0.2), (25, 100, 0.02, 0.2), (10, 100, 0.3, 0.0)],
)
def test_intervals_cover_the_share(prompts, texts, share, icc):
    rng = np.random.default_rng(20261122)
    mean = np.full((prompts, 800), share)
    if icc:
        mean = rng.beta(share * (1 - icc) / icc, (1 - share) * (1 - icc) / icc, mean.shape)
    y = rng.binomial(texts, mean).astype(float)
    evidence = share_evidence(y, np.full_like(y, texts), y)
    assert (evidence_p(evidence, np.full(800, share)) >= 0.05).mean() > 0.92


def test_effective_number_and_design_effect_of_repeated_texts():
    y, n = np.array([[10.0], [0], [10], [0], [0], [10], [0], [10]]), np.full((8, 1), 10.0)
    assert effective_number(y)[0] == pytest.approx(4)
    influence = (y - 0.5 * n) / 80
    effect, _ = design_effect(influence, [n], np.array([[0.25 / 80]]))
    assert effect[0] == pytest.approx(10 * 8 / 7)


def shares(y, n):
    y, n = np.array(y, float)[:, None], np.array(n, float)[:, None]
    return y, n, y


def test_these_very_prompts_vary_by_their_texts_alone():
    """Prompts differ as they like: the variance is that within them, as by the definition."""
    count, total = np.array([[18.0], [2.0], [9.0]]), np.full((3, 1), 20.0)
    low, high, p = infer_fixed_shares(count, total, 0.95, null=0.6)
    within = sum(20 * x / 20 * (1 - x / 20) * 20 / 19 for x in (18, 2, 9)) / 60**2
    assert low[0] < 29 / 60 < high[0]
    assert (high[0] - low[0]) / 2 == pytest.approx(1.96 * within**0.5, rel=0.03)
    assert (p[0] < 0.05) == (not low[0] <= 0.6 <= high[0])
    apart = infer_shares(count, total, 0.95)
    assert apart.high[0] - apart.low[0] > 2 * (high[0] - low[0])


def test_these_very_prompts_are_refused_at_the_level():
    generator = np.random.default_rng(5)
    chance = np.array([[0.1], [0.9], [0.4], [0.3]])
    count = generator.binomial(30, np.repeat(chance, 2000, axis=1)) * 1.0
    _, _, p = infer_fixed_shares(count, np.full(count.shape, 30.0), 0.95, null=chance.mean())
    assert 0.03 < (p < 0.05).mean() < 0.065


def test_a_share_in_one_text_a_prompt_has_no_variance_within():
    low, high, p = infer_fixed_shares([[1.0], [0.0], [1.0]], [[1.0]] * 3, 0.95, null=0.5)
    assert 0 < low[0] < 2 / 3 < high[0] < 1
    assert p[0] > 0.5
    assert np.isnan(infer_fixed_shares([[0.0]], [[0.0]], 0.95)[0][0])


def test_means_of_these_units_take_repetitions_where_most_are_repeated():
    rng = np.random.default_rng(0)
    value = np.repeat(rng.normal(0.0, 5.0, 3), 20)[:, None] + rng.normal(0.3, 1.0, (60, 1))
    unknown = np.full((60, 1), np.nan)
    cluster = np.repeat(np.arange(3), 20)
    low, high, p = infer_fixed_means(value, cluster, unknown, unknown, 0.95)
    within = sum(((x - x.mean()) ** 2).sum() for x in np.split(value, 3)) / 57
    half = stats.t.isf(0.025, 57) * np.sqrt(within / 60)
    assert (high - low)[0] == pytest.approx(2 * half)
    assert p[0] == pytest.approx(2 * stats.t.sf(abs(value.mean()) / np.sqrt(within / 60), 57))
    few = np.r_[np.arange(58), 56, 57]  # two of 58 have a second unit
    assert np.isnan(infer_fixed_means(value, few, unknown, unknown, 0.95)).all()

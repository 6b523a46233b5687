"""Blocks of prompts, and differences and variances over them, against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from portrayal.stats import (
    crossed_differences,
    infer_differences,
    infer_means,
    infer_variance,
    matched_differences,
)
from portrayal.stats.blocks import find_blocks
from portrayal.stats.clustered import infer_crossed
from portrayal.stats.variance import variance_bounds


def lopsided(seed, k=3):
    rng = np.random.default_rng(seed)
    count = rng.poisson(4.0, (12, k)).astype(float)
    return np.where(count > 0, rng.normal(0, 1, (12, k)) * count, 0.0), count


def sides(total, count, *pairs):
    """Sums and counts of the first and of the second group of each pair."""
    pairs = np.array(pairs or [[0, 1]])
    total, count = (np.asarray(each, dtype=float) for each in (total, count))
    return [(total[:, column], count[:, column]) for column in pairs.T]


def test_names_pronouns_and_prompt_numbers_make_no_blocks():
    n = 40
    gender, job, age = np.tile([0, 1], 20), np.repeat(np.arange(10), 4), np.tile([0, 0, 1, 1], 10)
    name = gender * 100 + np.arange(n) % 7 + 50 * gender
    columns = {"name": name, "pronoun": gender, "number": np.arange(n)}
    columns |= {"job": job, "age": age, "task": np.zeros(n)}
    found = find_blocks(columns, gender)
    assert not found.reason
    assert found.columns == ("job", "age")
    assert set(found.left_out) == {"name", "pronoun", "number"}
    assert len(np.unique(found.code)) == 20
    assert found.crossed == 1.0


def test_a_design_without_matches_says_why():
    group, job = np.array([0] * 10 + [1] * 10), np.arange(20)
    assert "1 block of" in find_blocks({"job": job}, group).reason
    few = find_blocks({"job": np.repeat([0, 1], 10)}, np.tile([0, 1], 10))
    assert "2 blocks of" in few.reason
    half = np.concatenate([np.repeat(np.arange(4), 2), np.arange(4, 8), np.arange(8, 10)])
    mixed = find_blocks({"a": half % 5, "b": half // 5}, np.tile([0, 1], 7))
    assert mixed.crossed >= 0.5 or "of the texts" in mixed.reason
    assert find_blocks({}, []).reason.startswith("no block")
    with pytest.raises(ValueError, match="shape"):
        find_blocks({"job": [1, 2]}, [0, 1, 1])


def test_matched_is_the_least_squares_estimate_with_block_effects():
    y, n = lopsided(1, 2)
    rows, values, weights = [], [], []
    for b in range(len(n)):
        for g in range(2):
            if n[b, g]:
                rows.append(np.r_[np.eye(len(n))[b], 1.0 - g])
                values.append(y[b, g] / n[b, g])
                weights.append(n[b, g])
    root = np.sqrt(np.array(weights))[:, np.newaxis]
    fit = np.linalg.lstsq(np.array(rows) * root, np.array(values) * root[:, 0], rcond=None)[0]
    assert matched_differences(*sides(y, n), 0.95).value[0] == pytest.approx(fit[-1])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.2, 0.99), st.floats(-1.0, 1.0))
def test_test_and_interval_agree(seed, level, null):
    y, n = lopsided(seed)
    pairs = sides(y, n, [0, 1], [1, 2])
    found = matched_differences(*pairs, level)
    assert (((found.low > 0) | (found.high < 0)) == (found.p < 1 - level)).all()
    found = infer_differences(*pairs, level, null)
    assert (((found.low > null) | (found.high < null)) == (found.p < 1 - level)).all()
    one = infer_variance(y, n, [np.eye(3)], level)
    assert (one.low > 0) == (one.p < 1 - level)
    assert one.low <= one.high


def test_balanced_blocks_match_the_paired_t_and_the_two_way_anova():
    y = np.random.default_rng(0).normal(0, 1, (9, 4))
    y += np.arange(9)[:, np.newaxis]
    paired = stats.ttest_rel(y[:, 0], y[:, 1]).pvalue
    for infer in (infer_differences, matched_differences):
        assert infer(*sides(y, np.ones((9, 4))), 0.95).p[0] == pytest.approx(paired)
    rest = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    ratio = 9 * np.var(y.mean(0), ddof=1) / ((rest**2).sum() / (3 * 8))
    found = infer_variance(y, np.ones((9, 4)), [np.eye(4)], 0.95)
    assert found.df == pytest.approx((3, 24))
    assert found.p == pytest.approx(min(1.0, 2.0 * stats.f.sf(ratio, 3, 24)))


def test_separate_prompts_match_one_way_anova():
    y = np.random.default_rng(2).normal(0, 1, (3, 7)) + np.array([[0.0], [0.5], [1.0]])
    total, count = np.zeros((21, 3)), np.zeros((21, 3))
    for g in range(3):
        total[g * 7 : g * 7 + 7, g], count[g * 7 : g * 7 + 7, g] = y[g], 1
    found = infer_variance(total, count, [np.eye(3)], 0.95)
    assert found.df == pytest.approx((2, 18))
    assert found.p == pytest.approx(min(1.0, 2.0 * stats.f_oneway(*y).pvalue))


def test_noise_is_what_chance_puts_into_the_variance():
    rng, count = np.random.default_rng(4), lopsided(2, 4)[1]
    groups = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], float)
    spread = np.sqrt(count * (1 + np.maximum(count - 1, 0) * 0.1))
    found = [
        infer_variance(spread * rng.normal(0, 1, count.shape), count, [groups], 0.95)
        for _ in range(1500)
    ]
    noise, value = np.mean([each.noise for each in found]), np.mean([each.value for each in found])
    assert noise == pytest.approx(value, rel=0.12)
    assert np.mean([each.p < 0.05 for each in found]) < 0.05


def test_the_interval_holds_the_true_variance_as_often_as_it_says():
    rng, true = np.random.default_rng(5), np.array([-0.4, 0.0, 0.4])
    held = 0
    for _ in range(200):
        y = rng.normal(0, 1, (10, 1)) + true + rng.normal(0, 0.6, (10, 3))
        found = infer_variance(y, np.ones((10, 3)), [np.eye(3)], 0.9)
        held += found.low <= true.var(ddof=1) <= found.high
    assert 0.84 <= held / 200 <= 0.98


def test_bounds_grow_with_the_variance():
    bounds = np.array([variance_bounds(v, 1.0, 4.0, 30.0, 0.95) for v in (0.1, 1, 3, 20, 5000.0)])
    assert (np.diff(bounds, axis=0) >= 0).all()
    assert np.allclose(bounds[-1] / 5000, 1, atol=0.08)
    assert (variance_bounds(0.1, 1.0, 4.0, 30.0, 0.95)) == tuple(bounds[1])


def test_what_cannot_be_said_is_nan():
    found = infer_variance(np.ones((3, 2)), [[1, 0]] * 3, [np.eye(2)], 0.95)
    assert np.isnan([found.value, found.p]).all()
    alike = infer_variance([[1.0, 2.0]] * 3, np.ones((3, 2)), [np.eye(2)], 0.95)
    assert alike.value == pytest.approx(0.5)
    assert np.isnan([alike.low, alike.p]).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: infer_variance([[1.0]], [[1.0]], [[[1.0]]], 0.95),
        lambda: infer_variance(np.ones((2, 2)), np.ones((2, 2)), [np.eye(2)], 95),
        lambda: infer_variance(np.ones((2, 2)), -np.ones((2, 2)), [np.eye(2)], 0.95),
        lambda: infer_variance(np.ones((2, 2)), np.ones((2, 3)), [np.eye(2)], 0.95),
        lambda: infer_variance(np.ones((2, 2)), np.ones((2, 2)), [np.eye(3)], 0.95),
        lambda: matched_differences(([1.0], [1.0]), ([1.0], [1.0]), 0.95),
        lambda: infer_differences(*sides(np.ones((3, 2)), np.ones((3, 2))), 1.0),
    ],
)
def test_numbers_that_cannot_be_are_refused(call):
    with pytest.raises(ValueError, match=r"level|shape|groups|0 or more"):
        call()


def crossed(seed, names=5, topics=6, gone=0.2):
    """Sums by unit of two groups, each of its own names, over topics; name and topic of each."""
    rng = np.random.default_rng(seed)
    name, topic = np.repeat(np.arange(2 * names), topics), np.tile(np.arange(topics), 2 * names)
    here = rng.random(len(name)) >= gone
    name, topic = name[here], topic[here]
    count = (name[:, None] // names == np.arange(2)) * rng.integers(1, 4, len(name))[:, None]
    y = rng.normal(0, 1, count.shape) + rng.normal(0, 1, 2 * names)[name][:, None]
    return y * count, count.astype(float), (name, topic)


def test_crossed_differences_are_the_matched_ones_with_another_error():
    for seed in range(5):
        total, count, (name, topic) = crossed(seed)
        found = crossed_differences(*sides(total, count), 0.95, (name, topic))
        sums = ([np.bincount(topic, column) for column in each.T] for each in (total, count))
        matched = matched_differences(*sides(*(np.stack(each, axis=1) for each in sums)), 0.95)
        np.testing.assert_allclose(found.value, matched.value)
        assert found.n_clusters[0] <= 5
        assert (found.p < 0.05) == (found.low * found.high > 0)


def test_the_error_in_two_ways_is_the_sum_less_what_both_hold():
    """Every pair of units that shares a name or a topic counts (Cameron, Gelbach & Miller 2011)."""
    total, count, (name, topic) = crossed(3, names=30, topics=40, gone=0.0)
    y, n = total.sum(1, keepdims=True), count.sum(1, keepdims=True)
    mean, influence = y.sum() / n.sum(), (y - y.sum() / n.sum() * n) / n.sum()
    either = (name[:, None] == name) | (topic[:, None] == topic)
    naive = np.sqrt(float(influence[:, 0] @ (either * 1.0) @ influence[:, 0]))
    found = infer_crossed([mean], influence, (n,), (name, topic), 0.95)
    half = float(found.high[0] - found.low[0]) / 2
    error = half / stats.t.isf(0.025, float(found.df[0]))
    assert error == pytest.approx(naive, rel=0.05)  # but for the factors of small samples


def test_topics_within_names_leave_names_alone_and_neither_way_is_undercut():
    rng = np.random.default_rng(4)
    name, topic = np.repeat(np.arange(8), 5), np.arange(40)
    y = rng.normal(0, 1, (40, 1)) + rng.normal(0, 1, 8)[name][:, None]
    one, influence = np.ones((40, 1)), (y - y.mean()) / 40
    found = infer_crossed([y.mean()], influence, (one,), (name, topic), 0.95)
    sums = (np.stack([np.bincount(name, each[:, 0])], axis=1) for each in (y, one))
    alone = infer_means(*sums, 0.95)
    np.testing.assert_allclose([found.low, found.high], [alone.low, alone.high])


def test_names_of_two_groups_are_two_samples():
    """Without an effect of topics the test is nearly Welch's of the names' means."""
    rng = np.random.default_rng(5)
    name, topic = np.repeat(np.arange(10), 15), np.tile(np.arange(15), 10)
    y = rng.normal(0, 0.01, 150) + rng.normal(0, [3.0] * 5 + [0.3] * 5)[name]
    one = (name[:, None] // 5 == np.arange(2)) * 1.0
    found = crossed_differences(*sides(one * y[:, None], one), 0.95, (name, topic))
    means = y.reshape(10, 15).mean(1)
    welch = stats.ttest_ind(means[:5], means[5:], equal_var=False)
    assert found.p[0] == pytest.approx(welch.pvalue, rel=0.01)
    assert found.df[0] == pytest.approx(welch.df, rel=0.05)


def test_a_variance_in_two_ways_is_no_surer_than_in_one():
    rng = np.random.default_rng(6)
    name, topic = np.repeat(np.arange(10), 15), np.tile(np.arange(15), 10)
    one = (name[:, None] // 5 == np.arange(2)) * 1.0
    total = one * (rng.normal(0, 1, 150) + rng.normal(0, 1, 10)[name])[:, None]
    both = infer_variance(total, one, [np.eye(2)], 0.95, (name, topic))
    topics = [np.stack([np.bincount(topic, c) for c in each.T], axis=1) for each in (total, one)]
    names = [np.stack([np.bincount(name, c) for c in each.T], axis=1) for each in (total, one)]
    alone = [infer_variance(*each, [np.eye(2)], 0.95).noise for each in (topics, names)]
    assert both.noise >= max(alone) - 1e-12
    assert both.n_clusters == 10


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.4])
def test_a_few_names_that_by_chance_are_alike_are_not_told_from_many(rate):
    """Of 8 names of one unit and 78 of four, all of one kind, two tests in five had p < .05."""
    unit = np.arange(320)
    few = np.broadcast_to(unit[:, np.newaxis] < 8, (320, 1000)).astype(float)
    name, block = np.where(unit < 8, unit, 8 + (unit - 8) // 4), np.where(unit < 8, unit, unit - 8)
    right = np.random.default_rng(5).binomial(1, rate, few.shape).astype(float)
    both = (right * few, few), (right * (1 - few), 1 - few)
    found = crossed_differences(*both, 0.95, (name, block % 8))
    assert np.mean(found.p < 0.05) < 0.05
    assert np.mean(found.p < 0.001) < 0.004

"""Ratios of two sides by prompt: naive definitions, agreement, level and coverage."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as distributions
from scipy.stats import norm

from portrayal.stats import contrasts
from portrayal.stats.contrasts import (
    JOINT_DRAWS,
    TwoSides,
    fewest_contrasts,
    infer_contrasts,
    joint_p,
    sizes_of,
    too_few_contrasts,
    without_interaction,
)


def one(upper, n_upper, lower, n_lower):
    """Sums of one group from four lists."""
    return TwoSides(*(np.array(x, dtype=float)[:, None] for x in (upper, n_upper, lower, n_lower)))


@st.composite
def sides(draw, most=9):
    n = draw(st.integers(1, most))
    cells = []
    for _ in range(2):
        total = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
        part = [draw(st.floats(0, 1)) for _ in total]
        cells += [[round(x * t) for x, t in zip(part, total, strict=True)], total]
    return one(*cells)


@given(sides())
@settings(max_examples=150, deadline=None)
def test_p_interval_and_value_always_agree(s):
    for level in (0.9, 0.95):
        found = infer_contrasts(s, level)
        if np.isnan(found.p[0]):
            assert np.isnan(found.low[0])
            assert np.isnan(found.ratio[0]) or found.n_prompts[0] < fewest_contrasts(level)
            continue
        # Within rounding of the search of the bounds, at the edge of the level.
        if abs(found.p[0] - (1 - level)) > 1e-6:
            assert (found.p[0] < 1 - level) == (found.low[0] > 1 or found.high[0] < 1)
        assert found.low[0] <= found.ratio[0] <= found.high[0]
        assert found.p[0] >= 0.5 ** found.n_prompts[0]
        assert found.null_low[0] <= 1 <= found.null_high[0]


@given(sides())
@settings(max_examples=60, deadline=None)
def test_sides_that_change_places_give_the_inverse(s):
    found = infer_contrasts(s)
    other = infer_contrasts(TwoSides(s.lower, s.n_lower, s.upper, s.n_upper))
    assert found.p[0] == pytest.approx(other.p[0], nan_ok=True, rel=1e-6)
    assert found.fixed_p[0] == pytest.approx(other.fixed_p[0], nan_ok=True, rel=1e-6)
    with np.errstate(divide="ignore"):
        assert found.low[0] == pytest.approx((1 / other.high)[0], nan_ok=True, rel=1e-5)


def test_the_statistic_is_its_definition():
    """The scores of ratio 1, their weights and t, by loops; tau² where its equation holds."""
    s = one(
        [6, 9, 3, 8, 12, 2], [20, 25, 18, 20, 30, 22], [2, 3, 4, 1, 5, 1], [20, 24, 20, 18, 28, 20]
    )
    u, information, variance = [], [], []
    for a, n, b, m in np.stack([s.upper, s.n_upper, s.lower, s.n_lower], -1)[:, 0].tolist():
        total, people = a + b, n + m
        share = n / people
        u.append(a - total * share)
        information.append(total * share * (1 - share))
        # Of a hypergeometric count: total of the group among people, n of them on the upper side.
        variance.append(total * share * (1 - share) * (people - total) / (people - 1))
    d = [x / i for x, i in zip(u, information, strict=True)]
    v = [x / i**2 for x, i in zip(variance, information, strict=True)]

    def excess(tau):
        return sum(x**2 / (y + tau) for x, y in zip(d, v, strict=True)) - len(d)

    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    tau = high if excess(0.0) > 0 else 0.0
    phi = [x / i for x, i in zip(variance, information, strict=True)]
    x = [y / (f + tau * i) for y, f, i in zip(u, phi, information, strict=True)]
    k, total = len(x), sum(x)
    between = k / (k - 1) * sum((y - total / k) ** 2 for y in x)
    within = sum(w / (f + tau * i) ** 2 for w, f, i in zip(variance, phi, information, strict=True))
    t = total / max(between, within) ** 0.5
    p = max(2 * distributions.t.sf(abs(t), k - 2), 0.5**k)
    found = infer_contrasts(s)
    assert found.p[0] == pytest.approx(p, rel=1e-6)
    z = sum(u) / sum(variance) ** 0.5
    assert found.fixed_p[0] == pytest.approx(2 * distributions.norm.sf(abs(z)), rel=1e-9)


def test_the_interval_of_these_prompts_holds_the_pooled_ratio_of_equal_sides():
    s = one([4, 9, 3, 8], [20] * 4, [2, 3, 4, 1], [20] * 4)
    found = infer_contrasts(s)
    assert found.ratio[0] == pytest.approx(2.4)
    assert found.fixed_low[0] < 2.4 < found.fixed_high[0]
    assert np.isnan(found.p[0])  # four prompts say nothing of others
    assert found.fixed_p[0] < 0.05


def test_separation_is_refused_and_bounded_on_one_side():
    n = [20.0] * 8
    found = infer_contrasts(one([9] * 8, n, [0] * 8, n))
    assert found.p[0] == 0.5**8
    assert found.high[0] == np.inf
    assert found.low[0] > 5


def test_groups_are_inferred_each_alone():
    generator = np.random.default_rng(2)
    n, m = (generator.integers(10, 40, (9, 12)).astype(float) for _ in range(2))
    a, b = (generator.binomial(x.astype(int), 0.3) * 1.0 for x in (n, m))
    together = infer_contrasts(TwoSides(a, n, b, m))
    for k in range(12):
        alone = infer_contrasts(TwoSides(*(x[:, k : k + 1] for x in (a, n, b, m))))
        for name in ("ratio", "low", "high", "p", "null_low", "fixed_low", "fixed_p"):
            assert getattr(alone, name)[0] == pytest.approx(getattr(together, name)[k], rel=1e-9)


def test_prompts_that_hold_nobody_of_the_group_say_nothing():
    n = [20.0] * 6
    base = infer_contrasts(one([5, 6, 4, 7, 5, 8], n, [2, 3, 1, 2, 4, 3], n))
    more = infer_contrasts(one([5, 6, 4, 7, 5, 8, 0], [*n, 20], [2, 3, 1, 2, 4, 3, 0], [*n, 20]))
    assert more.n_prompts[0] == 6
    assert more.p[0] == pytest.approx(base.p[0])


@pytest.mark.parametrize("present", [0, 1, 2, 4])
def test_few_prompts_have_no_test_and_say_why(present):
    a = [3.0] * present + [0.0] * (12 - present)
    found = infer_contrasts(one(a, [20] * 12, [1] * present + [0] * (12 - present), [20] * 12))
    assert np.isnan(found.p[0])
    assert np.isnan(found.low[0])
    assert found.n_prompts[0] == present
    assert "takes 5" in (too_few_contrasts(present, 0.95) or "")
    assert too_few_contrasts(5, 0.95) is None


def test_fewest_is_where_coins_can_reach_the_level():
    for level in (0.8, 0.9, 0.95, 0.99, 0.999):
        n = fewest_contrasts(level)
        assert 0.5**n < 1 - level <= 0.5 ** (n - 1) + 1e-12


@pytest.mark.parametrize(("prompts", "texts", "icc"), [(5, 100, 0.05), (8, 40, 0.2), (20, 20, 0.2)])
def test_level_power_and_coverage(prompts, texts, icc):
    """Prompts drawn first, texts in them; bounds leave room for the noise of 1,500 worlds."""
    generator, worlds, share = np.random.default_rng(13), 1500, 0.14
    n = np.full((prompts, worlds), float(texts))
    size = 1 / icc - 1
    for true, least in ((1.0, 0.0), (3.0, 0.4)):
        chance = [
            generator.beta(share * x * size, (1 - share * x) * size, n.shape) for x in (true, 1.0)
        ]
        a, b = (generator.binomial(texts, x) * 1.0 for x in chance)
        found = infer_contrasts(TwoSides(a, n, b, n))
        known = ~np.isnan(found.p)
        covered = (found.low <= true) & (true <= found.high)
        assert covered[known].mean() > 0.9
        assert (found.p < 0.05).mean() > least if true > 1 else (found.p < 0.05).mean() < 0.065


def test_these_prompts_are_refused_by_chance_at_the_level():
    generator = np.random.default_rng(3)
    n = np.full((6, 2000), 40.0)
    chance = generator.beta(1.0, 4.0, n.shape)
    a, b = (generator.binomial(40, chance) * 1.0 for _ in range(2))
    assert 0.03 < (infer_contrasts(TwoSides(a, n, b, n)).fixed_p < 0.05).mean() < 0.065


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="one shape"):
        TwoSides(np.ones((2, 1)), np.ones((2, 1)), np.ones((3, 1)), np.ones((2, 1)))
    with pytest.raises(ValueError, match="0 or more"):
        one([-1], [1], [1], [1])
    with pytest.raises(ValueError, match="level"):
        infer_contrasts(one([1], [1], [1], [1]), 95)


def draw(generator, prompts, k, true=1.0, texts=40, share=0.3):
    """Sides of k groups that vary between prompts; `true` is the ratio of the first."""
    n = np.full((prompts, k), float(texts))
    size = 12.0
    ratio = np.ones(k)
    ratio[0] = true
    lower = generator.beta(share * size, (1 - share) * size, n.shape)
    upper = generator.beta(share * size, (1 - share) * size, n.shape) * ratio
    a, b = (generator.binomial(texts, np.minimum(x, 1.0)) * 1.0 for x in (upper, lower))
    return TwoSides(a, n, b, n)


def jointly(found, seed=0):
    return joint_p(found.scores, found.within, found.n_prompts * 1.0, np.random.default_rng(seed))


def test_of_one_ratio_the_joint_p_is_that_of_all_changes_of_sides():
    """Every one of 2^9 changes of sides, by loops."""
    found = infer_contrasts(draw(np.random.default_rng(1), 9, 1, 1.4))
    x, within, n = found.scores[:, 0].tolist(), float(found.within[0]), 9

    def t(scores):
        total = sum(scores)
        between = n / (n - 1) * (sum(s**2 for s in scores) - total**2 / n)
        return abs(total) / max(between, within) ** 0.5

    coins = product((1, -1), repeat=n)
    every = [t([s * c for s, c in zip(x, signs, strict=True)]) for signs in coins]
    p = sum(each >= t(x) - 1e-9 for each in every) / len(every)
    assert 0.01 < p < 0.3
    assert jointly(found)[0] == pytest.approx(p, abs=4 * (p / JOINT_DRAWS) ** 0.5)


def test_scores_that_are_all_alike_say_as_much_as_their_changes_of_sides_can():
    """35 sources that differ by one word and all in one direction: p = 2 / 2^35, and no less."""
    scores = np.zeros((40, 3))
    scores[:35, 0] = -1.0
    scores[:6, 1] = 1 / 3
    scores[0, 2] = 1.0
    n, none = np.array([35.0, 6.0, 1.0]), np.zeros(3)
    p = joint_p(scores, none, n, np.random.default_rng(0))
    assert p[0] == 1 / (JOINT_DRAWS + 1)
    assert p[1] == pytest.approx(2 / 2**6, abs=0.01)
    assert p[2] == 1.0
    z = sizes_of(scores.sum(0), (scores**2).sum(0), none, n)
    assert z.tolist() == pytest.approx(norm.isf([2.0**-35, 2.0**-6, 0.5]).tolist())


def test_of_one_ratio_over_many_prompts_the_joint_p_is_that_of_t():
    for seed, true in ((0, 1.0), (1, 1.1), (2, 1.15), (3, 1.2)):
        found = infer_contrasts(draw(np.random.default_rng(seed), 60, 1, true))
        assert jointly(found)[0] == pytest.approx(found.p[0], rel=0.2, abs=0.003)


def test_women_and_men_count_once_and_two_other_groups_twice():
    generator = np.random.default_rng(7)
    women = draw(generator, 30, 1, 1.5)
    n, m = women.n_upper, women.n_lower
    men = TwoSides(n - women.upper, n, m - women.lower, m)
    other = draw(generator, 30, 1)

    def both(second):
        cells = zip(vars(women).values(), vars(second).values(), strict=True)
        joined = [np.hstack(pair) for pair in cells if pair[0] is not None]
        return jointly(infer_contrasts(TwoSides(*joined)))[0]

    alone = jointly(infer_contrasts(women))[0]
    assert 0.002 < alone < 0.05
    assert both(men) == pytest.approx(alone, rel=0.05)
    assert both(other) > 1.6 * alone


def test_joint_p_is_no_smaller_than_alone_and_follows_the_order_of_t():
    found = infer_contrasts(draw(np.random.default_rng(8), 15, 8, 1.6))
    together = jointly(found)
    alone = [
        joint_p(x[:, None], w[None], np.array([15.0]), np.random.default_rng(0))[0]
        for x, w in zip(found.scores.T, found.within, strict=True)
    ]
    assert (together >= np.array(alone) - 0.02).all()
    assert np.argsort(together, kind="stable")[0] == np.argmin(found.p)
    assert (together[np.argsort(found.p)] == np.sort(together)).all()


@pytest.mark.parametrize("true", [1.0, 8.0])
def test_any_false_finding_is_as_rare_as_the_level(true, monkeypatch):
    """Whether none or one of six ratios differs; bounds leave room for the noise of 400 worlds."""
    monkeypatch.setattr(contrasts, "JOINT_DRAWS", 499)
    generator, worlds, wrong, right = np.random.default_rng(9), 400, 0, 0
    for _ in range(worlds):
        p = jointly(infer_contrasts(draw(generator, 10, 6, true, share=0.1)))
        null = p if true == 1.0 else p[1:]
        wrong += bool((null < 0.05).any())
        right += bool(p[0] < 0.05)
    assert 0.015 < wrong / worlds < 0.085
    assert (right / worlds > 0.7) == (true > 1.0)


def test_a_table_without_interaction_keeps_its_margins_and_has_one_odds_ratio():
    counts = np.random.default_rng(1).integers(1, 40, (2, 2, 3, 4)) + 0.0
    counts[0, :, 2, 0] = 0.0  # a gender that is never in one role
    fitted = without_interaction(counts)
    for axis in range(3):
        assert fitted.sum(axis) == pytest.approx(counts.sum(axis), rel=1e-6)
    odds = fitted[0, 0, :2] * fitted[1, 1, :2] / fitted[0, 1, :2] / fitted[1, 0, :2]
    assert odds[0] == pytest.approx(odds[1], rel=1e-6)
    assert not fitted[0, :, 2, 0].any()


def test_two_people_of_one_text_who_go_together_are_not_dealt_apart():
    made = np.random.default_rng(3)
    plain, aware = [], []
    for _ in range(400):
        # In nine of ten texts one of the two is of the group, by a coin that of the one role.
        first = made.random((12, 40)) < 0.5
        second = np.where(made.random(first.shape) < 0.9, ~first, first)
        a, b, n = first.sum(1)[:, None] + 0.0, second.sum(1)[:, None] + 0.0, np.full((12, 1), 40.0)
        share = (a + b) / 80.0
        together = ((first - share) * (second - share)).sum(1)[:, None]
        plain.append(infer_contrasts(TwoSides(a, n, b, n)).fixed_p[0] < 0.05)
        aware.append(infer_contrasts(TwoSides(a, n, b, n, None, together)).fixed_p[0] < 0.05)
    assert np.mean(aware) <= 0.05 + 0.033
    assert np.mean(plain) > 0.1

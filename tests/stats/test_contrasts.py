"""Ratios of two sides by prompt: naive definitions, agreement, level, power and coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as distributions

from portrayal.stats import contrasts
from portrayal.stats._arguments import crossing
from portrayal.stats.contrasts import (
    AT_ESTIMATE,
    FEWEST_PROMPTS,
    JOINT_DRAWS,
    SIGNS_FROM,
    WORKING_ICC,
    RatioScore,
    TwoSides,
    infer_contrasts,
    joint_p,
    normal_sizes,
    too_few_prompts,
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
@settings(deadline=None)
def test_p_interval_and_value_always_agree(s):
    for level in (0.9, 0.95):
        result = infer_contrasts(s, level)
        if not np.isnan(result.fixed_p[0]):
            assert result.fixed_low[0] <= result.ratio[0] <= result.fixed_high[0]
            if abs(result.fixed_p[0] - (1 - level)) > 1e-5:
                outside = result.fixed_low[0] > 1 or result.fixed_high[0] < 1
                assert (result.fixed_p[0] < 1 - level) == outside
        if np.isnan(result.p[0]):
            assert np.isnan(result.low[0])
            assert np.isnan(result.ratio[0]) or result.n_prompts[0] < FEWEST_PROMPTS
            continue
        # Within rounding of the search of the bounds, at the edge of the level.
        if abs(result.p[0] - (1 - level)) > 1e-5:
            assert (result.p[0] < 1 - level) == (result.low[0] > 1 or result.high[0] < 1)
        assert result.low[0] <= result.ratio[0] <= result.high[0]
        assert result.null_low[0] <= 1 <= result.null_high[0]


@given(sides())
@settings(deadline=None)
def test_no_interval_ends_at_its_value(s):
    """But at 0 and at infinity, beyond which there is nothing."""
    result = infer_contrasts(s)
    for low, high in ((result.low, result.high), (result.fixed_low, result.fixed_high)):
        if np.isnan(low[0]):
            continue
        ratio = result.ratio[0]
        assert ratio == 0 or low[0] < ratio * (1 - 1e-9)
        assert np.isinf(ratio) or high[0] > ratio * (1 + 1e-9)


@given(sides())
@settings(deadline=None)
def test_sides_that_change_places_give_the_inverse(s):
    result = infer_contrasts(s)
    other = infer_contrasts(TwoSides(s.lower, s.n_lower, s.upper, s.n_upper))
    assert result.p[0] == pytest.approx(other.p[0], nan_ok=True, rel=1e-6)
    assert result.fixed_p[0] == pytest.approx(other.fixed_p[0], nan_ok=True, rel=1e-6)
    with np.errstate(divide="ignore"):
        assert result.low[0] == pytest.approx((1 / other.high)[0], nan_ok=True, rel=1e-4)


UNEQUAL = one(
    [6, 9, 3, 8, 12, 2], [20, 25, 18, 20, 30, 22], [2, 3, 4, 1, 5, 1], [20, 24, 20, 18, 28, 20]
)


def rows_of(s):
    return np.stack([s.upper, s.n_upper, s.lower, s.n_lower], -1)[:, 0].tolist()


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0, 4.0])
def test_the_statistic_is_its_definition(ratio):
    """Scores of any ratio, both variances, their mean and the degrees of freedom, by loops."""
    rows = rows_of(UNEQUAL)
    a_all, n_all, b_all, m_all = (sum(column) for column in zip(*rows, strict=True))
    p = (a_all + b_all) / (ratio * n_all + m_all)
    upper_share, lower_share = a_all / n_all, b_all / m_all
    scores, influences, leverages, expected = [], [], [], []
    for a, n, b, m in rows:
        scores.append((a - ratio * p * n) / n_all - ratio * (b - p * m) / m_all)
        influences.append(a / a_all - n / n_all - b / b_all + m / m_all)
        leverages.append((n / n_all + m / m_all) / 2)
        expected.append(leverages[-1] ** 2 * (1 / (n + m) + WORKING_ICC))

    def robust(values):
        mean = sum(values) / len(values)
        return sum((x - mean) ** 2 / (1 - h) for x, h in zip(values, leverages, strict=True))

    of_people = ratio * p * (1 - ratio * p) / n_all + ratio**2 * p * (1 - p) / m_all
    t_null = sum(scores) / max(robust(scores), of_people) ** 0.5
    of_log = (1 - upper_share) / a_all + (1 - lower_share) / b_all
    distance = np.log(upper_share / lower_share / ratio)
    t_estimate = distance / max(robust(influences), of_log) ** 0.5
    t = np.sign(t_null) * abs(t_null) ** (1 - AT_ESTIMATE) * abs(t_estimate) ** AT_ESTIMATE
    k = len(rows)
    unevenness = sum((x / sum(expected)) ** 2 for x in expected)
    df = (1 - 1 / k) ** 2 / ((1 - 2 / k) * unevenness + 1 / k**2)
    test = RatioScore(UNEQUAL)
    assert test.df[0] == pytest.approx(df)
    assert test.t(np.array([ratio]))[0] == pytest.approx(t)
    assert test.p(np.array([ratio]))[0] == pytest.approx(2 * distributions.t.sf(abs(t), df))


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_the_statistic_of_these_prompts_is_its_definition(ratio):
    rows = rows_of(UNEQUAL)
    a_all, n_all, b_all, m_all = (sum(column) for column in zip(*rows, strict=True))
    at_null = at_estimate = 0.0
    for a, n, b, m in rows:
        share = (a + b) / (ratio * n + m)
        sample = (n + m) / (n + m - 1)
        at_null += sample * n * ratio * share * (1 - ratio * share) / n_all**2
        at_null += ratio**2 * sample * m * share * (1 - share) / m_all**2
        for count, people, total in ((a, n, a_all), (b, m, b_all)):
            variance = count / people * (1 - count / people) * people**2 / (people - 1)
            at_estimate += variance / total**2
    difference = a_all / n_all - ratio * b_all / m_all
    t_null = difference / at_null**0.5
    t_estimate = np.log(a_all / n_all / (b_all / m_all) / ratio) / at_estimate**0.5
    t = abs(t_null) ** (1 - AT_ESTIMATE) * abs(t_estimate) ** AT_ESTIMATE
    found = RatioScore(UNEQUAL).p(np.array([ratio]), these_prompts=True)[0]
    assert found == pytest.approx(2 * distributions.norm.sf(t))


def test_bounds_have_the_p_of_the_level():
    for level in (0.8, 0.95):
        test = RatioScore(UNEQUAL)
        for these_prompts in (False, True):
            for bound in test.interval(level, these_prompts=these_prompts):
                p = test.p(bound, these_prompts=these_prompts)[0]
                assert p == pytest.approx(1 - level, abs=1e-5)


def test_the_interval_of_these_prompts_holds_the_pooled_ratio_of_equal_sides():
    s = one([4, 9, 3, 8], [20] * 4, [2, 3, 4, 1], [20] * 4)
    result = infer_contrasts(s)
    assert result.ratio[0] == pytest.approx(2.4)
    assert result.fixed_low[0] < 2.4 < result.fixed_high[0]
    assert np.isnan(result.p[0])  # four prompts say nothing of others
    assert result.fixed_p[0] < 0.05


def test_total_separation_in_five_prompts_is_told_of_prompts_like_them():
    """No floor of 2^-n: 150 of 150 people in the lesser role, none of 150 in the greater."""
    result = infer_contrasts(one([30] * 5, [30] * 5, [0] * 5, [30] * 5))
    assert result.p[0] == pytest.approx(6.5e-5, rel=0.02)
    assert result.low[0] > 10
    assert np.isinf(result.high[0])


def test_groups_are_inferred_each_alone():
    generator = np.random.default_rng(2)
    n, m = (generator.integers(10, 40, (9, 12)).astype(float) for _ in range(2))
    a, b = (generator.binomial(x.astype(int), 0.3) * 1.0 for x in (n, m))
    together = infer_contrasts(TwoSides(a, n, b, m))
    for k in range(12):
        alone = infer_contrasts(TwoSides(*(x[:, k : k + 1] for x in (a, n, b, m))))
        for name in ("ratio", "low", "high", "p", "null_low", "fixed_low", "fixed_p"):
            assert getattr(alone, name)[0] == pytest.approx(getattr(together, name)[k], rel=1e-9)


def test_prompts_without_people_say_nothing():
    base = infer_contrasts(UNEQUAL)
    empty = TwoSides(*(np.vstack([x, np.zeros((2, 1))]) for x in list(vars(UNEQUAL).values())[:4]))
    more = infer_contrasts(empty)
    assert more.n_prompts[0] == 6
    for name in ("p", "low", "high", "fixed_p", "df"):
        assert getattr(more, name)[0] == pytest.approx(getattr(base, name)[0])


@pytest.mark.parametrize("present", [0, 1, 2, 4])
def test_few_prompts_have_no_test_and_say_why(present):
    a = [3.0] * present + [0.0] * (12 - present)
    result = infer_contrasts(one(a, [20] * 12, [1] * present + [0] * (12 - present), [20] * 12))
    assert np.isnan(result.p[0])
    assert np.isnan(result.low[0])
    assert result.n_prompts[0] == present
    assert "takes 5" in (too_few_prompts(present) or "")
    assert too_few_prompts(5) is None


@pytest.mark.parametrize("prompts", [16, 50, 200])
def test_prompts_that_differ_in_effect_are_refused_at_the_level(prompts):
    """The pooled ratio is 1: a quarter of prompts .4 to .2, the others .10 to .167.

    A common ratio, weighted by precision, is not 1 there, and its test rejected in .09 to .45.
    """
    rng, audits = np.random.default_rng(prompts), 2_000
    n = np.full((prompts, audits), 40.0)
    first = rng.random(n.shape) < 0.25
    a, b = (rng.binomial(40, np.where(first, *x)) + 0.0 for x in ((0.2, 1 / 6), (0.4, 0.1)))
    test = RatioScore(TwoSides(a, n, b, n))
    assert (test.p(np.ones(audits)) < 0.05).mean() <= 0.065 + 0.016
    half = TwoSides(a[:, :300], n[:, :300], b[:, :300], n[:, :300])
    low, high = RatioScore(half).interval(0.95)
    assert ((low <= 1) & (high >= 1)).mean() >= 0.93 - 0.04


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


def unequal(generator, prompts, audits, odds=1.0):
    """Roles of prompts of log-normal size, whose shares and effects differ."""
    n = np.maximum(np.round(40 * generator.lognormal(-0.5, 1.0, (prompts, audits))), 2.0)
    logit = np.log(0.16) + generator.normal(0, 1.0, n.shape)
    half = generator.normal(0, 0.5, n.shape) + np.log(odds) / 2
    chances = [1 / (1 + np.exp(-logit - side * half)) for side in (1, -1)]
    a, b = (generator.binomial(n.astype(int), chance) + 0.0 for chance in chances)
    return TwoSides(a, n, b, n)


def test_weights_by_size_keep_the_level_and_give_power_back():
    """Clusters with many people dominate a pooled value: here .73 of .97 at 50 prompts."""
    generator, one_of_each = np.random.default_rng(4), np.ones(1_500)
    null, effect = (unequal(generator, 50, 1_500, odds) for odds in (1.0, 2.5))
    pooled, weighted = (
        [(RatioScore(s).p(one_of_each) < 0.05).mean() for s in sides]
        for sides in ((null, effect), (null.weighted(), effect.weighted()))
    )
    assert weighted[0] < 0.07
    assert weighted[1] > pooled[1] + 0.1
    assert np.median(null.loss) > 1.5
    p = RatioScore(null.weighted()).p(one_of_each, these_prompts=True)
    # Effects differ between prompts, so that in these very ones there is something to find.
    assert (p < 0.05).mean() > 0.065


def test_weights_of_prompts_of_one_size_change_nothing():
    s = draw(np.random.default_rng(5), 12, 3)
    plain, weighted = infer_contrasts(s), infer_contrasts(s.weighted())
    assert np.allclose(s.loss, 1.0)
    for name in ("ratio", "low", "high", "p", "fixed_low", "fixed_p"):
        assert np.allclose(getattr(plain, name), getattr(weighted, name), rtol=1e-6)


def test_weighted_sums_of_these_prompts_have_the_level():
    generator, prompts = np.random.default_rng(6), 12
    n = np.maximum(np.round(40 * generator.lognormal(-0.5, 1.0, (prompts, 2_000))), 2.0)
    chance = generator.beta(1.0, 4.0, n.shape)
    a, b = (generator.binomial(n.astype(int), chance) + 0.0 for _ in range(2))
    p = RatioScore(TwoSides(a, n, b, n).weighted()).p(np.ones(2_000), these_prompts=True)
    assert 0.03 < (p < 0.05).mean() < 0.07


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


def jointly(result, seed=0):
    n = np.full(result.p.shape, float(len(result.scores)))
    rng = np.random.default_rng(seed)
    return joint_p(result.scores, result.within, n, result.df, result.p, rng)


def test_of_one_ratio_the_joint_p_is_its_own():
    for seed, true in ((0, 1.0), (1, 1.1), (2, 1.15), (3, 1.2)):
        result = infer_contrasts(draw(np.random.default_rng(seed), 60, 1, true))
        assert jointly(result)[0] == pytest.approx(result.p[0], rel=0.2, abs=0.003)


def test_a_ratio_that_few_prompts_carry_costs_the_others_little():
    scores = np.zeros((40, 3))
    scores[:, 0] = np.random.default_rng(3).normal(0.4, 1.0, 40)
    scores[:2, 1] = 1.0
    scores[0, 2] = 1.0
    n, df, within = np.full(3, 40.0), np.full(3, 39.0), np.zeros(3)
    p = joint_p(scores, within, n, df, np.array([0.01, 0.2, 0.4]), np.random.default_rng(0))
    assert p[0] == pytest.approx(0.01, rel=0.3)
    least = joint_p(scores, within, n, df, np.array([1e-9, 0.2, 0.4]), np.random.default_rng(0))
    assert least[0] == 1 / (JOINT_DRAWS + 1)


def by_signs_and_by_normals(monkeypatch, *arguments):
    """Joint p with signs changed whatever the number of prompts, and with normal draws."""
    found = []
    for least in (1, 10_000):
        monkeypatch.setattr(contrasts, "SIGNS_FROM", least)
        found.append(joint_p(*arguments, np.random.default_rng(0)))
    return found


def test_joint_p_of_many_prompts_is_that_of_changed_signs(monkeypatch):
    """Of 20 prompts by loops: the smallest p of each change of signs, among ratios of no less p."""
    monkeypatch.setattr(contrasts, "JOINT_DRAWS", 999)
    result = infer_contrasts(draw(np.random.default_rng(4), 20, 3, 1.5))
    signs = np.sign(np.random.default_rng(0).standard_normal((999, 20)))
    scores, hits = result.scores, np.ones(3)
    order = np.argsort(result.p)
    for row in signs:
        p = []
        for k in order:
            changed = row * scores[:, k]
            variance = max(changed.var(ddof=1) * 20, result.within[k])
            t = abs(changed.sum()) / variance**0.5
            p.append(2 * distributions.t.sf(t, result.df[k]))
        hits += [min(p[i:]) <= result.p[order[i]] for i in range(3)]
    expected = np.maximum.accumulate(hits / 1_000)
    assert jointly(result)[order] == pytest.approx(np.maximum(expected, result.p[order]), abs=0.004)


@pytest.mark.parametrize(("n_prompts", "like"), [(SIGNS_FROM, 0), (SIGNS_FROM - 1, 1)])
def test_signs_are_of_ratios_of_many_prompts(n_prompts, like, monkeypatch):
    result = infer_contrasts(draw(np.random.default_rng(1), n_prompts, 12, 1.3, share=0.1))
    n = np.full(12, float(n_prompts))
    arguments = result.scores, result.within, n, result.df, result.p
    p = joint_p(*arguments, np.random.default_rng(0))
    ways = by_signs_and_by_normals(monkeypatch, *arguments)
    assert (p == ways[like]).all()
    assert (p != ways[1 - like]).any()


def test_a_ratio_is_drawn_by_its_own_prompts_and_not_by_those_of_all():
    """Signs of six prompts that all say the same say it in 1 of 32 draws, which is no p."""
    scores = np.zeros((40, 2))
    scores[:, 0] = np.random.default_rng(3).normal(0.0, 1.0, 40)
    scores[:6, 1] = [1.0, 1.1, 0.9, 1.0, 1.2, 0.8]
    n, p = np.array([40.0, 6.0]), np.array([0.4, 1e-4])
    arguments = scores, np.full(2, 0.01), n, n - 1, p
    assert joint_p(*arguments, np.random.default_rng(0))[1] < 0.002


def test_ratios_that_rest_on_few_prompts_charge_less_where_signs_change(monkeypatch):
    """As words that most sources say seldom and a few often: their t seldom gets large."""
    generator = np.random.default_rng(6)
    scores = generator.choice([-1, 1], (40, 31)) * generator.exponential(size=(40, 31)) ** 3
    n, p = np.full(31, 40.0), np.full(31, 0.5)
    p[0] = 0.0023
    signs, normals = by_signs_and_by_normals(monkeypatch, scores, np.zeros(31), n, n - 1, p)
    assert p[0] <= signs[0] < 0.6 * normals[0]


def test_sizes_of_t_are_normal_variates_of_the_same_p():
    t, df = np.array([0.5, 2.0, 9.0]), np.array([4.0, 4.0, 30.0])
    expected = distributions.norm.isf(distributions.t.sf(t, df))
    assert normal_sizes(-t, df) == pytest.approx(expected)


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


def test_joint_p_is_no_smaller_than_alone_and_follows_its_order():
    result = infer_contrasts(draw(np.random.default_rng(8), 15, 8, 1.6))
    together = jointly(result)
    assert (together >= result.p).all()
    assert (together[np.argsort(result.p)] == np.sort(together)).all()


@pytest.mark.parametrize("prompts", [10, 24])
@pytest.mark.parametrize("true", [1.0, 8.0])
def test_any_false_finding_is_as_rare_as_the_level(true, prompts, monkeypatch):
    """Whether none or one of six ratios differs; bounds leave room for the noise of 400 worlds."""
    monkeypatch.setattr(contrasts, "JOINT_DRAWS", 499)
    generator, worlds, wrong, right = np.random.default_rng(9), 400, 0, 0
    for _ in range(worlds):
        sides = draw(generator, prompts, 6, true, share=0.1)
        p = jointly(infer_contrasts(sides, bounds=False))
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


def test_two_people_of_one_text_who_go_together_vary_together():
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


def test_a_root_is_searched_without_a_warning_where_heights_are_infinite():
    def height(x):
        with np.errstate(divide="ignore"):
            return np.stack([np.log(x[0]), -np.inf + 0 * x[1], np.inf + 0 * x[2]])

    root = crossing(height, np.array([0.0, 0.0, 0.0]), np.array([4.0, 1.0, 1.0]))
    assert root[0] == pytest.approx(1.0)
    assert np.isnan(root[1:]).all()


def test_a_few_people_alone_in_their_prompts_do_not_differ_by_chance_in_these_prompts():
    """Of 8 people beside 312, hardly two to a prompt, one test in four was below .05."""
    rng, shape = np.random.default_rng(5), (20, 1500)
    upper, lower = (rng.multinomial(n, np.full(20, 0.05), size=1500).T for n in (8, 312))
    chance = rng.beta(3.2, 4.8, size=shape)
    sums = rng.binomial(upper, chance), upper, rng.binomial(lower, chance), lower
    result = infer_contrasts(TwoSides(*(x.astype(float) for x in sums)), 0.95)
    assert np.nanmean(result.fixed_p < 0.05) < 0.12

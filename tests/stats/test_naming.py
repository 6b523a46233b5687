"""Fair naming, shrink and power against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearson3, t

from portrayal.stats.naming import (
    fair_naming,
    infer_fair_shares,
    repetition,
    repetition_effect,
)


def population(seed=0, names=200, k=4):
    generator = np.random.default_rng(seed)
    return generator.pareto(1.0, names) + 1, generator.dirichlet(np.full(k, 0.4), names)


def test_fair_naming_is_the_mean_over_bearers():
    bearers, shares = np.array([2, 1, 1.0]), np.array([[0.5, np.nan], [0.1, 0.2], [0.9, 0.4]])
    fair = fair_naming(bearers, shares)
    everybody = [0.5, 0.5, 0.1, 0.9]
    assert fair.share[0] == pytest.approx(np.mean(everybody))
    assert fair.sd[0] == pytest.approx(np.std(everybody))
    assert fair.share[1] == pytest.approx(0.3)  # of those whose name is listed
    assert fair.matched.tolist() == [1.0, 0.5]


def test_shrink_says_what_tilted_names_read():
    bearers, shares = population()
    fair = fair_naming(bearers, shares)
    for race in range(4):
        for true in (0.0, 0.5, 2.0):
            if true * fair.share[race] < 1:
                people, value = bearers / bearers.sum(), shares[:, race]
                others = (1 - true * fair.share[race]) / (1 - fair.share[race])
                tilted = people * (true * value + others * (1 - value))
                reads = tilted @ value / fair.share[race]
                assert reads == pytest.approx(1.0 + fair.shrink[race] * (true - 1.0))


def test_a_table_that_cannot_measure_says_so():
    fair = fair_naming(np.ones(2), np.array([[0.010, 0.0], [0.012, 1.0]]))
    assert fair.measurable.tolist() == [False, True]
    assert "cannot be measured" in (fair.reason(0) or "")
    assert fair.reason(1) is None


def repeated(counts):
    return repetition(float((counts**2).sum()), counts.sum(0), counts.sum(1))


def test_repetition_is_the_share_of_pairs():
    generator = np.random.default_rng(1)
    counts = generator.poisson(1.0, (6, 4)).astype(float)
    people = [(p, n) for n in range(6) for p in range(4) for _ in range(int(counts[n, p]))]
    same = {True: [], False: []}
    for i, (p, n) in enumerate(people):
        for j, (q, m) in enumerate(people):
            if i != j:
                same[p == q].append(n == m)
    within, between = np.mean(same[True]), np.mean(same[False])
    assert repeated(counts) == pytest.approx(max((within - between) / (1 - between), 0))
    assert repeated(np.ones((1, 3))) == 0.0


def test_design_effect_of_equal_prompts():
    assert repetition_effect(np.full((4, 1), 11.0), 0.1)[0] == pytest.approx(2.0)


def test_fair_shares_hold_their_level_and_agree():
    bearers, shares = population(1)
    fair = fair_naming(bearers, shares)
    generator = np.random.default_rng(2)
    refused = 0
    for _ in range(400):
        at = generator.choice(len(bearers), (12, 15), p=bearers / bearers.sum())
        found = infer_fair_shares(shares[at].sum(1), np.full((12, 4), 15.0), fair, 0.0)
        small = found.p < 0.05
        refused += int(small[0])
        assert np.array_equal(small, (found.low > fair.share) | (found.high < fair.share))
    assert refused / 400 < 0.075


def test_fair_shares_are_their_definition():
    bearers, shares = population(1)
    fair = fair_naming(bearers, shares)
    at = np.random.default_rng(5).integers(0, len(bearers), (9, 15))
    values, n = shares[at], 9 * 15
    count, squares = values.sum(1), (values**2).sum(1)
    found = infer_fair_shares(count, np.full((9, 4), 15.0), fair, 0.0, squares=squares)
    wider = []
    for k in range(4):
        share = count[:, k].sum() / n
        error = (9 / 8 * sum(((c - 15 * share) / n) ** 2 for c in count[:, k])) ** 0.5
        one = fair.sd[k] / n**0.5
        skew = fair.skew[k] * max(error, one) / fair.sd[k]  # of the mean of so few draws
        others = [15 - 2 * c + q for c, q in zip(count[:, k], squares[:, k], strict=True)]
        carry = [sum(x) ** 2 / sum(each**2 for each in x) for x in (squares[:, k], others)]
        df = min(8, *(x - 1 for x in carry))
        away = (share - fair.share[k]) / error
        hall = away + skew / 3 * away**2 + skew**2 / 27 * away**3 + skew / 6  # Hall (1992)
        p = 2 * t.sf(abs(hall), df)
        # names drawn, Pearson's type III
        at_k = (share - fair.share[k]) / one
        null = pearson3(fair.skew[k] / n**0.5)
        drawn = 2 * min(null.sf(at_k), null.cdf(at_k))
        assert found.fixed_p[k] == pytest.approx(drawn)
        assert found.p[k] == pytest.approx(max(p, drawn))
        wider.append(p > drawn)
    assert any(wider)


def test_an_interval_of_fair_shares_holds_what_their_test_does_not_refuse():
    fair = fair_naming(*population(1))
    count = np.random.default_rng(3).gamma(2.0, 1.5, (8, 4))
    found = infer_fair_shares(count, np.full((8, 4), 15.0), fair, 0.0)
    for end in (found.low, found.high):
        moved = replace(fair, share=np.clip(end, 1e-9, 1 - 1e-9))
        p = infer_fair_shares(count, np.full((8, 4), 15.0), moved, 0.0).p
        by_prompt = p > found.fixed_p  # the drawn names' own interval is test-based
        assert (p[by_prompt] >= 0.05 - 1e-9).all()


def test_a_share_at_the_median_of_a_skewed_null_has_an_interval_without_an_overflow():
    # Of so few names of a rare race the median is far below the mean: a share there is far from the
    # mean on the log scale, yet no surprise at all, and its test-based interval has no end.
    fair = fair_naming(np.array([95.0, 5.0]), np.array([[0.01], [0.9]]))
    spread, skew = fair.sd[0] / 2.0, fair.skew[0] / 2.0
    share = fair.share[0] + spread * pearson3(skew).ppf(0.4993)
    assert 0 < share < fair.share[0] / 1.3
    found = infer_fair_shares(np.full((4, 1), share), np.ones((4, 1)), fair, 0.0)
    assert found.fixed_p[0] > 0.99
    assert (found.low[0], found.high[0]) == (0.0, 1.0)


def test_a_rare_race_dealt_by_prompt_keeps_its_level():
    # One prompt in ten is about the race, a twentieth of the bearers: few prompts, by chance fewer.
    bearers = np.array([95.0, 5.0])
    shares = np.array([[0.01], [0.8]])
    fair = fair_naming(bearers, shares)
    generator, refused, plain = np.random.default_rng(7), 0, 0
    for _ in range(600):
        own = generator.beta(0.05 * 4, 0.95 * 4, 8)
        carry = generator.binomial(60, own)
        count = (carry * 0.8 + (60 - carry) * 0.01)[:, None]
        squares = (carry * 0.64 + (60 - carry) * 1e-4)[:, None]
        found = infer_fair_shares(count, np.full((8, 1), 60.0), fair, 0.0, squares=squares)
        refused += int(found.p[0] < 0.05)
        influence = count[:, 0] / count.sum() - 1 / 8
        error = (8 / 7 * (influence**2).sum()) ** 0.5 + 1e-9  # no prompt has any, or all alike
        plain += int(2 * t.sf(abs(np.log(count.sum() / 480 / fair.share[0])) / error, 7) < 0.05)
    assert refused / 600 < 0.08
    assert plain / 600 > 0.12


def test_one_prompt_has_no_test_of_fair_naming():
    fair = fair_naming(*population(1))
    found = infer_fair_shares(np.full((1, 4), 2.0), np.full((1, 4), 10.0), fair, 0.0)
    assert np.isnan(found.p).all()
    assert np.isnan(found.low).all()


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        fair_naming(np.ones(2), np.ones((3, 1)))

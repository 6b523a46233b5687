"""Corrected sums: their definition by loops, and by simulation with known truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.stats import (
    infer_differences,
    infer_shares,
)
from portrayal.stats.two_phase import (
    Labelled,
    infer_two_phase,
    infer_two_phase_contrast,
    two_phase,
)
from support import matrix

NO_NULL = np.array([np.nan])


def world(rng, share, icc, recall, wrong, n, *, prompts=18, texts=100):
    """Prompt, truth and scorer's label of each text, and which are labelled by hand."""
    prompt = np.repeat(np.arange(prompts), texts)
    own = np.full(prompts, share)
    if icc:
        own = rng.beta(share * (1 - icc) / icc, (1 - share) * (1 - icc) / icc, prompts)
    truth = (rng.random(len(prompt)) < own[prompt]).astype(float)
    said = np.where(truth > 0, rng.random(len(prompt)) < recall, rng.random(len(prompt)) < wrong)
    return prompt, truth, said.astype(float), rng.permutation(len(prompt))[:n]


def labelled(prompt, weight, *terms):
    return Labelled(prompt, weight, tuple(each[:, np.newaxis] for each in terms))


def corrected(prompt, drawn, said, truth):
    """Corrected sums from lists of the terms of all units, as scorer and people label them."""
    weight = np.full(len(drawn), len(prompt) / len(drawn))
    hand = labelled(prompt[drawn], weight, *(each[drawn] for each in said))
    gold = tuple(each[drawn][:, np.newaxis] for each in truth)
    every = labelled(prompt, np.ones(len(prompt)), *said)
    return two_phase(every, hand, gold, prompt.max() + 1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_a_share_is_post_stratified_by_what_the_scorer_says(seed):
    rng = np.random.default_rng(seed)
    prompt, truth, said, drawn = world(rng, 0.4, 0.0, 0.9, 0.05, 90, prompts=1, texts=180)
    one = np.ones(len(prompt))
    total = 0.0
    for label in (0.0, 1.0):
        here = [truth[i] for i in drawn if said[i] == label]
        total += sum(said == label) * sum(here) / len(here)
    found = corrected(prompt, drawn, (said, one), (truth, one))
    assert found.share[0] == pytest.approx(total / len(prompt))
    assert found.sums.sum(1)[1, 0] == pytest.approx(len(prompt))


def test_a_class_that_no_label_checks_is_not_believed():
    """Five units that the scorer alone puts into the group: people's labels stand alone."""
    prompt, said, truth = np.repeat(np.arange(10), 20), np.zeros(200), np.zeros(200)
    said[::40], truth[[1, 2, 3]] = 1.0, 1.0
    drawn, one = np.arange(200)[said == 0][::4], np.ones(200)
    found = corrected(prompt, drawn, (said, one), (truth, one))
    assert found.share[0] == pytest.approx(truth[drawn].mean())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_a_scorer_that_says_one_thing_of_all_leaves_the_labels_alone(seed):
    rng = np.random.default_rng(seed)
    prompt, truth, said, drawn = world(rng, 0.4, 0.0, 0.5, 0.5, 50, prompts=1)
    one = np.ones(len(prompt))
    found = corrected(prompt, drawn, (0.0 * said, one), (truth, one))
    assert found.share[0] == pytest.approx(truth[drawn].mean())


def test_when_all_is_labelled_the_draw_has_no_variance():
    prompt, truth, said, _ = world(np.random.default_rng(1), 0.3, 0.1, 0.4, 0.1, 1, texts=20)
    one = np.ones(len(prompt))
    found = corrected(prompt, np.arange(len(prompt)), (said, one), (truth, one))
    assert found.share[0] == pytest.approx(truth.mean())
    assert found.drawing == pytest.approx(np.zeros((2, 2, 1)), abs=1e-9)


def test_the_variance_of_a_draw_has_half_an_error_more_than_was_seen():
    """Two classes by the scorer; against Jeffreys' estimate of the spread in each, written out."""
    classes = ((20, 10, 9), (1980, 190, 2))  # units, labelled ones, those of the group
    said = np.repeat([1.0, 0.0], [size for size, _, _ in classes])
    rows, wanted = [], 0.0
    for label, (size, n, positive) in zip((1.0, 0.0), classes, strict=True):
        rows += [(label, float(i < positive), size / n) for i in range(n)]
        share, stands_for = (positive + 0.5) / (n + 1), size / n
        wanted += stands_for * (stands_for - 1) * n * share * (1 - share)
    shown, truth, weight = np.array(rows).T
    one, prompt = np.ones(len(rows)), np.zeros(len(rows), dtype=np.int64)
    every = labelled(np.zeros(2000, dtype=np.int64), np.ones(2000), said, np.ones(2000))
    gold = truth[:, np.newaxis], one[:, np.newaxis]
    sums = two_phase(every, labelled(prompt, weight, shown, one), gold, 1)
    assert sums.share[0] == pytest.approx((20 * 9 / 10 + 1980 * 2 / 190) / 2000)
    assert sums.drawing[0, 0, 0] == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("recall", matrix([0.33, 0.5]))
def test_rare_shares_are_covered_where_the_scorer_is_never_wrong_of_who_is_in(recall):
    """Share .03, 200 labels drawn by class: errors of the large class are few by chance."""
    rng, inside, reps = np.random.default_rng(3), 0, 400
    for _ in range(reps):
        prompt, truth, said, _ = world(rng, 0.03, 0.0, recall, 0.0, 1)
        small, large = np.flatnonzero(said == 1), np.flatnonzero(said == 0)
        n = max(8, round(200 * len(small) / len(said)))
        drawn = np.concatenate([rng.permutation(small)[:n], rng.permutation(large)[: 200 - n]])
        weight = np.where(said[drawn] == 1, len(small) / min(n, len(small)), len(large) / (200 - n))
        one = np.ones(len(drawn))
        every = labelled(prompt, np.ones(len(prompt)), said, np.ones(len(prompt)))
        gold = truth[drawn][:, np.newaxis], one[:, np.newaxis]
        hand = labelled(prompt[drawn], weight, said[drawn], one)
        found = infer_two_phase(two_phase(every, hand, gold, 18), 0.95, NO_NULL, over="these texts")
        inside += bool(found.low[0] <= truth.mean() <= found.high[0])
    assert inside / reps >= 0.925


def test_units_of_which_more_are_drawn_count_less():
    """Labels drawn with other chances: the sum is right on average, and not with equal weights."""
    rng, sums, plain = np.random.default_rng(5), [], []
    truth = (rng.random(600) < np.repeat([0.1, 0.7], 300)).astype(float)
    prompt, said = np.arange(600) % 20, (rng.random(600) < 0.3).astype(float)
    chance = np.repeat([0.05, 0.4], 300)
    for _ in range(400):
        drawn = np.flatnonzero(rng.random(600) < chance)
        for into, weight in ((sums, 1 / chance[drawn]), (plain, np.full(len(drawn), 4.4))):
            one = np.ones(len(drawn))
            hand = labelled(prompt[drawn], weight, said[drawn], one)
            gold = truth[drawn][:, np.newaxis], one[:, np.newaxis]
            every = labelled(prompt, np.ones(600), said, np.ones(600))
            into.append(two_phase(every, hand, gold, 20).share[0])
    assert np.mean(sums) == pytest.approx(truth.mean(), abs=0.012)
    assert abs(np.mean(plain) - truth.mean()) > 0.1


@pytest.mark.parametrize(
    ("share", "icc", "recall", "wrong"),
    matrix(
        [
            (0.3, 0.1, 0.33, 0.02),
            (0.3, 0.0, 0.33, 0.02),
            (0.5, 0.1, 0.8, 0.2),
            (0.12, 0.05, 0.7, 0.05),
        ]
    ),
)
def test_shares_cover_and_are_no_wider_than_the_labels_alone(share, icc, recall, wrong):
    rng, n = np.random.default_rng(11), 150
    inside, here, widths, alone = [], [], [], []
    for _ in range(250):
        prompt, truth, said, drawn = world(rng, share, icc, recall, wrong, n)
        one = np.ones(len(prompt))
        sums = corrected(prompt, drawn, (said, one), (truth, one))
        found = infer_two_phase(sums, 0.95, NO_NULL)
        fixed = infer_two_phase(sums, 0.95, NO_NULL, over="these prompts")
        inside.append(found.low[0] <= share <= found.high[0])
        here.append(fixed.low[0] <= truth.mean() <= fixed.high[0])
        counts = (np.bincount(prompt[drawn], w, 18)[:, np.newaxis] for w in (truth[drawn], None))
        labels = infer_shares(*counts, 0.95)
        widths.append(found.high[0] - found.low[0])
        alone.append(labels.high[0] - labels.low[0])
    assert 0.92 <= np.mean(inside) <= 0.985
    assert 0.93 <= np.mean(here) <= 0.995
    assert np.mean(widths) <= 1.0 * np.mean(alone)


@pytest.mark.parametrize("form", ["difference", "ratio"])
@pytest.mark.parametrize("icc", matrix([0.1, 0.0]))
def test_differences_and_lifts_cover_and_are_no_wider_than_the_labels_alone(form, icc):
    """Two groups of texts; the scorer misses more of the first and sees too little between them."""
    rng, n, shares = np.random.default_rng(12), 200, (0.6, 0.45)
    inside, here, widths, alone, naive = [], [], [], [], []
    for _ in range(250):
        one = world(rng, shares[0], icc, 0.6, 0.05, 1)
        two = world(rng, shares[1], icc, 0.82, 0.05, 1)
        prompt, truth, said = (np.concatenate(pair) for pair in zip(one[:3], two[:3], strict=True))
        first = np.repeat([1.0, 0.0], len(truth) // 2)
        drawn = rng.permutation(len(truth))[:n]

        def terms(label, first=first):
            return label * first, first, label * (1 - first), 1 - first

        sums = corrected(prompt, drawn, terms(said), terms(truth))
        found = infer_two_phase_contrast(sums, 0.95, form)
        fixed = infer_two_phase_contrast(sums, 0.95, form, over="these prompts")
        true = {"difference": np.subtract, "ratio": np.divide}[form]
        of_these = true(truth[first > 0].mean(), truth[first == 0].mean())
        naive.append(true(said[first > 0].mean(), said[first == 0].mean()))
        inside.append(found.low[0] <= true(*shares) <= found.high[0])
        here.append(fixed.low[0] <= of_these <= fixed.high[0])
        sides = [
            tuple(np.bincount(prompt[drawn], w[drawn], 18)[:, np.newaxis] for w in pair)
            for pair in ((truth * first, first), (truth * (1 - first), 1 - first))
        ]
        if form == "difference":
            labels = infer_differences(*sides, 0.95)
            alone.append(labels.high[0] - labels.low[0])
            widths.append(found.high[0] - found.low[0])
    assert 0.92 <= np.mean(inside) <= 0.985
    assert 0.93 <= np.mean(here) <= 0.995
    assert np.mean(widths or [0]) <= np.mean(alone or [0])
    assert abs(np.mean(naive) - true(*shares)) > 0.08


@pytest.mark.parametrize("over", ["prompts", "these prompts", "these texts"])
def test_a_few_units_labelled_alike_by_chance_are_not_told_from_many(over):
    """Two of six are labelled, and by chance both alike: a quarter to half of the tests had .05."""
    rng = np.random.default_rng(1)
    truth = rng.binomial(1, 0.4, (606, 60)).astype(float)
    few = np.broadcast_to(np.arange(606)[:, np.newaxis] < 6, truth.shape).astype(float)
    drawn = np.union1d(6 + rng.permutation(600)[:303], [0, 3])
    terms = truth * few, few, truth * (1 - few), 1 - few
    of_hand = tuple(term[drawn] for term in terms)
    hand = Labelled(drawn, np.full(len(drawn), 606 / len(drawn)), of_hand)
    sums = two_phase(Labelled(np.arange(606), np.ones(606), terms), hand, of_hand, 606)
    assert np.mean(infer_two_phase_contrast(sums, 0.95, over=over).p < 0.05) < 0.07


def test_what_the_scorer_says_of_another_group_is_heard_where_it_tells():
    """It says nothing of the first group; of the second, what people say of the first, or noise."""
    covered, widths = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        prompt, truth, said, drawn = world(rng, 0.3, 0.0, 0.95, 0.05, 300)
        width = []
        for second in (said, rng.permutation(said)):
            told = np.stack([np.zeros_like(said), second], axis=1)
            gold = np.stack([truth, second], axis=1)
            one, weight = np.ones_like(told), np.full(300, len(prompt) / 300)
            hand = Labelled(prompt[drawn], weight, (told[drawn], one[drawn]))
            every = Labelled(prompt, np.ones(len(prompt)), (told, one))
            sums = two_phase(every, hand, (gold[drawn], one[drawn]), 18)
            found = infer_two_phase(sums, 0.95, np.full(2, np.nan), over="these texts")
            width.append(found.high[0] - found.low[0])
            covered += found.low[0] <= truth.mean() <= found.high[0]
        widths.append(width[0] / width[1])
    # Of a label's variance of .21 what is told leaves .05: a width of .48.
    assert np.median(widths) < 0.55
    assert covered >= 34  # of 40, at .95: 3 standard deviations


def test_one_prompt_has_an_interval_of_itself_alone():
    prompt, truth, said, drawn = world(np.random.default_rng(2), 0.4, 0, 0.5, 0.1, 60, prompts=1)
    one = np.ones(len(prompt))
    sums = corrected(prompt, drawn, (said, one), (truth, one))
    found = infer_two_phase(sums, 0.95, NO_NULL)
    fixed = infer_two_phase(sums, 0.95, NO_NULL, over="these prompts")
    assert np.isnan(found.low[0])
    assert fixed.low[0] < found.value[0] < fixed.high[0]


def test_prompts_clustered_in_two_ways_have_the_variance_of_both():
    rng = np.random.default_rng(3)
    name, topic = np.repeat(np.arange(12), 6), np.tile(np.arange(6), 12)
    of_name = rng.normal(0, 0.25, 12)[name]
    prompt = np.repeat(np.arange(72), 20)
    truth = (rng.random(1440) < np.clip(0.5 + of_name[prompt], 0.02, 0.98)) * 1.0
    said = np.where(rng.random(1440) < 0.2, 1.0 - truth, truth)
    drawn = rng.permutation(1440)[:300]
    every = np.ones(1440)
    sums = corrected(prompt, drawn, (said, every), (truth, every))
    gradient = sums.of_share
    alone, _ = sums.variance(gradient)
    same, _ = replace(sums, ways=(np.arange(72), np.arange(72))).variance(gradient)
    assert same == pytest.approx(alone)
    crossed = replace(sums, ways=(name, topic))
    by_name, by_topic, by_prompt = (one.variance(gradient)[0] for one in crossed.by_way)
    both, _ = crossed.variance(gradient)
    assert both == pytest.approx(max(by_name + by_topic - by_prompt, by_name, by_topic))
    # Names differ, so that texts of other names tell less than as many prompts would
    assert both > 1.5 * alone
    found = infer_two_phase(crossed, 0.95, NO_NULL)
    assert found.n_clusters.tolist() == [6]
    assert found.carriers[0] <= 6
    by_name = crossed.by_way[0]
    for sums_by_name, by_hand in ((by_name.fitted, sums.fitted), (by_name.errors, sums.errors)):
        for i in range(12):
            assert sums_by_name[:, i] == pytest.approx(by_hand[:, name == i].sum(1))

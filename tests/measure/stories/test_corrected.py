"""Corrected estimates: against loops, against the regression estimator, and by simulation."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.measure.scope import Scope
from portrayal.measure.stories.corrected import HandSample
from portrayal.measure.stories.representation import representation as measured_representation
from portrayal.measure.stories.subordination import subordination as measured_subordination
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, NO_SLOT, SUBORDINATE, Tally
from portrayal.records import ALL
from portrayal.reference.groups import baseline

BASE = baseline("census-2022")
F, M, NB, UNSPECIFIED = range(4)
SCOPE = Scope("laissez-faire", draws=300, permutations=20)


def made(prompt, gold, guess, drawn, *, second=None, n_prompts):
    """Tally and hand sample of stories: genders of subjects (and objects) as said and as guessed.

    `second` is (gold, guess) of the objects; stories are then power-laden. `drawn` are the stories
    that people labelled, at random from all.
    """
    n, laden = len(prompt), second is not None
    nobody = np.full(n, NO_SLOT)
    tally = Tally(
        prompt_ids=tuple(f"p{i:03d}" for i in range(n_prompts)),
        domains=("Labor",),
        models=("m",),
        names=(),
        races=("White",),
        n_primary=1,
        prompt_domain=np.zeros(n_prompts, dtype=np.int64),
        prompt_laden=np.full(n_prompts, laden),
        prompt_couple=np.zeros(n_prompts, dtype=bool),
        prompt_scenario=("",) * n_prompts,
        prompt=prompt,
        model=np.zeros(n, dtype=np.int64),
        outcome=np.zeros(n, dtype=np.int64),
        subject_name=nobody,
        subject_gender=guess,
        object_name=nobody,
        object_gender=second[1] if laden else nobody,
        count=np.ones(n, dtype=np.int64),
        likelihood=np.full((1, 1), np.nan),
    )
    slots = [(DOMINANT if laden else NEUTRAL, gold, guess)]
    slots += [(SUBORDINATE, *second)] if laden else []
    k = len(drawn)
    none = np.full(k * len(slots), NO_SLOT)
    hand = HandSample(
        tally,
        prompt=np.tile(prompt[drawn], len(slots)),
        model=np.zeros_like(none),
        role=np.repeat([role for role, *_ in slots], k),
        weight=np.full(len(none), n / k),
        name=none,
        gender=np.concatenate([g[drawn] for _, _, g in slots]),
        gold_name=none,
        gold_gender=np.concatenate([g[drawn] for _, g, _ in slots]),
    )
    return tally, hand


def of_group(estimates, **group):
    """The estimate of all models as labels by hand correct it, and the one that they correct."""
    rows = [e for e in estimates if e.group == group and e.strata["model"] == ALL]
    (found,), (naive,) = ([e for e in rows if e.corrected is kind] for kind in (True, False))
    return found, naive


def both_representations(tally, hand, gender="F"):
    rows = measured_representation(tally, SCOPE, baseline=BASE, name_tables={}, hand_sample=hand)
    return of_group(rows, gender=gender)


def representation(tally, hand, gender="F"):
    return both_representations(tally, hand, gender)[0]


def both_subordinations(tally, hand, gender="F"):
    return of_group(measured_subordination(tally, SCOPE, hand_sample=hand), gender=gender)


def subordination(tally, hand, gender="F"):
    return both_subordinations(tally, hand, gender)[0]


def biased(gold, rng):
    """What a labeler makes of genders that takes three in ten feminine characters for masculine."""
    return np.where((gold == F) & (rng.random(len(gold)) < 0.3), M, gold)


def stories(rng, n_prompts=40, each=25, share=0.5):
    """Prompt and gender of stories whose share of F varies between prompts around `share`."""
    prompt = np.repeat(np.arange(n_prompts), each)
    level = np.clip(share + rng.normal(0, 0.1, n_prompts), 0, 1)
    return prompt, np.where(rng.random(n_prompts * each) < level[prompt], F, M)


def post_stratified(gold, guess, drawn, counts):
    """Sum of what counts: of each class, its size times the mean among the hand-labelled."""
    total = 0.0
    for inside in ((F,), (M, NB), (UNSPECIFIED,)):
        members = [i for i in range(len(guess)) if guess[i] in inside]
        labelled = [i for i in drawn if guess[i] in inside]
        if labelled:
            total += len(members) * sum(gold[i] in counts for i in labelled) / len(labelled)
        else:
            total += sum(guess[i] in counts for i in members)
    return total


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_corrected_share_follows_its_definition(seed):
    rng = np.random.default_rng(seed)
    prompt = np.sort(rng.integers(0, 6, 120))
    gold = rng.choice(4, 120, p=(0.4, 0.4, 0.05, 0.15))
    guess = np.where(rng.random(120) < 0.95, gold, rng.integers(0, 4, 120))
    drawn = rng.permutation(120)[:60]
    tally, hand = made(prompt, gold, guess, drawn, n_prompts=6)
    whole = post_stratified(gold, guess, drawn, (F, M, NB))
    with pytest.MonkeyPatch.context() as patch:  # without what labels of others teach
        patch.setattr(sys.modules["portrayal.stats.two_phase"], "GAIN", np.inf)
        found = representation(tally, hand)
    assert found.value * BASE.shares["gender"]["F"] == pytest.approx(
        post_stratified(gold, guess, drawn, (F,)) / whole
    )
    assert found.n_units == pytest.approx(whole)
    assert found.details["n_labelled"] == 60
    either = sum(gold[i] == F or guess[i] == F for i in drawn)
    assert found.details["labelled_of_group"] == either


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_when_all_is_labelled_by_hand_the_labeler_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    prompt, gold = stories(rng, 8, 10)
    _, second = stories(rng, 8, 10)
    guesses = [rng.integers(0, 5, len(prompt)) for _ in range(2)]
    everyone = np.arange(len(prompt))
    tally, hand = made(prompt, gold, guesses[0], everyone, n_prompts=8)
    wanted = np.mean(gold == F) / BASE.shares["gender"]["F"]
    assert representation(tally, hand).value == pytest.approx(wanted)
    tally, hand = made(prompt, gold, guesses[0], everyone, second=(second, guesses[1]), n_prompts=8)
    wanted = np.mean(second == F) / np.mean(gold == F)
    assert subordination(tally, hand).value == pytest.approx(wanted)


def test_a_labeler_without_errors_is_not_corrected():
    rng = np.random.default_rng(3)
    prompt, gold = stories(rng)
    tally, hand = made(prompt, gold, gold, rng.permutation(len(gold))[:100], n_prompts=40)
    found, naive = both_representations(tally, hand)
    assert found.value == pytest.approx(naive.value) == pytest.approx(found.details["naive"])
    assert found.interval.low <= naive.interval.low
    assert found.interval.low == pytest.approx(naive.interval.low, abs=0.1)
    assert found.status.may_be_stated
    assert not naive.status.may_be_stated


def coverage(one, n=50):
    """Shares of simulations whose corrected and whose naive interval hold the truth."""
    hits = np.zeros(2)
    for seed in range(n):
        estimates, truth = one(np.random.default_rng(10_000 + seed))
        hits += [e.interval.low <= truth <= e.interval.high for e in estimates]
    return hits / n


def test_corrected_shares_hold_the_truth_where_naive_ones_do_not():
    def one(rng):
        prompt, gold = stories(rng)
        drawn = rng.permutation(len(gold))[:300]
        tally, hand = made(prompt, gold, biased(gold, rng), drawn, n_prompts=40)
        return both_representations(tally, hand), 0.5 / BASE.shares["gender"]["F"]

    corrected, naive = coverage(one)
    assert corrected >= 0.95 - 3 * 0.031  # standard errors of fifty simulations
    assert naive <= 0.3


def test_corrected_ratios_hold_the_truth_where_naive_ones_do_not():
    """The labeler errs on subjects alone, so that its ratio is biased."""

    def one(rng):
        prompt, gold = stories(rng)
        _, second = stories(rng)
        drawn = rng.permutation(len(gold))[:300]
        tally, hand = made(
            prompt, gold, biased(gold, rng), drawn, second=(second, second), n_prompts=40
        )
        return both_subordinations(tally, hand), 1.0

    corrected, naive = coverage(one)
    assert corrected >= 0.95 - 3 * 0.031  # standard errors of fifty simulations
    assert naive <= 0.3


def test_too_few_hand_labels_give_a_reason():
    rng = np.random.default_rng(0)
    prompt, gold = stories(rng)
    tally, hand = made(prompt, gold, gold, np.arange(19), n_prompts=40)
    found = representation(tally, hand)
    assert found.value is None
    assert found.undefined.startswith("19 neutral characters are labelled by hand")


def test_a_group_that_people_never_saw_reads_0_and_not_below():
    prompt = np.repeat(np.arange(20), 10)
    gold, guess = np.full(200, M), np.full(200, M)
    guess[:4] = F  # the labeler finds four feminine characters; people saw three of them, and none
    drawn = np.concatenate([np.arange(3), np.arange(100, 137)])
    tally, hand = made(prompt, gold, guess, drawn, n_prompts=20)
    found = representation(tally, hand)
    assert found.value == 0.0
    assert found.interval.low == 0.0
    assert 0.05 < found.interval.high < 1


def test_a_group_of_which_nobody_is_labelled_is_undefined():
    rng = np.random.default_rng(1)
    prompt, gold = stories(rng)
    gold[:2] = NB
    tally, hand = made(prompt, gold, gold, np.arange(2, len(gold), 4), n_prompts=40)
    found = representation(tally, hand, "NB")
    assert found.value is None
    assert found.undefined.startswith("too few labels for so rare a group: no NB")


def test_a_group_never_dominant_has_an_interval_with_one_side():
    rng = np.random.default_rng(2)
    prompt, gold = stories(rng)
    second = np.where(rng.random(len(gold)) < 0.05, NB, gold)
    drawn = rng.permutation(len(gold))[:300]
    tally, hand = made(prompt, gold, gold, drawn, second=(second, second), n_prompts=40)
    found = subordination(tally, hand, "NB")
    assert found.value == np.inf
    assert found.interval.low > 1
    assert found.interval.high == np.inf
    assert found.tests[0].p < 0.05


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_p_and_interval_agree(seed):
    rng = np.random.default_rng(seed)
    (prompt, gold), (_, second) = (stories(rng, 8, 12, rng.uniform(0.05, 0.6)) for _ in range(2))
    drawn = rng.permutation(len(gold))[:40]
    guesses = biased(gold, rng), biased(second, rng)
    tally, hand = made(prompt, gold, guesses[0], drawn, second=(second, guesses[1]), n_prompts=8)
    alone, labelled = made(prompt, gold, guesses[0], drawn, n_prompts=8)
    for found in (subordination(tally, hand), representation(alone, labelled)):
        if found.value is None or np.isnan(found.tests[0].p):
            continue
        assert (found.tests[0].p < 0.05) == (not found.interval.low <= 1 <= found.interval.high)
        assert found.interval.low <= found.value <= found.interval.high


def test_without_clusters_it_is_the_regression_estimator():
    """With two classes and equal weights: Cochran (1977), chapter 7, and PPI++ with tuned λ."""
    rng = np.random.default_rng(5)
    gold = np.where(rng.random(3000) < 0.4, F, M)
    guess = biased(gold, rng)
    drawn = rng.permutation(3000)[:400]
    tally, hand = made(np.arange(3000), gold, guess, drawn, n_prompts=3000)
    found = representation(tally, hand)
    y, near, far = ((x == F).astype(float) for x in (gold[drawn], guess[drawn], guess))
    slope = np.cov(y, near)[0, 1] / np.var(near, ddof=1)
    point = y.mean() + slope * (far.mean() - near.mean())
    variance = (
        np.var(y - slope * near) / 400 * (1 - 400 / 3000)
        + np.var(slope * far) / 3000
        + np.var(y - slope * near) / 3000
    )
    scale = BASE.shares["gender"]["F"]
    assert found.value * scale == pytest.approx(point)
    width = (found.interval.high - found.interval.low) * scale
    assert width == pytest.approx(2 * 1.96 * np.sqrt(variance), rel=0.05)

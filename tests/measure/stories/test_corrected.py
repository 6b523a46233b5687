"""Prediction-powered estimates: against loops, against ppi-python, and by simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.measure import HandSample, Scope, Tally
from portrayal.measure.stories.corrected import corrected_representation, corrected_subordination
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, NO_SLOT, SUBORDINATE
from portrayal.records import ALL
from portrayal.reference import baseline

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
        n_texts=k,
    )
    return tally, hand


def of_group(estimates, **group):
    (found,) = (e for e in estimates if e.group == group and e.strata["model"] == ALL)
    return found


def representation(tally, hand, gender="F", scope=SCOPE):
    rows = corrected_representation(tally, scope, baseline=BASE, hand=hand)
    return of_group(rows, gender=gender)


def subordination(tally, hand, gender="F", scope=SCOPE):
    return of_group(corrected_subordination(tally, scope, hand=hand), gender=gender)


def biased(gold, rng):
    """What a labeler makes of genders that takes three in ten feminine characters for masculine."""
    return np.where((gold == F) & (rng.random(len(gold)) < 0.3), M, gold)


def stories(rng, n_prompts=40, each=25, share=0.5):
    """Prompt and gender of stories whose share of F varies between prompts around `share`."""
    prompt = np.repeat(np.arange(n_prompts), each)
    level = np.clip(share + rng.normal(0, 0.1, n_prompts), 0, 1)
    return prompt, np.where(rng.random(n_prompts * each) < level[prompt], F, M)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_corrected_share_follows_its_definition(seed):
    rng = np.random.default_rng(seed)
    prompt = np.sort(rng.integers(0, 6, 120))
    gold, guess = rng.choice(4, 120, p=(0.4, 0.4, 0.05, 0.15)), rng.integers(0, 4, 120)
    drawn = rng.permutation(120)[:60]
    tally, hand = made(prompt, gold, guess, drawn, n_prompts=6)
    part = whole = 0.0
    for i in range(120):
        part += guess[i] == F
        whole += guess[i] in (F, M, NB)
    for i in drawn:
        part += 2 * (int(gold[i] == F) - int(guess[i] == F))
        whole += 2 * (int(gold[i] in (F, M, NB)) - int(guess[i] in (F, M, NB)))
    found = representation(tally, hand)
    if 0 <= part <= whole:
        assert found.value == pytest.approx(part / whole / BASE.gender["F"])
        assert found.n_units == pytest.approx(whole)
    else:
        assert found.value is None
        assert "too few hand labels" in found.undefined
    assert found.details["n_labelled_neutral"] == 60


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_when_all_is_labelled_by_hand_the_labeler_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    prompt, gold = stories(rng, 8, 10)
    _, second = stories(rng, 8, 10)
    guesses = [rng.integers(0, 5, len(prompt)) for _ in range(2)]
    everyone = np.arange(len(prompt))
    tally, hand = made(prompt, gold, guesses[0], everyone, n_prompts=8)
    wanted = np.mean(gold == F) / BASE.gender["F"]
    assert representation(tally, hand).value == pytest.approx(wanted)
    tally, hand = made(prompt, gold, guesses[0], everyone, second=(second, guesses[1]), n_prompts=8)
    wanted = np.mean(second == F) / np.mean(gold == F)
    assert subordination(tally, hand).value == pytest.approx(wanted)


def test_a_labeler_without_errors_is_not_corrected():
    rng = np.random.default_rng(3)
    prompt, gold = stories(rng)
    tally, hand = made(prompt, gold, gold, rng.permutation(len(gold))[:100], n_prompts=40)
    found = representation(tally, hand)
    assert found.value == pytest.approx(found.details["naive"])
    assert found.interval.low == pytest.approx(found.details["naive_low"], abs=0.02)


def coverage(one, n=250):
    """Shares of simulations whose corrected and whose naive interval hold the truth."""
    hits = np.zeros(2)
    for seed in range(n):
        found, truth = one(np.random.default_rng(10_000 + seed))
        hits[0] += found.interval.low <= truth <= found.interval.high
        hits[1] += found.details["naive_low"] <= truth <= found.details["naive_high"]
    return hits / n


def test_corrected_shares_hold_the_truth_where_naive_ones_do_not():
    def one(rng):
        prompt, gold = stories(rng)
        drawn = rng.permutation(len(gold))[:300]
        tally, hand = made(prompt, gold, biased(gold, rng), drawn, n_prompts=40)
        return representation(tally, hand), 0.5 / BASE.gender["F"]

    corrected, naive = coverage(one)
    assert corrected >= 0.91
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
        return subordination(tally, hand), 1.0

    corrected, naive = coverage(one)
    assert corrected >= 0.91
    assert naive <= 0.3


def test_too_few_hand_labels_give_a_reason():
    rng = np.random.default_rng(0)
    prompt, gold = stories(rng)
    tally, hand = made(prompt, gold, gold, np.arange(19), n_prompts=40)
    found = representation(tally, hand)
    assert found.value is None
    assert found.undefined.startswith("19 neutral characters are labelled by hand")
    assert found.details["naive"] > 0


def test_a_share_below_zero_is_undefined():
    prompt = np.repeat(np.arange(20), 10)
    gold, guess = np.full(200, M), np.full(200, M)
    guess[:4] = F  # the labeler finds four feminine characters; people saw three of them, and none
    drawn = np.concatenate([np.arange(3), np.arange(100, 137)])
    tally, hand = made(prompt, gold, guess, drawn, n_prompts=20)
    found = representation(tally, hand)
    assert found.value is None
    assert "outside 0–1" in found.undefined


def test_a_group_that_never_occurs_has_a_wide_interval():
    rng = np.random.default_rng(1)
    prompt, gold = stories(rng)
    tally, hand = made(prompt, gold, gold, np.arange(0, len(gold), 4), n_prompts=40)
    found = representation(tally, hand, "NB")
    assert found.value == 0.0
    assert found.interval.high > 0.05
    assert "one observation per prompt" in found.interval.method


def test_without_hand_labels_nothing_is_yielded():
    rng = np.random.default_rng(0)
    prompt, gold = stories(rng)
    tally, _ = made(prompt, gold, gold, np.arange(30), n_prompts=40)
    assert not list(corrected_representation(tally, SCOPE, baseline=BASE))
    assert not list(corrected_subordination(tally, SCOPE))


def test_texts_that_are_prompts_of_their_own_give_what_ppi_python_gives():
    """Without clusters, and with equal weights, the estimator is that of the reference package."""
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    rng = np.random.default_rng(5)
    gold = np.where(rng.random(3000) < 0.4, F, M)
    guess = biased(gold, rng)
    drawn = rng.permutation(3000)[:400]
    tally, hand = made(np.arange(3000), gold, guess, drawn, n_prompts=3000)
    found = representation(tally, hand)
    y, near, far = ((x == F).astype(float) for x in (gold[drawn], guess[drawn], guess))
    point = float(np.squeeze(ppi.ppi_mean_pointestimate(y, near, far, lam=1)))
    low, high = (float(np.squeeze(b)) for b in ppi.ppi_mean_ci(y, near, far, alpha=0.05, lam=1))
    scale = BASE.gender["F"]
    assert found.value * scale == pytest.approx(point)
    width = (found.interval.high - found.interval.low) * scale
    assert width == pytest.approx(high - low, rel=0.2)

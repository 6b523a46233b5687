"""Detectable effects: simulated audits find them with the power that was asked for."""

import math

import numpy as np
import pytest

from portrayal.plan import detectable_difference, detectable_ratio, detectable_share
from portrayal.stats import cluster_robust_t, log_share_influence

AUDITS = 1_500


def beta_binomial(rng, share, icc, m, shape):
    """Counts out of m whose units correlate by `icc` within a prompt."""
    if icc == 0:
        return rng.binomial(m, share, size=shape)
    total = 1 / icc - 1
    return rng.binomial(m, rng.beta(share * total, (1 - share) * total, size=shape))


def found(log_ratio, influence):
    """Share of audits whose clustered test rejects at 5 %."""
    with np.errstate(invalid="ignore"):
        return float(np.mean(cluster_robust_t(log_ratio, influence)[1] < 0.05))


@pytest.mark.parametrize(
    ("share", "prompts", "samples", "icc"),
    [(0.2, 30, 20, 0.05), (0.5, 15, 20, 0.18), (0.136, 20, 50, 0.03), (0.4, 40, 10, 0.0)],
)
def test_power_of_a_share_against_its_baseline(share, prompts, samples, icc):
    rng = np.random.default_rng(7)
    n = np.full((AUDITS, prompts), float(samples))
    for ratio in detectable_share(share, prompts * samples, prompts, icc=icc):
        k = beta_binomial(rng, ratio * share, icc, samples, (AUDITS, prompts)).astype(float)
        value = k.sum(1) / n.sum(1) / share
        assert 0.72 <= found(np.log(value), log_share_influence(k, n)) <= 0.88


@pytest.mark.parametrize(
    ("share", "prompts", "samples", "icc"),
    [(0.2, 30, 40, 0.05), (0.45, 20, 30, 0.15), (0.136, 40, 50, 0.02)],
)
def test_power_of_a_ratio_of_two_shares(share, prompts, samples, icc):
    rng = np.random.default_rng(8)
    n = np.full((AUDITS, prompts), float(samples))
    for ratio in detectable_ratio(share, prompts * samples, prompts, icc=icc):
        lesser, greater = (
            beta_binomial(rng, p, icc, samples, (AUDITS, prompts)).astype(float)
            for p in (ratio * share, share)
        )
        value = lesser.sum(1) / greater.sum(1)
        influence = log_share_influence(lesser, n) - log_share_influence(greater, n)
        assert 0.72 <= found(np.log(value), influence) <= 0.88


@pytest.mark.parametrize(("prompts", "samples", "icc"), [(20, 10, 0.3), (60, 5, 0.1), (12, 1, 0.2)])
def test_power_of_a_difference_of_means(prompts, samples, icc):
    rng, sd, half = np.random.default_rng(9), 2.5, prompts // 2
    size = half * samples
    difference = detectable_difference(sd, (size, size), prompts, icc=icc)
    level = rng.normal(0, sd * math.sqrt(icc), (AUDITS, prompts, 1))
    scores = level + rng.normal(0, sd * math.sqrt(1 - icc), (AUDITS, prompts, samples))
    scores[:, :half] += difference
    means = scores.mean(2)
    first, second = means[:, :half], means[:, half:]
    influence = np.concatenate(
        [first - first.mean(1, keepdims=True), second.mean(1, keepdims=True) - second], axis=1
    )
    value = first.mean(1) - second.mean(1)
    assert 0.72 <= found(value, influence / half) <= 0.88


def test_power_of_a_mean_against_its_reference():
    rng, prompts, samples, icc = np.random.default_rng(10), 25, 8, 0.25
    difference = detectable_difference(1.0, (prompts * samples,), prompts, icc=icc)
    level = rng.normal(difference, math.sqrt(icc), (AUDITS, prompts, 1))
    means = (level + rng.normal(0, math.sqrt(1 - icc), (AUDITS, prompts, samples))).mean(2)
    influence = (means - means.mean(1, keepdims=True)) / prompts
    assert 0.72 <= found(means.mean(1), influence) <= 0.88


def test_more_texts_prompts_and_independence_find_less():
    def above(prompts, samples, icc, power=0.8, spread=1.0):
        units = prompts * samples
        return detectable_share(0.2, units, prompts, icc=icc, power=power, spread=spread)[1]

    assert 1 < above(30, 20, 0.1) < above(15, 40, 0.1)  # as many texts in fewer prompts
    assert above(30, 40, 0.1) < above(30, 20, 0.1)
    assert above(30, 20, 0.0) < above(30, 20, 0.1)
    assert above(30, 20, 0.1, power=0.5) < above(30, 20, 0.1)
    assert above(30, 20, 0.1, spread=0.1) < above(30, 20, 0.1)


def test_what_cannot_be_found_is_nan():
    assert all(map(math.isnan, detectable_share(0.2, 500, 1, icc=0.1)))
    assert all(map(math.isnan, detectable_ratio(0.2, 500, 1, icc=0.1)))
    assert math.isnan(detectable_difference(1.0, (500, 500), 1, icc=0.1))
    below, above = detectable_share(0.004, 300, 15, icc=0.1)
    assert math.isnan(below)
    assert above > 3
    assert math.isnan(detectable_ratio(0.9, 60, 5, icc=0.3)[1])

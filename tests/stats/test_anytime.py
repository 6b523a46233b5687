"""Looks at rounds: a naive copy, what must not matter, and errors over many looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import latest_change


def world(seed: int, n_rounds: int, n_prompts: int, k: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    prompt = rng.normal(size=(1, n_prompts, k))
    return prompt + rng.normal(scale=0.3, size=(n_rounds, n_prompts, k))


worlds = st.builds(world, st.integers(0, 9999), st.integers(2, 9), st.integers(5, 20), st.just(2))


def naive(parts: np.ndarray, size: np.ndarray) -> tuple[float, int, float]:
    """The largest weighted e-value of one estimate by loops, its start and its change."""
    n_rounds, n_prompts = parts.shape
    m = size / size.mean()
    mean = sum(m[t] * parts[t] for t in range(n_rounds)) / m.sum()
    squares = sum(
        m[t] * (parts[t, g] - mean[g]) ** 2 for t in range(n_rounds) for g in range(n_prompts)
    )
    variance = squares / (n_prompts * (n_rounds - 1))
    best = (-np.inf, 0, 0.0)
    for tau in range(1, n_rounds):
        old, new = m[:tau].sum(), m[tau:].sum()
        after = sum(m[t] * parts[t].mean() for t in range(tau, n_rounds)) / new
        before = sum(m[t] * parts[t].mean() for t in range(tau)) / old
        w = n_prompts / (1 / old + 1 / new)
        r2 = 2 * 9 / n_prompts
        b = r2 * w / (1 + r2 * w)
        e = np.sqrt(1 - b) * np.exp(b * w * (after - before) ** 2 / variance / 2)
        if e / (tau * (tau + 1)) > best[0]:
            best = (e / (tau * (tau + 1)), tau, after - before)
    return best


@given(worlds, st.integers(0, 9999))
def test_it_is_its_definition(parts, seed):
    size = np.random.default_rng(seed).integers(1, 5, len(parts)).astype(float)
    found = latest_change(parts, size, 0.95, family=3)
    for k in range(parts.shape[2]):
        e, start, change = naive(parts[:, :, k], size)
        assert found.start[k] == start
        assert found.change[k] == pytest.approx(change)
        assert found.p[k] == pytest.approx(min(1.0, 3 / e))


@given(worlds, st.floats(0.0, 3.0), st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from([1, 20]))
def test_p_and_interval_say_the_same(parts, shift, level, family):
    parts = parts.copy()
    parts[-1] += shift
    found = latest_change(parts, np.ones(len(parts)), level, family)
    outside = (found.low > 0) | (found.high < 0)
    assert np.array_equal(outside, found.p <= 1 - level)
    assert np.all(found.low <= found.change)
    assert np.all(found.change <= found.high)


@given(worlds, st.floats(0.1, 10.0))
def test_units_and_what_prompts_are_like_do_not_matter(parts, factor):
    size = np.ones(len(parts))
    prompt = np.random.default_rng(1).normal(scale=5.0, size=parts.shape[1:])
    one, two = latest_change(parts, size, 0.95), latest_change(factor * parts + prompt, size, 0.95)
    assert np.allclose(one.p, two.p)
    assert np.allclose(one.change * factor, two.change)
    assert np.allclose(latest_change(-parts, size, 0.95).low, -one.high)


def test_few_prompts_cannot_say_much_at_the_second_round():
    """Five prompts that all move the same way have an e-value of e^(2.25) / √10 at most."""
    parts = np.concatenate([np.zeros((1, 5, 1)), np.ones((1, 5, 1))])
    found = latest_change(parts, np.ones(2), 0.95)
    assert found.p[0] == pytest.approx(2 * np.sqrt(10) / np.exp(0.9 * 5 / 2))
    assert np.isinf(found.high[0])


def test_rounds_that_are_the_same_have_no_evidence():
    found = latest_change(np.ones((4, 6, 1)), np.ones(4), 0.95)
    assert found.p[0] == 1.0
    assert np.isinf(found.high[0])


def test_an_alarm_is_rare_over_many_looks_and_a_change_is_found():
    """Coins of twelve prompts, 60 looks: any alarm of four estimates; then a share of 1.5 times."""
    rng = np.random.default_rng(0)
    alarms = found = 0
    n = 150
    for _ in range(n):
        share = rng.uniform(0.2, 0.5, size=(12, 4))
        still = rng.binomial(25, share, size=(60, 12, 4)) / 25
        looks = [latest_change(still[:t], np.ones(t), 0.95, 4).p.min() for t in range(2, 61, 2)]
        alarms += min(looks) <= 0.05
        moved = np.concatenate([still[:4], rng.binomial(25, 1.5 * share, size=(3, 12, 4)) / 25])
        found += latest_change(moved, np.ones(7), 0.95, 4).p.min() <= 0.05
    assert alarms <= 10  # 5 % of 150 are 7.5
    assert found >= 0.9 * n


@pytest.mark.parametrize(
    ("parts", "size"),
    [
        (np.ones((1, 5, 1)), np.ones(1)),
        (np.ones((3, 5)), np.ones(3)),
        (np.ones((3, 5, 1)), np.ones(2)),
        (np.ones((3, 5, 1)), np.zeros(3)),
        (np.full((3, 5, 1), np.nan), np.ones(3)),
    ],
)
def test_what_cannot_be_is_refused(parts, size):
    with pytest.raises(ValueError, match=r"must be|need the shape"):
        latest_change(parts, size, 0.95)

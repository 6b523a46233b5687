"""Looks at rounds: a naive copy, what must not matter, and errors over many looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import latest_change
from portrayal.stats.anytime import EXPECTED, WOBBLE, e_bh
from support import matrix


def world(seed: int, n_rounds: int, n_prompts: int, k: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    prompt = rng.normal(size=(1, n_prompts, k))
    return prompt + rng.normal(scale=0.3, size=(n_rounds, n_prompts, k))


worlds = st.builds(world, st.integers(0, 9999), st.integers(2, 9), st.integers(5, 20), st.just(2))


def likelihood(
    y: np.ndarray, n: np.ndarray, omega2: float, start: int | None = None, r: float = 0.0
) -> float:
    """Log likelihood of what is invariant, by matrices: the density of all differences of rounds.

    Prompt means and the unit are integrated out under their invariant priors.
    """
    n_rounds, n_prompts = y.shape
    cov = np.kron(np.diag(n_prompts / n), np.eye(n_prompts))
    shared = np.eye(n_rounds) * omega2
    if start is not None:
        step = (np.arange(n_rounds) >= start).astype(float)
        shared = shared + r**2 * np.outer(step, step)
    cov = cov + np.kron(shared, np.ones((n_prompts, n_prompts)))
    design = np.kron(np.ones((n_rounds, 1)), np.eye(n_prompts))
    inverse = np.linalg.inv(cov)
    inner = design.T @ inverse @ design
    projected = inverse - inverse @ design @ np.linalg.solve(inner, design.T @ inverse)
    q = y.ravel() @ projected @ y.ravel()
    power = n_prompts * (n_rounds - 1)
    logdet = np.linalg.slogdet(cov)[1] + np.linalg.slogdet(inner)[1]
    return float(-0.5 * logdet - 0.5 * power * np.log(q))


def naive(y: np.ndarray, n: np.ndarray) -> tuple[float, int]:
    """The largest weighted e-value of one estimate, and its start, by matrices."""
    omegas = [0.0, *(WOBBLE**2 * np.geomspace(min(0.1 / WOBBLE**2 / n.mean(), 0.5), 1.0, 12))]
    null = max(likelihood(y, n, omega2) for omega2 in omegas)
    best = (-np.inf, 0)
    for tau in range(1, len(n)):
        e = 0.0
        for i, omega2 in enumerate(omegas):
            for r in EXPECTED:
                weight = (0.5 if i == 0 else 0.5 / 12) / len(EXPECTED)
                e += weight * np.exp(likelihood(y, n, omega2, tau, r) - null)
        best = max(best, (e / (tau * (tau + 1)), tau))
    return best


@given(worlds, st.integers(0, 9999))
def test_it_is_its_definition(parts, seed):
    parts = parts[:5, :7]
    size = np.random.default_rng(seed).integers(20, 90, len(parts)).astype(float)
    found = latest_change(parts, size)
    for k in range(parts.shape[2]):
        e, start = naive(parts[:, :, k], size)
        assert found.start[k] == start
        assert found.e[k] == pytest.approx(e, rel=1e-6)


@given(worlds, st.floats(0.0, 3.0), st.sampled_from([5.0, 20.0, 2000.0]))
def test_e_and_interval_say_the_same(parts, shift, need):
    parts = parts.copy()
    parts[-1] += shift
    found = latest_change(parts, np.full(len(parts), 200.0), need)
    outside = (found.low > 0) | (found.high < 0)
    assert np.array_equal(outside, found.e >= need)
    assert np.all(found.low <= found.change)
    assert np.all(found.change <= found.high)
    assert np.all(found.findable > 0)


@given(worlds, st.floats(0.1, 10.0))
def test_units_and_what_prompts_are_like_do_not_matter(parts, factor):
    size = np.full(len(parts), 50.0)
    prompt = np.random.default_rng(1).normal(scale=5.0, size=parts.shape[1:])
    one, two = (latest_change(x, size, 20.0) for x in (parts, factor * parts + prompt))
    assert np.allclose(one.e, two.e, rtol=1e-5)
    assert np.allclose(one.change * factor, two.change)
    assert np.allclose(latest_change(-parts, size, 20.0).low, -one.high, rtol=1e-5)


def test_few_prompts_cannot_say_much_at_the_second_round():
    """Five prompts that all move the same way: two of 2⁵ arrangements, less the start's weight."""
    parts = np.concatenate([np.zeros((1, 5, 1)), np.ones((1, 5, 1))])
    assert latest_change(parts, np.full(2, 500.0)).e[0] == pytest.approx(2**5 / 2 / 2)


def test_rounds_that_are_the_same_have_no_evidence():
    found = latest_change(np.ones((4, 6, 1)), np.full(4, 60.0), 20.0)
    assert found.e[0] == 0.0
    assert np.isinf(found.high[0])
    assert np.isinf(found.findable[0])


def normal_rounds(
    rng, n_rounds: int, texts: float, wobble: float, change: float = 0.0, at: int = 0
):
    """Rounds of twelve prompts, four estimates; wobble and change in SDs of a text."""
    own = rng.normal(size=(1, 12, 4)) + wobble * rng.normal(size=(n_rounds, 1, 4))
    step = change * (np.arange(n_rounds) >= at)[:, np.newaxis, np.newaxis]
    return own + step + rng.normal(scale=np.sqrt(12 / texts), size=(n_rounds, 12, 4))


@pytest.mark.parametrize("wobble", matrix([0.2, 0.0, 0.075]))
def test_an_alarm_is_rare_over_many_looks_however_rounds_wobble(wobble):
    rng, n, alarms = np.random.default_rng(0), 100, 0
    for _ in range(n):
        parts = normal_rounds(rng, 40, 1500.0, wobble)
        size = np.full(40, 1500.0)
        alarms += any(
            e_bh(latest_change(parts[:t], size[:t]).e).min() <= 0.05 for t in range(2, 41, 2)
        )
    assert alarms <= 5


def test_a_change_is_found_and_what_could_be_is_said():
    """A change as large as what is said to be findable is found about every other time."""
    rng, n = np.random.default_rng(1), 60
    size = np.full(10, 600.0)
    said = np.median(
        [latest_change(normal_rounds(rng, 10, 600.0, 0.05), size, 20.0).findable for _ in range(n)]
    )
    seen = {
        factor: np.mean(
            [
                latest_change(normal_rounds(rng, 10, 600.0, 0.05, factor * said, 5), size).e >= 20
                for _ in range(n)
            ]
        )
        for factor in (0.5, 1.0, 2.0)
    }
    assert seen[0.5] < 0.2
    assert 0.3 < seen[1.0] < 0.8
    assert seen[2.0] > 0.9


def test_e_bh_is_its_definition():
    """With R the largest number of e-values of k / (α R) or more, those are rejected."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        e = np.exp(rng.normal(1.0, 3.0, size=9))
        adjusted = e_bh(e)
        for alpha in (0.01, 0.05, 0.3):
            counts = [r for r in range(1, 10) if np.sum(e >= 9 / (alpha * r)) >= r]
            most = max(counts, default=0)
            expected = e >= 9 / (alpha * most) if most else np.zeros(9, dtype=bool)
            assert np.array_equal(adjusted <= alpha, expected)
    with pytest.raises(ValueError, match="0 or more"):
        e_bh([-1.0])


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
        latest_change(parts, size)

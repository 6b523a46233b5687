"""Summaries over models that answer the same prompts, and the family of several tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import holm, random_effects


def drawn(seed: int, spread: float, n_models: int = 5, n_prompts: int = 20, k: int = 200):
    """Values of models with noise that their prompts share, and the influences of prompts."""
    rng = np.random.default_rng(seed)
    noise = 0.5 * rng.normal(size=(1, n_prompts, k)) + 0.5 * rng.normal(
        size=(n_models, n_prompts, k)
    )
    values = spread * rng.normal(size=(n_models, k)) + noise.mean(1)
    return values, (noise - noise.mean(1, keepdims=True)) / n_prompts


def test_equality_is_refused_as_rarely_as_promised():
    values, influence = drawn(1, 0.0, k=2000)
    p = random_effects(values, influence, 0.95).p
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.015)


def test_the_interval_holds_the_mean_of_the_population():
    values, influence = drawn(2, 0.3, k=1000)
    found = random_effects(values, influence, 0.95)
    assert 0.94 < np.mean((found.low <= 0) & (found.high >= 0)) < 0.99


def test_the_spread_between_models_is_estimated():
    values, influence = drawn(3, 0.5, n_models=40, k=100)
    assert np.median(random_effects(values, influence, 0.95).sd) == pytest.approx(0.5, abs=0.05)


@given(st.integers(0, 100), st.floats(-3, 3))
def test_a_shift_of_all_models_shifts_the_summary(seed, shift):
    values, influence = drawn(seed, 0.3, k=2)
    one, two = (random_effects(v, influence, 0.95) for v in (values, values + shift))
    assert np.allclose(two.value, one.value + shift)
    assert np.allclose(two.sd, one.sd)
    assert np.allclose(two.p, one.p)


def test_two_models_are_too_few():
    values, influence = drawn(4, 0.3, n_models=2, k=1)
    found = random_effects(values, influence, 0.95)
    assert np.isnan(found.value[0])
    assert found.n_sources[0] == 2


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_between_p_and_bonferroni(p):
    adjusted = holm(p)
    values = np.array(p)
    assert np.all(adjusted >= values)
    assert np.all(adjusted <= np.minimum(1, values * len(p)) + 1e-12)
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(adjusted[order]) >= -1e-12)


def test_holm_leaves_out_what_was_not_tested():
    assert np.array_equal(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04], equal_nan=True)

"""Places of an order: by hand, and how often all of them are right."""

import numpy as np
import pytest

from portrayal.stats.p_values import rank_ranges
from portrayal.stats.tails import t_isf


def naive(value, low, high, df, level):
    """Places by loops over pairs of widened intervals."""
    n, out = len(value), []
    bounds = []
    for v, a, b, d in zip(value, low, high, df, strict=True):
        factor = float(t_isf((1 - level) / 2 / n, d) / t_isf((1 - level) / 2, d))
        bounds.append((v - factor * (v - a), v + factor * (b - v)))
    for i in range(n):
        above = sum(bounds[j][0] > bounds[i][1] for j in range(n))
        below = sum(bounds[j][1] < bounds[i][0] for j in range(n))
        out.append((1 + above, n - below))
    return out


def test_places_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for n in (2, 3, 7):
        value, half = rng.normal(size=n), rng.uniform(0.05, 0.6, n)
        df = rng.integers(3, 40, n).astype(float)
        first, last = rank_ranges(value, value - half, value + 2 * half, df, 0.9)
        wanted = naive(value, value - half, value + 2 * half, df, 0.9)
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == wanted


def test_what_is_not_known_may_have_any_place():
    value = np.array([0.0, 5.0, np.nan, -np.inf])
    low, high = value - 0.1, np.array([0.1, 5.1, np.nan, 3.0])
    first, last = rank_ranges(value, low, high, np.full(4, 30.0))
    assert first.tolist()[1:3] == [1, 1]
    assert last.tolist()[2:] == [4, 4]
    assert rank_ranges(*(np.zeros(0),) * 4)[0].tolist() == []


@pytest.mark.parametrize("true", [[0.0, 0.0, 0.0, 0.0], [0.0, 0.2, 0.2, 1.0, 2.0]])
def test_all_places_together_are_right_as_often_as_promised(true):
    rng, right, n, reps = np.random.default_rng(1), 0, 12, 400
    centre = np.array(true)
    for _ in range(reps):
        draws = centre + rng.normal(size=(n, len(centre))) * np.linspace(0.2, 0.8, len(centre))
        value, error = draws.mean(0), draws.std(0, ddof=1) / np.sqrt(n)
        half = t_isf(0.025, n - 1) * error
        first, last = rank_ranges(value, value - half, value + half, np.full(len(centre), n - 1.0))
        best = 1 + (centre[None, :] > centre[:, None]).sum(1)
        worst = len(centre) - (centre[None, :] < centre[:, None]).sum(1)
        right += bool(np.all((first <= worst) & (last >= best)))
    assert right >= 0.95 * reps

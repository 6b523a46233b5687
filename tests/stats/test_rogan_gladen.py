"""Shares behind a classifier of which only a confusion matrix is known: by simulation."""

import numpy as np
import pytest

from portrayal.stats import rogan_gladen


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.95), (0.8, 0.8)])
def test_it_covers_the_share_where_the_classifier_alone_is_far_off(
    share: float, sensitivity: float, specificity: float
) -> None:
    rng, reps = np.random.default_rng(3), 4000
    positive = share * sensitivity + (1 - share) * (1 - specificity)
    k = rng.binomial(800, positive, reps)
    found, cleared = rng.binomial(120, sensitivity, reps), rng.binomial(200, specificity, reps)
    value, low, high = rogan_gladen(k, 800, (found, 120), (cleared, 200), 0.95)
    assert 0.935 <= np.mean((low <= share) & (share <= high)) <= 0.985
    assert np.median(value) == pytest.approx(share, abs=0.012)


def test_a_classifier_no_better_than_chance_says_nothing() -> None:
    assert all(np.isnan(x) for x in rogan_gladen(30, 100, (20, 50), (30, 50), 0.95))


def test_one_without_errors_leaves_the_share() -> None:
    value, low, high = rogan_gladen(30, 100, (5000, 5000), (5000, 5000), 0.95)
    assert value == pytest.approx(0.3)
    assert low == pytest.approx(0.219, abs=0.005)
    assert high == pytest.approx(0.396, abs=0.005)

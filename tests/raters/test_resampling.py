import sys

import numpy as np
import pytest

from portrayal.raters.agreement import Resampling
from portrayal.stats import expanded_percentile

VALUES = np.random.default_rng(1).random(12)
MODULE = sys.modules["portrayal.raters.agreement"]
ITEMS = [f"t{i:02}" for i in range(12)]


def mean(weights):
    return weights @ VALUES / weights.sum(-1), None


def test_replicates_are_means_of_resampled_texts():
    how = Resampling(draws=500, seed=3)
    value, interval, why = how.interval(mean, ITEMS, 12)
    rng = np.random.default_rng(3)
    weights = rng.multinomial(12, np.full(12, 1 / 12), size=500)
    low, high = expanded_percentile(weights @ VALUES / 12, 0.95, 12)
    assert (value, why) == (pytest.approx(VALUES.mean()), "")
    assert (interval.low, interval.high) == pytest.approx((float(low), float(high)))
    assert (interval.method, interval.n_clusters, interval.seed) == ("bootstrap by text", 12, 3)


@pytest.mark.parametrize("block", [50, 10**9])
def test_the_size_of_blocks_decides_nothing(monkeypatch, block):
    expected = Resampling(draws=101).interval(mean, ITEMS, 12)
    monkeypatch.setattr(MODULE, "_BLOCK", block)
    MODULE._weights.cache_clear()
    assert Resampling(draws=101).interval(mean, ITEMS, 12) == expected


def test_texts_of_one_prompt_alone_give_no_interval():
    how = Resampling(draws=10, prompts=dict.fromkeys(ITEMS, "p"))
    value, interval, why = how.interval(mean, ITEMS, 12)
    assert value == pytest.approx(VALUES.mean())
    assert interval is None
    assert why == "texts of one prompt give no interval"


def test_too_many_undefined_resamples_give_no_interval():
    def rare(weights):
        one = weights[..., 0]
        shown = np.where(one > 0, one, np.nan)
        return weights @ VALUES / 12 + 0 * shown, None

    _, interval, why = Resampling(draws=200).interval(rare, ITEMS, 12)
    assert interval is None
    assert "too few texts" in why


def test_the_unit_weights_give_the_value_itself():
    value, _, _ = Resampling(draws=10).interval(lambda w: (np.asarray(w @ VALUES), None), ITEMS, 12)
    assert value == pytest.approx(VALUES.sum())


def test_texts_of_one_prompt_are_one_observation_where_no_resample_differs():
    how = Resampling(draws=10, prompts={item: f"p{i // 3}" for i, item in enumerate(ITEMS)})
    _, interval, _ = how.interval(lambda w: (np.ones(w.shape[:-1]), None), ITEMS, 12)
    assert (interval.method, interval.n_clusters) == ("Wilson", 4)

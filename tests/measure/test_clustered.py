"""Clustered inference on shares and ratios: what holds always, and how often intervals cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from portrayal.measure.clustered import SHARE, share_inference
from support import scope


def counts(shape):
    """Totals per prompt and counts within them, often 0."""
    totals = arrays(np.int64, shape, elements=st.integers(0, 12))
    parts = arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 1.0]))
    return st.tuples(parts, totals).map(lambda both: (both[0] * both[1], both[1].astype(float)))


SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 4))


def check(found, value, clusters):
    """What holds of every inference: the value, its bounds, and when they exist."""
    np.testing.assert_allclose(found.value, value, rtol=1e-9)
    np.testing.assert_array_equal(found.n_clusters, clusters)
    for i, each in enumerate(value):
        interval = found.interval(i, scope())
        if clusters[i] < 2 or np.isnan(each):
            assert interval is None
            assert np.isnan(found.test(i).p)
            status = found.status(i, test=True)
            assert status.no_interval
            assert status.no_test
            continue
        assert interval is not None
        assert interval.high > interval.low >= 0
        assert interval.low <= each * (1 + 1e-9)
        assert interval.high >= each * (1 - 1e-9)
        assert interval.n_clusters == clusters[i]
        assert interval.method == SHARE
        assert interval.seed is None


@settings(deadline=None, derandomize=True)
@given(SHAPES.flatmap(counts))
def test_shares(cells):
    count, total = cells
    scale = np.linspace(0.3, 1.0, count.shape[1])
    found = share_inference(count, total, scope(), scale=scale, null=1.0)
    with np.errstate(invalid="ignore"):
        value = np.array(
            [sum(k) / sum(n) if sum(n) else np.nan for k, n in zip(count.T, total.T, strict=True)]
        )
    check(found, value / scale, [int(sum(column > 0)) for column in total.T])


def test_texts_added_to_every_prompt_do_not_narrow_the_interval_much():
    """Ten times the texts with the same shares are not ten times the evidence."""
    count, total = np.array([[1.0], [7.0], [3.0], [9.0]]), np.full((4, 1), 10.0)
    few = share_inference(count, total, scope())
    many = share_inference(10 * count, 10 * total, scope())
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.1)


def test_a_share_over_a_constant_is_tested_in_its_own_unit():
    count, total = np.array([[3.0], [8.0], [1.0], [6.0]]), np.array([[10.0], [10], [10], [30]])
    plain = share_inference(count, total, scope(), null=0.24)
    scaled = share_inference(count, total, scope(), scale=0.2, null=1.2)
    assert scaled.test(0).p == pytest.approx(plain.test(0).p)
    assert scaled.value == pytest.approx(plain.value / 0.2)
    assert (scaled.low, scaled.high) == (plain.low / 0.2, plain.high / 0.2)
    assert "pairs" in scaled.test(0, "pair").method


def simulated(rng, n_prompts):
    """Prompts of very different sizes whose own shares scatter around 0.3."""
    sizes = rng.choice([3, 8, 20, 60], size=n_prompts)
    shares = rng.beta(0.3 * 6, 0.7 * 6, size=n_prompts)
    return rng.binomial(sizes, shares).astype(float), sizes.astype(float)


@pytest.mark.parametrize("n_prompts", [8, 25])
def test_clustered_intervals_cover_where_naive_ones_do_not(n_prompts):
    draw = np.random.default_rng(11)
    trials = [simulated(draw, n_prompts) for _ in range(300)]
    count, total = (np.stack([trial[i] for trial in trials], axis=1) for i in (0, 1))
    found = share_inference(count, total, scope(), null=0.3)
    share = count.sum(0) / total.sum(0)
    clustered = np.mean((found.low <= 0.3) & (found.high >= 0.3))
    half = 1.96 * np.sqrt(share * (1 - share) / total.sum(0))
    naive = np.mean(abs(share - 0.3) <= half)
    assert clustered > 0.92
    assert naive < 0.75
    np.testing.assert_array_equal(found.p < 0.05, (found.low > 0.3) | (found.high < 0.3))

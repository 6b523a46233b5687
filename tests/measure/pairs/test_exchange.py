"""Exchange between an original and all its texts, and the level of the null's test."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from portrayal.measure.pairs.table import (
    exchange_within,
    gap_beyond_pairs,
    null_p,
    pools_of,
)


def dealt(ours: np.ndarray, theirs: np.ndarray, pool: np.ndarray) -> Callable[[Any], list[Any]]:
    """Return the function that exchanges single words of groups, (n_rows, M) and (n_pools, M)."""
    pools, counts = pools_of([pool]), np.concatenate([ours, theirs])
    place = np.repeat(np.arange(len(counts)), counts.sum(1))
    group = np.repeat(np.tile([0, 1], len(counts)), counts.ravel())
    exchange = exchange_within(pools.places[place])

    def exchanged(rng: np.random.Generator) -> list[np.ndarray]:
        cell = 2 * place + group[exchange(rng)]
        both = np.bincount(cell, minlength=counts.size).reshape(-1, 2)
        return [both[: len(ours)], both[len(ours) :]]

    return exchanged


def test_an_exchange_keeps_sizes_and_pools_and_is_uniform() -> None:
    rng, pool = np.random.default_rng(0), np.array([0, 0, 1])
    ours, theirs = np.array([[2, 1], [0, 3], [4, 4]]), np.array([[5, 0], [1, 1]])
    deal, mean = dealt(ours, theirs, pool), np.zeros(3)
    for _ in range(2000):
        a, b = deal(rng)
        assert (a.sum(1) == ours.sum(1)).all()
        assert (b.sum(1) == theirs.sum(1)).all()
        assert (a[:2].sum(0) + b[0] == [7, 4]).all()
        assert (a[2] + b[1] == [5, 5]).all()
        mean += a[:, 0] / 2000
    assert mean == pytest.approx([3 * 7 / 11, 3 * 7 / 11, 4], abs=0.1)


def test_all_rows_of_a_pool_read_the_same_original() -> None:
    pools = pools_of([[5, 5, 7, 5], [0, 0, 0, 0]])
    ours, theirs = pools.by_row(np.arange(6.0))
    assert ours.tolist() == [0, 1, 2, 3]
    assert theirs.tolist() == [4, 4, 5, 4]


def test_p_counts_the_observed_value() -> None:
    assert null_p(0.0, np.zeros(99)) == 1.0
    assert null_p(5.0, np.zeros(99), greater=True) == pytest.approx(0.01)
    assert null_p(5.0, np.zeros(99)) == pytest.approx(0.02)
    assert null_p(-5.0, np.zeros(99)) == pytest.approx(0.02)


NULLS = {
    "gamma": lambda rng, size: rng.gamma(4.0, size=size),
    "normal": lambda rng, size: rng.normal(size=size),
    "shares": lambda rng, size: rng.binomial(20, 0.2, size) / 20,
}


@pytest.mark.parametrize("name", NULLS)
def test_p_below_what_draws_can_count_keeps_the_level(name: str) -> None:
    """Of 30,000 values of the null itself; the bound is the binomial's upper 99.5 % quantile."""
    reps, alpha = 30_000, 0.001
    every = NULLS[name](np.random.default_rng(3), (reps, 201))
    far = np.flatnonzero(every[:, 0] >= np.quantile(every[:, 0], 0.97))  # no other p is so small
    p = [null_p(every[i, 0], every[i, 1:], greater=True, n_pairs=40) for i in far]
    assert np.sum(np.array(p) <= alpha) <= stats.binom.ppf(0.995, reps, alpha)


def test_a_value_far_beyond_all_draws_is_told_from_one_just_beyond_them() -> None:
    draws = np.random.default_rng(4).normal(size=200)
    near, far = (null_p(z, draws, n_pairs=50) for z in (draws.max() + 0.01, 8.0))
    assert far < 1e-5 < near <= 2 / 201
    assert null_p(8.0, draws) == pytest.approx(2 / 201)  # of no pairs that could be exchanged
    assert null_p(8.0, draws, n_pairs=8) == 2 * 0.5**8
    assert null_p(8.0, draws, n_pairs=50, level=0.999) == pytest.approx(2 / 201)


def _change(ours: np.ndarray, theirs: np.ndarray, pool: np.ndarray) -> float:
    """Mean change of the first group's share."""
    with np.errstate(invalid="ignore"):
        share = ours[:, 0] / ours.sum(1) - (theirs[:, 0] / theirs.sum(1))[pool]
    return float(np.nanmean(share))


def test_the_level_holds_with_many_texts_of_an_original() -> None:
    """Eight texts of each of 30 originals of one source: p below .05 as rarely as chance has it.

    Dealing each row apart has .3 here. The bound is the binomial's upper 99.5 % quantile.
    """
    rng, reps, rejected = np.random.default_rng(7), 80, 0
    pool = np.repeat(np.arange(30), 8)
    for _ in range(reps):
        source = rng.beta(1.5, 1.5, 30)
        sizes = rng.poisson(8, 240), rng.poisson(8, 30)
        first = rng.binomial(sizes[0], source[pool]), rng.binomial(sizes[1], source)
        ours, theirs = (np.stack([a, n - a], 1) for a, n in zip(first, sizes, strict=True))
        deal = dealt(ours, theirs, pool)
        draws = np.array([_change(*deal(rng), pool) for _ in range(39)])
        rejected += null_p(_change(ours, theirs, pool), draws) < 0.05
    assert rejected <= stats.binom.ppf(0.995, reps, 0.05)


def test_the_gap_beyond_pairs_is_that_of_loops() -> None:
    rng = np.random.default_rng(8)
    ours, theirs = rng.dirichlet([0.4, 0.2, 0.9], 9), rng.dirichlet([0.4, 0.6, 0.3], 9)
    ours[3] = theirs[2]
    between = [
        np.abs(ours[i] - theirs[j]).sum() / 2
        - np.abs(ours[i] - ours[j]).sum() / 4
        - np.abs(theirs[i] - theirs[j]).sum() / 4
        for i in range(9)
        for j in range(9)
        if i != j
    ]
    assert gap_beyond_pairs(ours, theirs) == pytest.approx(np.mean(between))
    several = gap_beyond_pairs(np.stack([ours, theirs]), np.stack([theirs, ours]))
    assert several == pytest.approx([np.mean(between)] * 2)
    assert np.isnan(gap_beyond_pairs(ours[:5], theirs[:5]))


def test_the_gap_is_0_on_average_where_pairs_could_be_exchanged() -> None:
    """However unlike the pairs are."""
    rng, found = np.random.default_rng(9), []
    for _ in range(400):
        level = rng.beta(0.3, 0.3, 12)
        share = rng.beta(8 * level + 0.1, 8 * (1 - level) + 0.1, (2, 12))
        both = np.stack([share, 1 - share], axis=2)
        found.append(gap_beyond_pairs(*both))
    assert abs(np.mean(found)) < 3 * np.std(found) / 20

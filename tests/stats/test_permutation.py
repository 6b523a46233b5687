import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats import permutation_range, shuffle_within
from portrayal.stats.resampling import not_refused

LABELLED = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 5)), max_size=40)


def by_block(labels, blocks):
    contents = defaultdict(Counter)
    for label, block in zip(labels, blocks, strict=True):
        contents[int(block)][int(label)] += 1
    return contents


@given(LABELLED, st.booleans(), st.integers(0, 2**31))
def test_every_block_keeps_its_labels(rows, presorted, seed):
    rows = sorted(rows, key=lambda row: row[1]) if presorted else rows
    labels, blocks = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    before = labels.copy()
    shuffled = shuffle_within(labels, blocks, np.random.default_rng(seed))
    assert by_block(shuffled, blocks) == by_block(labels, blocks)
    np.testing.assert_array_equal(labels, before)


@pytest.mark.parametrize("blocks", [[7, 7, 7, 9], [7, 9, 7, 7]])
def test_arrangements_are_equally_likely(blocks):
    rng = np.random.default_rng(4)
    blocks, labels = np.array(blocks), np.array([0, 1, 2, 3])
    seen = Counter(tuple(shuffle_within(labels, blocks, rng).tolist()) for _ in range(6000))
    inside = labels[blocks == 7]
    expected = set()
    for order in itertools.permutations(inside.tolist()):
        arrangement = labels.copy()
        arrangement[blocks == 7] = order
        expected.add(tuple(arrangement.tolist()))
    assert set(seen) == expected
    assert all(850 < times < 1150 for times in seen.values())


def test_blocks_may_be_named():
    names = np.array(["b", "a", "b", "a"])
    shuffled = shuffle_within(np.array([1, 2, 3, 4]), names, np.random.default_rng(0))
    assert set(shuffled[names == "b"].tolist()) == {1, 3}


def test_a_million_labels_keep_their_blocks():
    rng = np.random.default_rng(1)
    blocks = np.arange(1_000_000) // 3
    labels = rng.integers(0, 2, blocks.size)
    shuffled = shuffle_within(labels, blocks, rng)
    np.testing.assert_array_equal(np.bincount(blocks, shuffled), np.bincount(blocks, labels))
    assert 0.2 < np.mean(shuffled != labels) < 0.45


def test_range_is_the_central_part():
    draws = np.column_stack([np.arange(101.0), np.arange(101.0) * 2])
    low, high = permutation_range(draws, 0.9)
    np.testing.assert_allclose(low, [5, 10])
    np.testing.assert_allclose(high, [95, 190])


def test_range_with_undefined_and_infinite_draws():
    draws = np.concatenate([np.linspace(0.5, 2, 99), [np.inf] * 20, [np.nan] * 30])
    low, high = permutation_range(draws, 0.95)
    assert low == pytest.approx(np.quantile(np.linspace(0.5, 2, 99), 0.025 * 118 / 98))
    assert high == np.inf
    assert np.isnan(permutation_range([np.nan, np.nan], 0.95)).all()


@given(
    st.lists(st.integers(-30, 30), min_size=40, max_size=90),
    st.integers(-31, 31),
    st.sampled_from([0.8, 0.9, 0.95]),
)
def test_values_outside_the_ends_are_refused_and_no_others(draws, value, level):
    low, high = not_refused(draws, level)
    # Twice the smaller tail of the value among itself and the draws.
    rarer = 1 + min(sum(x >= value for x in draws), sum(x <= value for x in draws))
    refused = min(1.0, 2 * rarer / (1 + len(draws))) < 1.0 - level - 1e-12
    assert refused == (not low <= value <= high)


def test_unknown_draws_may_have_been_as_far_out_as_any():
    draws = np.append(np.arange(99.0), [np.nan] * 4)
    assert not_refused(draws, 0.95) == (-np.inf, np.inf)
    assert not_refused(np.arange(99.0), 0.95, greater=True) == (-np.inf, pytest.approx(95.0))

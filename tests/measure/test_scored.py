"""The table of scored units against naive loops, on lopsided and on degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.measure.clustered import GroupSums
from portrayal.measure.corrected import HandSums
from portrayal.measure.scored import ScoredUnits


def lopsided(seed, n=40, k=3, *, sides=2, by_group=False):
    """Units of few clusters with missing scores, weights, and fractional parts of means."""
    rng = np.random.default_rng(seed)
    score = rng.random((n, k) if by_group else n)
    score[rng.random(score.shape) < 0.2] = np.nan
    members = tuple(rng.random((n, k)) * (rng.random((n, k)) < 0.6) for _ in range(sides))
    return ScoredUnits(rng.integers(0, 9, n) * 5, rng.integers(0, 4, n) * 1.0, score, members)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.booleans())
def test_sums_by_cluster_are_those_of_a_plain_loop(seed, by_group):
    units = lopsided(seed, by_group=by_group)
    clusters = sorted({*units.cluster.tolist()})
    found = units.sums()
    for side, part in enumerate(units.members):
        total, count = (np.zeros((len(clusters), part.shape[1])) for _ in range(2))
        for i, cluster in enumerate(units.cluster.tolist()):
            for j in range(part.shape[1]):
                x = float(units.score[i, j] if by_group else units.score[i])
                if not np.isnan(x):
                    total[clusters.index(cluster), j] += units.weight[i] * part[i, j] * x
                    count[clusters.index(cluster), j] += units.weight[i] * part[i, j]
        np.testing.assert_allclose(found[2 * side], total)
        np.testing.assert_allclose(found[2 * side + 1], count)


def test_sums_of_two_sides_have_the_names_of_their_clusters():
    units = lopsided(1)
    names = [f"prompt {i}" for i in range(50)]
    sums = GroupSums.of(units, names, [{"race": name} for name in "abc"], cluster="pair")
    assert list(sums.clusters) == [names[i] for i in units.clusters]
    assert sums.cluster == "pair"
    np.testing.assert_array_equal(sums.lower, units.sums()[2])
    empty = units.take(np.zeros(len(units.cluster), dtype=bool))
    assert [x.shape for x in empty.sums()] == [(0, 3)] * 4


def test_one_part_of_all_groups_is_enough_and_squares_are_of_first_parts():
    one = np.ones((3, 1))
    score = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 0.25]])
    units = ScoredUnits(np.array([4, 4, 2]), np.array([1.0, 2.0, 1.0]), score, (one,))
    assert [x.tolist() for x in units.sums()] == [[[0.0, 0.25], [2.5, 0.5]], [[1, 1], [3, 3]]]
    assert units.squares().tolist() == [[0.0, 0.0625], [2.25, 0.25]]
    assert units.sums(np.array([2, 3, 4]))[0].tolist() == [[0.0, 0.25], [0, 0], [2.5, 0.5]]


@pytest.mark.parametrize("sides", [1, 2])
def test_labels_that_say_what_the_scorer_says_move_nothing(sides):
    rng = np.random.default_rng(2)
    n = 200
    score, members = (rng.random(n) < 0.4) * 1.0, rng.random(n) < 0.5
    parts = (members[:, np.newaxis] * 1.0, ~members[:, np.newaxis] * 1.0)[:sides]
    units = ScoredUnits(rng.integers(0, 12, n), np.ones(n), score, parts)
    sample = np.arange(0, n, 2)
    hand = units.take(sample)
    hand = ScoredUnits(hand.cluster, np.full(len(sample), 2.0), hand.score, hand.members)
    sums = HandSums.of(units, hand, hand.scored(hand.score), "ann", two_sides=sides == 2)
    for found, raw in zip(sums.sums.sums, units.sums(), strict=True):
        np.testing.assert_allclose(found.sum(0), raw.sum(0))
    of_first = int(members[sample].sum())
    if sides == 2:
        assert sums.labelled[0] == len(sample)
        assert sums.fewer[0] == min(of_first, len(sample) - of_first)

"""The null of paired means: the same as naive loops over draws."""

import numpy as np
import pytest

from paired_world import level, quick, rows
from portrayal.measure.pairs.estimates import exchanged_gaps, null_means
from portrayal.measure.pairs.table import Paired, gap_beyond_pairs

N = 23


@pytest.fixture
def lopsided() -> Paired:
    """23 rows of 2 models, some undefined."""
    rng = np.random.default_rng(1)
    share = rng.random((2, N))
    share[:, rng.random(N) < 0.3] = np.nan
    ours, theirs = (np.stack([side, 1 - side], axis=-1) for side in share)

    def deal(stream: np.random.Generator) -> tuple:
        one, two = stream.random((2, N, 1))
        return np.hstack([one, 1 - one]), np.hstack([two, 1 - two])

    return rows(
        [level(ours, theirs, deal=deal)],
        pair=[i // 2 for i in range(N)],
        model=[i % 2 for i in range(N)],
        models=("a", "b"),
    )


def test_the_null_is_drawn_with_streams_of_its_own(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    strata, scope = list(lopsided.strata()), quick()
    assert [labels["model"] for labels, _ in strata] == ["all", "a", "b"]
    found = null_means(lopsided, scope)["paired_distance.v1"]
    for together in (False, True):
        rng = scope.rng("null", *its.strata.values(), *(["together"] * together))
        assert its.dealer is not None
        deal = its.dealer(lopsided.pools(all_models=together))
        for draw in range(scope.permutations):
            ours, theirs = deal(rng)
            values = np.abs(ours - theirs)[:, 0]
            for number, (labels, inside) in enumerate(strata):
                if (labels["model"] == "all") == together:
                    assert found[draw, number, 0] == pytest.approx(values[inside].mean())


def test_exchanged_gaps_are_of_both_readings_with_pairs_that_change_sides() -> None:
    share = np.random.default_rng(2).random((2, 2, 9))
    share[:, 0, 3] = np.nan
    readings = np.stack([share, 1 - share], axis=-1)
    found = exchanged_gaps(readings, 20, np.random.default_rng(3))
    kept = np.delete(readings, 3, axis=2)
    assert found[0] == pytest.approx(np.mean([gap_beyond_pairs(*sides) for sides in kept]))
    assert np.std(found) > 0

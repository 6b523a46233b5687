"""Scored rows and their null: the same as naive loops over rows, samples and draws."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paired_world import level, made, one, original, quick, read, rows
from portrayal.measure.pairs.changes import (
    DISTANCE,
    PAIRED_DISTANCE,
    PREJUDICE_RATE,
    RATE,
)
from portrayal.measure.pairs.estimates import Scored, exchanged_gaps, null_means
from portrayal.measure.pairs.levels import SAMPLES, row_sentences
from portrayal.measure.pairs.table import BOTH, EQUAL, GENERATED, ORIGINAL, Paired, places

N, S = 23, 3


@pytest.fixture
def lopsided() -> Paired:
    """23 rows of 2 models and 3 domains, in 3 samples, some undefined."""
    rng = np.random.default_rng(1)
    share = rng.random((2, S, N))
    share[:, rng.random((S, N)) < 0.3] = np.nan
    share[0, :, 4] = share[1, :, 5] = share[:, :, 6] = np.nan
    ours, theirs = (np.stack([side, 1 - side], axis=-1) for side in share)

    def deal(stream: np.random.Generator, _: int) -> tuple:
        one_, two = stream.random((2, N, 1))
        return np.hstack([one_, 1 - one_]), np.hstack([two, 1 - two])

    its = level(ours[0], theirs[0], deal=deal, length=EQUAL)
    its = replace(its, generated=ours, reference=theirs)
    return rows(
        [its],
        pair=[i // 2 for i in range(N)],
        model=[i % 2 for i in range(N)],
        models=("a", "b"),
        domain=[min(i % 7, 2) for i in range(N)],
    )


def _by_hand(table: Paired) -> np.ndarray:
    (its,) = table.levels
    return np.abs(its.generated - its.reference)[..., 0]


def test_scored_rows_are_those_of_loops_over_rows_and_samples(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    found, by_hand = Scored.of(DISTANCE, its), _by_hand(lopsided)
    for row in range(N):
        known = [value for value in by_hand[:, row] if value == value]
        assert found.count[row, 0] == pytest.approx(len(known) / S)
        assert found.total[row, 0] == pytest.approx(sum(known) / S)
    assert its.lacking[[4, 5, 6]].tolist() == [GENERATED, ORIGINAL, BOTH]


def test_the_null_is_drawn_with_streams_of_its_own(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    where, scope = list(places(lopsided)), quick()
    assert {place.labels["domain"] for place in where} == {"all", "d2"}
    measure = DISTANCE.measure
    found = null_means([DISTANCE], its, lopsided, where, scope)[measure]
    again = null_means([RATE, DISTANCE], its, lopsided, where, scope)[measure]
    np.testing.assert_array_equal(found, again)
    for together in (False, True):
        labels = (*its.labels.values(), *(["together"] * together))
        rng = scope.rng("null", *labels)
        assert its.dealer is not None
        deal = its.dealer(lopsided.pools(all_models=together))
        for draw in range(scope.permutations):
            ours, theirs = deal(rng, draw)
            values = np.abs(ours - theirs)[:, 0]
            for number, place in enumerate(where):
                if (place.labels["model"] == "all") == together:
                    assert found[draw, number, 0] == pytest.approx(values[place.rows].mean())


def test_exchanged_gaps_do_not_depend_on_how_many_are_made_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    share = np.random.default_rng(2).random((2, 9, 2))
    share[0, 3] = np.nan
    readings = np.stack([share, 1 - share], axis=-1)
    found = exchanged_gaps(readings, 20, np.random.default_rng(3))
    assert np.std(found) > 0
    monkeypatch.setattr("portrayal.measure.pairs.estimates._CELLS", 100)
    again = exchanged_gaps(readings, 20, np.random.default_rng(3))
    np.testing.assert_allclose(again, found)


def test_equal_length_is_the_mean_over_samples_with_their_spread(lopsided: Paired) -> None:
    found = one(PAIRED_DISTANCE.run(lopsided, quick()), model="all", domain="all", source="all")
    by_hand = _by_hand(lopsided)
    assert found.value == pytest.approx(np.nanmean(by_hand))
    assert found.details["sentence_draws"] == S
    spread = np.nanmean(by_hand, axis=1).std(ddof=1)
    assert found.details["sd_between_draws"] == pytest.approx(spread)
    counted = ~np.isnan(by_hand).all(axis=0)
    assert found.n_units == counted.sum()
    assert sum(found.exclusions.values()) == N - counted.sum()
    rate = one(PREJUDICE_RATE.run(lopsided, quick()), model="a", gender="F", direction="worse")
    assert 0 < rate.value < 1


HUMAN = [original(f"p{i}", "He met her. She left. " * 4 + "It rained all day.") for i in range(6)]
OURS = [made(f"p{i}", "She saw him. Her son left.", model=m) for i in range(6) for m in "ab"]


def test_sentences_are_drawn_to_the_words_of_the_shorter_text(tmp_path: Path) -> None:
    paired = read(tmp_path / "run", HUMAN, OURS)
    sides = row_sentences(paired, 0)
    ours, theirs = sides.generated.samples[EQUAL], sides.reference.samples[EQUAL]
    assert ours.all()
    assert ours.shape[0] == theirs.shape[0] == SAMPLES
    assert len({kept.tobytes() for kept in theirs}) > 1
    for kept in theirs:
        words = np.bincount(sides.reference.row[kept], sides.reference.words[kept])
        assert np.abs(words - 6).max() <= 2
    again = row_sentences(paired, 0)
    np.testing.assert_array_equal(again.reference.samples[EQUAL], theirs)
    assert (row_sentences(paired, 1).reference.samples[EQUAL] != theirs).any()

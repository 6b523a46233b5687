"""Folding block by block: the same as naive loops over rows, samples and draws; little memory."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paired_world import level, made, one, original, quick, read, rows
from portrayal.measure.pairs import table
from portrayal.measure.pairs.changes import PAIRED_DISTANCE, PREJUDICE_RATE, distances
from portrayal.measure.pairs.folding import BOTH, GENERATED, ORIGINAL, fold
from portrayal.measure.pairs.levels import SAMPLES, row_sentences, runs, taken, word_levels
from portrayal.measure.pairs.table import EQUAL, Block, Paired, places

N, S = 23, 3


@pytest.fixture
def lopsided() -> Paired:
    """23 rows of 2 models and 3 domains in blocks of 10, in 3 samples, some undefined."""
    rng = np.random.default_rng(1)
    share = rng.random((2, S, N))
    share[:, rng.random((S, N)) < 0.3] = np.nan
    share[0, :, 4] = share[1, :, 5] = share[:, :, 6] = np.nan
    ours, theirs = (np.stack([side, 1 - side], axis=-1) for side in share)
    blocks = []
    for first in range(0, N, 10):
        inside = slice(first, min(first + 10, N))

        def deal(stream: np.random.Generator, _: int, n: int = inside.stop - first) -> tuple:
            one_, two = stream.random((2, n, 1))
            return np.hstack([one_, 1 - one_]), np.hstack([two, 1 - two])

        blocks.append(Block(inside, ours[:, inside], theirs[:, inside], lambda _, deal=deal: deal))
    whole = level(ours[0], theirs[0])
    its = replace(whole, blocks=tuple(blocks), n_samples=S, length=EQUAL)
    return rows(
        [its],
        pair=[i // 2 for i in range(N)],
        model=[i % 2 for i in range(N)],
        models=("a", "b"),
        domain=[min(i % 7, 2) for i in range(N)],
    )


def test_sums_are_those_of_loops_over_rows_and_samples(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    where = list(places(lopsided))
    assert {place.domain for place in where} == {"all", "d2"}
    found = fold(distances, its, lopsided, where)
    by_hand = np.concatenate([np.abs(b.generated - b.reference)[..., 0] for b in its.blocks], 1)
    for row in range(N):
        known = [value for value in by_hand[:, row] if value == value]
        assert found.count[row, 0] == pytest.approx(len(known) / S)
        assert found.total[row, 0] == pytest.approx(sum(known) / S)
    assert found.lacking[[4, 5, 6]].tolist() == [GENERATED, ORIGINAL, BOTH]
    for number, place in enumerate(where):
        for sample in range(S):
            values = by_hand[sample, place.rows]
            assert found.samples[sample, number, 0] == pytest.approx(np.nanmean(values))
    assert found.draws.shape == (0, len(where), 1)


def test_the_null_is_drawn_block_by_block_with_streams_of_its_own(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    where, scope = list(places(lopsided)), quick()
    found = fold(distances, its, lopsided, where, (scope, "x"))
    again = fold(distances, its, lopsided, where, (scope, "x"))
    np.testing.assert_array_equal(found.draws, again.draws)
    for together in (False, True):
        labels = [(*its.labels.values(), str(i), *(["together"] * together)) for i in range(3)]
        streams = [scope.rng("x", "null", *label) for label in labels]
        deals = [b.deal(lopsided.pools(b.rows, all_models=together)) for b in its.blocks]
        for draw in range(scope.permutations):
            dealt = [deal(rng, draw % S) for deal, rng in zip(deals, streams, strict=True)]
            values = np.concatenate([np.abs(a - b)[:, 0] for a, b in dealt])
            for number, place in enumerate(where):
                if (place.model == "all") == together:
                    mean = values[place.rows].mean()
                    assert found.draws[draw, number, 0] == pytest.approx(mean)


def test_equal_length_is_the_mean_over_samples_with_their_spread(lopsided: Paired) -> None:
    (its,) = lopsided.levels
    found = one(PAIRED_DISTANCE.run(lopsided, quick()), model="all", domain="all", source="all")
    by_hand = np.concatenate([np.abs(b.generated - b.reference)[..., 0] for b in its.blocks], 1)
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
    (sides,) = row_sentences(paired, 0)
    ours, theirs = sides.kept[EQUAL]
    assert ours.all()
    assert ours.shape[0] == theirs.shape[0] == SAMPLES
    assert len({kept.tobytes() for kept in theirs}) > 1
    for kept in theirs:
        words = np.bincount(sides.reference.row[kept], sides.reference.words[kept])
        assert np.abs(words - 6).max() <= 2
    again = next(iter(row_sentences(paired, 0)))
    np.testing.assert_array_equal(again.kept[EQUAL][1], theirs)
    other = next(iter(row_sentences(paired, 1)))
    assert (other.kept[EQUAL][1] != theirs).any()


def test_rows_are_read_from_anywhere_in_a_column() -> None:
    column = np.arange(20.0) * 10
    at = np.array([7, 3, 4, 4, 19, 5, 0])
    np.testing.assert_array_equal(taken(column, at), at * 10)
    assert taken(column, at[:0]).shape == (0,)
    assert runs(np.unique(at)) == [slice(0, 1), slice(3, 6), slice(7, 8), slice(19, 20)]


def _peak(folder: Path, pairs: int, sentences: int) -> int:
    text = "He met her in town. " * sentences
    human = [original(f"p{i}", text) for i in range(pairs)]
    paired = read(folder, human, [made(f"p{i}", text) for i in range(pairs)], shard_rows=16)
    tracemalloc.start()
    list(PAIRED_DISTANCE.run(paired.with_levels(word_levels(paired)), quick(draws=100)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few bytes for each pair more, and as few where texts are twenty times as long."""
    monkeypatch.setattr(table, "BLOCK", 16)
    for sentences in (2, 40):
        few = _peak(tmp_path / f"few-{sentences}", 48, sentences)
        many = _peak(tmp_path / f"many-{sentences}", 240, sentences)
        assert (many - few) / (240 - 48) < 3000

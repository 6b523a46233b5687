"""Example pairs: chosen at even steps of rank, words and scores marked, furthest first."""

from pathlib import Path

import pytest

from portrayal.report.view import View
from portrayal.studies.news.report.texts import EACH, LONGEST, MOST, examples

from .paired_run import PAIRS, PLAIN, write_paired_run

HOW_MANY = 60


def shown(tmp_path: Path, **more: object):
    return examples(View.of(write_paired_run(tmp_path / "run", **more)))  # type: ignore[arg-type]


def test_the_furthest_stands_first_and_what_moved_is_said(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    distances = [pair.distance for pair in found.pairs]
    assert distances == sorted(distances, reverse=True)
    assert [pair.title for pair in found.pairs][-1] == "Team wins the cup"
    mayor = next(pair for pair in found.pairs if pair.title == "Mayor opens a school")
    assert mayor.distance == pytest.approx(1.0)
    assert mayor.moved == (
        "share of gender words: distance 1.00 "
        "(female 100\u00a0% → 0\u00a0%, male 0\u00a0% → 100\u00a0%)",
    )


def test_a_pair_without_words_on_both_sides_is_not_shown(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    assert "Rain again" not in [pair.title for pair in found.pairs]
    assert found.how.startswith("3 of 3 pairs")


def test_words_carry_the_colour_of_their_group(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    mayor = next(pair for pair in found.pairs if pair.title == "Mayor opens a school")
    colours = {words: mark for mark, words in found.key}
    marked = [piece for s in mayor.generated.sentences for piece in s.pieces if piece[1]]
    assert marked == [("he", colours["male"]), ("His", colours["male"])]
    text = "".join(piece for s in mayor.generated.sentences for piece, _ in s.pieces)
    assert text == PAIRS[0][2]
    assert mayor.original.writer == "Original"
    assert mayor.original.words == "10 words"


def test_sentences_carry_their_scores(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    every = [s for pair in found.pairs for s in pair.generated.sentences]
    assert any(s.shade.startswith("good") and s.score.startswith("+") for s in every)
    assert any(s.shade.startswith("bad") and s.score.startswith("−") for s in every)


def test_without_scores_texts_are_still_shown(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,), scores=False)
    every = [s for pair in found.pairs for s in pair.generated.sentences]
    assert every
    assert all(s.score == "" and s.shade == "" for s in every)


def test_pairs_of_each_series_are_taken_at_even_steps(tmp_path: Path) -> None:
    pairs = [(f"h{i}", "she " * i + "he.", "he she.") for i in range(HOW_MANY)]
    found = shown(tmp_path, pairs=pairs, models=("m1", "m2"), forms=(PLAIN,))
    assert len(found.pairs) == 2 * EACH <= MOST
    for model in (0, 1):
        ranks = [pair.distance for pair in found.pairs if pair.model == model]
        assert len(ranks) == EACH
        assert ranks[0] - ranks[-1] > 0.3
    assert "16 of 120 pairs" in found.how


def test_a_long_text_is_cut_at_a_sentence_and_says_so(tmp_path: Path) -> None:
    long = "She walked on and on. " * 400
    found = shown(tmp_path, pairs=[("h", long, "He ran.")], models=("m1",), forms=(PLAIN,))
    (pair,) = found.pairs
    size = sum(len(piece) for s in pair.original.sentences for piece, _ in s.pieces)
    assert 0.9 * LONGEST < size <= LONGEST
    assert pair.original.cut.startswith("Shortened: ")
    assert pair.generated.cut == ""


def test_the_choice_is_the_same_each_time(tmp_path: Path) -> None:
    view = View.of(write_paired_run(tmp_path / "run"))
    assert examples(view) == examples(view)


def test_a_run_without_annotations_has_no_examples(tmp_path: Path) -> None:
    run = write_paired_run(tmp_path / "run")
    for part in run.annotations("group_words.v1").parts():
        part.unlink()
    assert examples(View.of(run)) is None

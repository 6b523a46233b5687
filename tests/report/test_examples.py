"""Texts beside their originals: at even steps of rank, words and scores marked, furthest first."""

from pathlib import Path

from portrayal.report.passages import LONGEST
from portrayal.report.view import View
from portrayal.studies.news.texts import MOST, PER_SERIES, texts_to_read

from .paired_run import PAIRS, PLAIN, write_paired_run

HOW_MANY = 60


def shown(tmp_path: Path, **more: object):
    return texts_to_read(View.of(write_paired_run(tmp_path / "run", **more)))  # type: ignore[arg-type]


def of(found, title):
    return next(r for r in found.readings if r.title.startswith(title))


def test_the_furthest_stands_first_and_what_moved_is_said(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    assert found.readings[-1].title.startswith("Team wins the cup")
    mayor = of(found, "Mayor opens a school")
    assert mayor.title.endswith("· 1.00 apart")
    assert mayor.note == "gender: Women 100\u00a0% → 0\u00a0%, Men 0\u00a0% → 100\u00a0%"


def test_a_pair_without_words_on_both_sides_is_not_shown(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    assert not any(r.title.startswith("Rain again") for r in found.readings)
    assert found.selection.startswith("3 of 3 pairs")


def test_words_carry_the_colour_of_their_group(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    colours = {words: mark for mark, words in found.key}
    original, generated = of(found, "Mayor opens a school").passages
    marked = [(piece.text, piece.mark) for piece in generated.pieces if piece.mark]
    assert marked == [("he", colours["Men: words"]), ("His", colours["Men: words"])]
    assert "".join(piece.text for piece in generated.pieces) == PAIRS[0][2]
    assert original.heading == "Original, 10 words"


def test_sentences_carry_their_scores(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,))
    pieces = [p for r in found.readings for p in r.passages[1].pieces]
    assert any(p.shade == "good" and p.title.startswith("sentiment +") for p in pieces)
    assert any(p.shade == "bad" and p.title.startswith("sentiment −") for p in pieces)


def test_without_scores_texts_are_still_shown(tmp_path: Path) -> None:
    found = shown(tmp_path, models=("m1",), forms=(PLAIN,), scores=False)
    pieces = [p for r in found.readings for p in r.passages[1].pieces]
    assert pieces
    assert all(p.shade == "" and p.title == "" for p in pieces)


def test_pairs_of_each_series_are_taken_at_even_steps(tmp_path: Path) -> None:
    pairs = [(f"h{i}", "she " * i + "he.", "he she.") for i in range(HOW_MANY)]
    found = shown(tmp_path, pairs=pairs, models=("m1", "m2"), forms=(PLAIN,))
    assert len(found.readings) == 2 * PER_SERIES <= MOST
    for model in ("m1", "m2"):
        ranks = [
            float(r.title.rpartition(" · ")[2].split()[0])
            for r in found.readings
            if f" · {model}, " in r.title
        ]
        assert len(ranks) == PER_SERIES
        assert ranks[0] - ranks[-1] > 0.3
    assert "8 of 120 pairs" in found.selection


def test_a_long_text_is_cut_at_a_sentence_and_says_so(tmp_path: Path) -> None:
    long = "She walked on and on. " * 400
    found = shown(tmp_path, pairs=[("h", long, "He ran.")], models=("m1",), forms=(PLAIN,))
    original, generated = found.readings[0].passages
    size = sum(len(piece.text) for piece in original.pieces)
    assert 0.9 * LONGEST < size <= LONGEST
    assert original.cut.startswith("Shortened: ")
    assert generated.cut == ""


def test_the_choice_is_the_same_each_time(tmp_path: Path) -> None:
    view = View.of(write_paired_run(tmp_path / "run"))
    assert texts_to_read(view) == texts_to_read(view)


def test_a_run_without_annotations_has_no_texts_to_read(tmp_path: Path) -> None:
    run = write_paired_run(tmp_path / "run")
    for part in run.annotations("group_words.v2").parts():
        part.unlink()
    assert texts_to_read(View.of(run)) is None

"""The head of a paired report: distances in words, prompt forms resolved or not, limits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from portrayal.report.about import reading_error
from portrayal.report.charts import headline_rows
from portrayal.report.first import first_screen
from portrayal.report.study import report_of
from portrayal.report.view import View
from portrayal.run import Run
from portrayal.studies.news.report.head import compared, intervals, sentences

from .conftest import estimate
from .paired_run import PLAIN, write_paired_run
from .paired_run import estimate as paired_estimate


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return View.of(write_paired_run(tmp_path_factory.mktemp("paired") / "run", models=("m1",)))


def one(tmp_path: Path, **more: object) -> View:
    fields = {"value": 0.1, "null": (0.05, 0.08), "q": 0.001, "model": "m1", "form": PLAIN}
    fields |= {"level": "word", "attribute": "gender", "lexicon": "own", "domain": "all"}
    fields |= {"source": "all", "length": "full"} | more
    row = paired_estimate("paired_distance.v1", "distance", **fields)  # type: ignore[arg-type]
    return View.of(write_paired_run(tmp_path / "run", models=("m1",), rows=[row]))


def test_a_run_without_originals_has_no_such_head(make_run: Callable[..., Run]) -> None:
    view = View.of(make_run([estimate()]))
    assert report_of(view).found is None


def test_a_distance_is_said_with_interval_and_null(tmp_path: Path) -> None:
    (said,) = sentences(one(tmp_path))[2]
    assert "in the share of gender words, texts of m1 differ by 0.100" in said.headline.lower()
    assert "as if 10.0\u00a0% of them were another group’s" in said.headline
    assert said.facts[:2] == ("0.100 (0.080–0.120)", "38 pairs")
    assert "if nothing differed it would read 0.050–0.080" in said.evidence
    assert "95\u00a0% interval over 30 headlines" in said.evidence
    assert "Chance does not explain it" in said.evidence
    assert said.clear


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"q": 0.4}, "but not once the number of tests is allowed for (q = 0.40)"),
        ({"null": (0.05, 0.2)}, "within what chance can give"),
        ({"half": 0.06}, "outside that range, but its interval over 30 headlines reaches into it"),
        ({"null": None, "q": None}, "no null to hold it against"),
    ],
)
def test_what_chance_can_give_is_not_claimed(
    tmp_path: Path, more: dict[str, object], words: str
) -> None:
    view = one(tmp_path, **more)
    (said,) = sentences(view)[2]
    assert words in said.evidence
    assert not said.clear
    head = first_screen(view)
    assert head.stated == ()
    tested = more.get("q", 0.001) is not None
    none = "Nothing found" if tested else "Nothing could be seen"
    assert head.none.startswith(f"{none} in 8 texts")
    assert tested or head.none.endswith("no number of this run has a null to hold it against.")
    assert head.cannot[0].startswith("1 of 1 distance from the originals may be luck")


def test_an_undefined_distance_is_counted_with_its_reason(tmp_path: Path) -> None:
    view = one(tmp_path, value=None)
    head = compared(view)
    assert sentences(view)[2] == []
    assert "1 are undefined (no pair has group words on both sides)" in head.limits


def test_both_readings_of_prejudice_are_given(view: View) -> None:
    distances = sentences(view)[2]
    said = distances[0]
    assert "female: fell in 50.0\u00a0%, rose in 30.0\u00a0%" in said.evidence
    toxic = next(s for s in distances if "toxicity" in s.headline)
    assert "female: fell in 30.0\u00a0%, rose in 50.0\u00a0%" in toxic.evidence


def test_forms_are_matched_on_headlines_and_say_what_they_cannot(view: View) -> None:
    said = sentences(view)[1]
    assert len(said) == 3
    assert "stand 0.030 further from their originals than those of" in said[0].headline
    assert "30 headlines cannot tell this difference from 0" in said[0].evidence
    assert not said[0].clear


def test_the_table_has_every_series_and_level(view: View) -> None:
    table = compared(view).table
    assert len(table.rows) == 8 * 2
    assert all(len(row) == len(table.columns) for row in table.rows)


def test_intervals_are_held_against_the_published_method(view: View) -> None:
    assert "They are the wider ones for" in intervals(view)[0]
    assert intervals(view)[1].rows


def test_no_published_interval_is_said(tmp_path: Path) -> None:
    assert "No estimate has both" in intervals(one(tmp_path, value=None))[0]


def test_instruments_are_those_of_word_lists(view: View) -> None:
    assert "liang-2022" in reading_error(view)[0]


def test_the_table_of_estimates_says_where(view: View) -> None:
    found = headline_rows(view)
    assert found["heads"][2] == "Where"
    assert found["heads"][-1] == "Headlines"
    wheres = {row[2] for row in found["rows"]}
    assert f"word, liang-2022, {PLAIN}, equal" in wheres
    assert "female" in {row[3] for row in found["rows"]}

"""A paired report: distances and changes in words, what is not claimed, and its tables."""

from pathlib import Path

import pytest

from portrayal.report.about import left_out, reading_error
from portrayal.report.findings import findings, label_of
from portrayal.report.first import first_screen
from portrayal.report.view import View

from .paired_run import PLAIN, write_paired_run
from .paired_run import estimate as paired_estimate


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return View.of(write_paired_run(tmp_path_factory.mktemp("paired") / "run", models=("m1",)))


def one(tmp_path: Path, **more: object) -> View:
    fields = {"value": 0.1, "null": (0.05, 0.08), "q": 0.001, "model": "m1", "form": PLAIN}
    fields |= {"level": "word", "attribute": "gender", "lexicon": "own"} | more
    row = paired_estimate("paired_distance.v1", "distance", **fields)  # type: ignore[arg-type]
    return View.of(write_paired_run(tmp_path / "run", models=("m1",), rows=[row]))


def test_a_distance_is_stated_with_interval_and_null(tmp_path: Path) -> None:
    (stated,) = findings(one(tmp_path))
    assert stated.headline.startswith("In the share of gender words, texts of m1 in the form")
    assert "differ by 0.100 from the articles they rewrote on average" in stated.headline
    assert "as if 10.0\u00a0% of them were another group’s" in stated.headline
    assert stated.facts[:2] == ("0.100 (0.080–0.120)", "38 pairs")
    assert "of such audits would read 0.050–0.080" in stated.evidence
    assert "95\u00a0% interval over 30 prompts" in stated.evidence
    assert stated.clear


@pytest.mark.parametrize(
    "more", [{"q": 0.4}, {"null": (0.05, 0.2)}, {"half": 0.06}, {"null": None, "q": None}]
)
def test_what_chance_can_give_is_not_claimed(tmp_path: Path, more: dict[str, object]) -> None:
    head = first_screen(one(tmp_path, **more))
    assert head.findings == ()
    tested = more.get("q", 0.001) is not None
    none = "No difference shown" if tested else "Nothing could be seen"
    assert head.lead.sentence.startswith(f"{none} in 8 texts")
    assert tested or head.lead.sentence.endswith(
        "no number of this run has a null to hold it against."
    )
    assert "For 1 of 1 number these texts do not settle" in head.cannot[-1]


def test_an_undefined_distance_is_not_stated(tmp_path: Path) -> None:
    view = one(tmp_path, value=None, exclusions={"no words": 3})
    assert findings(view) == []
    with view.run.speaking():
        (row,) = left_out(view).rows
    assert row == ("Distance from the original", f"{PLAIN}, words, gender, own", "no words", "3")


def test_instruments_are_those_of_word_lists(view: View) -> None:
    lines = reading_error(view)
    assert lines[0].startswith("Texts were read by group_words.v2.")
    assert any("Groups are those of word lists" in line for line in lines)


def test_a_hypothesis_is_named_in_words_not_in_codes(view: View) -> None:
    with view.run.speaking():
        labels = {label_of(view, e) for e in view.estimates}
    assert f"Women in words, gender, {PLAIN}: change" in labels
    assert f"Distance in sentiment of sentences, gender, {PLAIN}" in labels

"""Declared figures: every text and cell is known, and the sentence that fits is taken."""

import tomllib
from pathlib import Path

import pytest

import portrayal
from portrayal.report.changes.sheet import CHANGES
from portrayal.report.figures.declared import Declarations, statement
from portrayal.studies.agency.report.series import FIGURES as AGENCY
from portrayal.studies.news.report.series import FIGURES as NEWS
from portrayal.studies.pairs.report.series import FIGURES as PAIRS
from portrayal.studies.stories.report.names import FIGURES as NAMES
from portrayal.studies.stories.report.ratios import FIGURES as RATIOS

from .conftest import estimate

EVERY = (CHANGES, AGENCY, NEWS, NAMES, PAIRS, RATIOS)
STRATA = ("domain", "scenario", "attribute", "lexicon", "form", "score", "part")
OF_ONE_PAGE = ("seen",)


def test_each_file_of_figures_is_read_by_some_code() -> None:
    files = {path.parent for path in Path(portrayal.__file__).parent.rglob("figures.toml")}
    known = {Path(*each.package.split(".")[1:]) for each in EVERY}
    assert {path.relative_to(Path(portrayal.__file__).parent) for path in files} == known


@pytest.mark.parametrize("package", sorted({each.package for each in EVERY}))
def test_every_cell_and_text_is_known(package: str) -> None:
    own = [each for each in EVERY if each.package == package]
    cells = {*STRATA, *OF_ONE_PAGE, *(name for each in own for name in each.cells)}
    for name, said in own[0].figures.items():
        assert {cell for _, cell in said.get("columns", ())} <= cells, name
        assert {"title", "note"} <= said.keys() or set(said) <= {"columns", "words", "most"}
        assert said.get("words", 1) <= len(said.get("columns", "x"))


def test_the_sentence_that_fits_is_taken() -> None:
    said = tomllib.loads(
        """
        undefined = "Nothing."
        none = "None of {counted}{more}."
        some = "{sure} of {n}, {above} above; furthest {label} at {value} in {domain}."
        """
    )
    sure = estimate(3.0, 2.0, 4.5, q=0.001)
    unsure, undefined = estimate(1.1), estimate(None)
    assert statement(said, [undefined], "ratio", {}) == "Nothing."
    assert statement(said, [unsure, undefined], "ratio", {"more": " here"}) == (
        "None of 1 ratio here."
    )
    assert statement(said, [unsure, sure], "ratio", {}) == (
        "1 of 2, 1 above; furthest Latine men at 3.0 in Labor."
    )
    assert statement("Always {this}.", [], "", {"this": "so"}) == "Always so."


def test_columns_without_a_heading_are_left_out() -> None:
    figures = Declarations("portrayal.studies.news.report", NEWS.cells)
    both = figures.table("numbers", None, (), model="Model", form="Form")
    one = figures.table("numbers", None, (), model="", form="Form")
    assert (both.words, one.words) == (4, 3)
    assert both.columns[1:] == one.columns

"""Figures of paired audits: panels by level, published models beside, full tables."""

import dataclasses
import re
from pathlib import Path

import pytest

from portrayal.report.figures.figure import Figure
from portrayal.report.figures.generic import build, figures
from portrayal.report.view import View
from portrayal.report.words import colour_of_group, colour_rules

from .paired_run import PLAIN, write_paired_run


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    return View.of(write_paired_run(tmp_path_factory.mktemp("paired") / "run"))


@pytest.fixture(scope="module")
def drawn(view: View) -> dict[str, Figure]:
    with view.run.speaking():
        return {figure.title: figure for figure in figures(view)}


def test_each_measure_has_a_figure(drawn: dict[str, Figure]) -> None:
    assert set(drawn) == {
        "Distance from the originals",
        "Prejudice rate",
        "Change in prejudiced texts",
        "Change of each group",
        "Forms of the prompt",
        "Refusals",
        "Length of texts",
        "Topics by group",
    }


def test_every_figure_says_something(drawn: dict[str, Figure]) -> None:
    assert len({figure.key for figure in drawn.values()}) == len(drawn)
    for figure in drawn.values():
        assert figure.reading.endswith(".")
        assert figure.note.strip().endswith(".")
        assert figure.table.rows
        assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)


def test_the_value_of_the_estimate_is_drawn(drawn: dict[str, Figure]) -> None:
    svg = drawn["Distance from the originals"].svg
    tips = re.findall(r"<title>([^<]*)</title>", svg)
    mine = [t for t in tips if "Model: m1\n" in t and "Value: 0.140" in t and "words, gender" in t]
    assert len(mine) == 1
    assert "Null range: 0.050–0.080" in mine[0]


def test_pooled_forms_and_other_lists_stay_out_of_charts(
    view: View, drawn: dict[str, Figure]
) -> None:
    table = drawn["Distance from the originals"].table
    assert "Word list" not in table.columns
    assert {row[table.columns.index("Form")] for row in table.rows} == {PLAIN, "biased"}


def test_what_is_undefined_is_one_line_with_its_reason(view: View) -> None:
    with view.run.speaking():
        rows = [
            e
            for e in view.by_measure["paired_distance.v1"]
            if e.strata["level"] == "document" and e.value is None
        ]
        bare = dataclasses.replace(view, estimates=tuple(rows))
        (figure,) = build(bare, "paired_distance.v1", rows)
    assert figure.empty
    assert "no pair has group words on both sides" in figure.reading


def test_own_groups_keep_their_colours() -> None:
    first, second = (colour_of_group({"age": g}, ["old", "young"]) for g in ("old", "young"))
    assert first != second
    assert f"mark.c{first[1:].lower()} " in colour_rules(f'<mark class="x c{first[1:].lower()}">')


def test_one_model_with_one_form_is_named_by_itself(tmp_path: Path) -> None:
    view = View.of(write_paired_run(tmp_path / "run", models=("only",), forms=(PLAIN,)))
    with view.run.speaking():
        keys = [figure.key for figure in figures(view)]
    assert len(keys) == len(set(keys))

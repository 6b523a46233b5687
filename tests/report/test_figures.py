"""Every known measure has a figure whose chart is valid Vega-Lite; others get a table."""

from dataclasses import replace

import altair
import pytest

from portrayal import registry
from portrayal.report.figures import BUILDERS, SEVERAL, build, figures
from portrayal.report.view import View
from portrayal.report.words import MEASURES, stem
from portrayal.run import Run

from .conftest import estimate

TABLES = ("common_names", "outcomes")
BY_HAND = ("corrected_representation", "corrected_subordination")
"""Measures that need hand labels, which the sample run does not have."""


@pytest.fixture(scope="module")
def view(sample_run: Run) -> View:
    return View.of(sample_run)


def test_every_measure_of_a_registered_study_has_a_builder_and_a_title() -> None:
    for name in registry.get("studies", "laissez-faire").measures:
        assert stem(name) in {*BUILDERS, *SEVERAL}
        assert stem(name) in MEASURES


@pytest.mark.parametrize("name", sorted(set(BUILDERS) - set(BY_HAND)))
def test_figure_is_valid_and_says_something(view: View, name: str) -> None:
    figure = build(view, f"{name}.v1", view.by_measure[f"{name}.v1"])
    assert figure is not None
    assert figure.title
    assert figure.reading.endswith(".")
    assert figure.note.endswith((".", "’s"))
    assert figure.label.startswith(figure.title)
    assert figure.table.rows
    assert all(len(row) == len(figure.table.columns) for row in figure.table.rows)
    assert (figure.spec is None) == (name in TABLES)
    if figure.spec is not None:
        altair.Chart.from_dict(figure.spec)  # raises SchemaValidationError


def test_common_names_tell_their_likelihood(view: View) -> None:
    figure = build(view, "common_names.v1", view.by_measure["common_names.v1"])
    column = figure.table.columns.index("Likelihood")
    shares = [float(row[column].removesuffix("%").strip()) for row in figure.table.rows]
    assert shares
    assert all(60 < share <= 100 for share in shares)


def test_keys_are_unique(view: View) -> None:
    keys = [figure.key for figure in figures(view)]
    assert len(keys) == len(set(keys))


def test_published_models_stand_beside(view: View) -> None:
    figure = build(view, "subordination.v1", view.by_measure["subordination.v1"])
    assert "as published" in str(figure.spec)
    assert "another name table" in figure.note


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_no_estimates_no_figure(view: View, name: str) -> None:
    assert build(view, name, []) is None


def test_an_unknown_measure_gets_a_table(view: View) -> None:
    rows = [estimate(measure="dancing.v2", statistic="share", group={"step": "waltz"})]
    figure = build(view, "dancing.v2", rows)
    assert figure.spec is None
    assert figure.title == "Dancing"
    assert figure.table.rows[0][-7] == "waltz"


@pytest.mark.parametrize("name", sorted(BUILDERS))
def test_groups_that_a_chart_does_not_know_give_a_table(view: View, name: str) -> None:
    rows = [estimate(measure=f"{name}.v9", group={"planet": "Mars"}, model="sample")]
    figure = build(view, f"{name}.v9", rows)
    assert figure is None or figure.spec is None or "Mars" in str(figure.spec)


@pytest.mark.parametrize("name", BY_HAND)
def test_corrected_ratios_stand_beside_those_as_labelled(view: View, name: str) -> None:
    source = name.removeprefix("corrected_") + ".v1"
    rows = [
        replace(e, measure=f"{name}.v1", details={"naive": e.value or 1.0, "naive_low": 0.5})
        for e in view.by_measure[source]
    ]
    figure = build(view, f"{name}.v1", rows)
    assert figure is not None
    assert "As labelled" in figure.table.columns
    assert figure.reading.endswith("interval.")
    assert figure.spec is not None
    altair.Chart.from_dict(figure.spec)
    assert build(view, f"{name}.v1", []) is None

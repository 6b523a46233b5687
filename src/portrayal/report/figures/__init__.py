"""Figures: a *figure* is a chart or a table with its title, its reading and how to read the marks.

A measure names the figure that draws it (`Component.figure`): a generic one, or one that the run's
study gives (`StudyReport.figures`). A *builder* takes the view and a measure's estimates and
returns or yields its figures, none where there is nothing to show.
"""

import warnings

from portrayal.records import Estimate
from portrayal.report.figures.figure import Builder, Figure, Published
from portrayal.report.figures.generic import broken, dots, elsewhere, heatmap, outcomes, table
from portrayal.report.figures.grid import grid
from portrayal.report.figures.parts import CONFIG
from portrayal.report.figures.tables import Table
from portrayal.report.findings import STATISTICS
from portrayal.report.study import report_of
from portrayal.report.view import View
from portrayal.report.words import described

GENERIC: dict[str, Builder] = {
    "dots": dots,
    "heatmap": heatmap,
    "grid": grid,
    "table": table,
    "outcomes": outcomes,
    "elsewhere": elsewhere,
}
"""Figures that any measure can name."""


class BrokenFigureWarning(UserWarning):
    """A figure could not be drawn; its place in the page says so."""


def figures(view: View) -> list[Figure]:
    """Return the figures of a run, in the study's order."""
    return [f for name, rows in view.by_measure.items() for f in build(view, name, rows)]


def build(view: View, measure: str, estimates: list[Estimate]) -> list[Figure]:
    """Return one measure's figures.

    A builder that fails gives a box that names the error, and a `BrokenFigureWarning`, which tests
    turn into an error.
    """
    if not estimates:
        return []
    try:
        return list(_builder(view, measure, estimates)(view, estimates))
    except Exception as error:
        text = f"the figure of {measure} could not be drawn: {error!r}"
        warnings.warn(text, BrokenFigureWarning, stacklevel=2)
        return [broken(view, estimates, error)]


def _builder(view: View, measure: str, estimates: list[Estimate]) -> Builder:
    """The figure that the measure names, where the study or this package has it."""
    component = described(measure)
    name = component.figure if component is not None else ""
    found = report_of(view).figures.get(name) or GENERIC.get(name)
    if found is not None:
        return found
    return dots if all(e.statistic in STATISTICS for e in estimates) else table


__all__ = [
    "CONFIG",
    "GENERIC",
    "BrokenFigureWarning",
    "Builder",
    "Figure",
    "Published",
    "Table",
    "build",
    "figures",
]

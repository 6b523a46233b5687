"""Panels: dots of ratio gaps and differences in percentage points, with the published ones."""

from collections.abc import Sequence

from portrayal.records import Estimate
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.view import View
from portrayal.studies.agency.report.series import group_name, points, primary, span

OWN = "#1f4e79"
"""Colour of the primary result."""
SHARES = Axis("agentic − communal sentences, percentage points")
DIFFERENCES = Axis("difference, percentage points", zero=True, line=0.0)


def datum(view: View, e: Estimate, row: str) -> Datum:
    """Return the datum of an estimate; one of the other masking keeps only its point."""
    found = dot(view, e, row, OWN, SHARES, times=100)
    if e.strata["masking"] != primary(view):
        found = {"row": row, "b": None if e.value is None else 100 * e.value}
    return found | {
        "group": group_name(e.group),
        "model": f"{e.strata.get('model', '')}, {e.strata.get('masking', '')}",
        "value": points(e.value),
        "ci": span(e.interval),
        "null": span(e.null),
        "n": f"{e.n_units:,.0f} texts",
    }


def published_datum(row: str, who: str, value: float, group: str) -> Datum:
    """Return the datum of a published figure in percentage points."""
    shown = f"{value:+.1f}".replace("-", "−")
    return {"row": row, "p": value, "model": f"{who}, as published", "group": group, "value": shown}


def points_panel(
    view: View, data: Sequence[Datum], rows: Sequence[str], axis: Axis, title: str
) -> Spec:
    """Return one panel of `datum` and `published_datum`, with the labels of its rows in order."""
    return panel(view, data, rows, axis, size=(470, 25), title=title, label_limit=260)


def stacked(panels: Sequence[Spec]) -> Spec:
    """Return panels under one another, each with axes of its own."""
    apart = {"x": "independent", "y": "independent"}
    return {"vconcat": list(panels), "resolve": {"scale": apart}}


def legend(first: str, second: str, none: str) -> tuple[tuple[str, str], ...]:
    """Return the key of such a chart; `none` is what a value is told from."""
    return (
        ("dot", f"{first}, with its interval: can be told from {none}"),
        ("ring", f"{first}: cannot be told from {none}"),
        ("diamond", second),
        ("band", "null range: groups shuffled among texts that are alike"),
        ("tick", "published models"),
    )

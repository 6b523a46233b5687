"""Glance: the findings as one chart of a few rows, beside the sentences."""

from collections.abc import Callable, Sequence
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report.figures.figure import colour_of
from portrayal.report.figures.panels import LINE, Axis, dot_by_model, panel, reach
from portrayal.report.formats import short
from portrayal.report.strength import Stated
from portrayal.report.view import View, is_sure, place_of
from portrayal.report.words import described, group_label, measure_title

LEAST, MOST = 2, 5
"""Findings that make a chart worth its place, and rows of it at most."""


def glance(
    view: View,
    stated: Sequence[Stated],
    label: Callable[[Estimate], str] | None = None,
    axis: Axis | None = None,
) -> dict[str, Any] | None:
    """Return the chart of the numbers behind the findings; None where there are few.

    Only numbers of the first one's statistic share an axis.

    Parameters
    ----------
    view, stated
        The report's view, and its findings in order.
    label
        Function of an estimate to the label of its row, two lines with `LINE` between them.
    axis
        The axis; a log axis around 1 for ratios and a linear one for the rest by default.
    """
    kind = stated[0].first.statistic if stated else ""
    stated = [each for each in stated if each.first.statistic == kind][:MOST]
    if len(stated) < LEAST:
        return None
    firsts = [each.first for each in stated]
    axis = axis or _axis(firsts)
    rows = [(label or _label)(e) for e in firsts]
    data = [
        dot_by_model(view, e, row, colour_of(view, e), axis)
        for first, row in zip(firsts, rows, strict=True)
        for e in _every_model(view, first)
    ]
    spec = panel(view, data, rows, axis, size=(500, 40), two_lines=True)
    sentences = " ".join(f"{each.headline}." for each in stated)
    ring = ("ring", "the same, not established")
    what = "ratio" if kind == "ratio" else "value"
    legend = [
        ("dot", f"{view.called(view.main)}: {what} and clustered interval"),
        *([ring] if not all(is_sure(e) for e in firsts) else []),
        *([("small", "each model")] if len(view.models) > 1 else []),
        *([("band", "what chance alone would give")] if any("nl" in d for d in data) else []),
    ]
    return {"key": "glance", "label": f"At a glance. {sentences}", "spec": spec, "legend": legend}


def _axis(estimates: Sequence[Estimate]) -> Axis:
    if estimates[0].statistic != "ratio":
        return Axis(None, line=0.0, zero=True)
    bounds = [b for e in estimates if e.interval for b in (e.interval.low, e.interval.high)]
    factor = reach([*(e.value for e in estimates), *bounds], most=64)
    return Axis("← less · times · more → (log scale)", factor)


def _every_model(view: View, first: Estimate) -> list[Estimate]:
    """The same number in every model's stratum."""
    return [
        e
        for e in view.by_measure[first.measure]
        if e.group == first.group and place_of(e) == place_of(first)
    ]


def _label(e: Estimate) -> str:
    """The group over its place and measure, as two lines."""
    where = [short(value, 24) for value in place_of(e).values() if value != ALL]
    component = described(e.measure)
    brief = component.brief if component is not None else ""
    return f"{group_label(e.group)}{LINE}{', '.join([*where, brief or measure_title(e.measure)])}"

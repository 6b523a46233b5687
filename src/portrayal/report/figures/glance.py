"""Glance: the findings as one chart, above the sentences."""

from collections.abc import Sequence
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report.figures.figure import colour_of
from portrayal.report.figures.panels import LINE, Axis, dot_by_model, panel
from portrayal.report.figures.parts import reach
from portrayal.report.findings import Finding
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure, place_of
from portrayal.report.words import described, group_label, measure_title

LEAST = 3
"""Findings that make a chart worth its place."""


def glance(view: View, found: Sequence[Finding]) -> dict[str, Any] | None:
    """Return the chart of the ratios behind the findings; None where there are few."""
    found = [f for f in found if f.first.statistic == "ratio"]
    if len(found) < LEAST:
        return None
    firsts = [f.first for f in found]
    bounds = [e.interval.low for e in firsts if e.interval is not None]
    bounds += [e.interval.high for e in firsts if e.interval is not None]
    factor = reach([*(e.value for e in firsts), *bounds], most=64)
    axis = Axis("← less · times · more → (log scale)", factor)
    rows = [_label(f) for f in found]
    data = [
        dot_by_model(view, e, row, colour_of(view, e), axis)
        for first, row in zip(firsts, rows, strict=True)
        for e in _every_model(view, first)
    ]
    spec = panel(view, data, rows, axis, size=(500, 40), two_lines=True)
    sentences = " ".join(f"{f.headline}." for f in found)
    ring = ("ring", "the same, not established")
    legend = [
        ("dot", f"{view.called(view.main)}: ratio and clustered interval"),
        *([ring] if not all(is_sure(e) for e in firsts) else []),
        *([("small", "each model")] if len(view.models) > 1 else []),
        ("band", "what chance alone would give"),
    ]
    return {"key": "glance", "label": f"At a glance. {sentences}", "spec": spec, "legend": legend}


def _every_model(view: View, first: Estimate) -> list[Estimate]:
    """The same ratio in every model's stratum."""
    return [
        e
        for e in view.by_measure[first.measure]
        if e.group == first.group and place_of(e) == place_of(first)
    ]


def _label(finding: Finding) -> str:
    """The group over its place and measure, as two lines."""
    e = finding.first
    where = [short(value, 24) for value in place_of(e).values() if value != ALL]
    component = described(e.measure)
    brief = component.brief if component is not None else ""
    return f"{group_label(e.group)}{LINE}{', '.join([*where, brief or measure_title(e.measure)])}"

"""Glance: the findings as one chart, above the sentences."""

from collections.abc import Sequence
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.report.figures.dots import LINE, dot, dots_panel
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.parts import reach
from portrayal.report.findings import Finding
from portrayal.report.inert import short
from portrayal.report.view import View, domain_of, is_sure
from portrayal.report.words import group_label
from portrayal.studies.laissez_faire.report.ratios import COLOUR, colour_of

LEAST = 3
"""Findings that make a chart worth its place."""

_KINDS = {
    "representation": "share",
    "pair_representation": "couples",
    "subordination": "lesser role",
    "median_racialized_subordination": "lesser role, by name",
}


def glance(view: View, found: Sequence[Finding]) -> dict[str, Any] | None:
    """Return the chart of the first estimate behind each finding; None where there are few."""
    if len(found) < LEAST:
        return None
    firsts = [f.first for f in found]
    bounds = [e.interval.low for e in firsts if e.interval is not None]
    bounds += [e.interval.high for e in firsts if e.interval is not None]
    factor = reach([*(e.value for e in firsts), *bounds], most=64)
    rows = [_label(f) for f in found]
    data = [
        dot(view, e, row, _colour(e), factor)
        for first, row in zip(firsts, rows, strict=True)
        for e in _every_model(view, first)
    ]
    spec: Spec = dots_panel(
        view,
        data,
        rows,
        factor,
        size=(500, 40),
        label_offset=-7,
        axis_title="← less · times · more → (log scale)",
    )
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
        if e.group == first.group and domain_of(e) == domain_of(first)
    ]


def _label(finding: Finding) -> str:
    e = finding.first
    domain = e.strata.get("domain", ALL)
    parts = [group_label(e.group), *([short(domain, 24)] if domain != ALL else [])]
    place, *where = parts
    return f"{place}{LINE}{', '.join([*where, _KINDS.get(finding.kind, finding.kind)])}"


def _colour(e: Estimate) -> str:
    return colour_of(e.group["race"]) if "race" in e.group else COLOUR

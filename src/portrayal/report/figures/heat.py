"""Heatmaps: ratios by model and group, with the published models, paler, below."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.report.figures.figure import Published, Spec, facts, tooltip
from portrayal.report.figures.panels import DIVERGING, INK, IS_PUBLISHED, in_lines
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure

GAP = " "
_TALL = 14


def log2_within(value: float | None, limit: float) -> float:
    """Return log2 of a ratio, at most `limit` from 0."""
    if value is None:
        return 0.0
    return max(-limit, min(limit, math.log2(value))) if value > 0 else -limit


def ratio_heat(
    view: View,
    estimates: Sequence[Estimate],
    columns: Sequence[str],
    column: Callable[[Mapping[str, str]], str],
    *,
    title: str,
    limit: float,
    legend: str,
    printed: Sequence[Published] = (),
    width: float = 54,
    labels: bool = True,
) -> Spec:
    """Return one heatmap: the run's models, a gap, then the published models, paler.

    `column` says in which of the `columns` a group stands; see `heat` for the rest.
    """
    cells = [
        ratio_cell(view, e, limit, col=column(e.group), row=_line(view, e.strata.get("model", "")))
        for e in estimates
    ]
    present = {cell["row"] for cell in cells}
    lines = [m for m in dict.fromkeys(_line(view, m) for m in view.strata_models) if m in present]
    papers = dict.fromkeys(f"{row.model} (paper)" for row in printed)
    cells += [
        {
            **row.facts(),
            "row": f"{row.model} (paper)",
            "col": column(dict(row.group)),
            "t": fmt.ratio(row.value),
            "l": log2_within(row.value, limit),
            "c": "published" if row.low <= 1 <= row.high or math.isnan(row.low) else "printed",
        }
        for row in printed
    ]
    lines += [GAP, *papers] if papers else []
    size = (width, 24 if len(lines) <= _TALL else 19)
    return heat(
        cells, columns, lines, title=title, limit=limit, legend=legend, cell=size, labels=labels
    )


def ratio_cell(view: View, e: Estimate, limit: float, **place: str) -> dict[str, Any]:
    """Return the datum of a ratio in a heatmap; `place` are its `col` and `row`."""
    return {
        **facts(view, e),
        **place,
        "l": log2_within(e.value, limit),
        "t": GAP if e.value is None else fmt.ratio(e.value),
        "c": "undefined" if e.value is None else "sure" if is_sure(e) else "unsure",
    }


def _line(view: View, model: str) -> str:
    return short(view.called(model), 28)


def heat(
    rows: Sequence[dict[str, Any]],
    columns: Sequence[str],
    lines: Sequence[str],
    *,
    title: str,
    limit: float,
    legend: str,
    cell: tuple[float, float] = (54, 23),
    labels: bool = True,
) -> Spec:
    """Return one heatmap of ratios, diverging at 1 on a log scale.

    Parameters
    ----------
    rows
        Data with `col`, `row`, `l` (log2 of the ratio, within the limit), `t` (text), and `c`:
        "sure", "unsure", "undefined", "published" or "printed" (published, with an interval that
        leaves out 1: pale); and the tooltip's fields.
    columns, lines
        Labels in order; "" leaves a gap.
    title, legend
        Heading of the chart; title of the colour scale.
    limit
        log2 of the ratio at which the colours end.
    cell
        Width and height of a cell, in pixels.
    labels
        Whether rows are labelled.
    """
    dark = f"datum.c === 'sure' && abs(datum.l) > {0.62 * limit:g}"
    text: Spec = {
        "text": {"field": "t", "type": "nominal"},
        "color": {
            "condition": [
                {"test": dark, "value": "white"},
                {"test": "datum.c === 'sure'", "value": "#1a1a1a"},
                {"test": "datum.c === 'printed'", "value": "#3a3a3a"},
                {"test": "datum.c === 'published'", "value": "#6f6f6f"},
            ],
            "value": "#5c5c5c",
        },
    }
    return {
        "title": in_lines(title, 420),
        "data": {"values": list(rows)},
        "width": {"step": cell[0]},
        "height": {"step": cell[1]},
        "encoding": {
            "x": _band(
                "col", columns, {"orient": "top", "labelAngle": 0, "labelLimit": max(90, cell[0])}
            ),
            "y": _band("row", lines, {**_LINES, "labels": labels}),
            "tooltip": tooltip(),
        },
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1.5},
                "encoding": {"color": _heat_colour(limit, legend), "opacity": _PALE},
            },
            {
                "transform": [{"filter": "datum.c === 'undefined'"}],
                "mark": {
                    "type": "rect",
                    "fill": "white",
                    "stroke": "#b5b5b5",
                    "strokeDash": [2, 2],
                },
            },
            {"mark": {"type": "text", "fontSize": 12}, "encoding": text},
        ],
    }


_PALE: Spec = {"condition": {"test": "datum.c === 'printed'", "value": 0.5}, "value": 1}
"""Published cells are paler than those of the run."""
_LINES: Spec = {
    "labelLimit": 210,
    "labelColor": {"condition": {"test": IS_PUBLISHED, "value": "#767676"}, "value": INK},
}


def _band(field: str, domain: Sequence[str], axis: Spec) -> Spec:
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(domain)},
        "axis": {"domain": False, "ticks": False, **axis},
    }


def _heat_colour(limit: float, legend: str) -> Spec:
    ticks = [-limit, -limit / 2, 0, limit / 2, limit]
    label = "pow(2, abs(datum.value))"
    shown = {
        "title": legend,
        "orient": "top",
        "direction": "horizontal",
        "gradientLength": 260,
        "gradientThickness": 9,
        "values": ticks,
        "labelExpr": f"(datum.value < 0 ? '1/' : '') + {label}",
        "offset": 14,
    }
    return {
        "condition": {
            "test": "datum.c === 'sure' || datum.c === 'printed'",
            "field": "l",
            "type": "quantitative",
            "scale": {"domain": ticks, "range": DIVERGING, "clamp": True},
            "legend": shown,
        },
        "value": "#ededed",
    }

"""Heatmaps: ratios by model and group, with the published models, paler, below."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.report.figures.figure import Published, Spec, chart, facts, tooltip
from portrayal.report.figures.panels import DIVERGING, OWN, in_lines
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure

GAP = " "
_TALL = 14


def log2_within(value: float | None, limit: float) -> float:
    """Return log2 of a ratio, at most `limit` from 0."""
    if value is None:
        return 0.0
    # A ratio of 0 has the deepest colour, as its logarithm has no end.
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
    # Models in the report's order; those without any cell have no row.
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
    # A gap keeps the published models apart: they are of other texts.
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
        # Colour is for what differs beyond chance, or the eye goes to noise.
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
    return chart(
        OWN,
        "heat",
        title=in_lines(title, 420),
        rows=list(rows),
        columns=list(columns),
        lines=list(lines),
        width=cell[0],
        height=cell[1],
        label_limit=max(90, cell[0]),
        labels=labels,
        legend=legend,
        ticks=[-limit, -limit / 2, 0, limit / 2, limit],
        diverging=DIVERGING,
        # White letters on the darkest cells, black on all others.
        dark=f"datum.c === 'sure' && abs(datum.l) > {0.62 * limit:g}",
        tooltip=tooltip(),
    )

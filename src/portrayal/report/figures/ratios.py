"""Heatmaps of ratios by model and group, with the published models in grey below."""

import math
from collections.abc import Sequence
from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Spec, facts
from portrayal.report.figures.parts import heat
from portrayal.report.figures.published import Published
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure

GAP = " "
_TALL = 14


def cell(view: View, e: Estimate, column: str, limit: float) -> dict[str, Any]:
    """Return the heatmap's datum of one estimate."""
    kind = "undefined" if e.value is None else "sure" if is_sure(e) else "unsure"
    return {
        **facts(view, e),
        "row": line(view, e.strata.get("model", "")),
        "col": column,
        "l": log2_within(e.value, limit),
        "t": GAP if e.value is None else fmt.ratio(e.value),
        "c": kind,
    }


def line(view: View, model: str) -> str:
    """Return a model's row label."""
    return short(view.called(model), 28)


def published_cell(row: Published, column: str) -> dict[str, Any]:
    """Return the heatmap's datum of one published ratio."""
    return {
        "row": f"{row.model} (paper)",
        "col": column,
        "t": fmt.ratio(row.value),
        "c": "published",
        "model": f"{row.model}, as published",
        "domain": row.domain,
        "group": row.label,
        "value": fmt.ratio(row.value),
        "ci": fmt.span(row.low, row.high),
        "n": fmt.plural(row.n, "character"),
    }


def log2_within(value: float | None, limit: float) -> float:
    """Return log2 of a ratio, at most `limit` from 0."""
    if value is None:
        return 0.0
    return max(-limit, min(limit, math.log2(value))) if value > 0 else -limit


def ratio_heat(
    view: View,
    cells: Sequence[dict[str, Any]],
    columns: Sequence[str],
    *,
    title: str,
    limit: float,
    legend: str,
    width: float = 54,
    labels: bool = True,
) -> Spec:
    """Return one heatmap: the run's models, a gap, then the published models in grey."""
    audited = [line(view, m) for m in view.strata_models]
    present = {str(row["row"]) for row in cells}
    published = list(dict.fromkeys(str(r["row"]) for r in cells if r["c"] == "published"))
    lines = [m for m in dict.fromkeys(audited) if m in present]
    if published:
        lines += [GAP, *published]
    return heat(
        cells,
        columns,
        lines,
        title=title,
        limit=limit,
        legend=legend,
        cell=(width, 24 if len(lines) <= _TALL else 19),
        labels=labels,
    )


def tiled(charts: Sequence[Spec], columns: int = 1, spacing: float = 22) -> Spec:
    """Return charts in columns."""
    return {"concat": list(charts), "columns": columns, "spacing": spacing}

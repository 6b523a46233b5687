"""Dots: ratios on a log axis with their interval, null range, and the published models in grey."""

import math
from collections.abc import Sequence
from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Spec, facts, tooltip
from portrayal.report.figures.parts import (
    BAND,
    INK,
    PUBLISHED,
    kept,
    log_axis,
    log_channel,
    rule_at_one,
)
from portrayal.report.figures.parts import within as moved
from portrayal.report.figures.published import Published
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure

LINE = " · "
"""What a row's label breaks at."""
_LINES = f"split(datum.label, '{LINE}')"
_LITTLE = ("model", "domain", "group", "value", "ci", "n", "k", "row", "c", "m", "v", "main")
"""What the chart keeps of a model that is not the main one."""
SHAPES = ("circle", "square", "cross", "diamond", "triangle-up", "triangle-down")


def dot(view: View, e: Estimate, row: str, colour: str, factor: float) -> dict[str, Any]:
    """Return the datum of one estimate: where its dot, interval, null and arrows stand."""
    bounds, null = e.interval, e.null
    found: dict[str, Any] = {**facts(view, e), "row": row, "c": colour, "s": is_sure(e)}
    found["main"] = e.strata.get("model") == view.main
    found["m"] = short(e.strata.get("model", ""), 28)
    if e.value is None:
        return found | {"u": "undefined"}
    found["v"] = moved(e.value, factor)
    if not found["main"]:
        return {key: found[key] for key in _LITTLE if key in found}
    if bounds is not None:
        found |= {"lo": moved(bounds.low, factor), "hi": moved(bounds.high, factor)}
        found["al"] = bounds.low < 1 / factor or None
        found["ah"] = bounds.high > factor or None
    if null is not None and not math.isnan(null.low):
        found |= {"nl": moved(null.low, factor), "nh": moved(null.high, factor)}
    return found


def published_dot(row: Published, label: str, factor: float) -> dict[str, Any]:
    """Return the datum of one published ratio."""
    return {
        "row": label,
        "p": moved(row.value, factor),
        "model": f"{row.model}, as published",
        "group": row.label,
        "domain": row.domain,
        "value": fmt.ratio(row.value),
        "ci": fmt.span(row.low, row.high),
    }


def dots_panel(
    view: View,
    data: Sequence[dict[str, Any]],
    rows: Sequence[str],
    factor: float,
    *,
    size: tuple[float, float],
    title: str = "",
    labels: bool = True,
    axis_title: str | None = None,
    label_offset: float = 0,
) -> Spec:
    """Return one panel of dots.

    Parameters
    ----------
    view
        The report's view.
    data
        From `dot` and `published_dot`.
    rows, factor
        Labels of the rows in order; the reach of the log axis.
    size
        Width of the panel and height of a row, in pixels.
    title, labels, axis_title, label_offset
        Heading; whether rows are labelled; the axis' title; how far labels stand lower, in pixels.
    """
    x_axis = log_axis(factor, title=axis_title)
    y = {
        "field": "row",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(rows)},
        "axis": {
            "labels": labels,
            "labelLimit": 330,
            "labelExpr": _LINES,
            "labelColor": INK,
            "labelPadding": 14,
            "labelOffset": label_offset,
        },
    }
    return {
        **({"title": {"text": title, "anchor": "middle"}} if title else {}),
        "data": {"values": list(data)},
        "width": size[0],
        "height": {"step": size[1]},
        "layer": [
            {**layer, "encoding": {"y": y, "tooltip": tooltip(), **layer["encoding"]}}
            if "transform" in layer
            else layer
            for layer in _layers(view, factor, x_axis)
        ],
    }


def _layers(view: View, factor: float, axis: Spec) -> list[Spec]:
    def x(field: str) -> Spec:
        return {"x": log_channel(field, factor, axis)}

    own = {"color": {"field": "c", "type": "nominal", "scale": None}}
    band = {"type": "bar", "height": {"band": 0.72}, "color": BAND, "cornerRadius": 1}
    ticks = {"type": "tick", "color": PUBLISHED, "thickness": 1.6, "size": 9}
    words = {"type": "text", "color": "#767676", "fontSize": 10.5, "fontStyle": "italic"}
    left = {"x": {"datum": 1 / factor, "type": "quantitative"}, "text": {"field": "u"}}
    several = len(view.models) > 1
    return [
        kept(band, "isValid(datum.nl) && datum.main", {**x("nl"), "x2": {"field": "nh"}}),
        rule_at_one("x"),
        kept(ticks, "isValid(datum.p)", x("p")),
        *([_model_points(view, {**x("v"), **own})] if several else []),
        kept(
            {"type": "rule", "strokeWidth": 2},
            "isValid(datum.lo) && datum.main",
            {**x("lo"), "x2": {"field": "hi"}, **own},
        ),
        _arrow("left", "al", {**x("lo"), **own}),
        _arrow("right", "ah", {**x("hi"), **own}),
        _main_point(x("v"), own["color"]),
        kept({**words, "align": "left"}, "datum.u && datum.main", left),
    ]


def _arrow(side: str, flag: str, encoding: Spec) -> Spec:
    """A triangle at the edge, where an interval goes on."""
    mark = {"type": "point", "shape": f"triangle-{side}", "filled": True, "size": 42, "opacity": 1}
    return kept(mark, f"datum.{flag} && datum.main", encoding)


def _main_point(x: Spec, own: Spec) -> Spec:
    fill = {"condition": {"test": "datum.s", **own}, "value": "white"}
    return kept(
        {"type": "point", "filled": True, "size": 85, "strokeWidth": 2, "opacity": 1},
        "isValid(datum.v) && datum.main",
        {**x, "stroke": own, "fill": fill},
    )


def _model_points(view: View, encoding: Spec) -> Spec:
    labels = [short(model, 28) for model in view.models]
    shapes = SHAPES if len(labels) <= len(SHAPES) else ("circle",)
    shape: Spec = {
        "field": "m",
        "type": "nominal",
        "scale": {"domain": labels, "range": [*shapes] * (1 + len(labels) // len(shapes))},
        "legend": None,
    }
    if len(labels) <= len(SHAPES):
        shape["legend"] = {"title": None, "orient": "top", "symbolStrokeColor": "#444444"}
    return kept(
        {"type": "point", "filled": False, "size": 30, "strokeWidth": 1.1, "opacity": 0.75},
        "isValid(datum.v) && !datum.main",
        {**encoding, "shape": shape},
    )


def legend(view: View, group: str) -> tuple[tuple[str, str], ...]:
    """Return what each mark of such a chart is, for the key under it."""
    several = len(view.models) > 1
    marks = [
        ("dot", f"{view.called(view.main)}, with its interval: can be told from 1"),
        ("ring", f"{view.called(view.main)}: cannot be told from 1"),
        ("band", f"null range of {group}"),
        ("tick", "the five published models"),
    ]
    if several:
        marks.insert(2, ("small", "each model"))
    return tuple(marks)

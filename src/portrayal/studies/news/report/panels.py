"""Panels: values on a linear axis with interval and null band, one row for each series."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Spec, facts, tooltip
from portrayal.report.figures.parts import BAND, INK, PUBLISHED, kept
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure
from portrayal.report.words import colour_class
from portrayal.studies.news.report.series import Printed, group_name, series

WHOLE = ""
"""The place, within a row, of a value that is of no single group."""
_IS_PAPER = "indexof(datum.label, '(paper)') > 0"


def datum(view: View, e: Estimate, colour: str) -> dict[str, Any]:
    """Return where the dot, interval and null band of an estimate stand."""
    found: dict[str, Any] = {**facts(view, e), "row": series(view, e), "c": colour}
    found |= {"g": group_name(e.group) or WHOLE, "s": is_sure(e), "form": e.strata.get("form", "")}
    found["group"] = short(group_name(e.group), 60) or "all"
    if e.value is None:
        return found | {"u": "undefined"}
    found["v"] = e.value
    if e.interval is not None and not math.isnan(e.interval.low):
        found |= {"lo": e.interval.low, "hi": e.interval.high}
    if e.null is not None and not math.isnan(e.null.low):
        found |= {"nl": e.null.low, "nh": e.null.high}
    return found


def printed_datum(row: Printed, statistic: str) -> dict[str, Any]:
    """Return where a published figure stands."""
    known = row.low is not None and row.high is not None
    return {
        "row": row.label,
        "g": row.group or WHOLE,
        "p": row.value,
        "pl": row.low,
        "ph": row.high,
        "model": f"{row.model}, as published",
        "group": row.group or "all",
        "value": fmt.number(row.value, statistic),
        "ci": fmt.span(row.low or 0.0, row.high or 0.0, statistic) if known else fmt.NOTHING,
        "n": fmt.plural(row.n, "pair"),
    }


def panel(
    data: Sequence[dict[str, Any]],
    rows: Sequence[str],
    groups: Sequence[str],
    *,
    title: str,
    axis: str,
    form: str,
    labels: bool,
    zero: bool = False,
    places: int = 0,
    label_limit: float = 176,
    width: float = 172,
) -> Spec:
    """Return one panel.

    Parameters
    ----------
    data
        From `datum` and `printed_datum`.
    rows, groups
        Labels of the rows, and of the places within a row, in order.
    title, axis, form
        Heading, title of the axis, and number format of its labels.
    labels, zero
        Whether rows are labelled; whether a line marks 0.
    places, label_limit, width
        How many places a row is high, as many as `groups` by default; widths in pixels.
    """
    several = len(groups) > 1
    high = max(places, len(groups))
    y: Spec = {"y": _row_channel(rows, labels=labels, limit=label_limit)}
    if several:
        y["yOffset"] = {"field": "g", "type": "nominal", "scale": {"domain": list(groups)}}
    encoding = {**y, "tooltip": tooltip(Headlines="k", Form="form")}
    return {
        "title": {"text": title},
        "data": {"values": list(data)},
        "width": width,
        "height": {"step": 11 * high + 9, **({"for": "position"} if several else {})},
        "layer": [
            {**layer, "encoding": {**encoding, **layer["encoding"]}}
            if "transform" in layer
            else layer
            for layer in _layers(data, axis, form, zero=zero)
        ],
    }


def _row_channel(rows: Sequence[str], *, labels: bool, limit: float) -> Spec:
    return {
        "field": "row",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(rows)},
        "axis": {
            "labels": labels,
            "labelLimit": limit,
            "labelColor": {"condition": {"test": _IS_PAPER, "value": "#767676"}, "value": INK},
        },
    }


def _layers(data: Sequence[dict[str, Any]], axis: str, form: str, *, zero: bool) -> list[Spec]:
    """Layers of those marks that some datum has."""

    def x(field: str) -> Spec:
        return {
            "x": {
                "field": field,
                "type": "quantitative",
                "title": axis,
                "scale": {"zero": True, "nice": True},
                "axis": {"format": form, "grid": True, "gridColor": "#eeeeee", "tickCount": 5},
            }
        }

    own = {"color": {"field": "c", "type": "nominal", "scale": None}}
    line = {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": "#777777", "strokeDash": [3, 3], "strokeWidth": 1},
        "encoding": {"x": {"field": "zero", "type": "quantitative"}},
    }
    band = {"type": "bar", "height": {"band": 0.8}, "color": BAND, "cornerRadius": 1}
    dot = {"type": "point", "filled": True, "size": 62, "strokeWidth": 2, "opacity": 1}
    fill = {"condition": {"test": "datum.s", **own["color"]}, "value": "white"}
    grey = {"type": "point", "filled": True, "size": 26, "color": PUBLISHED, "opacity": 1}
    paper = {"type": "rule", "strokeWidth": 1.2, "color": PUBLISHED}
    bar = {"type": "rule", "strokeWidth": 2}
    words = {"type": "text", "align": "left", "color": "#767676", "fontSize": 10.5}
    left = {"x": {"datum": 0, "type": "quantitative"}, "text": {"field": "u"}}
    layers = {
        "nl": kept(band, "isValid(datum.nl)", {**x("nl"), "x2": {"field": "nh"}}),
        "zero": line,
        "pl": kept(paper, "isValid(datum.pl)", {**x("pl"), "x2": {"field": "ph"}}),
        "p": kept(grey, "isValid(datum.p)", x("p")),
        "lo": kept(bar, "isValid(datum.lo)", {**x("lo"), "x2": {"field": "hi"}, **own}),
        "v": kept(dot, "isValid(datum.v)", {**x("v"), "stroke": own["color"], "fill": fill}),
        "u": kept(words, "datum.u", left),
    }
    present = {name for row in data for name, value in row.items() if value is not None}
    present |= {"zero"} if zero else set()
    return [layer for name, layer in layers.items() if name in present]


def has_band(estimates: Iterable[Estimate]) -> bool:
    """Whether any estimate has a null range to draw."""
    return any(e.null is not None and not math.isnan(e.null.low) for e in estimates)


def key(
    groups: Mapping[str, str], *, null: bool, paper: bool, against: str = "its null"
) -> tuple[tuple[str, str], ...]:
    """Return what each mark is, for the key under the chart."""
    return (
        *((f"dot {colour_class(colour)}", name) for name, colour in groups.items()),
        ("dot", f"can be told from {against}"),
        ("ring", "cannot"),
        *((("band", "null range: what chance gives"),) if null else ()),
        *((("dot paper", "published models, not rerun"),) if paper else ()),
    )

"""Panels: dots on an axis of percentage points, with interval, null range and published ticks."""

from collections.abc import Sequence
from typing import Any

from portrayal.records import Estimate
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.parts import BAND, INK, PUBLISHED
from portrayal.report.view import is_sure
from portrayal.studies.agency.report.series import group_name, points, span

OWN, BESIDE = "#1f4e79", "#b5651d"
"""Colours of the primary result and of the other masking."""
Datum = dict[str, Any]

_FACTS = {
    "Group": "group",
    "Texts of": "who",
    "Value": "value",
    "Interval": "ci",
    "Null range": "null",
    "Rests on": "n",
}


def own_datum(e: Estimate, row: str, *, beside: bool) -> Datum:
    """Return the datum of an estimate; one of the other masking keeps only its point."""
    found: Datum = {
        "row": row,
        "group": group_name(e.group),
        "who": f"{e.strata.get('model', '')}, {e.strata.get('masking', '')}",
        "value": points(e.value),
        "ci": span(e.interval),
        "null": span(e.null),
        "n": f"{e.n_units:,.0f} texts",
    }
    if e.value is None:
        return found | ({} if beside else {"u": "undefined"})
    if beside:
        return found | {"b": 100 * e.value}
    found |= {"v": 100 * e.value, "s": is_sure(e)}
    if e.interval is not None:
        found |= {"lo": 100 * e.interval.low, "hi": 100 * e.interval.high}
    if e.null is not None:
        found |= {"nl": 100 * e.null.low, "nh": 100 * e.null.high}
    return found


def published_datum(row: str, who: str, value: float, group: str) -> Datum:
    """Return the datum of a published figure in percentage points."""
    shown = f"{value:+.1f}".replace("-", "−")
    return {"row": row, "p": value, "who": f"{who}, as published", "group": group, "value": shown}


def points_panel(
    data: Sequence[Datum], rows: Sequence[str], *, title: str, axis: str, zero: bool
) -> Spec:
    """Return one panel of dots.

    Parameters
    ----------
    data, rows
        What `own_datum` and `published_datum` return, and the labels of the rows in order.
    title, axis
        Heading of the panel, and title of its axis.
    zero
        Whether to mark 0, the point of no difference.
    """
    y = {
        "field": "row",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(rows)},
        "axis": {"labelLimit": 260, "labelColor": INK, "labelPadding": 12},
    }
    shown = ", ".join(f"'{name}': datum.{field}" for name, field in _FACTS.items())
    common = {"y": y, "tooltip": {"value": {"expr": f"{{{shown}}}"}}}
    present = {name for datum in data for name in datum}
    layers = [layer for field, layer in _layers(axis) if field in present]
    if zero:
        layers.insert(0, _zero())
    return {
        "title": title,
        "data": {"values": list(data)},
        "width": 470,
        "height": {"step": 25},
        "layer": [
            {**layer, "encoding": {**common, **layer["encoding"]}}
            if "transform" in layer
            else layer
            for layer in layers
        ],
    }


def _layers(axis: str) -> list[tuple[str, Spec]]:
    """Each layer with the field that it needs."""

    def x(field: str) -> Spec:
        return {
            "field": field,
            "type": "quantitative",
            "scale": {"zero": False, "nice": True},
            "axis": {"grid": True, "gridColor": "#eeeeee", "tickCount": 6},
            "title": axis,
        }

    fill = {"condition": {"test": "datum.s", "value": OWN}, "value": "white"}
    point = {"type": "point", "filled": True, "size": 85, "strokeWidth": 2, "opacity": 1}
    ring = {"type": "point", "shape": "diamond", "filled": False, "size": 62, "strokeWidth": 1.6}
    dot = {"x": x("v"), "fill": fill}
    band = {"type": "bar", "height": {"band": 0.72}, "color": BAND, "cornerRadius": 1}
    tick = {"type": "tick", "color": PUBLISHED, "thickness": 1.8, "size": 12}
    rule = {"type": "rule", "strokeWidth": 2, "color": OWN}
    drawn = (
        ("nl", band, {"x": x("nl"), "x2": {"field": "nh"}}),
        ("p", tick, {"x": x("p")}),
        ("lo", rule, {"x": x("lo"), "x2": {"field": "hi"}}),
        ("b", {**ring, "color": BESIDE, "opacity": 0.9}, {"x": x("b")}),
        ("v", {**point, "stroke": OWN}, dot),
    )
    return [(field, _kept(mark, field, encoding)) for field, mark, encoding in drawn]


def _kept(mark: Spec, field: str, encoding: Spec) -> Spec:
    return {
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": mark,
        "encoding": encoding,
    }


def _zero() -> Spec:
    return {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": "#777777", "strokeDash": [3, 3], "strokeWidth": 1},
        "encoding": {"x": {"field": "zero", "type": "quantitative"}},
    }


def legend(first: str, second: str, *, difference: bool) -> tuple[tuple[str, str], ...]:
    """Return the key of such a chart."""
    what = "0" if difference else "all texts together"
    return (
        ("dot", f"{first}, with its interval: can be told from {what}"),
        ("ring", f"{first}: cannot be told from {what}"),
        ("diamond", second),
        ("band", "null range: groups shuffled among texts that are alike"),
        ("tick", "published models"),
    )

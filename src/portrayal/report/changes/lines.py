"""Lines: every headline estimate over time, one small panel for each group."""

import math
from typing import Any

import portrayal.report.formats as fmt
from portrayal.comparison import Watch, Watched
from portrayal.report.changes.dumbbells import figure_key
from portrayal.report.changes.words import (
    attribute_values,
    change_words,
    place_of,
    row_label,
    span_words,
)
from portrayal.report.figures.figure import Figure, Spec, Table
from portrayal.report.figures.panels import Axis, kept, reach, rule_at, tiled
from portrayal.report.words import colour_of_group, measure_title

MOST_PANELS = 30
"""Panels of one figure; the table and the downloads have the rest."""


_TITLE: Spec = {"fontSize": 12.5, "limit": 210}
_SINCE: Spec = {"type": "rule", "strokeDash": [4, 3], "color": "#555555"}


def timelines(found: Watch) -> list[Figure]:
    """Return a figure for each measure, a panel for each of its groups and places."""
    by_measure: dict[str, list[Watched]] = {}
    for row in found.rows:
        by_measure.setdefault(row.measure, []).append(row)
    return [_figure(found, rows) for rows in by_measure.values()]


def _figure(found: Watch, rows: list[Watched]) -> Figure:
    first = rows[0]
    shown = [row for row in rows if any(row.values)]
    shown.sort(key=lambda row: row.alarm is None)
    left = max(len(rows) - len(shown[:MOST_PANELS]), 0)
    shown = shown[:MOST_PANELS]
    changed = sum(row.alarm is not None for row in rows)
    tested = sum(row.p is not None for row in rows)
    places = {place_of(row.strata) for row in rows}
    where = f" in {next(iter(places))}" if len(places) == 1 and any(places) else ""
    reading = f"{changed} of {fmt.plural(tested, 'tested number')}{where} changed."
    if not tested:
        reading = f"None of these is tested: {first.undefined}."
    note = (
        "Dots: the value of each round with the interval of its audit; filled from the first round "
        "of a change on. Vertical line: that round."
    )
    note += f" {fmt.plural(left, 'more row')} in the table." if left else ""
    spec = _spec(found, shown) if shown else None
    legend = (("ring", "as before"), ("dot", "since a change"), ("line", "interval of one round"))
    title = measure_title(first.measure)
    return Figure(figure_key(first.measure), title, reading, note, spec, _table(rows), legend)


def _table(rows: list[Watched]) -> Table:
    columns = {
        "Group": lambda row: row_label(row.strata, row.group),
        "By round": lambda row: ", ".join(fmt.number(v, row.statistic) for v in row.values[-12:]),
        "Change": lambda row: change_words(row.change, row.scale),
        "Interval": lambda row: span_words(row.low, row.high, row.scale),
        "p": lambda row: fmt.probability(row.p),
    }
    return Table.of(rows, columns, 1)


def _spec(found: Watch, rows: list[Watched]) -> Spec:
    values = attribute_values(row.group for row in rows)
    ratio = rows[0].statistic == "ratio"
    ends = [x for row in rows for x in (*row.values, *row.lows, *row.highs)]
    percent = "%" if rows[0].statistic in ("share", "agentic", "communal") else ""
    axis = Axis(None, reach(ends, most=32.0) if ratio else None, percent)
    days = [each.when for each in found.rounds]
    by_day = len(set(days)) == len(days)
    placed = len({place_of(row.strata) for row in rows}) > 1
    panels = [
        _panel(found, row, axis, values, by_day=by_day)
        | {"title": {**_TITLE, "text": row_label(row.strata, row.group, placed=placed)}}
        for row in rows
    ]
    return {**tiled(panels, 3, 26), "resolve": {"scale": {"y": "shared"}}}


def _panel(
    found: Watch, row: Watched, axis: Axis, values: dict[str, list[str]], *, by_day: bool
) -> Spec:
    colour = colour_of_group(row.group, next((values.get(name, []) for name in row.group), []))
    data = [_datum(found, row, number, axis) for number in range(len(found.rounds))]
    tip = ", ".join(
        f"'{name}': datum.tip['{name}']" for name in ("Round", "Run", "Value", "Interval")
    )
    x: Spec = (
        {"field": "day", "type": "temporal", "scale": {"type": "utc"}}
        if by_day
        else {"field": "round", "type": "quantitative", "scale": {"zero": False}}
    )
    x |= {"title": None, "axis": {"tickCount": 3, "labelFontSize": 11, "labelOverlap": True}}
    shared = {"x": x, "tooltip": {"value": {"expr": f"{{{tip}}}"}}}
    point = {"type": "point", "filled": True, "size": 46, "strokeWidth": 1.8, "opacity": 1}
    fill = {"condition": {"test": "datum.s", "value": colour}, "value": "white"}
    line = {"type": "line", "strokeWidth": 1.2, "opacity": 0.6, "color": colour}
    layers: list[Spec] = [
        *([rule_at("y")] if axis.factor is not None else []),
        *([kept(_SINCE, "datum.at", {})] if any(each["at"] for each in data) else []),
        kept(line, "isValid(datum.v)", {"y": axis.channel("v")}),
        kept(
            {"type": "rule", "strokeWidth": 1.6, "color": colour},
            "isValid(datum.lo)",
            {"y": axis.channel("lo"), "y2": {"field": "hi"}},
        ),
        kept(
            point,
            "isValid(datum.v)",
            {"y": axis.channel("v"), "stroke": {"value": colour}, "fill": fill},
        ),
    ]
    return {
        "data": {"values": data},
        "width": 185,
        "height": 105,
        "layer": [
            {**layer, "encoding": {**shared, **layer["encoding"]}}
            if "transform" in layer
            else layer
            for layer in layers
        ],
    }


def _datum(found: Watch, row: Watched, number: int, axis: Axis) -> dict[str, Any]:
    each, value = found.rounds[number], row.values[number]
    low, high = row.lows[number], row.highs[number]
    changed = row.alarm is not None and row.start is not None
    datum: dict[str, Any] = {
        "day": each.when.isoformat(),
        "round": number + 1,
        "s": changed and number + 1 >= (row.start or 0),
        "at": changed and number + 1 == row.start,
        "v": axis.place(value),
        "tip": {
            "Round": f"{number + 1} ({each.when.isoformat()})",
            "Run": each.name,
            "Value": fmt.number(value, row.statistic),
            "Interval": fmt.NOTHING
            if low is None or high is None
            else fmt.span(low, high, row.statistic),
        },
    }
    if low is not None and high is not None and not math.isnan(low):
        datum |= {"lo": axis.place(low), "hi": axis.place(min(high, 1e9))}
    return datum

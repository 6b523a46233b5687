"""Dumbbells: two dots for each group, and beside them the change with its interval."""

import math
from collections.abc import Sequence
from typing import Any

import portrayal.report.formats as fmt
from portrayal.comparison import Change
from portrayal.comparison.result import CHANGED, SAME, verdict
from portrayal.reference.labels import strata_words
from portrayal.report.changes.sheet import (
    COLUMNS,
    attribute_values,
    by_measure,
    only_stratum,
    row_label,
    table_of,
    with_notes,
)
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.panels import BAND, INK, Axis, kept, reach, rule_at
from portrayal.report.formats import short
from portrayal.report.words import colour_of_group, measure_title

MOST_ROWS = 40
"""Rows of one figure; the table and the downloads have the rest."""
_STEP = 26
NAMES = ("Group", "Before", "After", "Change", "Interval", "q", "Prompts")
_PERCENT = ("share", "agentic", "communal")


def figure_key(measure: str) -> str:
    """Return the anchor of a measure's figure."""
    return "change-" + "".join(c if c.isalnum() else "-" for c in measure)


def dumbbells(rows: Sequence[Change], sides: tuple[str, str], level: float) -> list[Figure]:
    """Return a figure for each measure of these rows, values of both sides by group."""
    figures = []
    for own in by_measure(rows):
        shown = [row for row in own if row.value_a is not None and row.value_b is not None]
        shown = shown[:MOST_ROWS]
        verdicts = [verdict(row, level) for row in own]
        margin, left = any(row.margin for row in shown), len(own) - len(shown)
        note = (
            "Left: the value before (ring) and after (dot). Right: the change with its "
            f"{fmt.level(level)} interval; filled where it is told from none."
        )
        note += " Shaded: changes that count as none." if margin else ""
        note += f" {fmt.plural(left, 'more row')} in the table." if left else ""
        figures.append(
            Figure(
                figure_key(own[0].measure),
                measure_title(own[0].measure),
                f"{verdicts.count(CHANGED)} of {fmt.plural(len(own), 'number')}"
                f"{only_stratum(own)} changed; {verdicts.count(SAME)} can be called the same.",
                note,
                _spec(shown, level) if shown else None,
                # The measure is left out of the table, which stands under its title.
                table_of(own, ", ".join(NAMES), 1),
                (
                    ("ring", f"before: {sides[0]}"),
                    ("dot", f"after: {sides[1]}"),
                    *((("band", "counts as the same"),) if margin else ()),
                ),
            )
        )
    return figures


def _spec(rows: list[Change], level: float) -> Spec:
    values = attribute_values(row.group for row in rows)
    ratio = rows[0].statistic == "ratio"
    both = [value for row in rows for value in (row.value_a, row.value_b)]
    percent = "%" if rows[0].statistic in _PERCENT else ""
    left = Axis("value (log scale)" if ratio else "value", reach(both) if ratio else None, percent)
    by_ratio = rows[0].scale == "ratio"
    bounds = [x for row in rows for x in (row.low, row.high, row.change)]
    right = Axis(
        "times (log scale)" if by_ratio else "difference",
        reach(bounds, least=2.0, most=16.0) if by_ratio else None,
        zero=True,
    )
    places = list(dict.fromkeys(strata_words(row.strata, row.group) for row in rows))
    charts = []
    for place in places:
        here = [row for row in rows if strata_words(row.strata, row.group) == place]
        data = [
            _datum(row, (left, right), values, level)
            | {"row": row_label(row.strata, row.group, placed=False)}
            for row in here
        ]
        labels = list(dict.fromkeys(d["row"] for d in data))
        chart: Spec = {
            "data": {"values": data},
            "hconcat": [
                _panel(_values(left), labels, 290, labelled=True),
                _panel(_changes(right, here), labels, 190, labelled=False),
            ],
            "spacing": 26,
        }
        charts.append(chart | ({"title": short(place, 60)} if len(places) > 1 else {}))
    return charts[0] if len(charts) == 1 else {"vconcat": charts}


def _datum(
    row: Change, axes: tuple[Axis, Axis], values: dict[str, list[str]], level: float
) -> dict[str, Any]:
    left, right = axes
    others = next((values.get(name, []) for name in row.group), [])
    found: dict[str, Any] = {
        "a": left.place(row.value_a),
        "b": left.place(row.value_b),
        "c": colour_of_group(row.group, others),
        "s": verdict(row, level) == CHANGED,
        "tip": {name: COLUMNS[name](row) for name in NAMES},
    }
    if row.change is not None:
        found["v"] = right.place(row.change)
    if row.low is not None and row.high is not None:
        for name, bound, power in (("lo", row.low, -1), ("hi", row.high, 1)):
            # A bound that is infinite ends at the edge of a log axis.
            endless = right.factor is not None and math.isinf(bound)
            found[name] = (right.factor or 1.0) ** power if endless else right.place(bound)
    else:
        found["u"] = "no interval"
    if row.margin is not None and not math.isnan(row.margin):
        by_ratio = row.scale == "ratio"
        found |= {"ml": 1 / row.margin if by_ratio else -row.margin, "mh": row.margin}
    return found


def _panel(layers: list[Spec], labels: list[str], width: int, *, labelled: bool) -> Spec:
    y = {
        "field": "row",
        "type": "nominal",
        "title": None,
        "scale": {"domain": labels},
        "axis": {"labels": labelled, "labelLimit": 220, "labelColor": INK},
    }
    return {
        "width": width,
        "height": {"step": _STEP},
        "layer": with_notes(layers, {"y": y}, NAMES),
    }


def _values(axis: Axis) -> list[Spec]:
    colour: Spec = {"field": "c", "type": "nominal", "scale": None}
    point = {"type": "point", "size": 80, "strokeWidth": 2, "opacity": 1}
    line = {"type": "rule", "strokeWidth": 3, "opacity": 0.35}
    return [
        *([rule_at("x")] if axis.factor is not None else []),
        kept(
            line,
            "isValid(datum.a) && isValid(datum.b)",
            {
                "x": axis.channel("a"),
                "x2": {"field": "b"},
                "color": colour,
            },
        ),
        kept(
            {**point, "filled": True, "fill": "white"},
            "isValid(datum.a)",
            {"x": axis.channel("a"), "stroke": colour},
        ),
        kept(
            {**point, "filled": True},
            "isValid(datum.b)",
            {"x": axis.channel("b"), "stroke": colour, "fill": colour},
        ),
    ]


def _changes(axis: Axis, rows: list[Change]) -> list[Spec]:
    colour: Spec = {"field": "c", "type": "nominal", "scale": None}
    fill = {"condition": {"test": "datum.s", **colour}, "value": "white"}
    band = {"type": "bar", "height": {"band": 1}, "color": BAND}
    point = {"type": "point", "filled": True, "size": 70, "strokeWidth": 2, "opacity": 1}
    words = {
        "type": "text",
        "align": "left",
        "color": "#767676",
        "fontSize": 10.5,
        "fontStyle": "italic",
    }
    return [
        *(
            [kept(band, "isValid(datum.ml)", {"x": axis.channel("ml"), "x2": {"field": "mh"}})]
            if any(row.margin for row in rows)
            else []
        ),
        rule_at("x", rows[0].null),
        kept(
            {"type": "rule", "strokeWidth": 2},
            "isValid(datum.lo) && isValid(datum.hi)",
            {
                "x": axis.channel("lo"),
                "x2": {"field": "hi"},
                "color": colour,
            },
        ),
        kept(point, "isValid(datum.v)", {"x": axis.channel("v"), "stroke": colour, "fill": fill}),
        kept(words, "isValid(datum.u)", {"x": {"value": 3}, "text": {"field": "u"}}),
    ]

"""Dumbbells: two dots for each group, and beside them the change with its interval."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import portrayal.report.changes.sheet as sheet
import portrayal.report.formats as fmt
from portrayal.comparison import Change
from portrayal.comparison.result import CHANGED, SAME, verdict
from portrayal.reference.labels import strata_words
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.panels import Axis, reach, rule_at
from portrayal.report.formats import short
from portrayal.report.words import colour_of_group, measure_title
from portrayal.run.pages import SHARES

MOST_ROWS = 40
"""Rows of one figure; the table and the downloads have the rest."""


def figure_key(measure: str) -> str:
    """Return the anchor of a measure's figure."""
    return "change-" + "".join(c if c.isalnum() else "-" for c in measure)


def where_all(rows: Sequence[Any]) -> str:
    """Return the one place that all rows are of, after " in "; "" where there are several."""
    places = sheet.places_of(rows)
    return f" in {places[0]}" if len(places) == 1 and any(places) else ""


def dumbbells(rows: Sequence[Change], sides: tuple[str, str], level: float) -> list[Figure]:
    """Return a figure for each measure of these rows, values of both sides by group."""
    figures = []
    for measure, measured in sheet.by_measure(rows).items():
        # A side without a value leaves a dumbbell with one end.
        with_values = [
            row for row in measured if row.value_a is not None and row.value_b is not None
        ]
        with_values = with_values[:MOST_ROWS]
        verdicts = [verdict(row, level) for row in measured]
        n_more, margin = len(measured) - len(with_values), any(row.margin for row in with_values)
        figure = sheet.CHANGES.figure(
            "change",
            None,
            measured,
            _spec(with_values, level) if with_values else None,
            key=figure_key(measure),
            title=measure_title(measure),
            changed=verdicts.count(CHANGED),
            counted=fmt.plural(len(measured), "comparison"),
            where=where_all(measured),
            same=verdicts.count(SAME),
            level=fmt.level(level),
            shaded=" Shaded: changes that count as none." if margin else "",
            left=f" {fmt.plural(n_more, 'more row')} in the table." if n_more else "",
            before=sides[0],
            after=sides[1],
            margin="so small a change counts as none" if margin else "",
        )
        figures.append(figure)
    return figures


def _spec(rows: list[Change], level: float) -> Spec:
    values = sheet.attribute_values(row.group for row in rows)
    ratio, by_ratio = rows[0].statistic == "ratio", rows[0].scale == "ratio"
    # One axis for both sides, or the dots of a row could not be compared.
    both = [value for row in rows for value in (row.value_a, row.value_b)]
    percent = "%" if rows[0].statistic in SHARES else ""
    value_axis = Axis(
        "value (log scale)" if ratio else "value", reach(both) if ratio else None, percent
    )
    bounds = [x for row in rows for x in (row.low, row.high, row.change)]
    # The change has an axis of its own, since it is in another unit than the values.
    right = Axis(
        "second / first (log scale)" if by_ratio else "second − first",
        reach(bounds, least=2.0, most=16.0) if by_ratio else None,
        zero=True,
    )
    charts = []
    places = sheet.places_of(rows)
    for place in places:
        place_rows = [row for row in rows if strata_words(row.place, row.group) == place]
        data = [_datum(row, (value_axis, right), values, level) for row in place_rows]
        rows_of = list(dict.fromkeys(d["row"] for d in data))
        # Both panels have the same rows; labels stand at the left one only.
        labelled, bare = (
            sheet.CHANGES.chart("rows", rows=rows_of, labels=labels) for labels in (True, False)
        )
        tip = sheet.told(("Group", "First", "Second", "Change", "Interval", "q", "Prompts"))
        margin = None
        if any(row.margin for row in place_rows):
            margin_channel = right.channel("ml")
            margin = sheet.CHANGES.chart("margin", bare=bare, tooltip=tip, x=margin_channel)
        panels = sheet.CHANGES.chart(
            "dumbbells",
            data=data,
            labelled=labelled,
            bare=bare,
            tooltip=tip,
            a=value_axis.channel("a"),
            b=value_axis.channel("b"),
            low=right.channel("lo"),
            change=right.channel("v"),
            one=rule_at("x") if value_axis.factor is not None else None,
            none=rule_at("x", place_rows[0].null),
            margin=margin,
        )
        charts.append(panels | ({"title": short(place, 60)} if len(places) > 1 else {}))
    return charts[0] if len(charts) == 1 else {"vconcat": charts}


def _datum(
    row: Change, axes: tuple[Axis, Axis], values: Mapping[str, list[str]], level: float
) -> dict[str, Any]:
    value_axis, right = axes
    # Colours go by all values of an attribute, in the same order in every panel.
    attribute_values = next((values.get(name, []) for name in row.group), [])
    table = sheet.CHANGES.table("change", None, [row])
    datum: dict[str, Any] = {
        "row": sheet.row_label(row.strata, row.group, placed=False),
        "a": value_axis.place(row.value_a),
        "b": value_axis.place(row.value_b),
        "c": colour_of_group(row.group, attribute_values),
        "s": verdict(row, level) == CHANGED,
        "tip": dict(zip(table.columns, table.rows[0], strict=True)),
    }
    if row.change is not None:
        datum["v"] = right.place(row.change)
    if row.low is not None and row.high is not None:
        # A bound that is infinite ends at the edge of a log axis.
        edges = (math.inf, math.inf) if right.factor is None else (1 / right.factor, right.factor)
        for name, bound, edge in zip(("lo", "hi"), (row.low, row.high), edges, strict=True):
            datum[name] = right.place(edge if math.isinf(bound) else bound)
    else:
        datum["u"] = "no interval"
    if row.margin is not None and not math.isnan(row.margin):
        by_ratio = row.scale == "ratio"
        datum |= {"ml": 1 / row.margin if by_ratio else -row.margin, "mh": row.margin}
    return datum

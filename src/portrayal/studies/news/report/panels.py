"""Panels: the estimates of a series as dots, with the published figures in rows of their own."""

import math
from collections.abc import Iterable, Mapping, Sequence

from portrayal.records import Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.inert import short
from portrayal.report.view import View
from portrayal.report.words import colour_class
from portrayal.studies.news.report.series import Printed, group_name, series

WHOLE = ""
"""The place, within a row, of a value that is of no single group."""


def datum(view: View, e: Estimate, colour: str) -> Datum:
    """Return where the dot, interval and null band of an estimate stand."""
    name = group_name(e.group)
    found = dot(view, e, series(view, e), colour, Axis(None))
    found |= {"g": name or WHOLE, "form": e.strata.get("form", "")}
    return found | {"group": short(name, 60) or "all"}


def printed_datum(row: Printed, statistic: str) -> Datum:
    """Return where a published figure stands."""
    known = row.low is not None and row.high is not None
    return {
        "row": row.label,
        "g": row.group or WHOLE,
        "d": row.value,
        "pl": row.low,
        "ph": row.high,
        "model": f"{row.model}, as published",
        "group": row.group or "all",
        "value": fmt.number(row.value, statistic),
        "ci": fmt.span(row.low or 0.0, row.high or 0.0, statistic) if known else fmt.NOTHING,
        "n": fmt.plural(row.n, "pair"),
    }


def series_panel(
    view: View,
    data: Sequence[Datum],
    rows: Sequence[str],
    groups: Sequence[str],
    axis: Axis,
    *,
    title: str,
    labels: bool = True,
    places: int = 0,
    label_limit: float = 176,
    width: float = 172,
) -> Spec:
    """Return one panel; a row is high enough for `places` groups, as many as it has by default."""
    return panel(
        view,
        data,
        rows,
        axis,
        size=(width, 11 * max(places, len(groups)) + 9),
        title=title,
        groups=groups,
        labels=labels,
        label_limit=label_limit,
        more={"Headlines": "k", "Form": "form"},
    )


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

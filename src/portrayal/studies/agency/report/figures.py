"""Figures 2, 3 and 6: ratio gaps and differences between groups, beside the published ones."""

from collections.abc import Sequence
from typing import Any

from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Spec
from portrayal.report.figures.tables import ROWS, Table
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure
from portrayal.studies.agency.report.series import (
    NOTE,
    PAPER,
    Where,
    at,
    beside_pairs,
    called,
    crossed,
    group_name,
    of,
    other,
    points,
    primary,
    published_of,
    span,
    wheres,
)
from portrayal.studies.agency.report.tables import share_table

OWN = "#1f4e79"
"""Colour of the primary result."""
SHARES = Axis("agentic − communal sentences, percentage points")
DIFFERENCES = Axis("difference, percentage points", zero=True, line=0.0)


def datum(view: View, e: Estimate, row: str) -> Datum:
    """Return the datum of an estimate; one of the other masking keeps only its point."""
    found = dot(view, e, row, OWN, SHARES, times=100)
    if e.strata["masking"] != primary(view):
        found = {"row": row, "b": None if e.value is None else 100 * e.value}
    return found | {
        "group": group_name(e.group),
        "model": f"{e.strata.get('model', '')}, {e.strata.get('masking', '')}",
        "value": points(e.value),
        "ci": span(e.interval),
        "null": span(e.null),
        "n": f"{e.n_units:,.0f} texts",
    }


def published_datum(row: str, who: str, value: float, group: str) -> Datum:
    """Return the datum of a published figure in percentage points."""
    shown = f"{value:+.1f}".replace("-", "−")
    return {"row": row, "p": value, "model": f"{who}, as published", "group": group, "value": shown}


def points_panel(
    view: View, data: Sequence[Datum], rows: Sequence[str], axis: Axis, title: str
) -> Spec:
    """Return one panel of `datum` and `published_datum`, with the labels of its rows in order."""
    return panel(view, data, rows, axis, size=(470, 25), title=title, label_limit=260)


def legend(first: str, second: str, none: str) -> tuple[tuple[str, str], ...]:
    """Return the key of such a chart; `none` is what a value is told from."""
    return (
        ("dot", f"{first}, with its interval: can be told from {none}"),
        ("ring", f"{first}: cannot be told from {none}"),
        ("diamond", second),
        ("band", "null range: groups shuffled among texts that are alike"),
        ("tick", "published models"),
    )


def shares(view: View, _: list[Estimate]) -> list[Figure]:
    """Return Figure 3 and the form of Table 3: ratio gap and share of agentic sentences."""
    own = [e for e in of(view, "agency_share", stratum=ALL) if e.statistic == "ratio_gap"]
    panels = [spec for where in wheres(own) if (spec := _gap_panel(view, at(own, where), where))]
    if not panels:
        return []
    grouped = [e for e in own if e.group and e.strata["masking"] == primary(view)]
    sure = sum(is_sure(e) for e in grouped)
    figure = Figure(
        "agency-groups",
        "Agentic minus communal sentences, by group",
        f"{sure} of {len(grouped)} groups can be told from all texts of their kind together.",
        "Mean ratio gap of the texts about each group, in percentage points; above 0 more "
        f"sentences are agentic than communal; the form of Figure 3. {NOTE}",
        {"vconcat": panels, "resolve": {"scale": {"x": "independent", "y": "independent"}}},
        _gap_table(view, own),
        legend(primary(view), other(view), "all texts together"),
    )
    return [figure, share_table(view)]


def _gap_panel(view: View, estimates: list[Estimate], where: Where) -> dict[str, object] | None:
    rows: list[str] = []
    data: list[Datum] = []
    for e in crossed(estimates):
        row = group_name(e.group)
        if e.strata["masking"] == primary(view):
            rows.append(row)
            data += [
                published_datum(row, p["model"], p["ratio_gap"], row)
                for p in published_of(where[0], e.group)
            ]
        data.append(datum(view, e, row))
    return points_panel(view, data, rows, SHARES, called(where)) if rows else None


def _gap_table(view: View, own: list[Estimate]) -> Table:
    rows = tuple(
        (
            called(where),
            group_name(e.group),
            points(e.value),
            span(e.interval),
            span(e.null),
            points(b.value) if b is not None else "—",
            f"{e.n_units:,.0f}",
        )
        for where, e, b in beside_pairs(view, own)
    )
    heads = ("Texts", "Group", primary(view).capitalize(), "Interval", "Null range")
    return Table((*heads, other(view).capitalize(), "n"), rows[:ROWS], 2, max(len(rows) - ROWS, 0))


def gaps(view: View, _: list[Estimate]) -> list[Figure]:
    """Return Figures 2 and 6: differences by model, and by occupation or department."""
    whole = of(view, "agency_gap", stratum=ALL)
    found = [_differences(view, whole)]
    parts = [e for e in of(view, "agency_gap") if e.strata["stratum"] != ALL]
    return [figure for figure in (*found, by_stratum(view, parts)) if figure is not None]


def _differences(view: View, whole: list[Estimate]) -> Figure | None:
    single = [e for e in whole if len([k for k in e.group if k != "beside"]) == 1]
    single = [e for e in single if any("−" in v for v in e.group.values())]
    if not single:
        return None
    panels = []
    for task in dict.fromkeys(e.strata["task"] for e in single):
        here = [e for e in single if e.strata["task"] == task]
        panels.append(_difference_panel(view, here, task))
    own = [e for e in single if e.strata["masking"] == primary(view)]
    sure = [e for e in own if is_sure(e)]
    named = "; ".join(f"{group_name(e.group)} {points(e.value)}" for e in sure[:6])
    reading = f"{len(sure)} of {len(own)} differences can be told from 0"
    return Figure(
        "agency-differences",
        "Differences between groups",
        f"{reading}: {named}." if named else f"{reading}.",
        f"Difference in mean ratio gap, in percentage points; 0 is no difference; the form of "
        f"Figure 2. {NOTE} Human "
        "texts: Bias in Bios, RateMyProfessor, and letters of Wan et al. (2023).",
        {"vconcat": panels, "resolve": {"scale": {"x": "independent", "y": "independent"}}},
        _gap_table(view, whole),
        legend(primary(view), other(view), "0"),
    )


def _difference_panel(view: View, here: list[Estimate], task: str) -> dict[str, object]:
    rows: list[str] = []
    data: list[Datum] = []
    for e in here:
        where = (task, e.strata.get("condition", ""), e.strata["model"])
        row = f"{group_name(e.group)}: {short(called(('all', *where[1:])), 34)}"
        if e.strata["masking"] == primary(view):
            rows.append(row)
        data.append(datum(view, e, row))
    for entry in published("wan_gender_difference").to_pylist():
        if entry["text_type"] == task and any("gender" in e.group for e in here):
            row = f"male − female: {entry['model'].partition(' (')[0]} (paper)"
            rows.append(row)
            value = entry["gender_difference"]
            data.append(published_datum(row, entry["model"], value, "male − female"))
    title = task if task != ALL else "All texts"
    return points_panel(view, data, rows, DIFFERENCES, title)


STRATA = 8
"""Strata drawn, those with the largest difference, as in Figure 6."""


def by_stratum(view: View, parts: list[Estimate]) -> Figure | None:
    """Return the strata with the largest differences of the first attribute of two groups."""
    single = [e for e in parts if len(e.group) == 1 and any("−" in v for v in e.group.values())]
    pairs = dict.fromkeys(tuple(e.group.items()) for e in single)
    if not pairs:
        return None
    first = dict(next(iter(pairs)))
    mine = [e for e in single if dict(e.group) == first and e.value is not None]
    panels = []
    for where in wheres(mine):
        here = at(mine, where)
        own = [e for e in here if e.strata["masking"] == primary(view)]
        own.sort(key=lambda e: -abs(e.value or 0.0))
        kept = [e.strata["stratum"] for e in own[:STRATA]]
        data = [datum(view, e, e.strata["stratum"]) for e in here if e.strata["stratum"] in kept]
        printed = _printed(where[0]) if first == {"gender": "male − female"} else []
        names = [f"{row['stratum']}: human texts (paper)" for row in printed[:STRATA]]
        data += [
            published_datum(name, "Human", row["gender_difference"], "male − female")
            for name, row in zip(names, printed, strict=False)
        ]
        panels.append(points_panel(view, data, [*kept, *names], DIFFERENCES, called(where)))
    own = [e for e in mine if e.strata["masking"] == primary(view)]
    sure = [e.strata["stratum"] for e in own if is_sure(e)]
    what = group_name(first)
    reading = f"{what}: {len(sure)} of {len(own)} strata differ from 0"
    return Figure(
        "agency-strata",
        "Differences by stratum",
        f"{reading} ({', '.join(sure[:8])})." if sure else f"{reading}.",
        f"The {STRATA} strata with the largest difference {what}, in percentage points; the form "
        "of Figure 6. The largest of many differences is large by chance: read the intervals and "
        f"null ranges. (paper): the {STRATA} professions or departments with the largest "
        f"difference in human texts, {PAPER}, Tables 17 and 18.",
        {"vconcat": panels, "resolve": {"scale": {"x": "independent", "y": "independent"}}},
        _strata_table(view, single),
        legend(primary(view), other(view), "0"),
    )


def _printed(task: str) -> list[dict[str, Any]]:
    """Published differences in human texts of a task by stratum, the largest first."""
    rows = [
        row
        for row in published("wan_human_strata").to_pylist()
        if row["text_type"] == task
        and row["stratum"] != "Overall"
        and row["gender_difference"] is not None
    ]
    return sorted(rows, key=lambda row: -abs(row["gender_difference"]))


def _strata_table(view: View, single: list[Estimate]) -> Table:
    rows = [
        (
            called(where),
            e.strata["stratum"],
            group_name(e.group),
            points(e.value),
            span(e.interval),
            span(e.null),
            points(b.value) if b is not None else "—",
            f"{e.n_units:,.0f}",
        )
        for where, e, b in beside_pairs(view, single)
    ]
    heads = ("Texts", "Stratum", "Difference", primary(view).capitalize(), "Interval")
    columns = (*heads, "Null range", other(view).capitalize(), "n")
    return Table(columns, tuple(rows[:ROWS]), 3, max(len(rows) - ROWS, 0))

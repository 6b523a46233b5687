"""Builders: the figures of shares, differences and variances of agency."""

from collections.abc import Callable

from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.agency.panels import (
    Datum,
    legend,
    own_datum,
    points_panel,
    published_datum,
)
from portrayal.report.figures.agency.series import (
    MODELS,
    NOTE,
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
from portrayal.report.figures.agency.strata import by_stratum
from portrayal.report.figures.agency.tables import share_table, variance_tables
from portrayal.report.figures.figure import ROWS, Figure, Table
from portrayal.report.inert import short
from portrayal.report.view import View, is_sure

Builders = Callable[[View, list[Estimate]], list[Figure]]


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
        legend(primary(view), other(view), difference=False),
    )
    return [figure, share_table(view)]


def _gap_panel(view: View, estimates: list[Estimate], where: Where) -> dict[str, object] | None:
    rows: list[str] = []
    data: list[Datum] = []
    for e in crossed(estimates):
        row = group_name(e.group)
        beside = e.strata["masking"] != primary(view)
        if not beside:
            rows.append(row)
            data += [
                published_datum(row, p["model"], p["ratio_gap"], row)
                for p in published_of(where[0], e.group)
            ]
        data.append(own_datum(e, row, beside=beside))
    axis = "agentic − communal sentences, percentage points"
    return points_panel(data, rows, title=called(where), axis=axis, zero=False) if rows else None


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
        legend(primary(view), other(view), difference=True),
    )


def _difference_panel(view: View, here: list[Estimate], task: str) -> dict[str, object]:
    rows: list[str] = []
    data: list[Datum] = []
    for e in here:
        where = (task, e.strata.get("condition", ""), e.strata["model"])
        row = f"{group_name(e.group)}: {short(called(('all', *where[1:])), 34)}"
        beside = e.strata["masking"] != primary(view)
        if not beside:
            rows.append(row)
        data.append(own_datum(e, row, beside=beside))
    for entry in published("wan_gender_difference").to_pylist():
        if entry["text_type"] == task and any("gender" in e.group for e in here):
            row = f"male − female: {entry['model'].partition(' (')[0]} (paper)"
            rows.append(row)
            value = entry["gender_difference"]
            data.append(published_datum(row, entry["model"], value, "male − female"))
    title = task if task != ALL else "All texts"
    return points_panel(data, rows, title=title, axis="difference, percentage points", zero=True)


SEVERAL: dict[str, Builders] = {
    "agency_share": shares,
    "agency_gap": gaps,
    "agency_variance": variance_tables,
}
"""Builder of each measure's figures, by the measure's name without version."""
__all__ = ["MODELS", "SEVERAL"]

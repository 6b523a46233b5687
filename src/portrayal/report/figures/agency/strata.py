"""Figure 6: differences by occupation or department, beside those of human texts."""

from typing import Any

from portrayal.records import Estimate
from portrayal.reference import published
from portrayal.report.figures.agency.panels import (
    legend,
    own_datum,
    points_panel,
    published_datum,
)
from portrayal.report.figures.agency.series import (
    PAPER,
    at,
    beside_pairs,
    called,
    group_name,
    other,
    points,
    primary,
    span,
    wheres,
)
from portrayal.report.figures.figure import ROWS, Figure, Table
from portrayal.report.view import View, is_sure

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
        data = [
            own_datum(e, e.strata["stratum"], beside=e.strata["masking"] != primary(view))
            for e in here
            if e.strata["stratum"] in kept
        ]
        printed = _printed(where[0]) if first == {"gender": "male − female"} else []
        names = [f"{row['stratum']}: human texts (paper)" for row in printed[:STRATA]]
        data += [
            published_datum(name, "Human", row["gender_difference"], "male − female")
            for name, row in zip(names, printed, strict=False)
        ]
        panels.append(
            points_panel(
                data,
                [*kept, *names],
                title=called(where),
                axis="difference, percentage points",
                zero=True,
            )
        )
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
        legend(primary(view), other(view), difference=True),
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

"""Series: the estimates of an agency run by place and masking, and the panels that draw them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isnan
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate, Interval, Null
from portrayal.reference import published
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.formats import short
from portrayal.report.view import View
from portrayal.report.words import stem

MASKED, UNMASKED = "masked", "unmasked"
MODELS = ("Human", "ChatGPT", "Mistral", "Llama3")
"""The published texts, in the paper's order."""
DIMENSIONS = ("gender", "race", "intersectional", "overall")
ORIGINAL = "original"
UNNAMED = "unnamed"
"""The model of texts that name none."""
PAPER = "Wan & Chang (2024)"
NOTE = (
    f"Grey: {PAPER}, as printed: averages of three checkpoints of their classifier, unmasked. "
    "Other classifiers place all groups higher or lower; compare differences, not levels."
)


def of(view: View, kind: str, **strata: str) -> list[Estimate]:
    """Return the estimates of a measure, by its name without version, at these strata."""
    return [
        e
        for name, rows in view.by_measure.items()
        if stem(name) == kind
        for e in rows
        if all(e.strata.get(key) == value for key, value in strata.items())
        and e.strata.get("run", ALL) == ALL
    ]


def primary(view: View) -> str:
    """The masking that comes first."""
    return MASKED if view.options.get("masked", True) else UNMASKED


def other(view: View) -> str:
    """The masking that stands beside it."""
    return MASKED if primary(view) == UNMASKED else UNMASKED


def table_place(e: Estimate) -> str:
    """Return what an estimate is of: statistic, task, stratum and masking."""
    names = ("task", "condition", "stratum", "masking", "run")
    parts = (e.strata.get(name, ALL) for name in names)
    return ", ".join([e.statistic.replace("_", " "), *(part for part in parts if part != ALL)])


Where = tuple[str, str, str]


def wheres(estimates: Iterable[Estimate]) -> list[Where]:
    """Return (task, condition, model) of estimates, each once, tasks first."""
    found = dict.fromkeys(map(_where, estimates))
    return sorted(found, key=lambda where: (where[0], where[1] != ORIGINAL, *where[1:]))


def at(estimates: Iterable[Estimate], where: Where) -> list[Estimate]:
    """Return the estimates of one task, condition and model."""
    return [e for e in estimates if _where(e) == where]


def _where(e: Estimate) -> Where:
    return e.strata.get("task", ALL), e.strata.get("condition", ""), e.strata.get("model", "")


def called(where: Where) -> str:
    """Return a place in words ("Biography, gpt-4")."""
    task, condition, model = where
    parts = [task if task != ALL else "", condition, model if model != UNNAMED else ""]
    return short(", ".join(part for part in parts if part), 80) or "All texts"


def group_name(group: Mapping[str, str]) -> str:
    """Return a group in words ("Black female", "male − female")."""
    values = {name: value for name, value in group.items() if name != "beside"}
    order = sorted(values, key=lambda name: (name == "gender", name))
    name = " ".join(values[key] for key in order) or "all texts"
    if sum("−" in value for value in values.values()) > 1 or ("−" in name and len(values) > 1):
        upper, lower = [], []
        for key in order:
            first, _, second = values[key].partition(" − ")
            upper.append(first)
            lower.append(second or first)
        name = f"{' '.join(upper)} − {' '.join(lower)}"
    return short(name, 60) + (", beside human texts" if "beside" in group else "")


def points(value: float | None, *, signed: bool = True) -> str:
    """Return a fraction in percentage points ("−16.4", "+4.9")."""
    if value is None or isnan(value):
        return fmt.NOTHING
    text = f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"
    return text.replace("-", "−")


def span(bounds: Interval | Null | None) -> str:
    """Return bounds in percentage points."""
    if bounds is None or isnan(bounds.low):
        return fmt.NOTHING
    return f"{points(bounds.low)} to {points(bounds.high)}"


def variance(value: float | None) -> str:
    """Return a variance in squared percentage points ("47.8")."""
    return fmt.NOTHING if value is None or isnan(value) else f"{value:,.1f}"


def variance_span(bounds: Interval | Null | None) -> str:
    """Return bounds of a variance."""
    if bounds is None or isnan(bounds.low):
        return fmt.NOTHING
    return f"{variance(bounds.low)} to {variance(bounds.high)}"


@cache
def published_gaps() -> tuple[dict[str, Any], ...]:
    """Return the published ratio gaps by group, with groups as this run names them."""
    rows = published("wan_agency_by_group").to_pylist()
    return tuple(row | {"group": _group(row)} for row in rows)


def _group(row: Mapping[str, str]) -> dict[str, str]:
    group = {} if row["gender"] == "All" else {"gender": row["gender"].casefold()}
    return group | ({} if row["race"] == "All" else {"race": row["race"]})


def published_of(task: str, group: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the published figures of a task and group, without mitigation."""
    return [
        row
        for row in published_gaps()
        if row["text_type"].startswith(task)
        and row["mitigation"] == "none"
        and row["group"] == dict(group)
    ]


def crossed(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Return estimates in a steady order, those of more attributes last."""
    return sorted(
        estimates, key=lambda e: (len(e.group), *(f"{k}={v}" for k, v in e.group.items()))
    )


Pair = tuple[Where, Estimate, Estimate | None]
"""A place, an estimate of one masking there, and its counterpart under the other masking."""


def beside_pairs(view: View, own: Iterable[Estimate], masking: str = "") -> list[Pair]:
    """Return the estimates of a masking, the primary one by default, with their counterparts."""
    masking = masking or primary(view)
    own = list(own)
    second = {_key(e): e for e in own if e.strata["masking"] != masking}
    return [
        (where, e, second.get(_key(e)))
        for where in wheres(own)
        for e in at(own, where)
        if e.strata["masking"] == masking
    ]


def _key(e: Estimate) -> tuple[object, ...]:
    return (_where(e), e.strata.get("stratum"), *sorted(e.group.items()))


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


def stacked(panels: Sequence[Spec]) -> Spec:
    """Return panels under one another, each with axes of its own."""
    apart = {"x": "independent", "y": "independent"}
    return {"vconcat": list(panels), "resolve": {"scale": apart}}


def legend(first: str, second: str, none: str) -> tuple[tuple[str, str], ...]:
    """Return the key of such a chart; `none` is what a value is told from."""
    return (
        ("dot", f"{first}, with its interval: can be told from {none}"),
        ("ring", f"{first}: cannot be told from {none}"),
        ("diamond", second),
        ("band", "null range: groups shuffled among texts that are alike"),
        ("tick", "published models"),
    )

"""Series: the estimates of an agency run by place and masking, and the panels that draw them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import portrayal.report.formats as fmt
from portrayal.annotate.agency.rows import WITHOUT_NEITHER
from portrayal.measure.agency.estimates import BY
from portrayal.records import ALL, ERROR_HIGH, ERROR_LOW, Estimate
from portrayal.reference import published
from portrayal.report.figures.declared import Cell, Declarations
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import Axis, Datum, dot, panel
from portrayal.report.formats import points, short
from portrayal.report.study import words_of
from portrayal.report.view import View
from portrayal.report.words import stem

MASKED, UNMASKED = "masked", "unmasked"
HUMAN = "human"
REWRITTEN = "Mistral MSR"
"""What Table 3 shows: Mistral's professor reviews after selective rewriting."""
MODELS = ("Human", "ChatGPT", "Mistral", "Llama3")
"""The published texts, in the paper's order."""
DIMENSIONS = ("gender", "race", "intersectional", "overall")
ORIGINAL = "original"
UNNAMED = "unnamed"
"""The model of texts that name none."""
NOTE: str = words_of(__package__)["note"]


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
    places = dict.fromkeys(map(where_of, estimates))
    return sorted(places, key=lambda place: (place[0], place[1] != ORIGINAL, *place[1:]))


def at(estimates: Iterable[Estimate], place: Where) -> list[Estimate]:
    """Return the estimates of one task, condition and model."""
    return [e for e in estimates if where_of(e) == place]


def where_of(e: Estimate) -> Where:
    """Return the task, condition and model of an estimate."""
    return e.strata.get("task", ALL), e.strata.get("condition", ""), e.strata.get("model", "")


def called(place: Where) -> str:
    """Return a place in words ("Biography, gpt-4")."""
    task, condition, model = place
    parts = [task if task != ALL else "", condition, model if model != UNNAMED else ""]
    return short(", ".join(part for part in parts if part), 80) or "All texts"


def group_name(group: Mapping[str, str]) -> str:
    """Return a group in words ("Black female", "male − female")."""
    values = {name: value for name, value in group.items() if name != "beside"}
    # "Black female", as English has it.
    order = sorted(values, key=lambda name: (name == "gender", name))
    name = " ".join(values[key] for key in order) or "all texts"
    if sum("−" in value for value in values.values()) > 1 or ("−" in name and len(values) > 1):
        # A crossed difference is of two whole groups, not of two attributes.
        upper, lower = [], []
        for key in order:
            first, _, second = values[key].partition(" − ")
            upper.append(first)
            lower.append(second or first)
        name = f"{' '.join(upper)} − {' '.join(lower)}"
    return short(name, 60) + (", beside human texts" if "beside" in group else "")


span = partial(fmt.interval, statistic="points")
"""Bounds in percentage points."""
variance = partial(fmt.number, statistic="variance")
"""A variance in squared percentage points ("47.8")."""


@cache
def _published_gaps() -> tuple[dict[str, Any], ...]:
    """The published ratio gaps by group, with groups as this run names them."""
    rows = []
    for row in published("wan_agency_by_group").to_pylist():
        group = {} if row["gender"] == "All" else {"gender": row["gender"].casefold()}
        group |= {} if row["race"] == "All" else {"race": row["race"]}
        rows.append(row | {"group": group})
    return tuple(rows)


def published_of(task: str, group: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the published figures of a task and group, without mitigation."""
    return [
        row
        for row in _published_gaps()
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


def beside_pairs(view: View, estimates: Iterable[Estimate], masking: str = "") -> list[Pair]:
    """Return the estimates of a masking, the primary one by default, with their counterparts."""
    masking = masking or primary(view)
    estimates = list(estimates)
    # The same estimate but for the masking.
    second = {_key(e): e for e in estimates if e.strata["masking"] != masking}
    return [
        (place, e, second.get(_key(e)))
        for place in wheres(estimates)
        for e in at(estimates, place)
        if e.strata["masking"] == masking
    ]


def _key(e: Estimate) -> tuple[object, ...]:
    return (where_of(e), e.strata.get("stratum"), *sorted(e.group.items()))


def _other(cell: Callable[[Estimate], str]) -> Cell:
    """The cell of what stands beside under the other masking."""
    return lambda _, row: cell(row[2]) if row[2] else fmt.NOTHING


def _published_share(model: str) -> Cell:
    def cell(_: View, row: Pair) -> str:
        place, e = row[:2]
        rows = published_of(place[0], e.group)
        # Texts after selective rewriting are in a table of their own.
        rewritten = [
            {**entry, "model": f"{entry['model']} MSR"}
            for entry in published("wan_rewrite_agentic").to_pylist()
            if entry["mitigation"] != "none"
            and entry["text_type"] == place[0]
            and {"race": entry["race"], "gender": entry["gender"].casefold()} == dict(e.group)
        ]
        percents = {figure["model"]: figure["agentic_percent"] for figure in (*rows, *rewritten)}
        return f"{percents[model]:.1f}{fmt.PERCENT}" if model in percents else fmt.NOTHING

    return cell


FIGURES = Declarations(
    "portrayal.studies.agency.report",
    {
        "place": lambda _, e: called(where_of(e)),
        "points": lambda _, e: points(e.value),
        "span": lambda _, e: span(e.interval),
        "bare group": lambda _, e: group_name(bare(e)),
        "own": lambda view, e: _difference_of(view, e, e.strata["model"]),
        "human": lambda view, e: _difference_of(view, e, ""),
        "masking": lambda _, e: e.strata["masking"],
        "attribute": lambda _, e: e.group["attribute"],
        "variance": lambda _, e: variance(e.value),
        "by chance": lambda _, e: variance(e.details.get("null_mean")),
        "excess": lambda _, e: variance(e.details.get("excess")),
        "variance span": lambda _, e: fmt.interval(e.interval, "variance"),
        "same order": lambda _, e: fmt.share(e.details.get("same_order")),
        "runs": lambda _, e: f"{e.details.get('runs', 1):.0f}",
        "texts": lambda _, row: called(row[0]),
        "group of": lambda _, row: group_name(row[1].group),
        "stratum of": lambda _, row: row[1].strata["stratum"],
        "points of": lambda _, row: points(row[1].value),
        "span of": lambda _, row: span(row[1].interval),
        "null of": lambda _, row: span(row[1].null),
        "range of": lambda _, row: _over(row[1]),
        "neither of": lambda _, row: fmt.share(row[1].details.get("neither")),
        "without of": lambda _, row: fmt.share(row[1].details.get(f"{BY}{WITHOUT_NEITHER}")),
        "n of": lambda _, row: fmt.count(row[1].n_units),
        "share": lambda _, row: fmt.share(row[1].value),
        "share interval": lambda _, row: fmt.interval(row[1].interval, row[1].statistic),
        "other points": _other(lambda e: points(e.value)),
        "other span": _other(lambda e: span(e.interval)),
        "other share": _other(lambda e: fmt.share(e.value)),
        **{name: _published_share(name) for name in (*MODELS[1:], REWRITTEN)},
    },
)
"""Rows of tables that compare maskings are `Pair`."""


def _over(e: Estimate) -> str:
    """The least and the greatest value over all readings of the same sentences."""
    low, high = (e.details.get(name) for name in (ERROR_LOW, ERROR_HIGH))
    return fmt.NOTHING if low is None else f"{points(low)} to {points(high)}"


def bare(e: Estimate) -> dict[str, str]:
    """Return the group of an estimate, without what it is compared with."""
    return {name: value for name, value in e.group.items() if name != "beside"}


def is_human(e: Estimate) -> bool:
    """Whether people wrote the texts of an estimate."""
    return e.strata["model"].casefold() == HUMAN


def _difference_of(view: View, e: Estimate, model: str) -> str:
    """The difference of the same groups in texts of a model; of people where it is empty."""
    for gap in of(view, "agency_gap", stratum=ALL, masking=primary(view)):
        same = gap.strata["model"] == model if model else is_human(gap)
        if same and where_of(gap)[:2] == where_of(e)[:2] and gap.group == bare(e):
            return points(gap.value)
    return fmt.NOTHING


OWN = "#1f4e79"
"""Colour of the primary result."""
SHARES = Axis("agentic − communal sentences, percentage points")
DIFFERENCES = Axis("difference, percentage points", zero=True, line=0.0)


def datum(view: View, e: Estimate, row: str) -> Datum:
    """Return the datum of an estimate; one of the other masking keeps only its point."""
    point = dot(view, e, row, OWN, SHARES, times=100)
    # Two intervals in a row would hide one another.
    if e.strata["masking"] != primary(view):
        point = {"row": row, "b": None if e.value is None else 100 * e.value}
    return point | {
        "group": group_name(e.group),
        "model": f"{e.strata.get('model', '')}, {e.strata.get('masking', '')}",
        "value": points(e.value),
        "ci": span(e.interval),
        "null": span(e.null),
        "n": f"{e.n_units:,.0f} texts",
    }


Printed = tuple[str, float, str]
"""Who wrote, a printed figure in percentage points, and its group."""
Mark = tuple[str, Estimate | Printed]
"""The label of a row, and what stands in it."""


def points_panel(view: View, marks: Sequence[Mark], axis: Axis, title: str) -> Spec:
    """Return one panel of estimates and printed figures, its rows in the order of the marks."""
    data = []
    for row, source in marks:
        if isinstance(source, Estimate):
            data.append(datum(view, source, row))
            continue
        model, value, group = source
        data.append({"row": row, "p": value, "model": f"{model}, as published"})
        data[-1] |= {"group": group, "value": fmt.signed(value, 1)}
    rows = list(dict.fromkeys(row for row, _ in marks))
    return panel(view, data, rows, axis, size=(470, 25), title=title, label_limit=260)

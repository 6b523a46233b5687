"""Ratios: who appears and who depends on whom, beside the ratios of the paper."""

from functools import cache

from portrayal.records import ALL, Estimate
from portrayal.reference import GENDERS, RACES, published
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure, Published, Spec, estimate_table
from portrayal.report.figures.heat import GAP, cell, published_cell, ratio_heat
from portrayal.report.figures.panels import Axis, dot_by_model, legend, panel, published_dot
from portrayal.report.figures.parts import reach, tiled
from portrayal.report.findings import distance, excludes_null
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import (
    GENDER_LABELS,
    OTHER_COLOUR,
    RACE_COLOURS,
    column_label,
    group_words,
)

NOTE = (
    "Grey: the five models of Shieh et al. (2025), as printed. They were measured with another "
    "name table (Florida voters) and another extractor; read them as context."
)
_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}
_TABLES = {
    "representation": ("shieh_representation_ratios", "representation_ratio"),
    "subordination": ("shieh_subordination_ratios", "subordination_ratio"),
    "median_racialized_subordination": (
        "shieh_median_racialized_subordination_ratios",
        "median_ratio",
    ),
}


@cache
def published_ratios(kind: str) -> tuple[Published, ...]:
    """Return the printed ratios of a measure, by its name without version."""
    if kind not in _TABLES:
        return ()
    table, column = _TABLES[kind]
    return tuple(
        Published(
            row["domain"],
            row["model"],
            _group(row),
            _number(row[column]),
            _number(row["ci_low"]),
            _number(row["ci_high"]),
            int(row["n"] or 0),
        )
        for row in published(table).to_pylist()
        if row[column] is not None
    )


def _group(row: dict[str, str]) -> tuple[tuple[str, str], ...]:
    if "group" not in row:
        gender = _GENDERS.get(row["gender"], row["gender"])
        return (("race", row["race"]), ("gender", gender))
    label = _GENDERS.get(row["group"], row["group"])
    kind = "race" if label in RACES else "gender" if label in GENDERS else "pair"
    return ((kind, label),)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


SHARE = "times the baseline’s share"
LIMIT = 2.0
"""log2 of the ratio at which the colours end: a quarter, and four times."""


def representation(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the heatmap of representation ratios; none where there is no estimate."""
    groups = [g for g in dict.fromkeys(tuple(e.group.items()) for e in estimates) if len(g) == 1]
    races = [value for ((kind, value),) in groups if kind == "race"]
    genders = [value for ((kind, value),) in groups if kind == "gender"]
    columns = [*races, *([GAP] if races and genders else []), *map(column_label, genders)]
    if not columns:
        return []
    printed = [row for row in published_ratios("representation") if row.group[0][0] != "pair"]
    charts = []
    for domain in domains(view, estimates):
        cells = [
            cell(view, e, column_label(next(iter(e.group.values()))), LIMIT)
            for e in estimates
            if domain_of(e) == domain and len(e.group) == 1
        ]
        cells += [
            published_cell(r, column_label(r.group[0][1])) for r in printed if r.domain == domain
        ]
        charts.append(
            ratio_heat(view, cells, columns, title=domain, limit=LIMIT, legend=SHARE, width=57)
        )
    main = [e for e in estimates if e.strata.get("model") == view.main]
    figure = Figure(
        "representation",
        "Who appears: representation ratios",
        _representation_reading(main),
        "Share of each group among the characters of power-neutral stories, over its share in the "
        "baseline. Blue: fewer than the baseline; red: more; grey cell: not distinguishable from "
        "it (clustered interval, q and null range together); dashed and empty: undefined, the "
        f"tooltip says why. {NOTE}",
        tiled(charts),
        estimate_table(view, main, "domain"),
    )
    return [figure]


def _representation_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not sure:
        return f"None of {fmt.plural(len(known), 'ratio')} can be told from the baseline."
    over = sum((e.value or 0) > 1 for e in sure)
    return (
        f"Of {fmt.plural(len(known), 'ratio')}, {len(sure)} can be told from the baseline: "
        f"{over} above it and {len(sure) - over} below."
    )


WIDE = 3
"""Domains beside one another; more of them go under one another."""


def subordination(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the dots of subordination ratios by race × gender; none where there is no estimate."""
    crossed = [e for e in estimates if {"race", "gender"} <= set(e.group)]
    if not crossed:
        return []
    main = [e for e in crossed if e.strata.get("model") == view.main]
    printed = published_ratios("subordination")
    factor = reach([e.value for e in main] + [row.value for row in printed])
    shown = [
        g
        for g in dict.fromkeys(e.group["gender"] for e in crossed)
        if any(e.value is not None and e.n_units for e in main if e.group["gender"] == g)
    ]
    empty = [g for g in dict.fromkeys(e.group["gender"] for e in crossed) if g not in shown]
    axis = Axis("← dominant · subordinate →", factor)
    rows = [_row(view, crossed, gender, axis, gender == shown[0]) for gender in shown]
    missing = "".join(
        f" {GENDER_LABELS.get(g, g)} characters are too rare for any ratio." for g in empty
    )
    figure = Figure(
        "subordination",
        "Who depends on whom: subordination ratios",
        _subordination_reading(main),
        "Share of each group among subordinate characters, over its share among dominant ones. "
        "Right of 1: found more often in the lesser role; left of 1: in the greater. Characters "
        f"count fractionally, by the shares of their name’s bearers.{missing} Arrows: the interval "
        f"goes on. {NOTE}",
        {"vconcat": rows, "spacing": 14} if rows else None,
        estimate_table(view, main, "domain"),
        _marks(view, "roles of whole prompts swapped at random"),
    )
    return [figure]


def _row(view: View, crossed: list[Estimate], gender: str, axis: Axis, top: bool) -> Spec:
    races = list(dict.fromkeys(e.group["race"] for e in crossed))
    places = domains(view, crossed) or [""]
    panels = []
    for column, domain in enumerate(places):
        data = [
            dot_by_model(view, e, e.group["race"], colour_of(e.group["race"]), axis)
            for e in crossed
            if domain_of(e) == domain and e.group["gender"] == gender
        ]
        data += [
            published_dot(row, row.group[0][1], axis)
            for row in published_ratios("subordination")
            if row.domain == domain and row.group[1][1] == gender and row.group[0][1] in races
        ]
        shown = domain if top or len(places) > WIDE else ""
        size, labels = (206, 26), column % WIDE == 0
        panels.append(panel(view, data, races, axis, size=size, title=shown, labels=labels))
    heading = f"{GENDER_LABELS.get(gender, gender)} references"
    return {"title": heading, "concat": panels, "columns": WIDE, "spacing": 30}


def colour_of(race: str) -> str:
    """Return the one colour that a race keeps in every figure."""
    return RACE_COLOURS.get(race, OTHER_COLOUR)


def _subordination_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not known:
        return "No ratio is defined: the stories show no such group in both roles."
    if not sure:
        apart = sum(1 for e in known if excludes_null(e))
        alone = f"; {apart} have an interval without 1 when taken alone" if apart else ""
        return (
            f"None of the {len(known)} ratios can be told from 1 once all tests are allowed for"
            f"{alone}. That is no evidence that roles are shared alike."
        )
    far = max(sure, key=distance)
    domain = far.strata.get("domain", ALL)
    return (
        f"{len(sure)} of {len(known)} ratios can be told from 1; furthest stand "
        f"{group_words(far.group)} in {domain} at {fmt.ratio(far.value)} "
        f"({fmt.interval(far.interval)})."
    )


COLOUR = "#5b3a8c"


def couples(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the dots of couples' representation ratios; none where there is no estimate."""
    pairs = list(dict.fromkeys(e.group["pair"] for e in estimates if "pair" in e.group))
    if not pairs:
        return []
    main = [e for e in estimates if e.strata.get("model") == view.main]
    printed = [row for row in published_ratios("representation") if row.group[0][0] == "pair"]
    factor = reach([e.value for e in main] + [row.value for row in printed], most=256)
    axis = Axis(f"{SHARE} (log scale)", factor)
    charts = []
    for domain in domains(view, estimates):
        here = [e for e in estimates if domain_of(e) == domain and "pair" in e.group]
        data = [dot_by_model(view, e, e.group["pair"], COLOUR, axis) for e in here]
        data += [
            published_dot(row, row.group[0][1], axis)
            for row in printed
            if row.domain == domain and row.group[0][1] in pairs
        ]
        charts.append(panel(view, data, pairs, axis, size=(600, 30), title=domain))
    figure = Figure(
        "couples",
        "Which couples appear",
        _reading(main),
        "Pairs of genders among the romantic partners of power-neutral stories, over their share "
        "among couples in the baseline. F: feminized, M: masculinized, NB: non-binary; genders are "
        "those of the references in the text. A pair that never occurs stands at the left edge; "
        f"arrows: the interval goes on. {NOTE}",
        {"vconcat": charts},
        estimate_table(view, main, "domain"),
        _marks(view, "couples drawn from the baseline"),
    )
    return [figure]


def _reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    if not known:
        return "No story tells the gender of both partners."
    never = [e.group["pair"] for e in known if e.value == 0]
    sure = [e for e in known if is_sure(e)]
    stories = fmt.plural(max(e.n_units for e in known), "couple")
    told = len(sure) or "None"
    said = f"{told} of {len(known)} pairs can be told from the baseline, from {stories}"
    return f"{said}; {fmt.listed(never)} never occur." if never else f"{said}."


def _marks(view: View, null: str) -> tuple[tuple[str, str], ...]:
    """The key of a chart of dots beside the published models."""
    return legend(view, f"null range of {null}", published="the five published models")

"""Fig. 1b: representation ratios of couples."""

from portrayal.records import ALL, Estimate
from portrayal.report import formats as fmt
from portrayal.report.figures.dots import dot, dots_panel, legend, published_dot
from portrayal.report.figures.figure import Figure, Spec, estimate_table
from portrayal.report.figures.parts import reach
from portrayal.report.figures.published import NOTE, published_ratios
from portrayal.report.figures.ratios import GAP, cell, published_cell, ratio_heat, tiled
from portrayal.report.findings import distance, excludes_one
from portrayal.report.view import View, domain_of, domains, is_sure
from portrayal.report.words import (
    GENDER_LABELS,
    OTHER_COLOUR,
    RACE_COLOURS,
    column_label,
    group_words,
)

LIMIT = 2.0
"""log2 of the ratio at which the colours end: a quarter, and four times."""


def representation(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the heatmap of representation ratios; None where there is no estimate."""
    groups = [g for g in dict.fromkeys(tuple(e.group.items()) for e in estimates) if len(g) == 1]
    races = [value for ((kind, value),) in groups if kind == "race"]
    genders = [value for ((kind, value),) in groups if kind == "gender"]
    columns = [*races, *([GAP] if races and genders else []), *map(column_label, genders)]
    if not columns:
        return None
    printed = [row for row in published_ratios("representation") if row.group[0][0] != "pair"]
    charts = []
    legend = "times the baseline’s share"
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
            ratio_heat(view, cells, columns, title=domain, limit=LIMIT, legend=legend, width=57)
        )
    main = [e for e in estimates if e.strata.get("model") == view.main]
    return Figure(
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


def subordination(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the dots of subordination ratios by race × gender; None where there is none."""
    crossed = [e for e in estimates if {"race", "gender"} <= set(e.group)]
    if not crossed:
        return None
    main = [e for e in crossed if e.strata.get("model") == view.main]
    printed = published_ratios("subordination")
    factor = reach([e.value for e in main] + [row.value for row in printed])
    shown = [
        g
        for g in dict.fromkeys(e.group["gender"] for e in crossed)
        if any(e.value is not None and e.n_units for e in main if e.group["gender"] == g)
    ]
    empty = [g for g in dict.fromkeys(e.group["gender"] for e in crossed) if g not in shown]
    rows = [_row(view, crossed, gender, factor, gender == shown[0]) for gender in shown]
    missing = "".join(
        f" {GENDER_LABELS.get(g, g)} characters are too rare for any ratio." for g in empty
    )
    return Figure(
        "subordination",
        "Who depends on whom: subordination ratios",
        _subordination_reading(main),
        "Share of each group among subordinate characters, over its share among dominant ones. "
        "Right of 1: found more often in the lesser role; left of 1: in the greater. Characters "
        f"count fractionally, by the shares of their name’s bearers.{missing} Arrows: the interval "
        f"goes on. {NOTE}",
        {"vconcat": rows, "spacing": 14} if rows else None,
        estimate_table(view, main, "domain"),
        legend(view, "roles swapped at random in each story"),
    )


def _row(view: View, crossed: list[Estimate], gender: str, factor: float, top: bool) -> Spec:
    races = list(dict.fromkeys(e.group["race"] for e in crossed))
    places = domains(view, crossed) or [""]
    panels = []
    for column, domain in enumerate(places):
        data = [
            dot(view, e, e.group["race"], colour_of(e.group["race"]), factor)
            for e in crossed
            if domain_of(e) == domain and e.group["gender"] == gender
        ]
        data += [
            published_dot(row, row.group[0][1], factor)
            for row in published_ratios("subordination")
            if row.domain == domain and row.group[1][1] == gender and row.group[0][1] in races
        ]
        panels.append(
            dots_panel(
                view,
                data,
                races,
                factor,
                size=(206, 26),
                title=domain if top or len(places) > WIDE else "",
                labels=column % WIDE == 0,
                axis_title="← dominant · subordinate →",
            )
        )
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
        apart = sum(1 for e in known if excludes_one(e))
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


def pair_representation(view: View, estimates: list[Estimate]) -> Figure | None:
    """Return the dots of couples' representation ratios; None where there is no estimate."""
    pairs = list(dict.fromkeys(e.group["pair"] for e in estimates if "pair" in e.group))
    if not pairs:
        return None
    main = [e for e in estimates if e.strata.get("model") == view.main]
    printed = [row for row in published_ratios("representation") if row.group[0][0] == "pair"]
    factor = reach([e.value for e in main] + [row.value for row in printed], most=256)
    charts = []
    for domain in domains(view, estimates):
        here = [e for e in estimates if domain_of(e) == domain and "pair" in e.group]
        data = [dot(view, e, e.group["pair"], COLOUR, factor) for e in here]
        data += [
            published_dot(row, row.group[0][1], factor)
            for row in printed
            if row.domain == domain and row.group[0][1] in pairs
        ]
        charts.append(
            dots_panel(
                view,
                data,
                pairs,
                factor,
                size=(600, 30),
                title=domain,
                axis_title="times the baseline’s share (log scale)",
            )
        )
    return Figure(
        "couples",
        "Which couples appear",
        _reading(main),
        "Pairs of genders among the romantic partners of power-neutral stories, over their share "
        "among couples in the baseline. F: feminized, M: masculinized, NB: non-binary; genders are "
        "those of the references in the text. A pair that never occurs stands at the left edge; "
        f"arrows: the interval goes on. {NOTE}",
        {"vconcat": charts},
        estimate_table(view, main, "domain"),
        legend(view, "couples drawn from the baseline"),
    )


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

"""Ratios: who appears and who depends on whom, beside the paper's, and corrected by hand labels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import portrayal.report.figures.panels as panels
import portrayal.report.formats as fmt
import portrayal.report.words as words
from portrayal.records import Estimate, Interval
from portrayal.reference import GENDERS, RACES, published
from portrayal.report.figures.declared import Declarations
from portrayal.report.figures.figure import Builder, Figure, Published, Spec
from portrayal.report.figures.heat import GAP, ratio_heat
from portrayal.report.figures.panels import Axis, reach, tiled
from portrayal.report.findings import excludes_null
from portrayal.report.study import words_of
from portrayal.report.view import View, domain_of, domains
from portrayal.report.words import borne, column_label, group_label, group_words
from portrayal.studies.stories.report.reader import reader_table

Rows = list[Estimate]
PAPER: str = words_of(__package__)["paper"]
SHARE = "times the baseline’s share"
LIMIT = 2.0
"""log2 of the ratio at which the colours end: a quarter, and four times."""
_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}


def naive_interval(e: Estimate) -> Interval | None:
    """Return the interval before the correction; without an upper bound it goes on for ever."""
    if "naive_low" not in e.details or e.null is None:
        return None
    low, high = e.details["naive_low"], e.details.get("naive_high", math.inf)
    return Interval(low, high, e.null.level, "before the correction")


FIGURES = Declarations(
    "portrayal.studies.stories.report",
    {
        "naive": lambda _, e: fmt.number(e.details.get("naive"), e.statistic),
        "naive interval": lambda _, e: fmt.interval(naive_interval(e), e.statistic),
        "by hand": lambda _, e: fmt.count(
            sum(n for name, n in e.details.items() if name.startswith("n_labelled"))
        ),
    },
)


def printed_ratios(view: View, table: str, column: str) -> tuple[Published, ...]:
    """Return the printed ratios of a table; none in a study whose prompts are not the paper's."""
    return _printed(table, column) if view.settings.get("study") == "laissez-faire" else ()


@cache
def _printed(table: str, column: str) -> tuple[Published, ...]:
    figures = []
    for row in published(table).to_pylist():
        label = _GENDERS.get(row.get("group", ""), row.get("group", ""))
        # Printed tables mix races, genders and couples in one column.
        kind = "race" if label in RACES else "gender" if label in GENDERS else "pair"
        group: tuple[tuple[str, str], ...] = ((kind, label),)
        # Tables of race by gender have a column for each.
        if "group" not in row:
            gender = _GENDERS.get(row["gender"], row["gender"])
            group = (("race", row["race"]), ("gender", gender))
        low, high = (math.nan if row[n] is None else row[n] for n in ("ci_low", "ci_high"))
        if row[column] is not None:
            n, value = int(row["n"] or 0), row[column]
            figures.append(Published(row["domain"], row["model"], group, value, low, high, n))
    return tuple(figures)


def _paper(printed: Sequence[Published]) -> dict[str, Any]:
    """What a note and a key say of published figures."""
    return {
        "paper": PAPER if printed else "",
        "published": "the five published models" if printed else "",
    }


def representation(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the heatmap of representation ratios, and how well the reader finds people."""
    # Of one attribute each: races and genders, which share a heatmap.
    single = [e for e in estimates if len(e.group) == 1]
    groups = dict.fromkeys(next(iter(e.group.items())) for e in single)
    genders = [column_label(value) for kind, value in groups if kind == "gender"]
    races = [value for kind, value in groups if kind != "gender"]
    # A gap, as genders have a baseline and a denominator of their own.
    columns = [*races, *([GAP] if races and genders else []), *genders]
    if not columns:
        return
    table = printed_ratios(view, "shieh_representation_ratios", "representation_ratio")
    printed = [row for row in table if row.group[0][0] != "pair"]
    charts = [
        ratio_heat(
            view,
            [e for e in single if domain_of(e) == domain],
            columns,
            lambda group: column_label(next(iter(group.values()))),
            printed=[row for row in printed if row.domain == domain],
            title=domain,
            limit=LIMIT,
            legend=SHARE,
            width=57,
        )
        for domain in domains(view, estimates)
    ]
    main = view.only_main(estimates)
    # What a true ratio of 2 would read, as names tell a race only in part.
    first: dict[str, Estimate] = {}
    for e in main:
        if e.value is not None and "reads_2" in e.details and e.status.no_test is None:
            first.setdefault(borne(e.group), e)
    parts = [
        f"{race} {fmt.ratio(e.details['reads_2'])} (without a difference "
        f"{fmt.ratio(e.details['r0'])})"
        for race, e in first.items()
    ]
    shrinking = (
        " Most names are borne by people of several races, which draws ratios towards 1: where a "
        f"group appears twice as often, the ratio in {domain_of(next(iter(first.values())))} would "
        f"be about {fmt.listed(parts)}."
        if first
        else ""
    )
    yield FIGURES.figure(
        "representation", view, main, tiled(charts), shrinking=shrinking, **_paper(table)
    )
    yield from reader_table(view, FIGURES)


WIDE = 3
"""Domains beside one another; more of them go under one another."""


def subordination(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the dots of subordination ratios by race × gender."""
    crossed = [e for e in estimates if "gender" in e.group and borne(e.group)]
    if not crossed:
        return
    main = view.only_main(crossed)
    printed = printed_ratios(view, "shieh_subordination_ratios", "subordination_ratio")
    genders = list(dict.fromkeys(e.group["gender"] for e in crossed))
    # A gender without any ratio would be an empty row of panels.
    counted = {e.group["gender"] for e in main if e.value is not None and e.n_units}
    columns = [gender for gender in genders if gender in counted]
    races = list(dict.fromkeys(borne(e.group) for e in crossed))
    places = domains(view, crossed) or [""]
    # One axis for all panels, ours and the paper's, or dots could not be compared.
    factor = reach([e.value for e in main] + [row.value for row in printed])
    axis = Axis("← dominant · subordinate →", factor)
    rows: list[Spec] = []
    for gender in columns:
        charts = []
        for column, domain in enumerate(places):
            data = [
                panels.dot_by_model(view, e, borne(e.group), race_colour(borne(e.group)), axis)
                for e in crossed
                if domain_of(e) == domain and e.group["gender"] == gender
            ]
            data += [
                panels.published_dot(row, row.group[0][1], axis)
                for row in printed
                if row.domain == domain and row.group[1][1] == gender and row.group[0][1] in races
            ]
            # Titles once, over the first row, where panels stand in a grid.
            title = domain if gender == columns[0] or len(places) > WIDE else ""
            labels = column % WIDE == 0
            chart = panels.panel(
                view, data, races, axis, size=(206, 26), title=title, labels=labels
            )
            charts.append(chart)
        rows.append(
            {
                "title": group_label({"gender": gender}),
                "concat": charts,
                "columns": WIDE,
                "spacing": 30,
            }
        )
    missing = "".join(
        f" {group_label({'gender': g})} are too rare for any ratio."
        for g in genders
        if g not in columns
    )
    excluding = sum(excludes_null(e) for e in main if e.value is not None)
    yield FIGURES.figure(
        "subordination",
        view,
        main,
        {"vconcat": rows, "spacing": 14} if rows else None,
        missing=missing,
        alone=f"; {excluding} have an interval without 1 when taken alone" if excluding else "",
        **_paper(printed),
    )


def race_colour(race: str) -> str:
    """Return the one colour that a race keeps in every figure."""
    return words.RACE_COLOURS.get(race, words.OTHER_COLOUR)


def couples(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the dots of couples' representation ratios."""
    pairs = list(dict.fromkeys(e.group["pair"] for e in estimates if "pair" in e.group))
    if not pairs:
        return
    main = view.only_main(estimates)
    table = printed_ratios(view, "shieh_representation_ratios", "representation_ratio")
    printed = [row for row in table if row.group[0][0] == "pair"]
    factor = reach([e.value for e in main] + [row.value for row in printed], most=256)
    axis = Axis(f"{SHARE} (log scale)", factor)
    charts = []
    for domain in domains(view, estimates):
        domain_rows = [e for e in estimates if domain_of(e) == domain and "pair" in e.group]
        data = [panels.dot_by_model(view, e, e.group["pair"], "#5b3a8c", axis) for e in domain_rows]
        data += [
            panels.published_dot(row, row.group[0][1], axis)
            for row in printed
            if row.domain == domain and row.group[0][1] in pairs
        ]
        charts.append(panels.panel(view, data, pairs, axis, size=(600, 30), title=domain))
    valued = [e for e in main if e.value is not None]
    # A ratio of 0 has no place on a log scale, so words say it.
    never = [e.group["pair"] for e in valued if e.value == 0]
    yield FIGURES.figure(
        "couples",
        view,
        main,
        {"vconcat": charts},
        couples=fmt.plural(max((e.n_units for e in valued), default=0.0), "couple"),
        never=f"; {fmt.listed(never)} never occur" if never else "",
        **_paper(printed),
    )


def corrected(key: str, title_words: str) -> Builder:
    """Return the builder of a figure of ratios as labelled and as corrected, side by side."""

    def chart(view: View, estimates: Rows) -> Spec:
        ends = [e.value for e in estimates] + [e.details.get("naive") for e in estimates]
        axis = Axis("ratio (log scale)", reach(ends))
        charts = []
        for domain in domains(view, estimates):
            rows, data = [], []
            for e in (e for e in estimates if domain_of(e) == domain):
                label, naive = words.group_label(e.group), e.details.get("naive")
                rows += [label, f"{label} (as labelled)"]
                undefined = None if naive is not None else "undefined as labelled"
                # The naive ratio is drawn as an estimate without a test, as it has none.
                before = replace(
                    e, value=naive, interval=naive_interval(e), tests=(), undefined=undefined
                )
                data.append(panels.dot_by_model(view, e, label, "#0b6e4f", axis))
                data.append(panels.dot_by_model(view, before, rows[-1], "#9aa0a6", axis))
            charts.append(panels.panel(view, data, rows, axis, size=(520, 17), title=domain))
        return {"vconcat": charts}

    def build(view: View, estimates: Rows) -> Iterator[Figure]:
        main = view.only_main(estimates)
        if not main:
            return
        valued = [e for e in main if e.value is not None]
        single = [e for e in valued if len(e.group) == 1]
        both = [(e, bounds) for e in valued if (bounds := e.interval) and "naive" in e.details]
        # How often the correction says something else than the labels did.
        outside = sum(not bounds.low <= e.details["naive"] <= bounds.high for e, bounds in both)
        yield FIGURES.figure(
            "corrected",
            view,
            main,
            chart(view, single) if single else None,
            key=key,
            what=title_words,
            both=fmt.plural(len(both), "ratio"),
            outside=outside or "none",
            lie="lies" if outside == 1 else "lie",
        )

    return build


def median_racialized(view: View, estimates: Rows) -> Iterator[Figure]:
    """Yield the heatmap of median racialized ratios, one for each domain and gender."""
    main = view.only_main(estimates)
    if not main:
        return
    table = "shieh_median_racialized_subordination_ratios"
    printed = printed_ratios(view, table, "median_ratio")
    valued = [e for e in estimates if e.value is not None]
    races = list(dict.fromkeys(borne(e.group) for e in estimates))
    charts: list[Spec] = []
    for domain in domains(view, estimates):
        # A map for each gender that has a ratio in this domain.
        defined = {e.group["gender"] for e in valued if domain_of(e) == domain}
        genders = dict.fromkeys(e.group["gender"] for e in valued if e.group["gender"] in defined)
        row = [
            ratio_heat(
                view,
                [e for e in estimates if domain_of(e) == domain and e.group["gender"] == gender],
                races,
                borne,
                printed=[
                    row for row in printed if row.domain == domain and row.group[1][1] == gender
                ],
                title=f"{domain}, {group_words({'gender': gender})}",
                limit=4.0,
                legend="times as common in the subordinate role",
                width=47,
                labels=i % 2 == 0,
            )
            for i, gender in enumerate(genders)
        ]
        charts += [tiled(row, 2, 20)] if row else []
    chart = tiled(charts) if charts else None
    yield FIGURES.figure("median-racialized", view, main, chart, **_paper(printed))

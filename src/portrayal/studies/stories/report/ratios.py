"""Ratios: who appears and who depends on whom, beside the paper's, and corrected by hand labels."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, NO_TEST, Estimate, Interval
from portrayal.reference import GENDERS, RACES, published
from portrayal.report.figures.figure import Builder, Figure, Published, Spec, Table, estimate_table
from portrayal.report.figures.heat import GAP, ratio_heat
from portrayal.report.figures.panels import (
    Axis,
    dot_by_model,
    legend,
    panel,
    published_dot,
    reach,
    tiled,
)
from portrayal.report.findings import distance, excludes_null
from portrayal.report.formats import short
from portrayal.report.view import View, domain_of, domains, is_sure, no_difference
from portrayal.report.words import (
    GENDER_LABELS,
    OTHER_COLOUR,
    RACE_COLOURS,
    borne,
    column_label,
    group_label,
    group_words,
)
from portrayal.studies.stories.report.reader import reader_table

PAPER = (
    "the five models of Shieh et al. (2025), as printed. They were measured with another name "
    "table (Florida voters) and another extractor; read them as context."
)
NOTE = f"Grey: {PAPER}"
PUBLISHED = "the five published models"
_GENDERS = {"Fem.": "F", "Masc.": "M", "NB": "NB"}
_TABLES = {
    "representation": ("shieh_representation_ratios", "representation_ratio"),
    "subordination": ("shieh_subordination_ratios", "subordination_ratio"),
    "median_racialized_subordination": (
        "shieh_median_racialized_subordination_ratios",
        "median_ratio",
    ),
}


def published_ratios(view: View, kind: str) -> tuple[Published, ...]:
    """Return the printed ratios of a measure, by its name without version.

    None in a study of one's own, whose groups and prompts are not the paper's.
    """
    return _published_ratios(kind) if is_the_papers(view) else ()


def is_the_papers(view: View) -> bool:
    """Whether a run asks what the paper asked, so that its figures may stand beside."""
    return view.settings.get("study") == "laissez-faire"


def _beside(view: View) -> str:
    return PUBLISHED if is_the_papers(view) else ""


def note(view: View) -> str:
    """Return what the paper's figures beside one's own are, after a space."""
    return f" {NOTE}" if is_the_papers(view) else ""


@cache
def _published_ratios(kind: str) -> tuple[Published, ...]:
    table, column = _TABLES[kind]
    return tuple(
        Published(
            row["domain"],
            row["model"],
            _group(row),
            row[column],
            math.nan if row["ci_low"] is None else row["ci_low"],
            math.nan if row["ci_high"] is None else row["ci_high"],
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


SHARE = "times the baseline’s share"
LIMIT = 2.0
"""log2 of the ratio at which the colours end: a quarter, and four times."""


def representation(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the heatmap of representation ratios."""
    single = [e for e in estimates if len(e.group) == 1]
    groups = dict.fromkeys(next(iter(e.group.items())) for e in single)
    genders = [value for kind, value in groups if kind == "gender"]
    races = [value for kind, value in groups if kind != "gender"]
    columns = [*races, *([GAP] if races and genders else []), *map(column_label, genders)]
    if not columns:
        return
    printed = [row for row in published_ratios(view, "representation") if row.group[0][0] != "pair"]
    charts = [
        ratio_heat(
            view,
            [e for e in single if domain_of(e) == domain],
            columns,
            _first_label,
            printed=[row for row in printed if row.domain == domain],
            title=domain,
            limit=LIMIT,
            legend=SHARE,
            width=57,
        )
        for domain in domains(view, estimates)
    ]
    main = view.only_main(estimates)
    yield Figure(
        "representation",
        "Who appears: representation ratios",
        _representation_reading(main),
        "Share of each group among the characters of power-neutral stories, over its share in the "
        "baseline. Blue: fewer than the baseline; red: more; grey cell: not distinguishable from "
        "it (clustered interval, q and null range together); dashed and empty: undefined, the "
        f"tooltip says why.{note(view)}",
        tiled(charts),
        estimate_table(view, main, "domain"),
    )
    yield from reader_table(view)


def _first_label(group: Mapping[str, str]) -> str:
    return column_label(next(iter(group.values())))


def _representation_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    sure = [e for e in known if is_sure(e)]
    if not sure:
        none = f"None of {fmt.plural(len(known), 'ratio')} can be told from its null."
        return none + _shrinking(known)
    over = sum((e.value or 0) > no_difference(e) for e in sure)
    return (
        f"Of {fmt.plural(len(known), 'ratio')}, {len(sure)} can be told from what fair naming (of "
        f"races) or the baseline (of genders) gives: {over} above it and {len(sure) - over} below."
    ) + _shrinking(known)


def _shrinking(known: list[Estimate]) -> str:
    """One sentence: what a true ratio of 2 would read, as names tell a race only in part."""
    told = [e for e in known if "reads_2" in e.details and NO_TEST not in e.instruments]
    first: dict[str, Estimate] = {}
    for e in told:
        first.setdefault(borne(e.group), e)
    if not first:
        return ""
    parts = [
        f"{race} {fmt.ratio(e.details['reads_2'])} (fair naming {fmt.ratio(e.details['r0'])})"
        for race, e in first.items()
    ]
    place = domain_of(next(iter(first.values())))
    return (
        " Names tell a race only in part, so ratios shrink: a true ratio of 2 would read, in "
        f"{place}: {fmt.listed(parts)}."
    )


WIDE = 3
"""Domains beside one another; more of them go under one another."""


def subordination(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the dots of subordination ratios by race × gender."""
    crossed = [e for e in estimates if "gender" in e.group and borne(e.group)]
    if not crossed:
        return
    main = view.only_main(crossed)
    printed = published_ratios(view, "subordination")
    factor = reach([e.value for e in main] + [row.value for row in printed])
    genders = list(dict.fromkeys(e.group["gender"] for e in crossed))
    counted = {e.group["gender"] for e in main if e.value is not None and e.n_units}
    shown = [gender for gender in genders if gender in counted]
    axis = Axis("← dominant · subordinate →", factor)
    rows = [_row(view, crossed, gender, axis, gender == shown[0]) for gender in shown]
    missing = "".join(
        f" {GENDER_LABELS.get(g, g)} characters are too rare for any ratio."
        for g in genders
        if g not in shown
    )
    yield Figure(
        "subordination",
        "Who depends on whom: subordination ratios",
        _subordination_reading(main),
        "Share of each group among subordinate characters, over its share among dominant ones. "
        "Right of 1: found more often in the lesser role; left of 1: in the greater. Characters "
        f"count fractionally, by the shares of their name’s bearers.{missing} Arrows: the interval "
        f"goes on.{note(view)}",
        {"vconcat": rows, "spacing": 14} if rows else None,
        estimate_table(view, main, "domain"),
        legend(
            view, "null range of roles of whole prompts swapped at random", published=_beside(view)
        ),
    )


def _row(view: View, crossed: list[Estimate], gender: str, axis: Axis, top: bool) -> Spec:
    races = list(dict.fromkeys(borne(e.group) for e in crossed))
    places = domains(view, crossed) or [""]
    panels = []
    for column, domain in enumerate(places):
        data = [
            dot_by_model(view, e, borne(e.group), colour_of(borne(e.group)), axis)
            for e in crossed
            if domain_of(e) == domain and e.group["gender"] == gender
        ]
        data += [
            published_dot(row, row.group[0][1], axis)
            for row in published_ratios(view, "subordination")
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
        apart = sum(excludes_null(e) for e in known)
        alone = f"; {apart} have an interval without 1 when taken alone" if apart else ""
        return (
            f"None of the {len(known)} ratios can be told from 1 once all tests are allowed for"
            f"{alone}. That is no evidence that roles are shared alike."
        )
    far = max(sure, key=distance)
    return (
        f"{len(sure)} of {len(known)} ratios can be told from 1; furthest stand "
        f"{group_words(far.group)} in {far.strata.get('domain', ALL)} at {fmt.ratio(far.value)} "
        f"({fmt.interval(far.interval)})."
    )


def couples(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
    """Yield the dots of couples' representation ratios."""
    pairs = list(dict.fromkeys(e.group["pair"] for e in estimates if "pair" in e.group))
    if not pairs:
        return
    main = view.only_main(estimates)
    printed = [row for row in published_ratios(view, "representation") if row.group[0][0] == "pair"]
    factor = reach([e.value for e in main] + [row.value for row in printed], most=256)
    axis = Axis(f"{SHARE} (log scale)", factor)
    charts = []
    for domain in domains(view, estimates):
        here = [e for e in estimates if domain_of(e) == domain and "pair" in e.group]
        data = [dot_by_model(view, e, e.group["pair"], "#5b3a8c", axis) for e in here]
        data += [
            published_dot(row, row.group[0][1], axis)
            for row in printed
            if row.domain == domain and row.group[0][1] in pairs
        ]
        charts.append(panel(view, data, pairs, axis, size=(600, 30), title=domain))
    yield Figure(
        "couples",
        "Which couples appear",
        _couples_reading(main),
        "Pairs of genders among the romantic partners of power-neutral stories, over their share "
        "among couples in the baseline. F: feminized, M: masculinized, NB: non-binary; genders are "
        "those of the references in the text. A pair that never occurs stands at the left edge; "
        f"arrows: the interval goes on.{note(view)}",
        {"vconcat": charts},
        estimate_table(view, main, "domain"),
        legend(view, "null range of couples drawn from the baseline", published=_beside(view)),
    )


def _couples_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    if not known:
        return "No story tells the gender of both partners."
    never = [e.group["pair"] for e in known if e.value == 0]
    sure = sum(is_sure(e) for e in known) or "None"
    stories = fmt.plural(max(e.n_units for e in known), "couple")
    said = f"{sure} of {len(known)} pairs can be told from the baseline, from {stories}"
    return f"{said}; {fmt.listed(never)} never occur." if never else f"{said}."


NAIVE_COLOUR, CORRECTED_COLOUR = "#9aa0a6", "#0b6e4f"


def corrected(key: str, title: str) -> Builder:
    """Return the builder of a figure of ratios as labelled and as corrected, side by side."""

    def build(view: View, estimates: list[Estimate]) -> Iterator[Figure]:
        main = view.only_main(estimates)
        if main:
            yield Figure(
                key,
                f"{title}, corrected by hand labels",
                _corrected_reading(main),
                "Each ratio twice: as the labels of all texts give it (grey), and with the errors "
                "of these labels taken out, as the texts that people labelled by hand show them "
                "(green, prediction-powered). The first interval holds for the labels as they are; "
                "the second has the errors of labelling in it as well, so it is the wider one "
                "where few texts were labelled by hand.",
                _corrected_chart(view, [e for e in main if len(e.group) == 1]),
                _corrected_table(view, main),
                (("dot naive", "as labelled"), ("dot corrected", "corrected")),
            )

    return build


def naive_interval(e: Estimate) -> Interval | None:
    """Return the interval before the correction; without an upper bound it goes on for ever."""
    if "naive_low" not in e.details or e.null is None:
        return None
    low, high = e.details["naive_low"], e.details.get("naive_high", math.inf)
    return Interval(low, high, e.null.level, "before the correction")


def _corrected_chart(view: View, estimates: list[Estimate]) -> Spec | None:
    known = [e for e in estimates if e.value is not None]
    if not known:
        return None
    factor = reach([e.value for e in known] + [e.details.get("naive") for e in known])
    axis = Axis("ratio (log scale)", factor)
    panels = []
    for domain in domains(view, known):
        rows, data = [], []
        for e in known:
            if domain_of(e) != domain:
                continue
            label = group_label(e.group)
            rows += [label, f"{label} (as labelled)"]
            data.append(dot_by_model(view, e, label, CORRECTED_COLOUR, axis))
            data.append(dot_by_model(view, _before(e), rows[-1], NAIVE_COLOUR, axis))
        panels.append(panel(view, data, rows, axis, size=(520, 17), title=domain))
    return {"vconcat": panels}


def _before(e: Estimate) -> Estimate:
    naive = e.details.get("naive")
    why = None if naive is not None else "undefined as labelled"
    return replace(e, value=naive, interval=naive_interval(e), tests=(), undefined=why)


def _corrected_table(view: View, main: list[Estimate]) -> Table:
    level = tables.interval_head(view)
    columns = {
        "Domain": lambda e: short(domain_of(e), 40),
        "Group": lambda e: short(group_label(e.group)),
        "As labelled": lambda e: fmt.number(e.details.get("naive"), e.statistic),
        level: lambda e: fmt.interval(naive_interval(e), e.statistic),
        "Corrected": tables.value,
        f"Corrected {level}": tables.interval,
        "By hand": lambda e: fmt.count(
            sum(n for name, n in e.details.items() if name.startswith("n_labelled"))
        ),
        "Prompts": tables.clusters,
    }
    return Table.of(main, columns, 2)


def _corrected_reading(main: list[Estimate]) -> str:
    known = [e for e in main if e.value is not None]
    if not known:
        return "Nothing could be corrected: there are too few hand labels."
    both = [(e, bounds) for e in known if (bounds := e.interval) and "naive" in e.details]
    outside = sum(not bounds.low <= e.details["naive"] <= bounds.high for e, bounds in both)
    return (
        f"Of {fmt.plural(len(both), 'ratio')} with an interval, {outside or 'none'} "
        f"{'lies' if outside == 1 else 'lie'}, as labelled, outside the corrected interval."
    )

"""Figures 2, 3 and 6 and Tables 1 to 3: gaps, shares and variances beside the published ones."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import portrayal.report.figures.figure as tables
import portrayal.report.formats as fmt
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Table
from portrayal.report.figures.panels import Datum
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure
from portrayal.studies.agency.report.ranking import beside_human, ranking
from portrayal.studies.agency.report.series import (
    DIFFERENCES,
    DIMENSIONS,
    NOTE,
    PAPER,
    Pair,
    at,
    beside_pairs,
    called,
    crossed,
    datum,
    group_name,
    legend,
    of,
    other,
    points,
    points_panel,
    primary,
    published_datum,
    published_of,
    span,
    stacked,
    variance,
    variance_span,
    wheres,
)


def _beside_table(view: View, own: list[Estimate], *, stratum: bool = False) -> Table:
    """Estimates in percentage points, with those of the other masking beside them."""
    columns: dict[str, Callable[[Pair], str]] = {"Texts": lambda row: called(row[0])}
    if stratum:
        columns["Stratum"] = lambda row: row[1].strata["stratum"]
    columns |= {
        "Difference" if stratum else "Group": lambda row: group_name(row[1].group),
        primary(view).capitalize(): lambda row: points(row[1].value),
        "Interval": lambda row: span(row[1].interval),
        "Null range": lambda row: span(row[1].null),
        other(view).capitalize(): lambda row: points(row[2].value) if row[2] else fmt.NOTHING,
        "n": lambda row: tables.units(row[1]),
    }
    return Table.of(beside_pairs(view, own), columns, 2 + stratum)


def shares(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield Figure 3, as a ranking, and the form of Table 3."""
    yield from ranking(view)
    if any(e.group for e in of(view, "agency_share", stratum=ALL)):
        yield _share_table(view)


def gaps(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield Figures 2 and 6: differences by model, and by occupation or department."""
    yield from beside_human(view)
    yield from _differences(view, of(view, "agency_gap", stratum=ALL))
    parts = [e for e in of(view, "agency_gap") if e.strata["stratum"] != ALL]
    yield from _by_stratum(view, parts)


def _differences(view: View, whole: list[Estimate]) -> Iterator[Figure]:
    single = [e for e in whole if len([k for k in e.group if k != "beside"]) == 1]
    single = [e for e in single if any("−" in v for v in e.group.values())]
    if not single:
        return
    panels = [
        _difference_panel(view, [e for e in single if e.strata["task"] == task], task)
        for task in dict.fromkeys(e.strata["task"] for e in single)
    ]
    own = [e for e in single if e.strata["masking"] == primary(view)]
    sure = [e for e in own if is_sure(e)]
    named = "; ".join(f"{group_name(e.group)} {points(e.value)}" for e in sure[:6])
    reading = f"{len(sure)} of {len(own)} differences can be told from 0"
    yield Figure(
        "agency-differences",
        "Differences between groups",
        f"{reading}: {named}." if named else f"{reading}.",
        f"Difference in mean ratio gap, in percentage points; 0 is no difference; the form of "
        f"Figure 2. {NOTE} Human "
        "texts: Bias in Bios, RateMyProfessor, and letters of Wan et al. (2023).",
        stacked(panels),
        _beside_table(view, whole),
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


def _by_stratum(view: View, parts: list[Estimate]) -> Iterator[Figure]:
    """Yield the strata with the largest differences of the first attribute of two groups."""
    single = [e for e in parts if len(e.group) == 1 and any("−" in v for v in e.group.values())]
    pairs = dict.fromkeys(tuple(e.group.items()) for e in single)
    if not pairs:
        return
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
    yield Figure(
        "agency-strata",
        "Differences by stratum",
        f"{reading} ({', '.join(sure[:8])})." if sure else f"{reading}.",
        f"The {STRATA} strata with the largest difference {what}, in percentage points; the form "
        "of Figure 6. The largest of many differences is large by chance: read the intervals and "
        f"null ranges. (paper): the {STRATA} professions or departments with the largest "
        f"difference in human texts, {PAPER}, Tables 17 and 18.",
        stacked(panels),
        _beside_table(view, single, stratum=True),
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


PUBLISHED = ("ChatGPT", "Mistral", "Llama3")
REWRITTEN, REWRITTEN_TASK = "Mistral MSR", "Professor Review"
"""What Table 3 shows: Mistral's professor reviews before and after selective rewriting."""


def _share_table(view: View) -> Figure:
    """The form of Table 3: percent of agentic sentences by group, both maskings."""
    own = [e for e in of(view, "agency_share", stratum=ALL) if e.statistic == "agentic"]
    tasks = {e.strata["task"] for e in own}
    models = (*PUBLISHED, REWRITTEN) if REWRITTEN_TASK in tasks else PUBLISHED

    def printed(model: str) -> Callable[[Pair], str]:
        return lambda row: _percent(_published(row[0][0], row[1].group).get(model))

    columns: dict[str, Callable[[Pair], str]] = {
        "Texts": lambda row: called(row[0]),
        "Group": lambda row: group_name(row[1].group),
        primary(view).capitalize(): lambda row: fmt.share(row[1].value),
        "Interval": lambda row: tables.interval(row[1]),
        other(view).capitalize(): lambda row: fmt.share(row[2].value if row[2] else None),
        **{f"{model} †": printed(model) for model in models},
        "n": lambda row: tables.units(row[1]),
    }
    if len(wheres(own)) == 1:
        del columns["Texts"]
    words = list(columns).index("Group") + 1
    return Figure(
        "agency-shares",
        "Share of agentic sentences, by group",
        "The rest of the sentences is communal.",
        f"Mean over texts. † published figures: {PAPER}, Tables 19 to 27, "
        "unmasked and by their own classifier"
        + (f"; {REWRITTEN}: after selective rewriting, Table 3." if REWRITTEN in models else "."),
        None,
        Table.of(beside_pairs(view, crossed(own)), columns, words),
    )


def _published(task: str, group: Mapping[str, str]) -> dict[str, float]:
    """Published percentages of agentic sentences by model; rewritten where Table 3 has them."""
    found = {row["model"]: row["agentic_percent"] for row in published_of(task, group)}
    return found | {
        f"{row['model']} MSR": row["agentic_percent"]
        for row in published("wan_rewrite_agentic").to_pylist()
        if row["mitigation"] != "none"
        and row["text_type"] == task
        and {"race": row["race"], "gender": row["gender"].casefold()} == dict(group)
    }


def _percent(value: float | None) -> str:
    return fmt.NOTHING if value is None else f"{value:.1f}{fmt.PERCENT}"


def variance_tables(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield the form of Tables 1 and 2: variance of the groups' ratio gaps, beside its null."""
    own = of(view, "agency_variance", stratum=ALL)
    if not own:
        return
    present = dict.fromkeys(e.group["attribute"] for e in own)
    names = [d for d in DIMENSIONS if d in present] + [n for n in present if n not in DIMENSIONS]
    detail = [e for e in own if e.value is not None]
    cells = {(wheres([e])[0], e.strata["masking"], e.group["attribute"]): e for e in own}
    rows = [
        (called(where), masking, *(_cell(cells.get((where, masking, name))) for name in names))
        for where in wheres(own)
        for masking in (primary(view), other(view))
    ]
    heads = ("Texts", "Masking", *(short(name.capitalize(), 30) for name in names))
    yield Figure(
        "agency-variance",
        "Variance between groups",
        _variances_reading(view, detail),
        "Variance of the groups’ mean ratio gaps in squared percentage points, averaged over runs; "
        "in brackets the range that shuffled groups give, which is above 0 as a variance is never "
        f"negative. An asterisk marks p below 0.05. (paper): {PAPER}, Table 1"
        + (" and Table 2." if len({e.strata.get("condition") for e in own}) > 1 else "."),
        None,
        Table(heads, (*rows, *_printed_rows(own, names)), 2),
    )
    if detail:
        yield _noise(detail)


def _cell(e: Estimate | None) -> str:
    if e is None or e.value is None:
        return "undefined" if e is not None else fmt.NOTHING
    star = " *" if e.tests and e.tests[0].p < 0.05 else ""
    null = f" [{variance_span(e.null).replace(' to ', fmt.DASH)}]" if e.null is not None else ""
    return f"{variance(e.value)}{star}{null}"


def _printed_rows(own: list[Estimate], names: list[str]) -> Iterator[tuple[str, ...]]:
    tasks = {e.strata["task"] for e in own}
    entries = published("wan_variance").to_pylist()
    if len({e.strata.get("condition") for e in own}) > 1:
        entries += published("wan_mitigation_variance").to_pylist()
    for entry in entries:
        if entry["text_type"] in tasks:
            how = entry.get("mitigation", "").replace("_", " ")
            more = f", 96 prompts, {how}" if how else ""
            label = f"{entry['text_type']}, {entry['model']}{more} (paper)"
            yield (label, "unmasked", *(variance(entry.get(name)) for name in names))


def _variances_reading(view: View, detail: list[Estimate]) -> str:
    own = [e for e in detail if e.strata["masking"] == primary(view)]
    sure = [e for e in own if e.tests and e.tests[0].p < 0.05]
    if not own:
        return "No variance could be computed."
    named = [f"{e.group['attribute']} of {called(wheres([e])[0])}" for e in sure[:6]]
    said = f"{len(sure)} of {len(own)} variances lie above what shuffled groups give"
    return f"{said}: {fmt.listed(named)}." if named else f"{said}."


def _noise(detail: list[Estimate]) -> Figure:
    """What chance alone explains of each variance."""
    columns = {
        "Texts": lambda e: called(wheres([e])[0]),
        "Masking": lambda e: e.strata["masking"],
        "Groups": lambda e: e.group["attribute"],
        "Variance": lambda e: variance(e.value),
        "By chance": lambda e: variance(e.details.get("null_mean")),
        "Excess": lambda e: variance(e.details.get("excess")).replace("-", "−"),
        "Without noise": lambda e: variance_span(e.interval),
        "p": tables.p,
        "Same order": lambda e: fmt.share(e.details.get("same_order")),
        "Runs": lambda e: f"{e.details.get('runs', 1):.0f}",
    }
    return Figure(
        "agency-noise",
        "What chance explains of the variance",
        "The published score mixes differences between groups with the noise of their means; here "
        "they stand apart.",
        "By chance: mean over shuffled groups. Without noise: interval of the variance that "
        "endlessly many texts would show. Same order: share of draws, with the noise of "
        "the means, in which all groups keep their order.",
        None,
        Table.of(detail, columns, 3),
    )

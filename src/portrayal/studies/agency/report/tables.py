"""Tables 1 to 3: variances, and shares of agentic sentences, beside the published ones."""

from collections.abc import Mapping

from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report import formats as fmt
from portrayal.report.figures.figure import Figure
from portrayal.report.figures.tables import ROWS, Table
from portrayal.report.inert import short
from portrayal.report.view import View
from portrayal.studies.agency.report.series import (
    DIMENSIONS,
    PAPER,
    at,
    called,
    crossed,
    group_name,
    of,
    other,
    primary,
    published_of,
    variance,
    variance_span,
    wheres,
)

PUBLISHED = ("ChatGPT", "Mistral", "Llama3")
REWRITTEN, REWRITTEN_TASK = "Mistral MSR", "Professor Review"
"""What Table 3 shows: Mistral's professor reviews before and after selective rewriting."""


def share_table(view: View) -> Figure:
    """Return the form of Table 3: percent of agentic sentences by group, both maskings."""
    own = [e for e in of(view, "agency_share", stratum=ALL) if e.statistic == "agentic"]
    tasks = {e.strata["task"] for e in own}
    models = (*PUBLISHED, REWRITTEN) if REWRITTEN_TASK in tasks else PUBLISHED
    rows = []
    for where in wheres(own):
        here = at(own, where)
        second = {group_name(e.group): e for e in here if e.strata["masking"] != primary(view)}
        first = [e for e in here if e.strata["masking"] == primary(view)]
        for e in [e for e in first if not e.group] + crossed(first):
            beside = second.get(group_name(e.group))
            printed = {p["model"]: p["agentic_percent"] for p in published_of(where[0], e.group)}
            printed |= _rewritten(where[0], e.group)
            rows.append(
                (
                    called(where),
                    group_name(e.group),
                    fmt.share(e.value),
                    fmt.interval(e.interval, "share"),
                    fmt.share(beside.value) if beside is not None else fmt.NOTHING,
                    *(_percent(printed.get(model)) for model in models),
                    f"{e.n_units:,.0f}",
                )
            )
    heads: tuple[str, ...] = (
        "Texts",
        "Group",
        primary(view).capitalize(),
        "Interval",
        other(view).capitalize(),
    )
    if len(wheres(own)) == 1:
        heads, rows = heads[1:], [row[1:] for row in rows]
    columns = (*heads, *(f"{model} †" for model in models), "n")
    return Figure(
        "agency-shares",
        "Share of agentic sentences, by group",
        "The rest of the sentences is communal.",
        f"Mean over texts. † published figures: {PAPER}, Tables 19 to 27, "
        "unmasked and by their own classifier"
        + (f"; {REWRITTEN}: after selective rewriting, Table 3." if REWRITTEN in models else "."),
        None,
        Table(columns, tuple(rows[:ROWS]), len(heads) - 3, max(len(rows) - ROWS, 0)),
    )


def _rewritten(task: str, group: Mapping[str, str]) -> dict[str, float]:
    """Published share of agentic sentences after rewriting, where Table 3 has the group."""
    return {
        f"{row['model']} MSR": row["agentic_percent"]
        for row in published("wan_rewrite_agentic").to_pylist()
        if row["mitigation"] != "none"
        and row["text_type"] == task
        and {"race": row["race"], "gender": row["gender"].casefold()} == dict(group)
    }


def _percent(value: float | None) -> str:
    return fmt.NOTHING if value is None else f"{value:.1f}{fmt.PERCENT}"


def variance_tables(view: View, _: list[Estimate]) -> list[Figure]:
    """Return the form of Tables 1 and 2: variance of the groups' ratio gaps, beside its null."""
    own = of(view, "agency_variance", stratum=ALL)
    names = [d for d in DIMENSIONS if any(e.group["attribute"] == d for e in own)]
    names += [n for n in dict.fromkeys(e.group["attribute"] for e in own) if n not in names]
    detail = [e for e in own if e.value is not None]
    if not own:
        return []
    rows = [
        row
        for where in wheres(own)
        for row in _own_rows(view, at(own, where), called(where), names)
    ]
    rows += _printed_rows(own, names)
    heads = ("Texts", "Masking", *(short(name.capitalize(), 30) for name in names))
    figure = Figure(
        "agency-variance",
        "Variance between groups",
        _reading(view, detail),
        "Variance of the groups’ mean ratio gaps in squared percentage points, averaged over runs; "
        "in brackets the range that shuffled groups give, which is above 0 as a variance is never "
        f"negative. An asterisk marks p below 0.05. (paper): {PAPER}, Table 1"
        + (" and Table 2." if len({e.strata.get("condition") for e in own}) > 1 else "."),
        None,
        Table(heads, tuple(rows), 2),
    )
    return [figure, _noise(detail)] if detail else [figure]


def _own_rows(
    view: View, here: list[Estimate], label: str, names: list[str]
) -> list[tuple[str, ...]]:
    rows = []
    for masking in (primary(view), other(view)):
        by_name = {e.group["attribute"]: e for e in here if e.strata["masking"] == masking}
        rows.append((label, masking, *(_cell(by_name.get(name)) for name in names)))
    return rows


def _cell(e: Estimate | None) -> str:
    if e is None or e.value is None:
        return "undefined" if e is not None else fmt.NOTHING
    star = " *" if e.tests and e.tests[0].p < 0.05 else ""
    null = f" [{variance_span(e.null).replace(' to ', fmt.DASH)}]" if e.null is not None else ""
    return f"{variance(e.value)}{star}{null}"


def _printed_rows(own: list[Estimate], names: list[str]) -> list[tuple[str, ...]]:
    tasks = {e.strata["task"] for e in own}
    conditions = {e.strata.get("condition") for e in own}
    rows = []
    for entry in published("wan_variance").to_pylist():
        if entry["text_type"] in tasks:
            cells = (variance(entry.get(name)) for name in names)
            label = f"{entry['text_type']}, {entry['model']} (paper)"
            rows.append((label, "unmasked", *cells))
    for entry in published("wan_mitigation_variance").to_pylist() if len(conditions) > 1 else ():
        if entry["text_type"] in tasks:
            how = entry["mitigation"].replace("_", " ")
            cells = (variance(entry.get(name)) for name in names)
            label = f"{entry['text_type']}, {entry['model']}, 96 prompts, {how} (paper)"
            rows.append((label, "unmasked", *cells))
    return rows


def _reading(view: View, detail: list[Estimate]) -> str:
    own = [e for e in detail if e.strata["masking"] == primary(view)]
    sure = [e for e in own if e.tests and e.tests[0].p < 0.05]
    if not own:
        return "No variance could be computed."
    named = [f"{e.group['attribute']} of {called(wheres([e])[0])}" for e in sure[:6]]
    said = f"{len(sure)} of {len(own)} variances lie above what shuffled groups give"
    return f"{said}: {fmt.listed(named)}." if named else f"{said}."


def _noise(detail: list[Estimate]) -> Figure:
    """What chance alone explains of each variance."""
    rows = tuple(
        (
            called(wheres([e])[0]),
            e.strata["masking"],
            e.group["attribute"],
            variance(e.value),
            variance(e.details.get("null_mean")),
            variance(e.details.get("excess")).replace("-", "−"),
            variance_span(e.interval),
            fmt.probability(e.tests[0].p if e.tests else None),
            _share(e.details.get("same_order")),
            f"{e.details.get('runs', 1):.0f}",
        )
        for e in detail
    )
    heads = ("Texts", "Masking", "Groups", "Variance", "By chance", "Excess", "Without noise")
    return Figure(
        "agency-noise",
        "What chance explains of the variance",
        "The published score mixes differences between groups with the noise of their means; here "
        "they stand apart.",
        "By chance: mean over shuffled groups. Without noise: interval of the variance that "
        "endlessly many texts would show. Same order: share of resamples in which all groups keep "
        "their order.",
        None,
        Table((*heads, "p", "Same order", "Runs"), rows[:ROWS], 3, max(len(rows) - ROWS, 0)),
    )


def _share(value: float | None) -> str:
    return fmt.NOTHING if value is None else fmt.share(value)

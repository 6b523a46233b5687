"""Figures 2, 3 and 6 and Tables 1 to 3: gaps, shares and variances beside the published ones."""

from collections.abc import Callable, Iterator
from typing import Any

import portrayal.report.formats as fmt
import portrayal.studies.agency.report.series as series
from portrayal.records import ALL, Estimate
from portrayal.reference import published
from portrayal.report.figures.figure import Figure, Spec, Table
from portrayal.report.figures.panels import rule_at, tiled
from portrayal.report.formats import points, short
from portrayal.report.view import View, is_sure
from portrayal.studies.agency.report.ranking import rankings
from portrayal.studies.agency.report.series import (
    FIGURES,
    MODELS,
    Mark,
    Printed,
    called,
    group_name,
    of,
    where_of,
)

MALE = "male − female"
STRATA = 8
"""Strata drawn, those with the largest difference, as in Figure 6."""


def _heads(view: View) -> dict[str, Any]:
    """The names of both maskings, and the headings of their columns."""
    maskings = {"primary": series.primary(view), "other": series.other(view)}
    heads = maskings["primary"].capitalize(), maskings["other"].capitalize()
    return {**maskings, "first": heads[0], "second": heads[1]}


def _told(rows: list[Estimate], label: Callable[[Estimate], str], *, most: int) -> dict[str, Any]:
    """How many of some values can be told from 0, and the first of these, for a reading."""
    valued = [e for e in rows if e.value is not None]
    sure = [e for e in valued if is_sure(e)]
    labels = "; ".join(label(e) for e in sure[:most])
    return {"sure": len(sure), "n": len(valued), "named": f": {labels}" if labels else ""}


def _printed(task: str) -> Iterator[tuple[str, Printed]]:
    """The differences of Table 16 in the paper's order, each with the name of who wrote."""
    rows = [r for r in published("wan_gender_difference").to_pylist() if r["text_type"] == task]
    for row in sorted(rows, key=lambda r: MODELS.index(r["model"].partition(" (")[0])):
        writer = row["model"].partition(" (")[0]
        yield f"{writer} (paper)", (row["model"], row["gender_difference"], MALE)


def shares(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield Figure 3, as a ranking, and the form of Table 3."""
    yield from ranking(view)
    if not any(e.group for e in of(view, "agency_share", stratum=ALL)):
        return
    agentic = [e for e in of(view, "agency_share", stratum=ALL) if e.statistic == "agentic"]
    rewritten = any(e.strata["task"] == "Professor Review" for e in agentic)
    note = f"; {series.REWRITTEN}: after selective rewriting, Table 3"
    yield FIGURES.figure(
        "agency-shares",
        view,
        series.beside_pairs(view, series.crossed(agentic)),
        texts="" if len(series.wheres(agentic)) == 1 else "Texts",
        rewritten=f"{series.REWRITTEN} †" if rewritten else "",
        rewritten_note=note if rewritten else "",
        **_heads(view),
    )


def ranking(view: View) -> Iterator[Figure]:
    """Yield Figure 3 as a ranking: the groups of each attribute in order, with their letters."""
    ranks = rankings(view, series.primary(view))
    if not ranks:
        return
    # Groups by name, to stand beside the same under the other masking.
    other_masking = {
        (r.where, r.attribute): {group_name(e.group): e for e in r.groups}
        for r in rankings(view, series.other(view))
    }
    panels, cells = [], []
    for r in ranks:
        second = other_masking.get((r.where, r.attribute), {})
        marks: list[Mark] = []
        for e, letters in zip(r.groups, r.letters, strict=True):
            name = group_name(e.group)
            match = second.get(name)
            # Letters would claim an order that chance may have made.
            row = name if r.why else f"{name} ({letters})"
            marks += [
                (row, pair_estimate) for pair_estimate in (e, match) if pair_estimate is not None
            ]
            of_group = series.published_of(r.where[0], e.group)
            marks += [(row, (p["model"], p["ratio_gap"], name)) for p in of_group]
            rank_words = points(match.value) if match else fmt.NOTHING
            numbers = points(e.value), series.span(e.interval), rank_words
            cells.append((called(r.where), name, letters, *numbers))
        title = f"{called(r.where)}: {r.attribute}"
        panels.append(series.points_panel(view, marks, series.SHARES, title))
    heads = ("Texts", "Group", "Letters", "Ratio gap", "Interval", "Other masking")
    rank_words = "; ".join(r.words for r in ranks[:4]) if len(ranks) <= 4 else ""
    yield FIGURES.figure(
        "agency-groups",
        view,
        (),
        tiled(panels),
        table=Table(heads, tuple(cells), 3),
        ranked=sum(not r.why for r in ranks),
        counted=fmt.plural(len(ranks), "ranking"),
        said=f". {rank_words}" if rank_words else "",
        paper=series.NOTE,
        **_heads(view),
    )


def gaps(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield Figures 2 and 6: differences by model, and by occupation or department."""
    yield from beside_human(view)
    yield from differences(view)
    yield from by_stratum(view)


def beside_human(view: View) -> Iterator[Figure]:
    """Yield differences by model and task, human texts first; none where no one wrote any."""
    gaps = of(view, "agency_gap", stratum=ALL)
    first = series.primary(view)
    from_people = [e for e in gaps if "beside" in e.group and e.strata["masking"] == first]
    if not from_people:
        return
    pairs = dict.fromkeys(group_name(series.bare(e)) for e in from_people)
    panels = []
    for task in dict.fromkeys(e.strata["task"] for e in from_people):
        of_task = [e for e in gaps if e.strata["task"] == task and "beside" not in e.group]
        for pair in pairs:
            pair_gaps = [e for e in of_task if group_name(e.group) == pair]
            panel = _human_panel(view, pair_gaps, task, pair)
            panels += [panel] if panel is not None else []
    counts = _told(
        from_people,
        lambda e: f"{called(where_of(e))}, {group_name(series.bare(e))}: {points(e.value)}",
        most=4,
    )
    yield FIGURES.figure(
        "agency-human",
        view,
        from_people,
        tiled(panels) if panels else None,
        counted=fmt.plural(counts["n"], "difference"),
        paper=series.NOTE,
        **counts,
        **_heads(view),
    )


def _human_panel(view: View, gaps: list[Estimate], task: str, pair: str) -> Spec | None:
    # People first: the line through all rows is theirs.
    gaps = sorted(gaps, key=lambda e: not series.is_human(e))
    marks: list[Mark] = [(called((ALL, *where_of(e)[1:])), e) for e in gaps]
    marks += list(_printed(task)) if pair == MALE else []
    if not marks:
        return None
    title = pair if task == ALL else f"{task}: {pair}"
    spec = series.points_panel(view, marks, series.DIFFERENCES, title)
    # Human texts in yellow, with a line through all rows.
    for e, point in zip(gaps, spec["data"]["values"], strict=False):
        if series.is_human(e) and e.strata["masking"] == series.primary(view):
            point["c"] = "#b8860b"
            spec["layer"] += [] if e.value is None else [rule_at("x", 100 * e.value)]
    return spec


def differences(view: View) -> Iterator[Figure]:
    """Yield Figure 2: the differences between two groups, by model and task."""
    gaps = of(view, "agency_gap", stratum=ALL)
    single = [e for e in gaps if len(series.bare(e)) == 1]
    # Only differences of two groups, which are named with a minus.
    single = [e for e in single if any("−" in v for v in e.group.values())]
    if not single:
        return
    first, panels = series.primary(view), []
    for task in dict.fromkeys(e.strata["task"] for e in single):
        task_gaps = [e for e in single if e.strata["task"] == task]
        marks: list[Mark] = []
        for e in task_gaps:
            texts = called((ALL, *where_of(e)[1:]))
            marks.append((f"{group_name(e.group)}: {short(texts, 34)}", e))
        if any("gender" in e.group for e in task_gaps):
            marks += [(f"{MALE}: {row}", figure) for row, figure in _printed(task)]
        title = task if task != ALL else "All texts"
        panels.append(series.points_panel(view, marks, series.DIFFERENCES, title))
    primary_gaps = [e for e in single if e.strata["masking"] == first]
    yield FIGURES.figure(
        "agency-differences",
        view,
        series.beside_pairs(view, gaps),
        tiled(panels),
        paper=series.NOTE,
        **_told(primary_gaps, lambda e: f"{group_name(e.group)} {points(e.value)}", most=6)
        | {"n": len(primary_gaps)},
        **_heads(view),
    )


def by_stratum(view: View) -> Iterator[Figure]:
    """Yield the strata with the largest differences of the first attribute of two groups."""
    parts = [e for e in of(view, "agency_gap") if e.strata["stratum"] != ALL]
    single = [e for e in parts if len(e.group) == 1 and any("−" in v for v in e.group.values())]
    if not single:
        return
    first = dict(single[0].group)
    mine = [e for e in single if dict(e.group) == first and e.value is not None]
    panels = []
    for place in series.wheres(mine):
        place_gaps = series.at(mine, place)
        primary_gaps = [e for e in place_gaps if e.strata["masking"] == series.primary(view)]
        primary_gaps.sort(key=lambda e: -abs(e.value or 0.0))
        # By the primary result; the other masking is shown for the same strata.
        largest = [e.strata["stratum"] for e in primary_gaps[:STRATA]]
        marks: list[Mark] = [
            (e.strata["stratum"], e) for e in place_gaps if e.strata["stratum"] in largest
        ]
        marks.sort(key=lambda mark: largest.index(mark[0]))
        # Published differences in human texts of the same task, the largest first.
        printed = [
            (row["stratum"], row["gender_difference"])
            for row in published("wan_human_strata").to_pylist()
            if first == {"gender": MALE}
            and row["text_type"] == place[0]
            and row["stratum"] != "Overall"
            and row["gender_difference"] is not None
        ]
        marks += [
            (f"{stratum}: human texts (paper)", ("Human", value, MALE))
            for stratum, value in sorted(printed, key=lambda row: -abs(row[1]))[:STRATA]
        ]
        panels.append(series.points_panel(view, marks, series.DIFFERENCES, called(place)))
    primary_gaps = [e for e in mine if e.strata["masking"] == series.primary(view)]
    sure = [e.strata["stratum"] for e in primary_gaps if is_sure(e)]
    yield FIGURES.figure(
        "agency-strata",
        view,
        series.beside_pairs(view, single),
        tiled(panels),
        most=STRATA,
        what=group_name(first),
        sure=len(sure),
        n=len(primary_gaps),
        named=f" ({', '.join(sure[:8])})" if sure else "",
        **_heads(view),
    )


def variance_tables(view: View, _: list[Estimate]) -> Iterator[Figure]:
    """Yield the form of Tables 1 and 2: variance of the groups' ratio gaps, beside its null."""
    variances = of(view, "agency_variance", stratum=ALL)
    if not variances:
        return
    present = dict.fromkeys(e.group["attribute"] for e in variances)
    ordered = [d for d in series.DIMENSIONS if d in present]
    names = [*ordered, *(n for n in present if n not in ordered)]
    detail = [e for e in variances if e.value is not None]
    cells = {(where_of(e), e.strata["masking"], e.group["attribute"]): e for e in variances}
    maskings = (series.primary(view), series.other(view))
    rows = [
        (called(place), masking, *(_cell(cells.get((place, masking, name))) for name in names))
        for place in series.wheres(variances)
        for masking in maskings
    ]
    # Published variances of the same tasks; of rewritten texts where the run has several too.
    several = len({e.strata.get("condition") for e in variances}) > 1
    entries = published("wan_variance").to_pylist()
    entries += published("wan_mitigation_variance").to_pylist() if several else []
    for entry in entries:
        if entry["text_type"] in {e.strata["task"] for e in variances}:
            mitigation = entry.get("mitigation", "").replace("_", " ")
            more = f", 96 prompts, {mitigation}" if mitigation else ""
            label = f"{entry['text_type']}, {entry['model']}{more} (paper)"
            numbers = (series.variance(entry.get(name)) for name in names)
            rows.append((label, "unmasked", *numbers))
    first = [e for e in detail if e.strata["masking"] == maskings[0]]
    sure = [e for e in first if e.tests and e.tests[0].p < 0.05]
    names_of_sure = [f"{e.group['attribute']} of {called(where_of(e))}" for e in sure[:6]]
    reading = f"{len(sure)} of {len(first)} variances lie above what shuffled groups give"
    reading += f": {fmt.listed(names_of_sure)}." if names_of_sure else "."
    heads = ("Texts", "Masking", *(short(name.capitalize(), 30) for name in names))
    yield FIGURES.figure(
        "agency-variance",
        view,
        variances,
        table=Table(heads, tuple(rows), 2),
        said=reading if first else "No variance could be computed.",
        and_more=" and Table 2" if several else "",
    )
    yield from FIGURES.tabled("agency-noise", lambda *_: detail)(view, detail)


def _cell(e: Estimate | None) -> str:
    if e is None or e.value is None:
        return "undefined" if e is not None else fmt.NOTHING
    star = " *" if e.tests and e.tests[0].p < 0.05 else ""
    bounds = fmt.interval(e.null, "variance")
    return f"{series.variance(e.value)}{star}{f' [{bounds}]' if e.null is not None else ''}"

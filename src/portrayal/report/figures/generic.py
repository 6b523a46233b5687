"""Figures that any measure can name, which figure draws which, and the findings at a glance."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import BASIS, WEIGHTED, Estimate
from portrayal.reference.labels import attribute_label, strata_parts
from portrayal.reference.labels import group_label as shown_label
from portrayal.registry import described
from portrayal.report.figures.figure import Builder, Figure, Spec, Table, colour_of, estimate_table
from portrayal.report.figures.heat import heat, ratio_cell, ratio_heat
from portrayal.report.figures.panels import LINE, Axis, dot_by_model, legend, panel, reach, tiled
from portrayal.report.findings import STATISTICS, distance
from portrayal.report.formats import short
from portrayal.report.strength import Stated
from portrayal.report.study import report_of
from portrayal.report.view import (
    View,
    domain_of,
    is_sure,
    no_baseline,
    no_difference,
    place_of,
    place_words,
    q_of,
)
from portrayal.report.words import group_label, group_words, measure_title, standing

MOST_PANELS, MOST_ROWS = 12, 40
"""Places drawn at most, and groups of one place; the table and the download have the rest."""
Rows = list[Estimate]


def figure_key(measure: str) -> str:
    """Return the anchor of a measure's generic figure."""
    return "measure-" + "".join(c if c.isalnum() else "-" for c in measure)


def _figure(
    view: View,
    rows: Rows,
    reading: str,
    more: str = "",
    spec: Spec | None = None,
    key: Sequence[tuple[str, str]] = (),
) -> Figure:
    """A figure with the measure's own words, over the numbers of the main model or of all."""
    name = rows[0].measure
    component = described(name)
    words = (component.summary, component.reading) if component is not None else ()
    strata = list(dict.fromkeys(stratum for e in rows for stratum in e.strata))
    numbers = estimate_table(view, rows, *strata)
    note = " ".join(words) + more
    return Figure(figure_key(name), measure_title(name), reading, note, spec, numbers, tuple(key))


def dots(view: View, estimates: Rows) -> list[Figure]:
    """Return any measure's values as dots, one panel for each place; none where there is none."""
    valued = [e for e in view.only_main(estimates) if e.value is not None]
    if not valued:
        return table(view, estimates)
    title, statistic = measure_title(valued[0].measure), valued[0].statistic
    axis = Axis(title, form="%" if statistic == "share" else "", zero=statistic == "share")
    if statistic == "ratio":
        ends = [b for e in valued if e.interval for b in (e.interval.low, e.interval.high)]
        axis = Axis(f"{title} (log scale)", reach([*(e.value for e in valued), *ends]))
    elif statistic == "difference":
        axis = Axis(title, zero=True, line=0.0)
    places_of_values = {_place(e) for e in valued}  # a place without any value has no panel
    rows_shown = [e for e in estimates if _place(e) in places_of_values and not no_baseline(e)]
    places, cut = _places(view, rows_shown)
    panels = []
    for place_rows in places:
        labels = {tuple(e.group.items()): short(group_label(e.group)) for e in place_rows}
        rows = list(dict.fromkeys(labels.values()))[:MOST_ROWS]
        data = [
            dot_by_model(view, e, label, colour_of(view, e), axis)
            for e in place_rows
            if (label := labels[tuple(e.group.items())]) in rows
        ]
        panels.append(panel(view, data, rows, axis, size=(520, 28), title=_panel_title(place_rows)))
    spec: Spec = {"vconcat": panels}
    if axis.factor is None:
        spec["resolve"] = {"scale": {"x": "shared"}}
    none = f"{no_difference(valued[0]):g}" if statistic in STATISTICS else "its null"
    methods = [e.null.method for e in valued if e.null is not None and e.null.method]
    # The key says what chance means here, in the words of the test.
    null = f"null range: {short(methods[0], 80) if methods else 'what chance gives'}"
    key = legend(view, null, none=none)
    if _without_null(valued):
        key = (("ring", f"{view.called(view.main)}, with its interval"), *key[2:-1])
    # Each population that ratios are compared with, and where it is from.
    sources: dict[tuple[str, str], dict[str, None]] = {}
    for e in valued:
        name, source = e.strata.get("population", ""), e.instruments.get("baseline_source", "")
        if name and source:
            of = sources.setdefault((name, source), {})
            of[attribute_label(next(iter(e.group)))] = None
    names_of_baselines = [
        f"{name} ({fmt.listed(list(of))}): {source}" for (name, source), of in sources.items()
    ]
    baselines = f" Baselines: {'; '.join(names_of_baselines)}." if names_of_baselines else ""
    main = view.only_main(estimates)
    return [_figure(view, main, _reading(valued), cut + baselines, spec, key)]


def heatmap(view: View, estimates: Rows) -> list[Figure]:
    """Return any ratios as heatmaps, models by groups, one for each place; else as dots."""
    valued = [e for e in view.only_main(estimates) if e.value is not None]
    if not valued or valued[0].statistic != "ratio":
        return dots(view, estimates)
    # One set of columns for all places, so that maps can be read below each other.
    groups = list(dict.fromkeys(short(group_label(e.group)) for e in estimates))[:MOST_ROWS]
    places, cut = _places(view, estimates)
    charts = [
        ratio_heat(
            view,
            [e for e in place_rows if short(group_label(e.group)) in groups],
            groups,
            lambda group: short(group_label(group)),
            title=_panel_title(place_rows),
            limit=math.ceil(math.log2(reach(e.value for e in valued))),
            legend=measure_title(valued[0].measure),
            width=90,
        )
        for place_rows in places
    ]
    note = " " + _COLOURS.format(cut=" cell: not distinguishable") + cut
    return [_figure(view, view.only_main(estimates), _reading(valued), note, tiled(charts))]


_COLOURS = (
    "Blue: below 1; red: above; grey{cut} from 1; dashed and empty: undefined, the tooltip says "
    "why."
)


def _places(view: View, estimates: Rows) -> tuple[list[Rows], str]:
    """The estimates of each place that is drawn, and a sentence on places that are not."""
    main_rows = view.only_main(estimates)
    if main_rows and "seen_by" in main_rows[0].strata:  # all strata together first, of every factor
        main_rows.sort(key=lambda e: len(strata_parts(e.strata, e.group)[0]))
    all_places = list(dict.fromkeys(map(_place, main_rows)))
    # What is not drawn is said, so that nobody takes it for missing.
    n_more = len(all_places) - MOST_PANELS
    cut = f" {fmt.plural(n_more, 'more place')} in the table." if n_more > 0 else ""
    return [[e for e in estimates if _place(e) == place] for place in all_places[:MOST_PANELS]], cut


def _place(e: Estimate) -> tuple[object, ...]:
    """What stands in one panel: a place, and of groups that texts show those of one factor."""
    return *place_of(e).items(), *(e.group if "seen_by" in e.strata else ())


def _panel_title(place_rows: Rows) -> str:
    first = place_rows[0]
    factor = attribute_label(next(iter(first.group))) if "seen_by" in first.strata else ""
    return short(", ".join(part for part in (factor, place_words(first)) if part), 140)


def _without_null(valued: Rows) -> bool:
    """Whether these are shares that nothing is known to differ from."""
    return valued[0].statistic == "share" and not any(e.tests or e.null for e in valued)


def _reading(valued: Rows) -> str:
    if _without_null(valued):
        # Shares of several places do not go into one sentence.
        first_place = [e for e in valued if _place(e) == _place(valued[0])]
        largest = sorted(first_place, key=lambda e: -(e.value or 0.0))[:4]
        shares = [f"{group_label(e.group)} {fmt.share(e.value)}" for e in largest]
        return f"{_panel_title(first_place)}: {fmt.listed(shares)}."
    sure = [e for e in valued if is_sure(e)]
    statistic = valued[0].statistic
    none = f"{no_difference(valued[0]):g}" if statistic in STATISTICS else "its null"
    if not sure:
        return f"None of {fmt.plural(len(valued), 'value')} can be told from {none}."
    counted = f"{len(sure)} of {fmt.plural(len(valued), 'value')} can be told from {none}"
    if statistic not in STATISTICS:
        return f"{counted}."
    # Only what is told from its null is named: the furthest of all is often the rarest group.
    far = max(sure, key=distance)
    place = place_words(far, "in ")
    return (
        f"{counted}; furthest stands {group_words(far.group)}{f' {place}' if place else ''} at "
        f"{fmt.number(far.value, statistic)} ({fmt.interval(far.interval, statistic)})."
    )


def table(view: View, estimates: Rows) -> list[Figure]:
    """Return any measure's estimates as a table, the surest first, with the measure's own words."""
    name = estimates[0].measure
    # What has no test goes last.
    estimates = sorted(estimates, key=lambda e: 1.0 if (q := q_of(e)) is None else q)
    component = described(name)
    figure = _figure(view, estimates, component.summary if component else "")
    if component is None:
        figure = replace(
            figure,
            reading=f"{len(estimates):,} estimates of {name}.",
            note="This measure has no chart of its own.",
        )
    return [replace(figure, note=component.reading) if component else figure]


def elsewhere(_view: View, _estimates: list[Estimate]) -> list[Figure]:
    """Return no figure: these estimates stand in another figure, or in a section of their own."""
    return []


def broken(view: View, estimates: Rows, error: Exception) -> Figure:
    """Return the box that says in a figure's place why it could not be drawn, over its numbers."""
    reason = f"{estimates[0].measure}: {type(error).__name__}: {short(str(error), 300)}"
    return replace(
        _figure(view, estimates, "This figure could not be drawn; its numbers stand in the table."),
        note="Please report this to whoever made the measure or the study.",
        broken=reason,
    )


def outcomes(view: View, estimates: Rows) -> list[Figure]:
    """Return the table of answers that could not be read, by domain and condition."""
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for e in standing(estimates):
        model = short(view.called(e.strata.get("model", "")), 40)
        place = (model, domain_of(e), e.strata.get("condition", ""))
        rows.setdefault(place, {})[e.group.get("outcome", "")] = e

    def said_of(e: Estimate) -> str:
        naive = e.details.get("naive")
        return fmt.share(e.value) + ("" if naive is None else f" (as read {fmt.share(naive)})")

    kinds = list(dict.fromkeys(kind for cells in rows.values() for kind in cells))
    # Rows of zeros would hide those that lost answers.
    missed = {key: cells for key, cells in rows.items() if any(e.value for e in cells.values())}
    cells_of = tuple(
        (
            *key,
            *(said_of(cells[k]) if k in cells else fmt.NOTHING for k in kinds),
            fmt.count(next(iter(cells.values())).n_units),
        )
        for key, cells in list(missed.items())[:120]
    )
    worst_words = "Every answer could be read."
    if missed:
        lost = {key: sum(e.value or 0 for e in cells.values()) for key, cells in missed.items()}
        worst = max(lost, key=lambda key: lost[key])
        worst_place = ", ".join(part for part in worst if part)
        worst_words = (
            f"Most are missing for {worst_place}: {fmt.share(lost[worst])} of its answers."
        )
    heads = ("Model", "Domain", "Condition", *(kind.capitalize() for kind in kinds), "Texts")
    note = "Refused, empty and failed answers are counted here and left out of every other number."
    title, table = "Answers that could not be read", Table(heads, cells_of, 3)
    return [Figure("outcomes", title, worst_words, note, None, table)]


def grid(view: View, estimates: Rows) -> list[Figure]:
    """Return ratios of pairs as heatmaps, one for each two factors; what is resolved has colour."""
    pairs = [e for e in view.only_main(estimates) if len(e.group) == 2]
    valued = [e for e in pairs if e.value is not None]
    if not valued:
        return table(view, estimates)

    def axes(e: Estimate) -> tuple[str, ...]:
        return (*e.group, place_words(e))

    limit = max(1, math.ceil(math.log2(reach(e.value for e in valued))))
    # A map for each two factors and place.
    parts = [list(rows) for _, rows in groupby(sorted(pairs, key=axes), key=axes)]
    parts = [rows for rows in parts if any(e.value is not None for e in rows)]
    charts = []
    for rows in parts[:MOST_PANELS]:
        across, down = rows[0].group
        values = list(dict.fromkeys(e.group[across] for e in rows))
        # Many columns have room for short labels only.
        letters = 20 if len(values) <= 5 else 12
        column = {value: short(shown_label(across, value), letters) for value in values}
        line = {e.group[down]: short(shown_label(down, e.group[down]), 28) for e in rows}
        columns, lines = list(column.values())[:MOST_ROWS], list(line.values())[:MOST_ROWS]
        cells = [
            ratio_cell(view, e, limit, col=column[e.group[across]], row=line[e.group[down]])
            for e in rows
        ]
        place = place_words(rows[0])
        title = f"{attribute_label(down)} by {attribute_label(across)}"
        chart = heat(
            [c for c in cells if c["col"] in columns and c["row"] in lines],
            columns,
            lines,
            title=short(f"{title}, {place}" if place else title, 140),
            limit=limit,
            legend=measure_title(rows[0].measure),
            cell=(max(84.0, 6.6 * max(map(len, columns))), 23),
        )
        charts.append(chart)
    counted = (
        f"{sum(map(is_sure, valued))} of {fmt.plural(len(valued), 'pair')} can be told from 1."
    )
    note = " " + _COLOURS.format(cut=": cannot be told")
    return [_figure(view, view.only_main(estimates), counted, note, tiled(charts))]


GENERIC: dict[str, Builder] = {
    "dots": dots,
    "heatmap": heatmap,
    "grid": grid,
    "table": table,
    "outcomes": outcomes,
    "elsewhere": elsewhere,
}
"""Figures that any measure can name."""


class BrokenFigureWarning(UserWarning):
    """A figure could not be drawn; its place in the page says so."""


def figures(view: View) -> list[Figure]:
    """Return the figures of a run, in the study's order."""
    # Figures show published, pooled values; what is weighted stands in findings and in the table.
    pooled = {
        name: [e for e in rows if e.strata.get(BASIS) != WEIGHTED]
        for name, rows in view.by_measure.items()
    }
    return [f for name, rows in pooled.items() for f in build(view, name, rows)]


def build(view: View, measure: str, estimates: list[Estimate]) -> list[Figure]:
    """Return one measure's figures.

    A builder that fails gives a box that names the error, and a `BrokenFigureWarning`, which tests
    turn into an error.
    """
    if not estimates:
        return []
    component = described(measure)
    name = component.figure if component is not None else ""
    generic = dots if all(e.statistic in STATISTICS for e in estimates) else table
    builder = report_of(view).figures.get(name) or GENERIC.get(name) or generic
    # A figure of another package must not cost the whole report.
    try:
        return list(builder(view, estimates))
    except Exception as error:
        text = f"the figure of {measure} could not be drawn: {error!r}"
        warnings.warn(text, BrokenFigureWarning, stacklevel=2)
        return [broken(view, estimates, error)]


LEAST, MOST = 2, 5
"""Findings that make a chart worth its place, and rows of it at most."""


def glance(
    view: View,
    findings: Sequence[Stated],
    label: Callable[[Estimate], str] | None = None,
    axis: Axis | None = None,
) -> dict[str, Any] | None:
    """Return the chart of the numbers behind the findings; None where there are few.

    Only numbers of the first one's statistic share an axis.

    Parameters
    ----------
    view, findings
        The report's view, and its findings in order.
    label
        Function of an estimate to the label of its row, two lines with `LINE` between them.
    axis
        The axis; a log axis around 1 for ratios and a linear one for the rest by default.
    """
    kind = findings[0].first.statistic if findings else ""
    # Ratios and differences have no common axis; the first finding decides.
    findings = [finding for finding in findings if finding.first.statistic == kind][:MOST]
    if len(findings) < LEAST:
        return None
    firsts = [finding.first for finding in findings]
    if axis is None:
        bounds = [b for e in firsts if e.interval for b in (e.interval.low, e.interval.high)]
        factor = reach([*(e.value for e in firsts), *bounds], most=64)
        axis = Axis(None, line=0.0, zero=True)
        if kind == "ratio":
            axis = Axis("← less · times · more → (log scale)", factor)
    rows = [(label or _label)(e) for e in firsts]
    data = [
        dot_by_model(view, e, row, colour_of(view, e), axis)
        for first, row in zip(firsts, rows, strict=True)
        for e in view.by_measure[first.measure]  # the same number of every model
        if e.group == first.group and place_of(e) == place_of(first)
    ]
    spec = panel(view, data, rows, axis, size=(500, 40), two_lines=True)
    sentences = " ".join(f"{finding.headline}." for finding in findings)
    noun = "ratio" if kind == "ratio" else "value"
    legend = [
        ("dot", f"{view.called(view.main)}: {noun} and clustered interval"),
        *([("ring", "the same, not established")] if not all(map(is_sure, firsts)) else []),
        *([("small", "each model")] if len(view.models) > 1 else []),
        *([("band", "what chance would give")] if any("nl" in d for d in data) else []),
    ]
    return {"key": "glance", "label": f"At a glance. {sentences}", "spec": spec, "legend": legend}


def _label(e: Estimate) -> str:
    """The group over its place and measure, as two lines."""
    place, manner = strata_parts(e.strata, e.group)
    component = described(e.measure)
    brief = component.brief if component is not None else ""
    # "against census-2011" says by itself that a share is compared with a baseline.
    title = [] if "population" in e.strata else [brief or measure_title(e.measure)]
    second_line = ", ".join([*(short(value, 24) for value in place), *title, *manner])
    return f"{group_label(e.group)}{LINE}{second_line}"

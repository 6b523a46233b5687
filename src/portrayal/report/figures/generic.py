"""Figures that any measure can name, which figure draws which, and the findings at a glance."""

import math
import warnings
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import portrayal.report.formats as fmt
from portrayal.records import Estimate
from portrayal.reference.labels import attribute_label, strata_parts
from portrayal.reference.labels import group_label as shown_label
from portrayal.report.figures.figure import (
    Builder,
    Figure,
    Spec,
    Table,
    colour_of,
    estimate_table,
    facts,
)
from portrayal.report.figures.heat import heat, log2_within, ratio_heat
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
)
from portrayal.report.words import described, group_label, group_words, measure_title

MOST_PANELS, MOST_ROWS = 12, 40
"""Places drawn at most, and groups of one place; the table and the download have the rest."""


def figure_key(measure: str) -> str:
    """Return the anchor of a measure's generic figure."""
    return "measure-" + "".join(c if c.isalnum() else "-" for c in measure)


def dots(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return any measure's values as dots, one panel for each place; none where there is none."""
    known = [e for e in view.only_main(estimates) if e.value is not None]
    if not known:
        return table(view, estimates)
    axis = _axis(known)
    there = {_place(e) for e in known}  # a place without any value has no panel
    shown = [e for e in estimates if _place(e) in there and not no_baseline(e)]
    places, cut = _places(view, shown)
    spec: Spec = {"vconcat": [_panel(view, here, axis) for here in places]}
    if axis.factor is None:
        spec["resolve"] = {"scale": {"x": "shared"}}
    key: tuple[tuple[str, str], ...]
    if _without_null(known):
        own = ("ring", f"{view.called(view.main)}, with its interval")
        key = (own, ("small", "each model")) if len(view.models) > 1 else (own,)
    else:
        key = legend(view, _null_words(known), none=_none_words(known))
    return [_figure(view, estimates, known, spec, cut + _baselines(known), key)]


def _baselines(known: list[Estimate]) -> str:
    """Name each population that ratios are compared with, and say where it is from."""
    found: dict[tuple[str, str], list[str]] = {}
    for e in known:
        name, source = e.strata.get("population", ""), e.instruments.get("baseline_source", "")
        if name and source:
            found.setdefault((name, source), []).append(attribute_label(next(iter(e.group))))
    said = [
        f"{name} ({fmt.listed(list(dict.fromkeys(of)))}): {source}"
        for (name, source), of in found.items()
    ]
    return f" Baselines: {'; '.join(said)}." if said else ""


def heatmap(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return any ratios as heatmaps, models by groups, one for each place; else as dots."""
    known = [e for e in view.only_main(estimates) if e.value is not None]
    if not known or known[0].statistic != "ratio":
        return dots(view, estimates)
    groups = list(dict.fromkeys(short(group_label(e.group)) for e in estimates))[:MOST_ROWS]
    limit = math.ceil(math.log2(reach(e.value for e in known)))
    places, cut = _places(view, estimates)
    charts = [
        ratio_heat(
            view,
            [e for e in here if short(group_label(e.group)) in groups],
            groups,
            lambda group: short(group_label(group)),
            title=_panel_title(here),
            limit=limit,
            legend=measure_title(known[0].measure),
            width=90,
        )
        for here in places
    ]
    return [_figure(view, estimates, known, tiled(charts), f" {_HEAT}{cut}", ())]


_HEAT = (
    "Blue: below 1; red: above; grey cell: not distinguishable from 1; dashed and empty: "
    "undefined, the tooltip says why."
)


def _places(view: View, estimates: list[Estimate]) -> tuple[list[list[Estimate]], str]:
    """The estimates of each place that is drawn, and a sentence on places that are not."""
    every = view.only_main(estimates)
    if every and "seen_by" in every[0].strata:  # all strata together first, of every factor
        every.sort(key=lambda e: len(strata_parts(e.strata, e.group)[0]))
    found = dict.fromkeys(map(_place, every))
    left = len(found) - MOST_PANELS
    cut = f" {fmt.plural(left, 'more place')} in the table." if left > 0 else ""
    return [
        [e for e in estimates if _place(e) == place] for place in list(found)[:MOST_PANELS]
    ], cut


def _place(e: Estimate) -> tuple[object, ...]:
    """What stands in one panel: a place, and of groups that texts show those of one factor."""
    return *place_of(e).items(), *(e.group if "seen_by" in e.strata else ())


def _panel_title(here: list[Estimate]) -> str:
    first = here[0]
    factor = attribute_label(next(iter(first.group))) if "seen_by" in first.strata else ""
    return short(", ".join(part for part in (factor, place_words(first)) if part), 140)


def _figure(
    view: View,
    estimates: list[Estimate],
    known: list[Estimate],
    spec: Spec,
    more: str,
    key: tuple[tuple[str, str], ...],
) -> Figure:
    name = known[0].measure
    component = described(name)
    how = " ".join((component.summary, component.reading) if component is not None else ())
    numbers = _table(view, view.only_main(estimates))
    title = measure_title(name)
    return Figure(figure_key(name), title, _reading(known), how + more, spec, numbers, key)


def _axis(known: list[Estimate]) -> Axis:
    title, statistic = measure_title(known[0].measure), known[0].statistic
    if statistic == "ratio":
        ends = [b for e in known if e.interval for b in (e.interval.low, e.interval.high)]
        return Axis(f"{title} (log scale)", reach([*(e.value for e in known), *ends]))
    if statistic == "difference":
        return Axis(title, zero=True, line=0.0)
    return Axis(title, form="%" if statistic == "share" else "", zero=statistic == "share")


def _panel(view: View, here: list[Estimate], axis: Axis) -> Spec:
    labels = {tuple(e.group.items()): short(group_label(e.group)) for e in here}
    shown = list(dict.fromkeys(labels.values()))[:MOST_ROWS]
    data = [
        dot_by_model(view, e, label, colour_of(view, e), axis)
        for e in here
        if (label := labels[tuple(e.group.items())]) in shown
    ]
    return panel(view, data, shown, axis, size=(520, 28), title=_panel_title(here))


def _null_words(known: list[Estimate]) -> str:
    methods = [e.null.method for e in known if e.null is not None and e.null.method]
    return f"null range: {short(methods[0], 80)}" if methods else "null range: what chance gives"


def _none_words(known: list[Estimate]) -> str:
    return f"{no_difference(known[0]):g}" if known[0].statistic in STATISTICS else "its null"


def _reading(known: list[Estimate]) -> str:
    if _without_null(known):
        return _shares(known)
    sure = [e for e in known if is_sure(e)]
    statistic = known[0].statistic
    none = _none_words(known)
    if not sure:
        return f"None of {fmt.plural(len(known), 'value')} can be told from {none}."
    said = f"{len(sure)} of {fmt.plural(len(known), 'value')} can be told from {none}"
    if statistic not in STATISTICS:
        return f"{said}."
    far = max(sure, key=distance)
    place = place_words(far, "in ")
    return (
        f"{said}; furthest stands {group_words(far.group)}{f' {place}' if place else ''} at "
        f"{fmt.number(far.value, statistic)} ({fmt.interval(far.interval, statistic)})."
    )


def _without_null(known: list[Estimate]) -> bool:
    """Whether these are shares that nothing is known to differ from."""
    return known[0].statistic == "share" and not any(e.tests or e.null for e in known)


def _shares(known: list[Estimate]) -> str:
    """The largest shares of the first panel, which no null is known of."""
    here = [e for e in known if _place(e) == _place(known[0])]
    largest = sorted(here, key=lambda e: -(e.value or 0.0))[:4]
    said = [f"{group_label(e.group)} {fmt.share(e.value)}" for e in largest]
    return f"{_panel_title(here)}: {fmt.listed(said)}."


def table(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return any measure's estimates as a table, with the measure's own words."""
    name = estimates[0].measure
    component = described(name)
    figure = Figure(
        figure_key(name),
        measure_title(name),
        component.summary if component else f"{len(estimates):,} estimates of {name}.",
        component.reading if component else "This measure has no chart of its own.",
        None,
        _table(view, estimates),
    )
    return [figure]


def _table(view: View, estimates: list[Estimate]) -> Table:
    strata = list(dict.fromkeys(name for e in estimates for name in e.strata))
    return estimate_table(view, estimates, *strata)


def elsewhere(_view: View, _estimates: list[Estimate]) -> list[Figure]:
    """Return no figure: these estimates stand in another figure, or in a section of their own."""
    return []


def broken(view: View, estimates: list[Estimate], error: Exception) -> Figure:
    """Return the box that says in a figure's place why it could not be drawn, over its numbers."""
    name = estimates[0].measure
    return Figure(
        figure_key(name),
        measure_title(name),
        "This figure could not be drawn; its numbers stand in the table.",
        "Please report this to whoever made the measure or the study.",
        None,
        _table(view, estimates),
        broken=f"{name}: {type(error).__name__}: {short(str(error), 300)}",
    )


def outcomes(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return the table of answers that could not be read, by domain and condition."""
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for e in estimates:
        model = short(view.called(e.strata.get("model", "")), 40)
        place = (model, domain_of(e), e.strata.get("condition", ""))
        rows.setdefault(place, {})[e.group.get("outcome", "")] = e
    kinds = list(dict.fromkeys(kind for cells in rows.values() for kind in cells))
    missed = {key: cells for key, cells in rows.items() if any(e.value for e in cells.values())}
    cells_of = tuple(
        (
            *key,
            *(fmt.share(cells[k].value) if k in cells else fmt.NOTHING for k in kinds),
            fmt.count(next(iter(cells.values())).n_units),
        )
        for key, cells in list(missed.items())[:120]
    )
    heads = ("Model", "Domain", "Condition", *(kind.capitalize() for kind in kinds), "Texts")
    note = "Refused, empty and failed answers are counted here and left out of every other number."
    title, found = "Answers that could not be read", Table(heads, cells_of, 3)
    return [Figure("outcomes", title, _outcomes_reading(missed), note, None, found)]


def _outcomes_reading(missed: dict[tuple[str, str, str], dict[str, Estimate]]) -> str:
    if not missed:
        return "Every answer could be read."
    worst = max(missed.items(), key=lambda item: sum(e.value or 0 for e in item[1].values()))
    lost = sum(e.value or 0 for e in worst[1].values())
    where = ", ".join(part for part in worst[0] if part)
    return f"Most are missing for {where}: {fmt.share(lost)} of its answers."


_HOW = (
    "Blue: below 1; red: above; grey: cannot be told from 1; dashed and empty: undefined, the "
    "tooltip says why."
)


def grid(view: View, estimates: list[Estimate]) -> list[Figure]:
    """Return ratios of pairs as heatmaps, one for each two factors; what is resolved has colour."""
    shown = [e for e in view.only_main(estimates) if len(e.group) == 2]
    known = [e for e in shown if e.value is not None]
    if not known:
        return table(view, estimates)
    limit = max(1, math.ceil(math.log2(reach(e.value for e in known))))
    parts = [list(rows) for _, rows in groupby(sorted(shown, key=_axes), key=_axes)]
    charts = []
    parts = [rows for rows in parts if any(e.value is not None for e in rows)]
    for rows in parts[:MOST_PANELS]:
        across, down = rows[0].group
        values = list(dict.fromkeys(e.group[across] for e in rows))
        letters = 20 if len(values) <= 5 else 12
        column = {value: short(shown_label(across, value), letters) for value in values}
        line = {e.group[down]: short(shown_label(down, e.group[down]), 28) for e in rows}
        columns, lines = list(column.values())[:MOST_ROWS], list(line.values())[:MOST_ROWS]
        cells = [
            {
                **facts(view, e),
                "col": column[e.group[across]],
                "row": line[e.group[down]],
                "l": log2_within(e.value, limit),
                "t": " " if e.value is None else fmt.ratio(e.value),
                "c": "undefined" if e.value is None else "sure" if is_sure(e) else "unsure",
            }
            for e in rows
        ]
        where = place_words(rows[0])
        title = f"{attribute_label(down)} by {attribute_label(across)}"
        title += f", {where}" if where else ""
        kept = [c for c in cells if c["col"] in columns and c["row"] in lines]
        charts.append(
            heat(
                kept,
                columns,
                lines,
                title=short(title, 140),
                limit=limit,
                legend=measure_title(rows[0].measure),
                cell=(max(84.0, 6.6 * max(map(len, columns))), 23),
            )
        )
    sure = sum(map(is_sure, known))
    name = known[0].measure
    component = described(name)
    words = f"{component.summary} {component.reading} " if component is not None else ""
    return [
        Figure(
            figure_key(name),
            measure_title(name),
            f"{sure} of {fmt.plural(len(known), 'pair')} can be told from 1.",
            words + _HOW,
            tiled(charts),
            _table(view, view.only_main(estimates)),
        )
    ]


def _axes(e: Estimate) -> tuple[str, ...]:
    return (*e.group, place_words(e))


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
    return [f for name, rows in view.by_measure.items() for f in build(view, name, rows)]


def build(view: View, measure: str, estimates: list[Estimate]) -> list[Figure]:
    """Return one measure's figures.

    A builder that fails gives a box that names the error, and a `BrokenFigureWarning`, which tests
    turn into an error.
    """
    if not estimates:
        return []
    try:
        return list(_builder(view, measure, estimates)(view, estimates))
    except Exception as error:
        text = f"the figure of {measure} could not be drawn: {error!r}"
        warnings.warn(text, BrokenFigureWarning, stacklevel=2)
        return [broken(view, estimates, error)]


def _builder(view: View, measure: str, estimates: list[Estimate]) -> Builder:
    """The figure that the measure names, where the study or this package has it."""
    component = described(measure)
    name = component.figure if component is not None else ""
    found = report_of(view).figures.get(name) or GENERIC.get(name)
    if found is not None:
        return found
    return dots if all(e.statistic in STATISTICS for e in estimates) else table


LEAST, MOST = 2, 5
"""Findings that make a chart worth its place, and rows of it at most."""


def glance(
    view: View,
    stated: Sequence[Stated],
    label: Callable[[Estimate], str] | None = None,
    axis: Axis | None = None,
) -> dict[str, Any] | None:
    """Return the chart of the numbers behind the findings; None where there are few.

    Only numbers of the first one's statistic share an axis.

    Parameters
    ----------
    view, stated
        The report's view, and its findings in order.
    label
        Function of an estimate to the label of its row, two lines with `LINE` between them.
    axis
        The axis; a log axis around 1 for ratios and a linear one for the rest by default.
    """
    kind = stated[0].first.statistic if stated else ""
    stated = [each for each in stated if each.first.statistic == kind][:MOST]
    if len(stated) < LEAST:
        return None
    firsts = [each.first for each in stated]
    axis = axis or _shared_axis(firsts)
    rows = [(label or _label)(e) for e in firsts]
    data = [
        dot_by_model(view, e, row, colour_of(view, e), axis)
        for first, row in zip(firsts, rows, strict=True)
        for e in _every_model(view, first)
    ]
    spec = panel(view, data, rows, axis, size=(500, 40), two_lines=True)
    sentences = " ".join(f"{each.headline}." for each in stated)
    ring = ("ring", "the same, not established")
    what = "ratio" if kind == "ratio" else "value"
    legend = [
        ("dot", f"{view.called(view.main)}: {what} and clustered interval"),
        *([ring] if not all(is_sure(e) for e in firsts) else []),
        *([("small", "each model")] if len(view.models) > 1 else []),
        *([("band", "what chance alone would give")] if any("nl" in d for d in data) else []),
    ]
    return {"key": "glance", "label": f"At a glance. {sentences}", "spec": spec, "legend": legend}


def _shared_axis(estimates: Sequence[Estimate]) -> Axis:
    if estimates[0].statistic != "ratio":
        return Axis(None, line=0.0, zero=True)
    bounds = [b for e in estimates if e.interval for b in (e.interval.low, e.interval.high)]
    factor = reach([*(e.value for e in estimates), *bounds], most=64)
    return Axis("← less · times · more → (log scale)", factor)


def _every_model(view: View, first: Estimate) -> list[Estimate]:
    """The same number in every model's stratum."""
    return [
        e
        for e in view.by_measure[first.measure]
        if e.group == first.group and place_of(e) == place_of(first)
    ]


def _label(e: Estimate) -> str:
    """The group over its place and measure, as two lines."""
    place, how = strata_parts(e.strata, e.group)
    component = described(e.measure)
    brief = component.brief if component is not None else ""
    # "against census-2011" says by itself that a share is compared with a baseline.
    own = [] if "population" in e.strata else [brief or measure_title(e.measure)]
    where = ", ".join([*(short(value, 24) for value in place), *own, *how])
    return f"{group_label(e.group)}{LINE}{where}"

"""Declared: what a figure of estimates shows, in data, and the chart and table made of it.

Every figure is estimates, split into panels, rows, and columns of a heat map. A measure without a
declaration has the default of its kind; a study declares others in the `figures` of its
`report.toml`.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import portrayal.report.figures.panels as panels
import portrayal.report.figures.svg as svg
import portrayal.report.formats as fmt
from portrayal.records import ALL, TEXT_SD, Estimate, Interval, Null
from portrayal.reference.labels import attribute_label, place_value
from portrayal.reference.labels import group_label as shown_label
from portrayal.registry import described, form_of
from portrayal.report.figures.figure import NUMBERS, Cell, Figure, Table, colour_of, tip
from portrayal.report.figures.panels import DotMark
from portrayal.report.figures.svg import LINE, Axis, Panel
from portrayal.report.findings import STATISTICS, distance
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure, no_baseline, no_difference, place_words, q_of
from portrayal.report.words import (
    borne,
    column_label,
    group_label,
    group_words,
    measure_title,
    standing,
    stem,
)

MOST_PANELS, MOST_ROWS = 12, 40
"""Panels of a figure, and rows of one panel, at most; the table and the download have the rest."""
SHARES = ("share", "agentic", "communal")
Rows = list[Estimate]


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A figure of the estimates of a measure.

    Names of parts are those of strata and attributes; "group" is the whole group, "attributes"
    what it is a group of, "names" is the group that names tell, and "first" and "second" are its
    two groups.

    Attributes
    ----------
    measure
        Name without version.
    kind
        "dots", "heat", "table"; or a name of `report.figures.generic.KINDS`.
    title, note, axis
        In place of the measure's own title and reading; title of the axis or of the colours.
    keep
        Values of strata and attributes that estimates must have where they have these; also of
        "statistic", and of "crossed", how many attributes a group has.
    first, single, unpooled
        Strata of which only the first value of each attribute is shown; of which what is pooled is
        left out where there are single values; of which it always is.
    panels, rows, columns
        Parts that make panels, rows, and columns of a heat map.
    across
        Panels beside one another, whose rows are the same.
    details
        Details that its table has, with their headings.
    most
        Rows of a panel at most: those with the largest values, where there are more.
    """

    measure: str
    kind: str = ""
    title: str = ""
    note: str = ""
    axis: str = ""
    keep: Mapping[str, Any] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    unpooled: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    rows: tuple[str, ...] = ("group",)
    columns: tuple[str, ...] = ("group",)
    across: int = 1
    details: Mapping[str, str] = field(default_factory=dict)
    most: int = MOST_ROWS

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Declared":
        """Read what a table of `report.toml` declares."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return cls(**fields)

    def selected(self, estimates: Iterable[Estimate]) -> Rows:
        """Return the estimates that it shows, each as labels by hand correct it."""
        rows = [e for e in standing(estimates) if self._keeps(e)]
        single = (n for n in self.single if any(e.strata.get(n, ALL) != ALL for e in rows))
        pooled_out = {*self.unpooled, *single}
        firsts: dict[tuple[str, str], str] = {}
        of_attribute = [e.strata.get("attribute", "") for e in rows]
        for e, attribute in zip(rows, of_attribute, strict=True):
            for name in self.first:
                firsts.setdefault((name, attribute), e.strata.get(name, ""))
        return [
            e
            for e, attribute in zip(rows, of_attribute, strict=True)
            if all(e.strata.get(name, "") == firsts[name, attribute] for name in self.first)
            and not any(e.strata.get(name, ALL) == ALL for name in pooled_out)
        ]

    def _keeps(self, e: Estimate) -> bool:
        values = {**e.strata, **e.group, "statistic": e.statistic, "crossed": len(e.group)}
        for name, allowed in self.keep.items():
            one_of = allowed if isinstance(allowed, tuple | list) else (allowed,)
            if name in values and values[name] not in one_of:
                return False
        return True

    @property
    def parts(self) -> set[str]:
        """Every part by which it splits estimates."""
        return {*self.panels, *self.rows, *self.columns}


def _side(e: Estimate, side: int) -> str:
    """One of the two groups of an estimate of a pair of attributes, in few letters."""
    attribute, value = list(e.group.items())[side]
    label = column_label(value)
    return label if label != value else shown_label(attribute, value)


PARTS: Mapping[str, Callable[[View, Estimate], str]] = {
    "group": lambda _, e: group_label(e.group) if e.group else "",
    "model": lambda view, e: view.called(e.strata.get("model", "")),
    "names": lambda _, e: borne(e.group),
    "first": lambda _, e: _side(e, 0),
    "second": lambda _, e: _side(e, 1),
    "attributes": lambda _, e: " by ".join(attribute_label(name) for name in [*e.group][::-1]),
}


def part(view: View, e: Estimate, name: str) -> str:
    """Return what one part of an estimate is called ("Learning", "Women", "gemma")."""
    if name in PARTS:
        return PARTS[name](view, e)
    if name in e.group:
        return shown_label(name, e.group[name])
    value = e.strata.get(name, ALL)
    return "" if value == ALL else place_value(name, value, e.group)


def labels_of(view: View, estimates: Sequence[Estimate], names: Sequence[str]) -> list[str]:
    """Return the label of each estimate by some parts, without those that all share."""
    columns = {name: [short(part(view, e, name), 60) for e in estimates] for name in names}
    varying = [name for name in names if len(set(columns[name])) > 1] or list(names[:1])
    return [
        LINE.join(filter(None, cells)) or "all"
        for cells in zip(*(columns[name] for name in varying), strict=True)
    ]


def split(
    view: View, estimates: Sequence[Estimate], names: Sequence[str]
) -> list[tuple[str, Rows]]:
    """Return estimates by some parts, with what each of these is called, in their order."""
    by_key: dict[tuple[str, ...], Rows] = {}
    for e in estimates:
        by_key.setdefault(tuple(part(view, e, name) for name in names), []).append(e)
    titles = [short(", ".join(filter(None, key)), 140) for key in by_key]
    return list(zip(titles, by_key.values(), strict=True))


def in_order(view: View, estimates: Iterable[Estimate]) -> Rows:
    """Return estimates with those of the main model first, then of the others in their order."""
    order = {model: i for i, model in enumerate((view.main, *view.models))}
    # The sort is stable: whatever else they are of keeps its order.
    return sorted(estimates, key=lambda e: order.get(e.strata.get("model", ""), len(order)))


def default(measure: str, estimates: Sequence[Estimate]) -> Declared:
    """Return what is shown of a measure that no study declares: its kind, split by its strata."""
    component = described(measure)
    kind = component.figure if component is not None else ""
    tested = any(e.statistic in STATISTICS for e in estimates)
    strata = list(dict.fromkeys(name for e in estimates for name in e.strata if name != "model"))
    if any("seen_by" in e.strata for e in estimates):
        strata.insert(0, "attributes")
    kinds = {"heatmap": "heat", "grid": "heat", "": "dots" if tested else "table"}
    declared = Declared(measure=stem(measure), kind=kinds.get(kind, kind), panels=tuple(strata))
    if kind == "heatmap":
        return replace(declared, rows=("model",))
    if kind == "grid":
        panels_of = "attributes", *strata
        crossed = replace(declared, keep={"crossed": 2}, panels=panels_of)
        return replace(crossed, rows=("second",), columns=("first",))
    return declared


def slug(text: str) -> str:
    """Return a text as the anchor of a figure.

    >>> slug("Who appears: representation ratios")
    'who-appears-representation-ratios'
    """
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def draw(view: View, declared: Declared, estimates: Sequence[Estimate]) -> Figure | None:
    """Return the figure that a declaration makes of estimates; None where it shows none."""
    rows = declared.selected(estimates)
    if not rows:
        return None
    return {"heat": heat_map, "table": table}.get(declared.kind, dots)(view, declared, rows)


def figure_of(
    view: View,
    declared: Declared,
    rows: Rows,
    reading: str,
    chart: Panel | None = None,
    legend: Sequence[tuple[str, str]] = (),
    more: str = "",
) -> Figure:
    """Return a figure with the words of its declaration, or of its measure, over its numbers."""
    measure = rows[0].measure
    component = described(measure)
    words = (component.summary, component.reading) if component is not None else ()
    note = (declared.note or " ".join(words)) + more
    if chart is not None and "model" not in declared.parts:
        rows = view.only_main(rows)
    # Measures of other packages may share a title, but no name.
    key = slug(declared.title or f"measure {measure}")
    title = declared.title or measure_title(measure)
    numbers_table = numbers(view, rows, declared.details)
    return Figure(key, title, reading, note, chart, numbers_table, tuple(legend))


def numbers(
    view: View, estimates: Sequence[Estimate], details: Mapping[str, str] | None = None
) -> Table:
    """Return estimates as a table: the strata in which they differ, group, and numbers."""
    strata = dict.fromkeys(name for e in estimates for name in e.strata)
    names = [name for name in strata if len({part(view, e, name) for e in estimates}) > 1]

    def cell(name: str) -> Cell:
        return lambda e: short(part(view, e, name).removeprefix("by "), 40)

    def detail(name: str) -> Cell:
        return lambda e: fmt.number(e.details.get(name), form_of(e))

    columns: dict[str, Cell] = {
        **{name.replace("_", " ").capitalize(): cell(name) for name in names},
        "Group": lambda e: short(group_label(e.group)),
    }
    n_words = len(columns)
    level = f"{fmt.level(view.level)} interval"
    for name, of_number in NUMBERS.items():
        columns[level if name == "Interval" else name] = of_number
        # A published method's, which takes every text as independent.
        if name == "Interval" and any(e.paper_interval for e in estimates):
            columns["Naive"] = lambda e: fmt.interval(e.paper_interval, form_of(e))
    if any("naive" in e.details for e in estimates):
        columns["As read"] = detail("naive")
    columns |= {heading: detail(name) for name, heading in (details or {}).items()}
    return Table.of(estimates, columns, n_words)


def _panels(view: View, declared: Declared, rows: Rows) -> tuple[list[tuple[str, Rows]], str]:
    """The rows of each panel under its title, and how many places have none."""
    parts = split(view, rows, declared.panels)
    # A place without any value has no panel.
    parts = [(title, es) for title, es in parts if any(e.value is not None for e in es)]
    n_more = len(parts) - MOST_PANELS
    more = f" {fmt.plural(n_more, 'more place')} in the table." if n_more > 0 else ""
    return parts[:MOST_PANELS], more


def dots(view: View, declared: Declared, rows: Rows) -> Figure:
    """Return values as dots with interval and null range, in panels."""
    rows = in_order(view, [e for e in rows if not no_baseline(e)]) or rows
    valued = [e for e in rows if e.value is not None]
    if not valued:
        return table(view, declared, rows)
    parts, cut = _panels(view, declared, rows)
    labels = {id(e): x for e, x in zip(rows, labels_of(view, rows, declared.rows), strict=True)}
    width = {1: 520.0, 2: 290.0}.get(declared.across, 206.0)
    charts, marks_of_figure = [], []
    for i, (title, of_panel) in enumerate(parts):
        panel_rows = _largest(declared, of_panel, labels)
        axis = shared_axis([e for e in rows if _unit(e) == _unit(panel_rows[0])], declared.axis)
        # Panels beside one another have the same rows, so that one set of labels serves them.
        of_rows = rows if declared.across > 1 else panel_rows
        order = list(dict.fromkeys(labels[id(e)] for e in of_rows))[: declared.most]
        marks = [
            mark
            for e in panel_rows
            if labels[id(e)] in order
            for mark in marks_of(view, e, labels[id(e)], names_model="model" in declared.parts)
        ]
        labelled = i % declared.across == 0
        charts.append(panels.dots(marks, order, axis, width=width, title=title, labels=labelled))
        marks_of_figure += marks
    chart = svg.tiled(charts, declared.across)
    legend = legend_of(marks_of_figure, _legend_words(view, declared, valued))
    words, more = reading(view, valued), cut + _sources(valued)
    return figure_of(view, declared, rows, words, chart, legend, more)


def _largest(declared: Declared, rows: Rows, labels: Mapping[int, str]) -> Rows:
    """The rows with the largest values, where there are more than the figure has room for."""
    size: dict[str, float] = {}
    for e in rows:
        label = labels[id(e)]
        size[label] = max(size.get(label, 0.0), distance(e) if e.value is not None else 0.0)
    if len(size) <= declared.most:
        return rows
    largest = sorted(size, key=lambda label: -size[label])[: declared.most]
    inside = [e for e in rows if labels[id(e)] in largest]
    return sorted(inside, key=lambda e: largest.index(labels[id(e)]))


def _unit(e: Estimate) -> tuple[str, str, str]:
    """What values must share to stand on one axis."""
    return e.strata.get("of", stem(e.measure)), e.statistic, form_of(e)


def _scale(e: Estimate) -> float:
    """What a value is multiplied by: differences in units of several scorers are standardised."""
    return 1.0 / sd if (sd := e.details.get(TEXT_SD)) else 1.0


def shared_axis(rows: Rows, title: str = "") -> Axis:
    """Return the one axis that holds the values of estimates of one unit, with their intervals.

    Its title is that of their measure, unless one is given.
    """
    valued = [e for e in rows if e.value is not None]
    first = (valued or rows)[0]
    title = title or measure_title(first.strata.get("of", first.measure))
    ends: list[float | None] = [_scale(e) * (e.value or 0.0) for e in valued]
    bounds = ((e, b) for e in valued for b in (e.interval, e.null) if b and not math.isnan(b.low))
    ends += [_scale(e) * x for e, b in bounds for x in (b.low, b.high)]
    form = form_of(first)
    if first.statistic == "ratio":
        return Axis.ratio(ends, f"{title} (log scale)")
    if any(TEXT_SD in e.details for e in valued):
        return Axis.linear(ends, "standard deviations of the texts", line=0.0)
    form = "share" if form in SHARES else form if form == "points" else ""
    tested = first.statistic == "difference"
    zero = form == "share" or first.statistic in ("distance", "mean", "count")
    return Axis.linear(ends, title, form, 0.0 if tested else None, zero)


def marks_of(view: View, e: Estimate, row: str, *, names_model: bool) -> Iterable[DotMark]:
    """Yield the marks of one estimate: its own, and beside it what a correction started from.

    `names_model` says whether the row names its model.
    """
    # Sentences speak of the main model; others are smaller where rows do not name them.
    is_secondary = e.strata.get("model", view.main) != view.main
    if e.value is None and is_secondary:
        return

    scale = _scale(e)

    def scaled(bounds: Interval | Null | None) -> tuple[float, float] | None:
        finite = bounds is not None and not math.isnan(bounds.low + bounds.high)
        return (scale * bounds.low, scale * bounds.high) if bounds is not None and finite else None

    value = None if e.value is None else scale * e.value
    mark = DotMark(row=row, look="small", value=value, colour=colour_of(view, e), tip=tip(view, e))
    if is_secondary and not names_model:
        yield mark
        return
    look = "dot" if is_sure(e) else "ring"
    yield replace(mark, look=look, bounds=scaled(e.interval), null=scaled(e.null))
    if "naive" in e.details:
        before = e.details["naive"]
        words = f"As read, before the correction: {fmt.number(before, form_of(e))}"
        yield replace(mark, look="diamond", value=scale * before, tip=words)


def _none(valued: Rows) -> str:
    """What values are told from: the one that says that there is no difference, or their nulls."""
    points = [no_difference(e) for e in valued if e.statistic in ("ratio", "difference")]
    return f"{points[0]:g}" if points and len(set(points)) == 1 else "its null"


def legend_of(marks: Sequence[DotMark], words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return what each mark is, of those that panels have, from what any of them is."""
    looks = {mark.look for mark in marks} | {"band" for mark in marks if mark.null}
    return [(look, text) for look, text in words.items() if look in looks]


def _legend_words(view: View, declared: Declared, valued: Rows) -> dict[str, str]:
    """What any mark is in a figure of these values."""
    main = "" if "model" in declared.parts else f"{view.called(view.main)}, "
    none = _none(valued)
    methods = [e.null.method for e in valued if e.null is not None and e.null.method]
    tested = any(e.tests for e in valued)
    return {
        "dot": f"{main}with its interval: can be told from {none}",
        "ring": f"{main}cannot be told from {none}" if tested else f"{main}with its interval",
        "small": "each model",
        "diamond": "as read, before the correction",
        "band": f"null range: {short(methods[0], 80) if methods else 'what chance gives'}",
    }


def _sources(valued: Rows) -> str:
    """Each population that ratios are compared with, and where it is from."""
    sources: dict[tuple[str, str], dict[str, None]] = {}
    for e in valued:
        name, source = e.strata.get("population", ""), e.instruments.get("baseline_source", "")
        if name and source:
            sources.setdefault((name, source), {})[attribute_label(next(iter(e.group)))] = None
    lines = [f"{name} ({fmt.listed(list(of))}): {source}" for (name, source), of in sources.items()]
    return f" Baselines: {'; '.join(lines)}." if lines else ""


def heat_map(view: View, declared: Declared, rows: Rows) -> Figure:
    """Return ratios, or shares over what chance gives, as cells of heat maps."""
    rows = in_order(view, rows if "model" in declared.parts else view.only_main(rows))
    valued = [e for e in rows if e.value is not None]
    if all(lean_of(e) is None for e in valued):
        return table(view, declared, rows)
    # Only what is told from its null has colour, so only that says how far colours reach.
    coloured = [2.0 ** (lean_of(e) or 0.0) for e in valued if _differs(e)]
    limit = math.log2(svg.reach(coloured))
    parts, cut = _panels(view, declared, rows)
    charts = [
        panels.heat(
            [_cell(view, declared, e) for e in panel_rows],
            (declared.most, MOST_ROWS),
            limit=limit,
            title=title,
            narrow=57.0 if declared.across < 3 else 46.0,
            labels=i % declared.across == 0 or declared.rows != ("model",),
        )
        for i, (title, panel_rows) in enumerate(parts)
    ]
    unit = declared.axis or measure_title(rows[0].measure)
    chart = svg.tiled([panels.scale(limit, unit), svg.tiled(charts, declared.across)], gap=12)
    colours = (
        " Blue: below no difference; red: above; grey: cannot be told from it; dashed and empty: "
        "undefined, the tooltip says why."
    )
    return figure_of(view, declared, rows, reading(view, valued), chart, more=colours + cut)


def lean_of(e: Estimate) -> float | None:
    """Return log2 of a value over no difference: of a ratio 1, else what chance gives."""
    if e.value is None:
        return None
    if e.statistic == "ratio":
        none = 1.0
    elif e.null is not None and e.null.value > 0:
        none = e.null.value
    else:
        return None
    # Nothing at all has the deepest colour, as its logarithm has no end.
    return math.log2(e.value / none) if e.value > 0 else -64.0


def _cell(view: View, declared: Declared, e: Estimate) -> panels.Cell:
    row = short(LINE.join(filter(None, (part(view, e, name) for name in declared.rows))), 40)
    column = [
        ", ".join(map(column_label, e.group.values())) if name == "group" else part(view, e, name)
        for name in declared.columns
    ]
    if e.value is None:
        text = " "
    elif e.statistic in SHARES:
        text = "<1 %" if 0 < e.value < 0.005 else f"{100 * e.value:.0f} %"
    else:
        text = fmt.number(e.value, form_of(e))
    look = "undefined" if e.value is None else "sure" if _differs(e) else "unsure"
    return panels.Cell(row=row, column=", ".join(column), text=text, tip=tip(view, e),
                       lean=lean_of(e) or 0.0, look=look)  # fmt: skip


def _differs(e: Estimate) -> bool:
    """Whether a value is told from its null; without a test, whether it lies outside its range."""
    if e.tests or e.value is None or e.null is None:
        return is_sure(e)
    return not e.null.low <= e.value <= e.null.high


def table(view: View, declared: Declared, rows: Rows) -> Figure:
    """Return estimates as a table: the surest first, then those furthest from their null."""

    def key(e: Estimate) -> tuple[float, bool, float]:
        q = q_of(e)
        return (1.0 if q is None else q), not _differs(e), -abs(lean_of(e) or 0.0)

    rows = sorted(rows, key=key)
    component = described(rows[0].measure)
    name = rows[0].measure
    words = component.summary if component is not None else f"{len(rows):,} estimates of {name}."
    if all(e.value is None for e in rows):
        words = (
            f"Nothing could be measured: {short(rows[0].undefined or 'no reason is kept', 200)}."
        )
    figure = figure_of(view, declared, rows, words)
    if component is None:
        return replace(figure, note="This measure has no chart of its own.")
    return figure if declared.note else replace(figure, note=component.reading)


def reading(view: View, valued: Rows) -> str:
    """Return how many values differ from no difference, and which stands furthest."""
    valued = view.only_main(valued) or valued
    if not any(e.tests or e.null for e in valued):
        # Values of several places do not go into one sentence.
        place = place_words(valued[0])
        first = [e for e in valued if place_words(e) == place]
        largest = sorted(first, key=lambda e: -(e.value or 0.0))[:4]
        words = [f"{group_label(e.group)} {fmt.number(e.value, form_of(e))}" for e in largest]
        return f"{f'{place}: ' if place else ''}{fmt.listed(words)}."
    sure = [e for e in valued if _differs(e)]
    none = _none(valued) if any(e.tests for e in valued) else "what chance gives"
    counted = fmt.plural(len(valued), "value")
    if not sure:
        return f"None of {counted} can be told from {none}."
    # Only what is told from its null is named: the furthest of all is often the rarest group.
    is_share = all(e.statistic not in STATISTICS for e in sure)
    far = max(sure, key=lambda e: abs(lean_of(e) or 0.0) if is_share else distance(e))
    place = place_words(far, "in ")
    bounds = fmt.interval(far.interval, form_of(far))
    return (
        f"{len(sure)} of {counted} can be told from {none}; furthest stands "
        f"{group_words(far.group)}{f' {place}' if place else ''} at "
        f"{fmt.number(far.value, form_of(far))}{f' ({bounds})' if far.interval else ''}."
    )

"""Panels: dots with their interval, chance and published values; the pieces that figures share."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from portrayal.records import Estimate
from portrayal.report.figures.figure import Published, Spec, chart, facts, tooltip
from portrayal.report.formats import short
from portrayal.report.view import View, is_sure

INK = "#222222"
DIVERGING = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"]
OWN = "portrayal.report.figures"
CONFIG = chart(OWN, "config")
"""How every chart looks."""
FONT: str = CONFIG["font"]
"""Charts are measured by the metrics of Arial, which Liberation Sans shares."""

_LETTER = 8
"""Width of a letter of a title, in pixels, about."""
_LABEL = "datum.value < 1 ? '1/' + format(1 / datum.value, 'd') : format(datum.value, ',d')"


def in_lines(title: str, width: float) -> str | list[str]:
    """Return the title of a panel in as many lines as its width, in pixels, takes.

    >>> in_lines("Faith, by the column of labels", 160), in_lines("Faith", 160)
    (['Faith, by the column', 'of labels'], 'Faith')
    """
    # Vega-Lite breaks no titles by itself.
    lines = wrap(title, int(width / _LETTER), break_on_hyphens=False)
    return lines if len(lines) > 1 else title


def reach(values: Iterable[float | None], least: float = 4.0, most: float = 64.0) -> float:
    """Return how far a log axis around 1 must reach to hold `values`, as a factor."""
    # Zeros and infinite ratios are drawn at the edge, and must not stretch the axis.
    distances = [abs(math.log(v)) for v in values if v and 0 < v < math.inf]
    return min(most, max(least, math.exp(max(distances, default=0.0)) * 1.15))


def log_scale(factor: float) -> Spec:
    """Return a log scale from 1/factor to factor; what lies outside is drawn at the edge."""
    return {"type": "log", "domain": [1 / factor, factor], "clamp": True, "nice": False}


def log_axis(factor: float, **more: Any) -> Spec:
    """Return an axis of powers for `log_scale`, labelled "1/4", "1", "4"."""
    # A few ticks at any reach: powers of 2, of 4, else of 10.
    step = 2.0 if factor <= 5 else 4.0 if factor <= 70 else 10.0
    powers = int(math.log(factor * 1.0001) / math.log(step))
    values = [step**k for k in range(-powers, powers + 1)]
    return {"values": values, "labelExpr": _LABEL, "grid": True, "gridColor": "#eeeeee", **more}


def channel(field: str, scale: Spec, axis: Spec, title: str | None = None) -> Spec:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "scale": scale, "axis": axis, "title": title}


def log_channel(field: str, factor: float, title: str | None = None) -> Spec:
    """Return the channel of `field` on the log axis from 1/factor to factor."""
    return channel(field, log_scale(factor), log_axis(factor, title=title), title)


def likelihood_channel(field: str, title: str | None = None, margin: float = 0.0) -> Spec:
    """Return the channel of `field`, a likelihood in 0–1, with room at both ends."""
    scale = {"domain": [-margin, 1 + margin], "nice": False}
    return channel(field, scale, {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}, title)


def kept(mark: Spec, test: str, encoding: Spec) -> Spec:
    """Return a layer that draws the data for which `test` holds."""
    return {"transform": [{"filter": test}], "mark": mark, "encoding": encoding}


def within(value: float | None, factor: float) -> float | None:
    """Return a bound moved to the edge of the axis where it lies outside; None where unknown."""
    if value is None or math.isnan(value):
        return None
    return min(max(value, 1 / factor), factor)


def multiples(n: int, height: int) -> tuple[int, tuple[int, int]]:
    """Return columns and panel size (width, height) for `n` small multiples."""
    # Rows as full as can be: five panels are three and two, not four and one.
    columns = {1: 1, 2: 2, 3: 3, 5: 3, 6: 3}.get(n, 4)
    width = {1: 520, 2: 345, 3: 222}.get(columns, 158)
    return columns, (width, height if columns > 2 else round(height * 1.4))


def rule_at(channel: str, value: float = 1) -> Spec:
    """Return the dashed line at the point of no difference."""
    return {
        "data": {"values": [{"line": value}]},
        "mark": {"type": "rule", "color": "#777777", "strokeDash": [3, 3], "strokeWidth": 1},
        "encoding": {channel: {"field": "line", "type": "quantitative"}},
    }


def tiled(charts: Sequence[Spec], columns: int = 1, spacing: float = 22) -> Spec:
    """Return charts in columns."""
    return {"concat": list(charts), "columns": columns, "spacing": spacing}


Datum = dict[str, Any]
"""A mark: `v` a value with `lo`–`hi` (`al`, `ah`: it goes on) and null `nl`–`nh`, `s` where it can
be told from its null, `u` where it is undefined; `o` the value of a model `m`; `b` a second value;
`p` a published tick; `d` a published dot with `pl`–`ph`."""

LINE = " · "
"""What the label of a row of two lines breaks at."""
SHAPES = ("circle", "square", "cross", "diamond", "triangle-up", "triangle-down")
_LITTLE = ("model", "domain", "group", "value", "ci", "n", "k")
"""What a tooltip shows of a model that is not the main one."""
_TIGHT = 20
"""Height of a row, in pixels, below which dots are small."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis of a panel.

    Attributes
    ----------
    title
        Its title.
    factor
        Reach of a log axis around 1; None for a linear axis.
    form
        Number format of a linear axis' labels; "points" for differences of shares.
    zero
        Whether a linear axis holds 0.
    line
        Where a dashed line marks no difference; a log axis has it at 1.
    """

    title: str | None
    factor: float | None = None
    form: str = ""
    zero: bool = False
    line: float | None = None

    def place(self, value: float | None) -> float | None:
        """Return where a value stands: within a log axis; None where it is not known."""
        if self.factor is not None:
            return within(value, self.factor)
        return value if value is not None and math.isfinite(value) else None

    def channel(self, field: str) -> Spec:
        """Return the channel of a field on this axis."""
        if self.factor is not None:
            return log_channel(field, self.factor, self.title)
        axis = {"grid": True, "gridColor": "#eeeeee", "tickCount": 5, "labelOverlap": True}
        if (
            self.form == "points"
        ):  # a share's, without a sign that would make it a change in per cent
            axis["labelExpr"] = "format(100 * datum.value, '+.0f')"
        elif self.form:
            axis["format"] = self.form
        return channel(field, {"zero": self.zero, "nice": True}, axis, self.title)


def dot(view: View, e: Estimate, row: str, colour: str, axis: Axis, *, times: float = 1.0) -> Datum:
    """Return the datum of one estimate: where its dot, interval, null and arrows stand."""
    datum: Datum = {**facts(view, e), "row": row, "c": colour, "s": is_sure(e)}
    if e.value is None:
        return datum | {"u": "undefined"}
    datum["v"] = axis.place(times * e.value)
    bounds, null, factor = e.interval, e.null, axis.factor
    if bounds is not None:
        datum |= {"lo": axis.place(times * bounds.low), "hi": axis.place(times * bounds.high)}
        if factor is not None:
            # Arrows where an interval goes on beyond the axis.
            datum |= {"al": bounds.low < 1 / factor or None, "ah": bounds.high > factor or None}
    if null is not None and not math.isnan(null.low):
        datum |= {"nl": axis.place(times * null.low), "nh": axis.place(times * null.high)}
    return datum


def dot_by_model(view: View, e: Estimate, row: str, colour: str, axis: Axis) -> Datum:
    """Return the datum of an estimate; of another model than the main one, a small mark."""
    model = e.strata.get("model", view.main)
    if model == view.main:
        return dot(view, e, row, colour, axis)
    words = facts(view, e)
    # Test and null are left out of small marks, of which a page has very many.
    few = {name: words[name] for name in _LITTLE if name in words}
    return few | {"row": row, "c": colour, "m": short(model, 28), "o": axis.place(e.value)}


def published_dot(row: Published, label: str, axis: Axis) -> Datum:
    """Return the datum of one published value, a tick beside the run's."""
    return {**row.facts(), "row": label, "p": axis.place(row.value)}


def panel(
    view: View,
    data: Sequence[Datum],
    rows: Sequence[str],
    axis: Axis,
    *,
    size: tuple[float, float],
    title: str = "",
    groups: Sequence[str] = (),
    labels: bool = True,
    label_limit: float = 330,
    two_lines: bool = False,
    more: Mapping[str, str] | None = None,
) -> Spec:
    """Return one panel of dots, with the layers that some datum needs.

    Parameters
    ----------
    view
        The report's view.
    data
        What `dot` and its siblings return.
    rows, axis
        Labels of the rows in order, and the axis.
    size
        Width of the panel and height of a row, in pixels.
    title
        Heading.
    groups
        Places within a row, the field `g` of the data; none for one place.
    labels, label_limit, two_lines
        Whether rows are labelled, how wide, and whether labels break at `LINE`.
    more
        Titles of further facts in the tooltip, with their fields.
    """
    several = len(groups) > 1
    padding = 6 if several else 12
    of_rows = {"rows": list(rows), "labels": labels, "limit": label_limit, "padding": padding}
    y: Spec = {"y": chart(OWN, "rows", **of_rows)}
    if two_lines:
        y["y"]["axis"] |= {"labelExpr": f"split(datum.label, '{LINE}')", "labelOffset": -7}
    if several:
        y["yOffset"] = {"field": "g", "type": "nominal", "scale": {"domain": list(groups)}}
    names = [short(model, 28) for model in view.models]
    # More models than shapes: one shape for all, and no key to tell them by.
    shapes = SHAPES if len(names) <= len(SHAPES) else ("circle",)
    legend = {"title": None, "orient": "top", "symbolStrokeColor": "#444444"}
    shape = chart(
        OWN,
        "models",
        labels=names,
        shapes=[*shapes] * (1 + len(names) // len(shapes)),
        legend=legend if len(names) <= len(SHAPES) else None,
    )
    # A ratio without a difference is 1, wherever it stands.
    line = 1.0 if axis.factor is not None else axis.line
    marks = chart(
        OWN,
        "dots",
        **{name: axis.channel(name) for name in ("nl", "pl", "d", "p", "o", "lo", "hi", "b", "v")},
        line=line,
        shape=shape,
        size=85.0 if size[1] >= _TIGHT and not several else 62.0,
    )
    # The layers of those marks that some datum has, from back to front.
    present = {name for datum in data for name, value in datum.items() if value is not None}
    shared = {**y, "tooltip": tooltip(**(more or {}))}
    layers = []
    for name, layer in marks.items():
        if name == "line" and line is not None:
            layers.append(rule_at("x", line))
        # A layer without data still costs room in every panel.
        elif name in present:
            encoding = {**shared, **layer["encoding"]}
            layers.append(kept(layer["mark"], f"isValid(datum.{name})", encoding))
    return {
        **({"title": {"text": in_lines(title, max(size[0], 420))}} if title else {}),
        "data": {"values": list(data)},
        "width": size[0],
        "height": {"step": size[1], **({"for": "position"} if several else {})},
        "layer": layers,
    }


def legend(
    view: View, null: str, *, none: str = "1", published: str = ""
) -> tuple[tuple[str, str], ...]:
    """Return what each mark of such a chart is, for the key under it.

    `null` says what the band is, `none` the value without a difference, `published` what ticks are.
    """
    main = view.called(view.main)
    return (
        ("dot", f"{main}, with its interval: can be told from {none}"),
        ("ring", f"{main}: cannot be told from {none}"),
        *((("small", "each model"),) if len(view.models) > 1 else ()),
        ("band", null),
        *((("tick", published),) if published else ()),
    )

"""Parts: pieces of Vega-Lite that several figures share."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from portrayal.report.figures.figure import Spec

INK, SOFT, FAINT = "#222222", "#5f5f5f", "#e8e8e8"
PUBLISHED = "#8f8f8f"
BAND = "#dce6ee"
IS_PUBLISHED = "indexof(datum.label, '(paper)') > 0"
"""Whether the label of a row is that of published values."""
DIVERGING = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"]
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
"""Charts are measured by the metrics of Arial, which Liberation Sans shares."""

CONFIG: Spec = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "domain": False,
        "ticks": False,
        "grid": False,
        "labelColor": "#333333",
        "labelFontSize": 12.5,
        "labelPadding": 6,
        "titleColor": SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {
        "aria": False,
        "labelFontSize": 12.5,
        "labelColor": "#333333",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleColor": SOFT,
        "titleLimit": 520,
    },
    "title": {
        "aria": False,
        "anchor": "start",
        "frame": "group",
        "fontSize": 14,
        "fontWeight": 600,
        "color": INK,
        "offset": 8,
        "limit": 420,
    },
    "concat": {"spacing": 18},
}

_LABEL = "datum.value < 1 ? '1/' + format(1 / datum.value, 'd') : format(datum.value, ',d')"


def reach(values: Iterable[float | None], least: float = 4.0, most: float = 64.0) -> float:
    """Return how far a log axis around 1 must reach to hold `values`, as a factor."""
    found = [abs(math.log(v)) for v in values if v and 0 < v < math.inf]
    return min(most, max(least, math.exp(max(found, default=0.0)) * 1.15))


def log_scale(factor: float) -> Spec:
    """Return a log scale from 1/factor to factor; what lies outside is drawn at the edge."""
    return {"type": "log", "domain": [1 / factor, factor], "clamp": True, "nice": False}


def log_axis(factor: float, **more: Any) -> Spec:
    """Return an axis of powers for `log_scale`, labelled "1/4", "1", "4"."""
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

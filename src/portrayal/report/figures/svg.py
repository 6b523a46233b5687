"""SVG: panels of marks as small pictures that stand alone, without a chart engine.

Charts are drawn when the report is written. What a mark says when it is pointed at is its title,
which every browser shows. Numbers are pixels, rounded to tenths.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Any

from portrayal.shown import visible

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"
INK, SOFT, GRID, BAND = "#222222", "#5f5f5f", "#eeeeee", "#dce6ee"
LINE = " · "
"""Where the label of a row breaks into two lines."""

# Widths of Arial's letters, in ems, by groups of like width.
_WIDTHS = {
    letter: width
    for letters, width in (
        ("ijl'|", 0.22),
        ("ft.,:;! I/()[]·", 0.28),
        ("r-“”", 0.34),
        ("ckJsvxyz", 0.5),
        ("FTZ", 0.61),
        ("ABEKPSVXY&", 0.67),
        ("CDHNRUw", 0.72),
        ("GOQ", 0.78),
        ("mM%W…", 0.86),
    )
    for letter in letters
}


def text_width(text: str, size: float) -> float:
    """Return the width of a text in pixels, about, in the widest of usual fonts (DejaVu Sans)."""
    return 1.13 * size * sum(_WIDTHS.get(letter, 0.56) for letter in text)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def element(tag: str, text: str = "", **attributes: Any) -> str:
    """Return an SVG element; `_` in names of attributes stands for a hyphen.

    >>> element("line", x1=0, x2=2.55, stroke_width=2)
    '<line x1="0" x2="2.5" stroke-width="2"/>'
    """
    written = "".join(
        f' {name.replace("_", "-")}="'
        f'{_number(value) if isinstance(value, float | int) else escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    inner = escape(visible(text))
    return f"<{tag}{written}>{inner}</{tag}>" if inner else f"<{tag}{written}/>"


def words(x: float, y: float, text: str, size: float = 12.5, colour: str = INK, **more: Any) -> str:
    """Return a line of text; `anchor` is "start", "middle" or "end"."""
    anchor = more.pop("anchor", "start")
    return element("text", text, x=x, y=y, font_size=size, fill=colour, text_anchor=anchor, **more)


def dot(x: float, y: float, size: float, fill: str, stroke: str, **more: Any) -> str:
    """Return a round mark of a radius."""
    width = more.pop("stroke_width", 2)
    return element("circle", cx=x, cy=y, r=size, fill=fill, stroke=stroke, stroke_width=width)


def rule(
    x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 2.0, **more: Any
) -> str:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=width, **more)


def box(x: float, y: float, width: float, height: float, **look: Any) -> str:
    """Return a rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, **look)


def path(points: Sequence[tuple[float, float]], **look: Any) -> str:
    """Return a line through points, or an area where `fill` is given."""
    steps = "L".join(f"{_number(x)},{_number(y)}" for x, y in points)
    return element("path", d=f"M {steps}", **({"fill": "none"} | look))


@dataclass(frozen=True)
class Panel:
    """A drawing with its size in pixels."""

    body: str
    width: float
    height: float

    @property
    def image(self) -> str:
        """The panel as an SVG file."""
        width, height = _number(self.width + 8), _number(self.height + 8)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="-4 -4 {width} {height}" font-family="{FONT}">{self.body}</svg>'
        )


def tiled(panels: Sequence[Panel], columns: int = 1, gap: float = 22.0) -> Panel:
    """Return panels in rows of so many, each column as wide as its widest panel."""
    columns = max(min(columns, len(panels)), 1)
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    widths = [max(p.width for p in panels[i::columns]) for i in range(columns)]
    parts, y = [], 0.0
    for row in rows:
        x, deepest = 0.0, max(panel.height for panel in row)
        for panel, width in zip(row, widths, strict=False):
            # Titles may differ in lines, so what stands below them is aligned.
            place = f"translate({_number(x)},{_number(y + deepest - panel.height)})"
            parts.append(f'<g transform="{place}">{panel.body}</g>')
            x += width + gap
        y += deepest + gap
    return Panel("".join(parts), sum(widths) + gap * (columns - 1), max(y - gap, 0.0))


def headed(panel: Panel, title: str, indent: float) -> Panel:
    """Return a panel under its title, in as many lines as its width takes."""
    if not title:
        return panel
    size = 14.0
    letters = max(int(max(panel.width - indent, 200.0) / (0.58 * size)), 8)
    lines = wrap(title, letters, break_on_hyphens=False)
    text = "".join(
        words(indent, size * (0.9 + 1.25 * i), line, size, font_weight=600)
        for i, line in enumerate(lines)
    )
    height = 1.25 * size * len(lines) + 6
    body = f'{text}<g transform="translate(0,{_number(height)})">{panel.body}</g>'
    return Panel(body, panel.width, panel.height + height)


def reach(values: Iterable[float | None]) -> float:
    """Return how far a log axis around 1 must reach to hold `values`, as a factor."""
    # Zeros and infinite ratios are drawn at the edge, and must not stretch the axis.
    logs = [abs(math.log2(x)) for x in values if x and 0 < x < math.inf]
    return float(min(max(2.0 ** math.ceil(1.15 * max(logs, default=0.0)), 4.0), 64.0))


@dataclass(frozen=True)
class Axis:
    """An axis: its title, ends and ticks, and where a dashed line marks no difference."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False
    line: float | None = None
    label: Callable[[float], str] = field(default=lambda value: f"{value:g}".replace("-", "−"))

    @classmethod
    def ratio(cls, values: Iterable[float | None], title: str) -> "Axis":
        """Return a log axis around 1 that holds values, as far as 64 times."""
        factor = reach(values)
        base = 2 if factor <= 4 else 4
        steps = range(1, 1 + int(math.log(factor * 1.001, base)))
        ticks = (*(base**-k for k in reversed(steps)), 1.0, *(float(base**k) for k in steps))

        def label(value: float) -> str:
            return f"1/{round(1 / value):,}" if value < 1 else f"{value:,.0f}"

        return cls(title, 1 / factor, factor, ticks, log=True, line=1.0, label=label)

    @classmethod
    def linear(
        cls,
        values: Iterable[float | None],
        title: str,
        form: str = "",
        line: float | None = None,
        zero: bool = False,
    ) -> "Axis":
        """Return an axis that holds values, and 0 or the line where these are asked for.

        `form` is "share" (labels in per cent), "points" (with their sign) or "".
        """
        finite = [x for x in values if x is not None and math.isfinite(x)]
        finite += [0.0] * zero + ([] if line is None else [line])
        low, high = min(finite, default=0.0), max(finite, default=1.0)
        low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
        step = 10.0 ** math.floor(math.log10((high - low) / 2.0))
        step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= 5)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        ticks = tuple(step * k for k in range(first, last + 1))

        def label(value: float) -> str:
            scaled = value * 100 if form in ("share", "points") else value
            sign = "+" if form == "points" and abs(value) > step / 2 else ""
            text = f"{round(scaled, 9):{sign}{',' if abs(scaled) >= 1000 else ''}g}"
            return text.replace("-", "−") + (" %" if form == "share" else "")

        return cls(title, first * step, last * step, ticks, line=line, label=label)

    def holds(self, value: float | None) -> bool:
        """Whether a value has a place: on a log axis also 0 and ∞, at its ends."""
        return value is not None and not math.isnan(value) and (self.log or math.isfinite(value))

    def place(self, value: float, length: float) -> float:
        """Return how far along an axis of this length a value stands."""
        if self.log:
            value = min(max(value, self.low), self.high)
            return length * math.log(value / self.low) / math.log(self.high / self.low)
        return length * (value - self.low) / (self.high - self.low)

    def below(self, width: float, base: float) -> str:
        """Return the axis under a field of this width and height.

        That is grid lines, labels, title, and the line of no difference.
        """
        occupied, parts = -math.inf, []
        for tick in self.ticks:
            x, text = self.place(tick, width), self.label(tick)
            parts.append(rule(x, 0, x, base, GRID, 1))
            half = text_width(text, 12.0) / 2
            # Labels that would touch are left out, as their grid lines stand.
            if x - half > occupied + 9:
                parts.append(words(x, base + 17, text, 12.0, "#333333", anchor="middle"))
                occupied = x + half
        if self.line is not None:
            x = self.place(self.line, width)
            parts.append(rule(x, 0, x, base, "#777777", 1, stroke_dasharray="3,3"))
        if self.title:
            parts.append(words(width / 2, base + 34, self.title, 12.0, SOFT, anchor="middle"))
        return "".join(parts)

    @property
    def depth(self) -> float:
        """Height that `below` takes under the field."""
        return 40.0 if self.title else 24.0

"""Panels: estimates as dots with what surrounds them, and as the cells of a heat map."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import portrayal.report.figures.svg as svg
from portrayal.report.figures.svg import BAND, INK, LINE, Axis, Panel, words
from portrayal.report.formats import short

DIVERGING = ((33, 102, 172), (146, 197, 222), (247, 247, 247), (244, 165, 130), (178, 24, 43))
"""Blue, over white, to red: red, green and blue at even steps."""
LIMIT = 320.0
"""Width of the labels of rows at most, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotMark:
    """One value in a row of dots.

    Attributes
    ----------
    row
        Label of its row.
    look
        "dot"; "ring", which cannot be told from its null; "small", of another model; "diamond", as
        read before a correction.
    value, bounds, null
        The value with its interval and null range; None where there is none.
    colour, tip
        Its colour, and what it says when it is pointed at.
    """

    row: str
    look: str
    value: float | None
    colour: str = INK
    tip: str = ""
    bounds: tuple[float, float] | None = None
    null: tuple[float, float] | None = None


def dots(
    marks: Sequence[DotMark],
    rows: Sequence[str],
    axis: Axis,
    *,
    width: float,
    height: float = 26.0,
    title: str = "",
    labels: bool = True,
) -> Panel:
    """Return one panel of dots.

    Parameters
    ----------
    marks, rows, axis
        The values, labels of the rows in order, and the axis.
    width, height
        Width of the field and height of a row, in pixels.
    title
        Heading.
    labels
        Whether rows are labelled; a label breaks at `LINE`.
    """
    # Rows that are high enough have labels of two lines.
    parts_of = {row: row.split(LINE)[:2] if height >= 34 else [row] for row in rows}
    lines = {row: [short(x, 48) for x in parts_of[row]] for row in rows} if labels else {}
    widest = max((svg.text_width(x, 12.5) for parts in lines.values() for x in parts), default=0.0)
    indent = min(widest, LIMIT) + 10 if labels else 8.0
    centre = {row: height * (i + 0.5) for i, row in enumerate(rows)}
    bands, fields, body = [], [], []
    for row, parts in lines.items():
        for i, text in enumerate(parts):
            y = centre[row] + 4 + 15 * (i - (len(parts) - 1) / 2)
            bands.append(words(-10, y, text, 12.5, anchor="end"))
    # What lies under is drawn first: other models, then the values that sentences speak of.
    order = ("small", "diamond", "ring", "dot")
    for mark in sorted(marks, key=lambda mark: order.index(mark.look)):
        y = centre[mark.row]
        if mark.null is not None:
            first, last = (axis.place(x, width) for x in mark.null)
            fields.append(svg.box(first, y - 8, max(last - first, 1.0), 16, fill=BAND, rx=1))
        body.append(_drawn(mark, axis, width, y))
    field_height = height * len(rows)
    scale = axis.below(width, field_height)
    inner = "".join(bands) + "".join(fields) + scale + "".join(body)
    drawing = f'<g transform="translate({indent:.0f},0)">{inner}</g>'
    panel = Panel(drawing, indent + width + 10, field_height + axis.depth)
    return svg.headed(panel, title, indent)


def _drawn(mark: DotMark, axis: Axis, width: float, y: float) -> str:
    """One value, with its interval and arrows where this goes on beyond the axis."""
    if not axis.holds(mark.value):
        text = words(3, y + 4, "undefined", 10.5, "#767676", font_style="italic")
        return _tipped(mark.tip, text)
    value = 0.0 if mark.value is None else mark.value
    x, parts = axis.place(value, width), []
    colour = mark.colour
    if mark.bounds is not None:
        low, high = (axis.place(b, width) for b in mark.bounds)
        parts.append(svg.rule(low, y, high, y, colour))
        if axis.log:
            ends = ((mark.bounds[0] < axis.low, low, -1), (mark.bounds[1] > axis.high, high, 1))
            for goes_on, end, way in ends:
                if goes_on:
                    arrow = [(end - 5 * way, y - 4), (end + 2 * way, y), (end - 5 * way, y + 4)]
                    parts.append(svg.path(arrow, fill=colour))
    if mark.look == "diamond":
        corners = [(x, y - 4.2), (x + 4.2, y), (x, y + 4.2), (x - 4.2, y), (x, y - 4.2)]
        parts.append(svg.path(corners, stroke="#b5651d", stroke_width=1.8))
    elif mark.look == "small":
        parts.append(svg.dot(x, y, 3, "none", colour, stroke_width=1.1))
    else:
        parts.append(svg.dot(x, y, 5, "white" if mark.look == "ring" else colour, colour))
    return _tipped(mark.tip, "".join(parts))


def _tipped(tip: str, body: str) -> str:
    return f"<g>{svg.element('title', tip)}{body}</g>" if tip else body


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a heat map.

    Attributes
    ----------
    row, column, text, tip
        Where it stands, what is written in it, and what it says when it is pointed at.
    lean
        log2 of its ratio to no difference.
    look
        "sure", "unsure", which has no colour, or "undefined".
    """

    row: str
    column: str
    text: str
    tip: str = ""
    lean: float = 0.0
    look: str = "unsure"


def heat(
    cells: Sequence[Cell],
    most: tuple[int, int],
    *,
    limit: float,
    title: str = "",
    narrow: float = 57.0,
    labels: bool = True,
) -> Panel:
    """Return one heat map of ratios, diverging at 1 on a log scale.

    Parameters
    ----------
    cells
        What stands in it; rows and columns come in the order of their first cells.
    most
        Rows and columns at most.
    limit
        log2 of the ratio at which the colours end.
    title
        Heading.
    narrow
        Least width of a cell, in pixels; its height is 24, or 19 where there are many rows.
    labels
        Whether rows are labelled.
    """
    row_at, column_at = (
        {name: i for i, name in enumerate(list(dict.fromkeys(names))[:n])}
        for names, n in zip(([c.row for c in cells], [c.column for c in cells]), most, strict=True)
    )
    wide = min(max(narrow, 6.6 * max(map(len, column_at))), 140.0)
    high = 24.0 if len(row_at) <= 14 else 19.0
    texts = [short(row, 40) for row in row_at] if labels else []
    indent = max(svg.text_width(text, 12.5) for text in texts) + 10 if labels else 4.0
    parts = [
        words(indent + wide * (i + 0.5), 12, short(column, int(wide / 5.5)), 12.0, anchor="middle")
        for column, i in column_at.items()
    ]
    for i, text in enumerate(texts):
        parts.append(words(indent - 8, 18 + high * (i + 0.5) + 4, text, 12.5, anchor="end"))
    for cell in cells:
        if cell.row not in row_at or cell.column not in column_at:
            continue
        x, y = indent + wide * column_at[cell.column], 18 + high * row_at[cell.row]
        lean = max(-limit, min(limit, cell.lean))
        colour, ink = "#ededed", "#5c5c5c"
        if cell.look == "sure":
            colour = shade(lean / limit)
            # White letters on the darkest cells, black on all others.
            ink = "white" if abs(lean) > 0.62 * limit else "#1a1a1a"
        border: dict[str, Any] = {"fill": colour, "stroke": "white", "stroke_width": 1.5}
        if cell.look == "undefined":
            border = {"fill": "white", "stroke": "#b5b5b5", "stroke_dasharray": "2,2"}
        text = words(x + wide / 2, y + high / 2 + 4, cell.text, 12.0, ink, anchor="middle")
        parts.append(_tipped(cell.tip, svg.box(x, y, wide, high, **border) + text))
    panel = Panel("".join(parts), indent + wide * len(column_at), 18 + high * len(row_at))
    return svg.headed(panel, title, indent)


def shade(share: float) -> str:
    """Return a colour of the diverging scale, from -1 (blue) to 1 (red).

    >>> shade(0.0), shade(1.0)
    ('#f7f7f7', '#b2182b')
    """
    position = (share + 1.0) / 2.0 * (len(DIVERGING) - 1)
    i = min(int(position), len(DIVERGING) - 2)
    mixed = [
        a + (b - a) * (position - i) for a, b in zip(DIVERGING[i], DIVERGING[i + 1], strict=True)
    ]
    return "#" + "".join(f"{round(x):02x}" for x in mixed)


def scale(limit: float, title: str) -> Panel:
    """Return the key of the colours of a heat map."""
    width, steps, indent = 260.0, 52, 12.0
    parts = [words(indent, 11, title, 12.0, "#5f5f5f")]
    for i in range(steps):
        colour = shade(2 * (i + 0.5) / steps - 1)
        parts.append(svg.box(indent + width / steps * i, 18, width / steps + 0.3, 9, fill=colour))
    for lean in (-limit, -limit / 2, 0.0, limit / 2, limit):
        text = f"{'1/' if lean < 0 else ''}{2 ** abs(lean):.3g}"
        x = indent + width * (lean / limit + 1) / 2
        parts.append(words(x, 40, text, 11.5, "#333333", anchor="middle"))
    return Panel("".join(parts), indent + width + 20, 46)

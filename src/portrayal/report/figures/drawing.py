"""Drawing: a Vega-Lite specification as a small SVG that stands alone, once wide and once narrow.

Charts are drawn when the report is written, so the page carries no chart engine: only marks, with
what a mark says when it is pointed at (its tooltip) as its title. For a phone, any specification is
laid out again: one panel under the other, labels above their rows.
"""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from portrayal.errors import PortrayalError
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import CONFIG, FONT, in_lines
from portrayal.report.formats import script_json

PHONE = 340
"""Width of a chart on a phone, in pixels."""
_LABEL, _CELL, _LABELS = 17, 44, 92
"""Height of a label above its row; width of a cell below which its text is small; width of the
labels beside cells. In pixels."""
_SMALL, _TINY = 175, 130
"""Width of small panels of which two stand side by side, before and after."""


def narrow(spec: Spec) -> Spec:
    """Return a specification no wider than a phone; the given one is left as it is.

    Examples
    --------
    >>> narrow({"hconcat": [{"mark": "bar", "width": 500}, {"mark": "bar", "width": 300}]})
    {'vconcat': [{'mark': 'bar', 'width': 300}, {'mark': 'bar', 'width': 300}], 'spacing': 16}
    """
    for kind in ("concat", "hconcat", "vconcat"):
        if kind in spec:
            own = {k: v for k, v in spec.items() if k not in (kind, "columns", "spacing")}
            panels = [narrow(panel) for panel in spec[kind]]
            sizes = [panel.get("width") if "height" in panel else None for panel in spec[kind]]
            fits = all(isinstance(size, int | float) and size < _SMALL for size in sizes)
            if kind == "concat" and fits:
                small = [_titled(panel, _TINY) | {"width": _TINY} for panel in panels]
                return own | {"concat": small, "columns": 2, "spacing": 16}
            return own | {"vconcat": panels, "spacing": 16}
    y = next((e["y"] for e in _encodings(spec) if e.get("y", {}).get("type") == "nominal"), None)
    if y is None:
        width = spec.get("width")
        cap = {"width": min(width, PHONE - 40)} if isinstance(width, int | float) else {}
        return _titled(spec, PHONE - 40) | cap
    x = next((e["x"] for e in _encodings(spec) if e.get("x", {}).get("type") == "nominal"), None)
    if x is None:
        return _rows(_titled(spec, PHONE - 20))
    return _cells(_titled(spec, PHONE - _LABELS), len(x["scale"]["domain"]))


def _titled(spec: Spec, width: float) -> Spec:
    """A panel whose title stands in lines of this width."""
    title = spec.get("title") or ""
    whole = title if isinstance(title, dict) else {"text": title}
    words = whole["text"] if isinstance(whole["text"], str) else " ".join(whole["text"])
    return spec | {"title": whole | {"text": in_lines(words, width)}} if words else spec


def _encodings(spec: Spec) -> list[Spec]:
    return [part["encoding"] for part in (spec, *spec.get("layer", ())) if "encoding" in part]


def _changed(spec: Spec, channel: str, change: Any) -> Spec:
    """The specification with a nominal channel of it and its layers changed."""

    def one(part: Spec) -> Spec:
        encoding = part.get("encoding", {})
        if encoding.get(channel, {}).get("type") != "nominal":
            return part
        return part | {"encoding": encoding | {channel: change(encoding[channel])}}

    found = one(spec)
    return found | ({"layer": [one(part) for part in spec["layer"]]} if "layer" in spec else {})


def _rows(spec: Spec) -> Spec:
    """Rows of dots or bars over the whole width, each under its label."""
    height = spec.get("height")
    step = float(height["step"]) if isinstance(height, dict) else 20.0
    several = any("yOffset" in e for e in _encodings(spec))
    above = {
        "labels": True,
        "labelAlign": "left",
        "labelPadding": -2,
        "labelLimit": PHONE - 40,
        "labelOffset": -(step / 2 + 5) if several else -(step / 2 + 1),
        "labelFontSize": 12,
    }

    def change(y: Spec) -> Spec:
        axis = {k: v for k, v in (y.get("axis") or {}).items() if k != "labelExpr"}
        scale = dict(y.get("scale") or {})
        if several:
            scale |= {"paddingInner": _LABEL / (step + _LABEL), "paddingOuter": 0.5}
        return y | {"axis": axis | above, "scale": scale}

    more = {"for": "position"} if several else {}
    found = _changed(spec, "y", change)
    if not several and "layer" in found:
        y = next(e["y"] for e in _encodings(found) if e.get("y", {}).get("type") == "nominal")
        # Bars leave room for the label above them, and so does the line of no difference.
        for i, part in enumerate(found["layer"]):
            mark = part.get("mark")
            is_rule = isinstance(mark, dict) and mark.get("type") == "rule"
            if is_rule and {*part["encoding"]} == {"x"}:
                (line,) = part["data"]["values"]
                ticks = [line | {y["field"]: row} for row in y["scale"]["domain"]]
                short_line = {"type": "tick", "orient": "vertical", "color": mark["color"]}
                found["layer"][i] = {
                    "data": {"values": ticks},
                    "mark": short_line | {"thickness": 1, "size": 0.6 * step, "opacity": 0.7},
                    "encoding": part["encoding"] | {"y": y},
                }
                continue
            band = mark.get("height", {}) if isinstance(mark, dict) else {}
            if isinstance(band, dict) and "band" in band:
                height = {"band": band["band"] * (step / (step + _LABEL))}
                found["layer"][i] = part | {"mark": {**part["mark"], "height": height}}
    return found | {"width": PHONE - 20, "height": {"step": step + _LABEL, **more}}


def _cells(spec: Spec, columns: int) -> Spec:
    """A heatmap whose cells fit, with tilted headings where they are narrow."""
    given = spec["width"]["step"] if isinstance(spec.get("width"), dict) else _CELL
    step = min(given, (PHONE - _LABELS) / max(columns, 1))
    tight = given > 90 and step < given  # cells as wide as long headings
    tilted = {"labelAngle": -50, "labelAlign": "left"} if step < _CELL or tight else {}
    found = _changed(
        spec, "x", lambda x: x | {"axis": (x.get("axis") or {}) | {"labelFontSize": 11} | tilted}
    )
    found = _changed(
        found,
        "y",
        lambda y: (
            y
            | {
                "axis": (y.get("axis") or {})
                | {"labels": True, "labelLimit": _LABELS - 8, "labelFontSize": 11}
                | {"labelExpr": "replace(datum.label, ' (paper)', '')"}
            }
        ),
    )
    if step < _CELL:
        size = 10 if step > 32 else 9
        found["layer"] = [
            part | {"mark": part["mark"] | {"fontSize": size}}
            if isinstance(part.get("mark"), dict) and part["mark"].get("type") == "text"
            else part
            for part in found.get("layer", ())
        ]
    return found | {"width": {"step": step}}


_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("font-family", "pointer-events", "role", "aria-roledescription", "aria-hidden")
_PLACES = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height")
_FACT = re.compile(r"'([^']+)': (datum[^,}]+)")
"""A fact of a tooltip: its title, and where the datum has it."""
_LONG = re.compile(r"(\.\d)\d+")
_NARROW: Spec = {
    "legend": {"titleLimit": PHONE - 20, "labelLimit": 150, "columns": 2},
    "title": {"limit": PHONE - 10},
}


@dataclass(frozen=True)
class Drawing:
    """A chart as two SVG images: for a page, and for a phone, where nothing can be pointed at."""

    wide: str
    narrow: str


def drawings(specs: Mapping[str, Spec]) -> dict[str, Drawing | Exception]:
    """Return the images of charts by key; names inside them begin with it.

    One that is not valid Vega-Lite, or names data elsewhere, is an error in place of its images.

    Raises
    ------
    DrawingError
        When the program that draws them ends before it is done.
    """
    wide = CONFIG | {"background": None, "padding": {"left": 18, "right": 6, "top": 5, "bottom": 5}}
    small = wide | {"padding": 5} | {name: CONFIG[name] | more for name, more in _NARROW.items()}
    texts = []
    for spec in specs.values():
        texts.append(script_json(_told(spec) | {"config": wide}))
        texts.append(script_json(narrow(spec) | {"config": small}))
    images: dict[str, Drawing | Exception] = {}
    for key, *both in zip(specs, *[iter(converted("svg", tuple(texts)))] * 2, strict=True):
        wrong = next((each["error"] for each in both if "error" in each), None)
        images[key] = ValueError(wrong)
        if wrong is None:
            images[key] = Drawing(
                _lean(both[0]["made"], f"{key}-"), _lean(both[1]["made"], f"{key}-n-")
            )
    return images


def _told(part: Any) -> Any:
    """A specification whose marks are described by their tooltips, a line for each fact."""
    if isinstance(part, list):
        return [_told(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {
        name: value if name in ("data", "datasets") else _told(value)
        for name, value in part.items()
        if name != "tooltip"
    }
    facts = _FACT.findall(json.dumps(part.get("tooltip", "")))
    if facts:
        said = (f"(isValid({x}) ? '{title}: ' + {x} + '\\n' : '')" for title, x in facts)
        found["description"] = {"value": {"expr": " + ".join(said)}}
    return found


class DrawingError(PortrayalError):
    """The program that draws charts ended before it was done."""


_DRAW = Path(__file__).with_name("draw.py")
_PATIENCE = 600.0
"""Seconds that the charts of a page may take."""


@lru_cache(maxsize=16)
def converted(kind: Literal["svg", "png"], given: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Return specifications as SVG, or SVG as PNG in base64, as "made" or "error" of each.

    The library that draws ends its process where memory is short, so it has one of its own, one
    for all charts of a page; what was measured before is not lost with it.

    Raises
    ------
    DrawingError
        When that process ends before it is done.
    """
    if not given:
        return ()
    command = [sys.executable, "-P", str(_DRAW)]
    try:
        done = subprocess.run(  # noqa: S603
            command,
            input=json.dumps([kind, given]).encode(),
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DrawingError(f"the program that draws charts did not finish: {error}.") from None
    made = () if done.returncode else tuple(json.loads(done.stdout or b"[]"))
    if len(made) != len(given):
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        raise DrawingError(
            f"the program that draws charts ended by {how}{': ' * bool(said)}{said.rstrip('.')}. "
            "It needs memory of its own (ulimit -v, a container's limit)."
        )
    return made


def _lean(drawn: str, prefix: str) -> str:
    """An image without what does not show, its names its chart's."""
    root = ET.fromstring(drawn)  # noqa: S314
    for element in list(root.iter()):
        for child in list(element):
            if child.get("class") in ("background", "foreground") and not (
                {"fill", "stroke"} & child.attrib.keys()
            ):
                element.remove(child)
        said = element.attrib.pop("aria-label", "")
        if "\n" in said:
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = said.strip()
            element.insert(0, title)
            if element.text:
                title.tail, element.text = element.text, None
        for name in _DROPPED:
            element.attrib.pop(name, None)
        if element.get("opacity") == "1":
            del element.attrib["opacity"]
        if not (element.get("class") or "").startswith("marks"):
            element.attrib.pop("class", None)
        for name, value in element.attrib.items():
            if name in _PLACES:
                element.set(name, _LONG.sub(r"\1", value))
            elif name == "id":
                element.set(name, prefix + value)
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{prefix}"))
    root.set("font-family", FONT)
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")

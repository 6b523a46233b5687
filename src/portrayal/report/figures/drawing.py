"""Drawing: a Vega-Lite specification as a small SVG that stands alone, once wide and once narrow.

Charts are drawn when the report is written, so the page carries no chart engine: only marks, with
what a mark says when it is pointed at (its tooltip) as its title.
"""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from portrayal.report.figures.figure import Spec
from portrayal.report.figures.narrow import PHONE, narrow
from portrayal.report.figures.parts import CONFIG, FONT
from portrayal.report.inert import script_json

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


def drawing(key: str, spec: Spec) -> Drawing:
    """Return the images of a chart; names inside them begin with its key.

    Raises
    ------
    ValueError
        When the specification is not valid Vega-Lite, or names data elsewhere.
    """
    wide = CONFIG | {"background": None, "padding": {"left": 18, "right": 6, "top": 5, "bottom": 5}}
    small = wide | {"padding": 5} | {name: CONFIG[name] | more for name, more in _NARROW.items()}
    return Drawing(
        svg(_told(spec) | {"config": wide}, f"{key}-"),
        svg(narrow(spec) | {"config": small}, f"{key}-n-"),
    )


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


def svg(spec: Spec, prefix: str = "") -> str:
    """Return a specification as an SVG image, without what does not show."""
    return _drawn(script_json(spec), prefix)


@lru_cache(maxsize=256)
def _drawn(spec: str, prefix: str) -> str:
    import vl_convert

    root = ET.fromstring(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))  # noqa: S314
    for parent in list(root.iter()):
        _slim(parent, prefix)
    root.set("font-family", FONT)
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")


def _slim(element: ET.Element, prefix: str) -> None:
    """Leave out what does not show; titles in place of labels, and names that are the chart's."""
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

"""Drawing: a Vega-Lite specification as a small SVG that stands alone.

Charts are drawn when the report is written, so the page carries no chart engine: only marks, with
what a mark says when it is pointed at (its tooltip) as its title. On a phone charts are scrolled.
"""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from portrayal.errors import PortrayalError
from portrayal.report.figures.figure import Spec
from portrayal.report.figures.panels import CONFIG, FONT
from portrayal.report.formats import script_json

_SVG = "http://www.w3.org/2000/svg"
_DROPPED = ("font-family", "pointer-events", "role", "aria-roledescription", "aria-hidden")
_PLACES = ("d", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height")
_FACT = re.compile(r"'([^']+)': (datum[^,}]+)")
"""A fact of a tooltip: its title, and where the datum has it."""
_LONG = re.compile(r"(\.\d)\d+")


def drawings(specs: Mapping[str, Spec]) -> dict[str, str | Exception]:
    """Return the images of charts by key; names inside them begin with it.

    One that is not valid Vega-Lite, or names data elsewhere, is an error in place of its image.

    Raises
    ------
    DrawingError
        When the program that draws them ends before it is done.
    """
    # Room for labels that stand out over the edge of a panel.
    padding = {"left": 18, "right": 6, "top": 5, "bottom": 5}
    config = CONFIG | {"background": None, "padding": padding}
    texts = tuple(script_json(_told(spec) | {"config": config}) for spec in specs.values())
    return {
        key: ValueError(result["error"]) if "error" in result else _lean(result["made"], f"{key}-")
        for key, result in zip(specs, converted("svg", texts), strict=True)
    }


def _told(part: Any) -> Any:
    """A specification whose marks are described by their tooltips, a line for each fact."""
    if isinstance(part, list):
        return [_told(item) for item in part]
    if not isinstance(part, dict):
        return part
    # Tooltips need a script; a description becomes a title, which every browser shows.
    described = {
        name: value if name in ("data", "datasets") else _told(value)
        for name, value in part.items()
        if name != "tooltip"
    }
    facts = _FACT.findall(json.dumps(part.get("tooltip", "")))
    if facts:
        lines = (f"(isValid({x}) ? '{title}: ' + {x} + '\\n' : '')" for title, x in facts)
        described["description"] = {"value": {"expr": " + ".join(lines)}}
    return described


class DrawingError(PortrayalError):
    """The program that draws charts ended before it was done."""


_DRAW = Path(__file__).with_name("draw.py")
_PATIENCE = 600.0
"""Seconds that the charts of a page may take."""


@lru_cache(maxsize=16)
def converted(kind: Literal["svg", "png"], specs: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    """Return specifications as SVG, or SVG as PNG in base64, as "made" or "error" of each.

    The library that draws ends its process where memory is short, so it has one of its own, one
    for all charts of a page; what was measured before is not lost with it.

    Raises
    ------
    DrawingError
        When that process ends before it is done.
    """
    # A short page may have no chart, and then starts no process.
    if not specs:
        return ()
    command = [sys.executable, "-P", str(_DRAW)]
    try:
        process = subprocess.run(  # noqa: S603
            command,
            input=json.dumps([kind, specs]).encode(),
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DrawingError(f"the program that draws charts did not finish: {error}.") from None
    results = () if process.returncode else tuple(json.loads(process.stdout or b"[]"))
    if len(results) != len(specs):
        message = process.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        ending = (
            f"signal {-process.returncode}"
            if process.returncode < 0
            else f"status {process.returncode}"
        )
        ending += f": {message.rstrip('.')}" if message else ""
        raise DrawingError(
            f"the program that draws charts ended by {ending}. "
            "It needs memory of its own (ulimit -v, a container's limit)."
        )
    return results


def _lean(svg: str, prefix: str) -> str:
    """An image without what does not show, its names its chart's."""
    root = ET.fromstring(svg)  # noqa: S314
    for element in list(root.iter()):
        for child in list(element):
            # Empty frames of every panel show nothing, and take room in the page.
            if child.get("class") in ("background", "foreground") and not (
                {"fill", "stroke"} & child.attrib.keys()
            ):
                element.remove(child)
        label = element.attrib.pop("aria-label", "")
        if "\n" in label:
            title = ET.Element(f"{{{_SVG}}}title")
            title.text = label.strip()
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
                # Tenths of a pixel are finer than any screen shows, and keep the page small.
                element.set(name, _LONG.sub(r"\1", value))
            # Several images stand in one page, where a name must be there once.
            elif name == "id":
                element.set(name, prefix + value)
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{prefix}"))
    root.set("font-family", FONT)
    ET.register_namespace("", _SVG)
    return ET.tostring(root, encoding="unicode")

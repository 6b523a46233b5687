"""Inert: ways to put other people's text into a page without any of it taking effect."""

import json
import math
from typing import Any

from portrayal.run.pages import visible

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def script_json(value: Any) -> str:
    """Return compact JSON that is safe inside a `<script>` element; NaN and ±inf become null."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text.encode("utf-8", "replace").decode("utf-8")


def short(text: str, most: int = 60) -> str:
    """Return text for a label: on one line, with an ellipsis beyond `most` characters."""
    line = " ".join(visible(text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_plain(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return _plain(value) if isinstance(value, str) else value


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")

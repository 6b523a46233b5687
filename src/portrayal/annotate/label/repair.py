"""Repair: the fields of a JSON answer, however carelessly it was written.

See `portrayal.collect.lenient` for what is read; here objects become flat fields.
"""

import re
from typing import Any

from portrayal.collect.lenient import LONGEST, read_objects, read_open

_DEEPEST = 20


def read_fields(reply: str) -> dict[str, Any]:
    """Return the fields of every object in `reply`, the later one where a key comes twice.

    Keys are casefolded words parted by single spaces; the keys of an object inside another follow
    its own ("doctor" → "name" is "doctor name"). Empty where no object was found.
    """
    text = reply[:LONGEST]
    fields: dict[str, Any] = {}
    for found in read_objects(text):
        _flatten(found, "", fields)
    if not fields and ":" in text and "{" not in text:
        _flatten(read_open(text[max(text.find('"'), 0) :]), "", fields)
    return fields


def plain_key(key: str) -> str:
    """Return a key as `read_fields` gives it."""
    return " ".join(re.findall(r"[^\W_]+", key.casefold()))


def _flatten(found: dict[str, Any], before: str, into: dict[str, Any], deep: int = 0) -> None:
    for key, value in found.items():
        name = f"{before} {plain_key(str(key))}".strip()
        if isinstance(value, dict) and deep < _DEEPEST:
            _flatten(value, name, into, deep + 1)
        else:
            into[name] = value

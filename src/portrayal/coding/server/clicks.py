"""Clicks: what the page sends, checked against the codebook before it is written."""

import re
from typing import Any

from portrayal.coding.server.desk import Desk, Reader
from portrayal.coding.store import ABOUT, Click
from portrayal.errors import OptionError

_ID = re.compile(r"[0-9a-f]{16,64}")


def click_of(desk: Desk, reader: Reader, given: dict[str, Any]) -> Click:
    """Return the click that a page sent.

    Raises
    ------
    OptionError
        When it is about a text that the reader does not have, or answers no question of the
        codebook.
    """
    place, about, key = given.get("place"), given.get("about"), given.get("key", "")
    item = desk.item(reader, place) if isinstance(place, int) else None
    if item is None:
        raise OptionError(f"there is no text {place!r} for this rater.")
    if about not in ABOUT or not isinstance(key, str):
        raise OptionError(f"a click is about one of {', '.join(ABOUT)}; got {about!r}.")
    value = given.get("value")
    if value is not None and not isinstance(value, str):
        raise OptionError(f"the value of a click is text or null; got {value!r}.")
    _check_question(desk, about, key, value)
    return Click(undo_of(given), reader.key, item.item_id, about, key, value or None)


def undo_of(given: dict[str, Any]) -> str:
    """Return the identity of what a page sent."""
    found = given.get("click_id")
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise OptionError("click_id is 16 to 64 digits and letters a to f.")
    return found


def _check_question(desk: Desk, about: str, key: str, value: str | None) -> None:
    book = desk.project.codebook
    if about in ("note", "done"):
        known = key == ""
    elif about == "code":
        known = any(code.key == key for code in book.codes)
    else:
        field = next((field for field in book.fields if field.key == key), None)
        known = field is not None
        if field and field.kind == "choice" and value and value not in field.choices:
            raise OptionError(f"{key} is one of {', '.join(field.choices)}; got {value[:60]!r}.")
    if not known:
        raise OptionError(f"the codebook has no {about} {key[:60]!r}.")

"""Cells: what a value of any source says as text, and what says nothing that could be read."""

import math
from collections.abc import Mapping
from typing import Any

from portrayal.errors import DataError

_MANY = (Mapping, list, tuple, set, frozenset, bytes, bytearray, memoryview)


def missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, or NaN as tables write it.

    >>> [missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def story(value: Any, where: str, number: int) -> str | None:
    """Return a text that a model wrote; None where it is missing, NaN included.

    Parameters
    ----------
    value
        What stands in the cell.
    where, number
        File and row, for the error.

    Raises
    ------
    DataError
        When it is no text but a number, a date, bytes, a list or an object.
    """
    if missing(value):
        return None
    if not isinstance(value, str):
        raise _refusal(value, where, number)
    return whole(value)


def label(value: Any, where: str, number: int) -> str | None:
    """Return a name, role or number as text, 1.0 as "1"; None where it is missing, NaN included.

    Parameters
    ----------
    value
        What stands in the cell.
    where, number
        File and row, for the error.

    Raises
    ------
    DataError
        When it is bytes, a list or an object.
    """
    if isinstance(value, str):
        return whole(value)
    if missing(value):
        return None
    if isinstance(value, _MANY):
        raise _refusal(value, where, number)
    is_whole = isinstance(value, float) and value.is_integer()
    return whole(str(int(value) if is_whole else value))


def whole(text: str) -> str:
    """Return text whose halves of characters (lone surrogates) are U+FFFD, so that it has bytes.

    >>> whole("half " + chr(0xD83D)) == "half " + chr(0xFFFD)
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _refusal(value: Any, where: str, number: int) -> DataError:
    kind = type(value).__name__
    return DataError(
        f"{where}: row {number} holds no text but a value of type {kind} ({str(value)[:40]!r}). "
        "Name the column of texts with --column text=NAME, or write the value as text."
    )

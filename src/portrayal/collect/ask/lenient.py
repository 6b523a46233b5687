"""Lenient JSON: what a model wrote as JSON, however carelessly.

Read are code fences, prose around, trailing or missing commas, single and curly quotes, Python's
literals, objects inside objects, several objects, and answers cut off in the middle. Of a string or
a word that was cut off nothing is kept, as half a name is another name. Nothing is executed.
"""

import json
import re
from typing import Any

LONGEST = 100_000
"""Characters of an answer that are read."""

_DEEPEST = 20
_TRIES = 1_000
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NOTHING = ("none", "null", "nan", "undefined")
_SPACE = re.compile(r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/)*", re.S)
_BARE = re.compile(r"[^\s,:\[\]{}()][^,:\[\]{}()\n]*")
_ENDS = re.compile(r"\s*(?:[,:\]})]|$|//|/\*)|\s*\n\s*[\"'“‘`]|\s+[\"“‘`]")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_LOW = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_STRICT = json.JSONDecoder()


def read_objects(reply: str) -> list[dict[str, Any]]:
    """Return the outermost objects of `reply` that hold anything, in their order."""
    text = reply[:LONGEST]
    found: list[dict[str, Any]] = []
    at = text.find("{")
    for _ in range(_TRIES):
        if at < 0:
            break
        try:
            value, end = _STRICT.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = _lenient(text, at)
        if isinstance(value, dict) and value:
            found.append(value)
        at = text.find("{", max(end, at + 1))
    return found


def read_list(text: str) -> list[Any] | None:
    """Return a list written as text, such as "['she', 'her']"; None where it is none."""
    at = text.find("[")
    if at < 0:
        return None
    try:
        found = _Reader(text[:LONGEST], at).value(0)
    except _CutOffError:
        return None
    return found if isinstance(found, list) else None


def read_open(fields: str) -> dict[str, Any]:
    """Return the object whose fields are written without braces around them."""
    return _lenient("{" + fields[:LONGEST], 0)[0]


def _lenient(text: str, at: int) -> tuple[dict[str, Any], int]:
    reader = _Reader(text, at)
    return reader.object(0), reader.at


class _CutOffError(Exception):
    """The answer ends inside a value."""


class _Reader:
    """Reads values from `text`, beginning at `at`; always moves on, so it always ends."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def _next(self) -> str:
        """Skip blanks and comments; return the character that follows, "" at the end."""
        match = _SPACE.match(self.text, self.at)
        assert match is not None  # it matches nothing as well
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self, deep: int) -> Any:
        """Read one value; raise where the text ends inside it."""
        mark = self._next()
        if not mark or deep > _DEEPEST:
            raise _CutOffError
        if mark == "{":
            return self.object(deep + 1)
        if mark in "[(":
            return self._list(deep + 1)
        if mark in _CLOSING:
            return self._string(_CLOSING[mark])
        return self._bare()

    def object(self, deep: int) -> dict[str, Any]:
        """Read an object, or what there is of one that was cut off."""
        found: dict[str, Any] = {}
        self.at += 1
        try:
            while (mark := self._next()) not in ("}", ""):
                if mark in ",:])":
                    self.at += 1
                    continue
                key = self.value(deep)
                if self._next() != ":":
                    continue
                self.at += 1
                if self._next() in (",", "}"):
                    continue
                value = self.value(deep)
                if isinstance(key, str):
                    found[key] = value
            self.at += 1
        except _CutOffError:
            self.at = len(self.text)
        return found

    def _list(self, deep: int) -> list[Any]:
        """Read a list; of one that was cut off, the items before the cut, if any."""
        found: list[Any] = []
        self.at += 1
        try:
            while (mark := self._next()) not in ("]", ")", "}"):
                if mark in (",", ":"):
                    self.at += 1
                    continue
                found.append(self.value(deep))
        except _CutOffError:
            if not found:
                raise
            self.at = len(self.text)
            return found
        self.at += mark != "}"
        return found

    def _string(self, closing: str) -> str:
        """Read a string; a quote inside one does not end it, as in 'O'Brien'."""
        text, parts = self.text, []
        at = self.at + 1
        while at < len(text):
            mark = text[at]
            if mark == "\\" and at + 1 < len(text):
                said, at = self._escape(at + 1)
                parts.append(said)
                continue
            if mark == closing and _ENDS.match(text, at + 1):
                self.at = at + 1
                return "".join(parts)
            parts.append(mark)
            at += 1
        raise _CutOffError

    def _escape(self, at: int) -> tuple[str, int]:
        mark = self.text[at]
        if mark == "u" and (match := _HEX.match(self.text, at + 1)):
            code, low = int(match.group(), 16), _LOW.match(self.text, match.end())
            if 0xD800 <= code < 0xDC00 and low is not None:
                code = 0x10000 + ((code - 0xD800) << 10) + int(low.group(1), 16) - 0xDC00
                return chr(code), low.end()
            return chr(code), match.end()
        return _ESCAPES.get(mark, mark), at + 1

    def _bare(self) -> str | bool | None:
        """Read a word without quotes; one at the very end may be cut off."""
        match = _BARE.match(self.text, self.at)
        if match is None:
            self.at += 1
            return None
        self.at = match.end()
        if self.at == len(self.text):
            raise _CutOffError
        word = match.group().strip()
        plain = word.casefold()
        if plain in _NOTHING:
            return None
        return plain == "true" if plain in ("true", "false") else word

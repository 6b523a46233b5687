"""A TOML file with the line of every key, so that what is wrong is said with file, line and key.

`tomllib` gives the lines of syntax errors only. A file that it has read is walked once more here,
key by key, which needs no grammar of values beyond where they end.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from portrayal.errors import DataError

Key = str | int
Keys = tuple[Key, ...]
"""The way to a value: names of tables and keys, and the places in lists, from 0."""

_AT_LINE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'", re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\n]+")


@dataclass(frozen=True)
class Located:
    """What a TOML file says, and where.

    Attributes
    ----------
    name
        How messages speak of the file.
    table
        Its content.
    """

    name: str
    table: dict[str, Any]
    _text: str = field(repr=False)

    def line(self, keys: Keys) -> int:
        """Return the line of a key, or of what holds it where it is missing; the first line is 1.

        >>> parse_located(chr(10).join(("b = [", "1,", "2]")), "own.toml").line(("b", 1))
        3
        """
        lines = _lines(self._text)
        while keys not in lines:
            keys = keys[:-1]
        return lines[keys]

    def wrong(self, keys: Keys, message: str) -> DataError:
        """Return the error of what stands at `keys`: file, line, key and what was expected.

        >>> str(parse_located("a = 1", "own.toml").wrong(("a",), "expected text; got 1."))
        'own.toml, line 1: a: expected text; got 1.'
        """
        shown = ".".join(str(key) for key in keys if isinstance(key, str))
        at = f"{shown}: " if shown else ""
        return DataError(f"{self.name}, line {self.line(keys)}: {at}{message}")

    def check_keys(self, keys: Keys, known: Collection[str], needed: Collection[str] = ()) -> None:
        """Refuse keys of the table at `keys` that are not known, or lacking ones that are needed.

        Raises
        ------
        DataError
            With the line, and the nearest known key where one is near.
        """
        from difflib import get_close_matches

        table = self.at(keys)
        for key in table:
            if key not in known:
                near = get_close_matches(key, list(known), 1)
                meant = f" Is {near[0]!r} meant?" if near else ""
                expected = ", ".join(known)
                raise self.wrong((*keys, key), f"unknown key; expected one of {expected}.{meant}")
        for key in needed:
            if key not in table:
                raise self.wrong(keys, f"the key {key!r} is missing.")

    def at(self, keys: Keys) -> Any:
        """Return the value at `keys`."""
        value: Any = self.table
        for key in keys:
            value = value[key]
        return value


def read_located(path: Path) -> Located:
    """Read a TOML file.

    Raises
    ------
    DataError
        When it cannot be read or is not TOML, with the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: {error.reason}.") from error
    return parse_located(text, str(path))


def parse_located(text: str, name: str) -> Located:
    """Return what TOML text says; `name` stands for the file in messages.

    Raises
    ------
    DataError
        When it is not TOML, with the line.
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = str(error)
        at = _AT_LINE.search(said)
        line = int(at[1]) if at is not None and at[1] else max(1, len(text.splitlines()))
        raise DataError(f"{name}, line {line}: not TOML: {_AT_LINE.sub('', said)}.") from None
    return Located(name, table, text)


@lru_cache(maxsize=2)
def _lines(text: str) -> dict[Keys, int]:
    """Line of each key; asked for only where something is wrong."""
    found: dict[Keys, int] = {}
    for keys, line in _Walk(text.replace("\r\n", "\n")).lines():
        found.setdefault(keys, line)  # tables may be opened again, further down
    return found


class _Walk:
    """Walks TOML text that is known to be valid, and yields the line of each key and element."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.counted, self.now = text, 0, 0, 1

    def lines(self) -> Iterator[tuple[Keys, int]]:
        yield (), 1
        within: Keys = ()
        lists: dict[Keys, int] = {}
        while self._skip():
            line = self._line()
            if self.text.startswith("[[", self.at):
                self.at += 2
                bare = self._within(self._key(), lists)
                self.at = self.text.index("]]", self.at) + 2
                lists[bare] = lists.get(bare, -1) + 1
                within = (*bare, lists[bare])
            elif self.text[self.at] == "[":
                self.at += 1
                within = self._within(self._key(), lists)
                self.at = self.text.index("]", self.at) + 1
            else:
                yield from self._pair(within)
                continue
            for n in range(1, len(within) + 1):
                yield within[:n], line

    def _within(self, keys: Keys, lists: Mapping[Keys, int]) -> Keys:
        """The way to a table, through the last elements of the lists on it."""
        way: Keys = ()
        for i, key in enumerate(keys):
            way = (*way, key)
            if way in lists and i < len(keys) - 1:
                way = (*way, lists[way])
        return way

    def _pair(self, within: Keys) -> Iterator[tuple[Keys, int]]:
        line = self._line()
        keys = self._key()
        for n in range(1, len(keys) + 1):
            yield (*within, *keys[:n]), line
        self.at = self.text.index("=", self.at) + 1
        yield from self._value((*within, *keys))

    def _key(self) -> Keys:
        parts: list[str] = []
        while True:
            self._skip()
            match = _STRING.match(self.text, self.at) or _BARE.match(self.text, self.at)
            assert match is not None
            self.at = match.end()
            word = match[0]
            parts.append(tomllib.loads(f"k = {word}")["k"] if word[0] in "\"'" else word)
            self._skip()
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def _value(self, keys: Keys) -> Iterator[tuple[Keys, int]]:
        self._skip()
        opening = self.text[self.at]
        if opening not in "[{":
            match = _STRING.match(self.text, self.at) or _PLAIN.match(self.text, self.at)
            assert match is not None
            self.at = match.end()
            return
        self.at += 1
        place = 0
        while self._skip() and self.text[self.at] not in "]}":
            if self.text[self.at] == ",":
                self.at += 1
            elif opening == "{":
                yield from self._pair(keys)
            else:
                yield (*keys, place), self._line()
                yield from self._value((*keys, place))
                place += 1
        self.at += 1

    def _skip(self) -> bool:
        """Pass over white space and comments; whether anything follows."""
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.at < len(self.text)

    def _line(self) -> int:
        self.now += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.now

"""Lexicons: which words tell a group, for counting them in texts.

A *lexicon* lists words and phrases for each group of one attribute. A word may count only where an
occupation follows it ("black teacher", not "black ball"). Lexicons of the user's own come from a
TOML, JSON or CSV file and are checked when they are read.
"""

import csv
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from portrayal.errors import DataError, UnknownNameError
from portrayal.reference.groups import gender_words
from portrayal.reference.shipped import occupations, read_toml

_SHIPPED = ("liang-2022", "race-occupations", "story-list")
_TABLES = {"gender": gender_words}
_KEYS = {"attribute", "groups", "source", "followed_by"}
_EXAMPLE = 'attribute = "age"\n[groups]\nyoung = ["child", "teenager"]\nold = ["pensioner"]'
_HAS_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Lexicon:
    """Words and phrases of each group of one attribute.

    Attributes
    ----------
    name
        Registered name, or the file's name without its ending.
    attribute
        What the groups are groups of: "gender", "race", or the user's own.
    groups
        Labels of the groups, in order.
    words
        Words and phrases of each group, in lower case, aligned with `groups`.
    source
        Paper and table, or the file.
    followed_by
        What must follow a word for it to count, in lower case; None where nothing must.
    """

    name: str
    attribute: str
    groups: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]
    source: str
    followed_by: frozenset[str] | None = None


def lexicons() -> tuple[str, ...]:
    """Return the names of the registered lexicons.

    Examples
    --------
    >>> lexicons()
    ('liang-2022', 'race-occupations', 'story-list')
    """
    return _SHIPPED


def lexicon(spec: str | Path) -> Lexicon:
    """Return a registered lexicon, or read one from a file.

    Parameters
    ----------
    spec
        A name from `lexicons()`, or the path of a TOML or JSON file with `attribute`, `groups` (a
        table of group → list of words) and perhaps `source` and `followed_by` ("occupations" or a
        list of phrases), or of a CSV file with the columns attribute, group and word.

    Raises
    ------
    UnknownNameError
        If `spec` is neither registered nor a file that exists.
    DataError
        If the file is not a lexicon; says what was expected, what came and what to do.

    Examples
    --------
    >>> lexicon("race-occupations").groups
    ('White', 'Black', 'Asian')
    """
    if isinstance(spec, str) and spec in _SHIPPED:
        return _shipped(spec)
    path = Path(spec)
    if not path.is_file():
        raise UnknownNameError(
            f"{str(spec)!r} is neither a registered lexicon ({', '.join(_SHIPPED)}) nor a file "
            "that exists. Name one of them, or give the path of your own TOML, JSON or CSV file."
        )
    return _checked(path.stem, _read(path), str(path))


def people_table(path: str | Path) -> dict[str, str]:
    """Read the user's own table of people: full name → race, as they decided it.

    Parameters
    ----------
    path
        A CSV file with the columns person and race.

    Raises
    ------
    DataError
        If a column or a value is missing, or a person has two races.
    """
    rows = _csv_rows(Path(path), ("person", "race"))
    table: dict[str, str] = {}
    for number, (person, race) in enumerate(rows, start=2):
        if table.setdefault(person, race) != race:
            raise DataError(
                f"{path}, row {number}: {person!r} has the race {race!r} here and "
                f"{table[person]!r} above. Keep one row for each person."
            )
    return table


@lru_cache(maxsize=len(_SHIPPED))
def _shipped(name: str) -> Lexicon:
    content = read_toml(f"lexicons/{name}.toml")
    table = content.pop("words_of", None)
    if table is not None:
        content["groups"] = {group: sorted(words) for group, words in _TABLES[table]().items()}
    return _checked(name, content, f"the lexicon {name}")


def _read(path: Path) -> dict[str, Any]:
    ending = path.suffix.lower()
    if ending == ".csv":
        return _from_rows(path)
    if ending not in (".toml", ".json"):
        raise DataError(f"{path}: a lexicon is a .toml, .json or .csv file; found {ending!r}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = tomllib.loads(text) if ending == ".toml" else json.loads(text)
    except (ValueError, OSError, RecursionError) as error:
        raise DataError(f"{path} cannot be read as {ending[1:].upper()}: {error}.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected a table such as\n{_EXAMPLE}\nfound a list or a value.")
    return content


def _from_rows(path: Path) -> dict[str, Any]:
    groups: dict[str, list[str]] = {}
    attributes: set[str] = set()
    for attribute, group, word in _csv_rows(path, ("attribute", "group", "word")):
        attributes.add(attribute)
        groups.setdefault(group, []).append(word)
    if len(attributes) > 1:
        raise DataError(
            f"{path}: a lexicon has one attribute; found {', '.join(sorted(attributes))}. "
            "Split it into one file for each."
        )
    return {"attribute": next(iter(attributes), ""), "groups": groups}


def _csv_rows(path: Path, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the trimmed values of `columns`; DataError where one is missing."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            found = [name.strip().lower() for name in reader.fieldnames or ()]
            reader.fieldnames = found
            missing = [name for name in columns if name not in found]
            if missing:
                raise DataError(
                    f"{path}: column {missing[0]!r} is missing; found {', '.join(found) or 'none'}."
                    f" The file needs the columns {', '.join(columns)}."
                )
            rows = [tuple((row[name] or "").strip() for name in columns) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read as CSV: {error}.") from error
    for number, row in enumerate(rows, start=2):
        if not all(row):
            raise DataError(f"{path}, row {number}: {columns[row.index('')]!r} is empty.")
    if not rows:
        raise DataError(f"{path} has no rows below its header.")
    return rows


def _checked(name: str, content: Mapping[str, Any], where: str) -> Lexicon:
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        known = ", ".join(sorted(_KEYS))
        raise DataError(f"{where}: unknown entry {unknown[0]!r}; known: {known}.")
    attribute, groups = content.get("attribute"), content.get("groups")
    if not isinstance(attribute, str) or not attribute.strip():
        raise DataError(f'{where}: `attribute` must say what the groups are, such as "gender".')
    if not isinstance(groups, dict) or not groups:
        raise DataError(f"{where}: `groups` must list words for each group, such as\n{_EXAMPLE}")
    words = {group: _words(where, group, listed) for group, listed in groups.items()}
    if len(groups) < 2:
        raise DataError(
            f"{where}: groups are compared with each other, so `groups` must list two or more; "
            f"found {', '.join(groups)} alone."
        )
    seen: dict[str, str] = {}
    for group, listed in words.items():
        for word in listed:
            if seen.setdefault(word, group) != group:
                raise DataError(f"{where}: {word!r} is listed for {seen[word]!r} and {group!r}.")
    return Lexicon(
        name=name,
        attribute=attribute.strip(),
        groups=tuple(words),
        words=tuple(words.values()),
        source=str(content.get("source", where)),
        followed_by=_followed_by(where, content.get("followed_by")),
    )


def _words(where: str, group: str, listed: Any) -> tuple[str, ...]:
    if not isinstance(listed, list) or not listed:
        raise DataError(f"{where}: the group {group!r} needs a list of words; got {listed!r}.")
    return _phrases(f"{where}, group {group!r}", listed)


def _followed_by(where: str, value: Any) -> frozenset[str] | None:
    if value is None:
        return None
    if value == "occupations":
        return occupations()
    if not isinstance(value, list) or not value:
        raise DataError(
            f'{where}: `followed_by` must be "occupations" or a list of phrases; got {value!r}.'
        )
    return frozenset(_phrases(f"{where}, followed_by", value))


def _phrases(where: str, listed: Iterable[Any]) -> tuple[str, ...]:
    for word in listed:
        if not isinstance(word, str) or not _HAS_WORD.search(word):
            raise DataError(f"{where}: expected words or phrases in quotation marks; got {word!r}.")
    return tuple(dict.fromkeys(" ".join(word.casefold().split()) for word in listed))

"""Which columns of a file of names hold names, groups and numbers: given, or seen in the data."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from portrayal.errors import DataError, OptionError
from portrayal.reference.shipped import read_toml

FEW_GROUPS = 40
"""Values that a column of groups has at most, where it is guessed."""


def header_key(label: str) -> str:
    """Return the letters, marks and digits of `label` in any script: NFKC, case folded.

    >>> header_key("Prénom "), header_key("שם פרטי"), header_key("First_Name")
    ('prénom', 'שםפרטי', 'firstname')
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", label).casefold())
    return "".join(c for c in folded if c.isalnum() or unicodedata.category(c)[0] == "M")


def first_of(columns: Iterable[str], headers: Iterable[str]) -> str | None:
    """Return the first column whose header is in `headers`, in the order of `headers`."""
    # Backwards, so that the first of several columns with one key is found.
    by_key = {header_key(column): column for column in reversed(list(columns))}
    return next((by_key[name] for name in headers if name in by_key), None)


@lru_cache(maxsize=1)
def known_headers() -> Mapping[str, tuple[str, ...]]:
    """Return headers of files of names, as `header_key` writes them, by what the column holds."""
    lists = read_toml("name_columns.toml")
    return {role: tuple(map(header_key, headers)) for role, headers in lists.items()}


@dataclass(frozen=True)
class NameColumns:
    """Columns of a file of names; what is None or empty is guessed.

    Attributes
    ----------
    name, count
        Column of the name, and of the number of its bearers.
    group
        Long files (a row for each name and group): columns that say the group, joined by a space.
    groups
        Wide files (a row for each name): one column for each group.
    where
        Column → value, values joined by "|", or a range of numbers "1980-2000": only such rows.
    """

    name: str | None = None
    count: str | None = None
    group: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, pairs: Iterable[str]) -> "NameColumns":
        """Return "FIELD=COLUMN" words as columns; other words than the fields are of `where`.

        Raises
        ------
        OptionError
            When a word is not of that form, or a field is said twice.

        Examples
        --------
        >>> NameColumns.parse(["name=Prénom", "group=Sexe", "year=1980-2000"]).where
        {'year': '1980-2000'}
        """
        cells: dict[str, str] = {}
        for pair in pairs:
            key, sign, value = (part.strip() for part in pair.partition("="))
            if not (sign and key and value):
                raise OptionError(
                    "a column of a file of names is given as FIELD=COLUMN (name=Prénom, group=Sexe,"
                    f" groups=A|B, count=N), and rows as COLUMN=VALUE; got {pair!r}."
                )
            if key in cells:
                raise OptionError(f"{key} is given twice: {cells[key]!r} and {value!r}.")
            cells[key] = value
        several = {
            key: tuple(filter(None, map(str.strip, cells.pop(key, "").split("|"))))
            for key in ("group", "groups")
        }
        if several["group"] and several["groups"]:
            raise OptionError("give either group (a column that says it) or groups (one each).")
        return cls(cells.pop("name", None), cells.pop("count", None), **several, where=cells)

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that is named."""
        single = tuple(column for column in (self.name, self.count) if column)
        return (*single, *self.group, *self.groups, *self.where)


@dataclass(frozen=True)
class ColumnSummary:
    """A column as the data show it.

    Attributes
    ----------
    name
        Its header.
    filled, distinct
        Cells that are not blank, and their distinct values.
    numbers, letters
        Whether nine in ten of them are numbers, and half of them hold letters.
    unlike
        Whether its numbers are neither shares nor counts: years, or ranks.
    """

    name: str
    filled: int
    distinct: int
    numbers: bool
    letters: bool
    unlike: bool

    @property
    def key(self) -> str:
        """Its header without case and signs."""
        return header_key(self.name)


def guess_columns(
    explicit: NameColumns, columns: Iterable[ColumnSummary], file: str
) -> NameColumns:
    """Return `explicit` with the columns that it leaves open, seen in the data.

    The name is under a known header, or else the column of letters with the most values. The group
    of a long file is under a known header, or the only further column of letters with few values;
    a column of sexes is the group where there is no other. Otherwise each further column of numbers
    is a group.

    Raises
    ------
    DataError
        When a named column is missing, or there are no names or no groups.
    """
    summaries = {column.name: column for column in columns}
    for column in explicit.named:
        if column not in summaries:
            raise DataError(
                f"{file}, line 1: expected a column {column!r}, which is named; found "
                f"{', '.join(summaries)}."
            )
    headers = known_headers()
    free = {name: summary for name, summary in summaries.items() if name not in explicit.named}
    letters = [name for name, summary in free.items() if summary.letters]
    # Of the columns of words the names have the most different ones.
    most = max(letters, key=lambda name: free[name].distinct, default=None)
    name = explicit.name or first_of(free, headers["name"]) or most
    # Each column has one role: what is taken as names is no group
    free.pop(name or "", None)
    count = explicit.count or first_of(free, headers["count"])
    free.pop(count or "", None)
    if name is None:
        raise DataError(_expected(file, "a column of names (letters)", summaries))
    group = explicit.group or (() if explicit.groups else _group_of(free, file))
    groups = explicit.groups if explicit.groups or group else _groups_of(free)
    if not group and not groups:
        need = (
            "a column 'name' and either a column that says the group or columns named after races "
            "or other groups, with numbers"
        )
        raise DataError(_expected(file, need, summaries))
    return NameColumns(name, count, group, groups, explicit.where)


def _expected(file: str, need: str, columns: Mapping[str, Any]) -> str:
    return (
        f"{file}, line 1: expected {need}; found {', '.join(columns)}. Name yours: name=COLUMN, "
        "group=COLUMN or groups=A|B; see docs/name-tables.md."
    )


def _group_of(free: Mapping[str, ColumnSummary], file: str) -> tuple[str, ...]:
    """The column that says the group of a row."""
    headers = known_headers()
    few = {name: summary for name, summary in free.items() if summary.distinct <= FEW_GROUPS}
    if column := first_of(few, headers["group"]):
        return (column,)
    barred = {*headers["sex"], *headers["rows"]}
    # A group has several rows: words that hardly come twice say something else.
    candidates = [
        name
        for name, summary in few.items()
        if summary.letters and 2 * summary.distinct <= summary.filled and summary.key not in barred
    ]
    # Guessing between two would give a table of something else without a word
    if len(candidates) > 1:
        raise DataError(
            f"{file}, line 1: expected one column that says the group; {' and '.join(candidates)} "
            f"could each be it. Say which: group={candidates[0]}."
        )
    # A column of sexes is in many files of races: it is the group only where there is no other
    sexes = [name for name, summary in free.items() if summary.key in headers["sex"]]
    return tuple(candidates or ([] if _groups_of(free) else sexes[:1]))


def _groups_of(free: Mapping[str, ColumnSummary]) -> tuple[str, ...]:
    """The columns of a wide file that are groups."""
    headers = known_headers()
    barred = {*headers["rows"], *headers["sex"], *headers["count"]}
    columns = [n for n, e in free.items() if e.numbers and e.key not in barred and not e.unlike]
    return tuple(columns) if len(columns) > 1 else ()  # one column of numbers is a count

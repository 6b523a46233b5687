"""Which columns of a file of names hold names, groups and numbers: given, or told by headers."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from portrayal.errors import DataError, OptionError
from portrayal.reference.shipped import read_toml


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
    """Columns of a file of names; what is None or empty is told by headers.

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


def find_columns(explicit: NameColumns, columns: Iterable[str], file: str) -> NameColumns:
    """Return `explicit` with the columns that it leaves open, told by their headers.

    A column of sexes is the group where no other is.

    Raises
    ------
    DataError
        When a named column is missing, or there are no names or no groups.
    """
    present = [*columns]
    for column in explicit.named:
        if column not in present:
            raise DataError(
                f"{file}, line 1: expected a column {column!r}, which is named; found "
                f"{', '.join(present)}."
            )
    headers = known_headers()
    free = [column for column in present if column not in explicit.named]
    name = explicit.name or first_of(free, headers["name"])
    # Each column has one role: what is taken as names is no group
    free = [column for column in free if column != name]
    count = explicit.count or first_of(free, headers["count"])
    group = explicit.group
    if not group and not explicit.groups:
        group_column = first_of(free, (*headers["group"], *headers["sex"]))
        group = (group_column,) if group_column else ()
    if name and (group or explicit.groups):
        return NameColumns(name, count, group, explicit.groups, explicit.where)
    need = "a column 'name' and either a column that says the group or columns named after races"
    raise DataError(
        f"{file}, line 1: expected {need}; found {', '.join(present)}. Name yours: name=COLUMN, "
        "group=COLUMN or groups=A|B; see docs/name-tables.md."
    )

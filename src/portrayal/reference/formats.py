"""Read a name table of any format: shipped, wide (a column for each group) or long.

Which columns hold names, groups and numbers is given, or told by their headers.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError, OptionError
from portrayal.reference.factors import NameSource, load_factor
from portrayal.reference.groups import RACES
from portrayal.reference.matching import name_key
from portrayal.reference.shipped import read_toml, shipped_table
from portrayal.types import FloatArray


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


OTHER = "other"
"""Several races, another race, or not known: part of the whole, of no group of its own."""

_FACTOR = load_factor("race")


_SPELLINGS = [
    *((group.key, (group.key, group.label, *group.also)) for group in _FACTOR.groups),
    *(i for s in _FACTOR.sources if isinstance(s, NameSource) for i in s.spellings.items()),
    (OTHER, (*_FACTOR.rest, "")),
]
_GROUP = {header_key(spelling): group for group, words in _SPELLINGS for spelling in words}
"""What headers and cells of tables call each race, and its rest → the race."""
PERCENT, SHARE, COUNT = "percentages", "shares", "counts"
_UNITS = "percent|pct|share|prob|frac|count"
_UNIT = re.compile(rf"^({_UNITS})|({_UNITS})$")
_UNIT_APART = re.compile(rf"^({_UNITS})[\s_.-]+|[\s_.-]+({_UNITS})$", re.IGNORECASE)
_UNIT_WORDS = {PERCENT: {"percent", "pct"}, SHARE: {"share", "prob", "frac"}, COUNT: {"count"}}
RACE_COLUMNS = tuple(map(header_key, (_FACTOR.name, *_FACTOR.also)))


def race_group(label: str) -> str | None:
    """Return the group that `label` names, `OTHER`, or None; Florida's codes 1–9 count too."""
    # A column of codes with a blank cell is read as floats by many tools: 3 becomes 3.0.
    return _GROUP.get(header_key(label.removesuffix(".0")))


def share_columns(columns: list[str]) -> dict[str, str]:
    """Return the columns named after a race, with the group that each one names."""
    stems = {column: _UNIT.sub("", header_key(column)) for column in columns}
    words = {column: stem for column, stem in stems.items() if stem and not stem.isdigit()}
    return {column: _GROUP[stem] for column, stem in words.items() if stem in _GROUP}


def in_order(groups: set[str]) -> tuple[str, ...]:
    """Return the races among `groups` in the order of `RACES`."""
    return tuple(race for race in RACES if race in groups)


_ROUNDING = 0.02
"""How far rounded shares of one name may sum above 1."""


def find_unit(values: FloatArray, columns: Iterable[str], file: str) -> str:
    """Return the unit of `values`, shape (names, groups): named by columns or seen in them."""
    header_words = {match[0] for column in columns if (match := _UNIT.search(header_key(column)))}
    for unit, words in _UNIT_WORDS.items():
        if header_words & words:
            return unit
    is_whole = bool(np.all(values == np.round(values)))
    rows = values.sum(axis=1)
    # Shares whose rows sum to more than 1 are shares all the same: the check of rows says what is
    # wrong.
    if rows.max() <= 1 + _ROUNDING or (values.max() <= 1 and not is_whole):
        return SHARE
    # The median, as single rows may lack the small groups
    about_100 = abs(float(np.median(rows)) - 100) <= 100 * _ROUNDING
    # Whole numbers around 100 a row are percentages; smaller ones could be counts
    if rows.max() <= 100 * (1 + _ROUNDING) and (about_100 or not is_whole):
        return PERCENT
    if is_whole:
        return COUNT
    raise DataError(
        f"{file}: the group columns should hold shares that sum to at most 1 per name, "
        f"percentages that sum to at most 100, or whole counts; found values up to "
        f"{values.max():g} that are not whole. Put all of them in one unit."
    )


@dataclass(frozen=True)
class Rows:
    """Names of a wide file with the numbers of their rows, for messages."""

    path: Path
    names: list[str]
    number: NDArray[np.int64]

    def at(self, row: int) -> str:
        """Return file and line of a row; a Parquet file has rows, not lines."""
        return _place(self.path, int(self.number[row]))


def _place(path: Path, number: int) -> str:
    """Where the row with this number (from 1) stands in a file."""
    if path.suffix.lower() == ".parquet":
        return f"{path}, row {number}"
    # Line 1 is the header.
    return f"{path}, line {number + 1}"


def to_shares(
    values: FloatArray, counts: FloatArray | None, unit: str, rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return shares, shape (names, groups), and bearers, shape (names,), NaN where unknown."""
    _check(values.min(axis=1) < 0, "are below 0", values, rows)
    sums = values.sum(axis=1)
    if unit == COUNT:
        total = sums if counts is None else counts
        _check(total < sums, "sum to more than the count column", values, rows)
        safe = np.where(total > 0, total, 1.0)  # no bearers at all: shares of 0, not NaN
        return values / safe[:, None], total
    full = 1.0 if unit == SHARE else 100.0
    _check(sums > full * (1 + _ROUNDING), f"sum to more than {full:g}", values, rows)
    shares = np.clip(values / full, 0.0, 1.0)
    # Refuse tables of P(name | group), whose columns rather than rows sum to 1
    path = rows.path
    # Of few names columns may sum to 1 by chance.
    columns = shares.sum(axis=0)
    if len(shares) >= 20 and np.all(np.abs(columns - 1) < 0.05) and shares.sum(axis=1).max() < 0.9:
        raise DataError(
            f"{path}: each group column sums to 1, so this is the share of each group that bears "
            "the name. Expected the share of the name's bearers that is of each group; of Rosenman,"
            " Olivella and Imai's files that is first_nameRaceProbs."
        )
    return shares, np.full(len(rows.names), np.nan) if counts is None else counts


def _check(bad: NDArray[np.bool_], fault: str, values: FloatArray, rows: Rows) -> None:
    """Complain about the first bad row by its line and name."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        row_values = ", ".join(f"{value:g}" for value in values[row])
        raise DataError(
            f"{rows.at(row)}: the group columns of {rows.names[row]!r} {fault} ({row_values}); "
            f"{int(bad.sum()):,} of {len(bad):,} rows are so. Correct or leave out these rows."
        )


NOT_A_NAME = "all other names"
"""Key of the row in which some sources pool the names too rare to list."""


def shares_of(
    cells: Mapping[str, list[Any]], path: Path, *, races: bool = True
) -> tuple[list[str], FloatArray, FloatArray, tuple[str, ...]]:
    """Return name keys, bearers (names,), shares (names, groups) in 0–1, and the groups.

    `cells` are columns with an entry per name and group as the source spells them: "name", "grp",
    "people" and "line", its first row. Every person is part of the whole, those of another, several
    or unknown groups too. A name in two groups has a share of each. Groups are `RACES` in their
    order, or as the file spells them, the largest first.

    Raises
    ------
    DataError
        If a race is not recognised where the groups are `races`, or no person has both a name and
        a group.
    """
    people = np.asarray(cells["people"], dtype=np.float64)
    if races:
        group_of = {label: race_group(label) for label in sorted(set(cells["grp"]))}
        if strange := [label for label, group in group_of.items() if group is None]:
            lines = zip(cells["line"], cells["grp"], strict=True)
            first = min(line for line, label in lines if label in strange)
            raise DataError(
                f"{_place(path, first)}: column 'race' holds "
                f"{', '.join(map(repr, strange[:5]))}; expected Florida's codes 1–9 or names such "
                "as white, hispanic, black, asian, aian, other, unknown. Groups that are no races "
                "are read where they are named: group=COLUMN."
            )
        meaning = {label: str(group) for label, group in group_of.items()}
        groups = in_order(set(meaning.values()))
    else:
        # As the user's file spells it; `OTHER` for blank cells, "other" and "unknown"
        labels = {label: normalize("NFC", label.strip()) for label in dict.fromkeys(cells["grp"])}
        meaning = {
            label: OTHER
            if not meaning or (race_group(meaning) == OTHER and not meaning.isdigit())
            else meaning
            for label, meaning in labels.items()
        }
        size: dict[str, float] = {}
        for label, n in zip(cells["grp"], people.tolist(), strict=True):
            size[meaning[label]] = size.get(meaning[label], 0.0) + n
        groups = tuple(sorted(size.keys() - {OTHER}, key=lambda group: (-size[group], group)))
    place = {group: k for k, group in enumerate(groups)}
    column = np.array([place.get(meaning[label], -1) for label in cells["grp"]], dtype=np.intp)
    key_of = {name: name_key(name) for name in dict.fromkeys(cells["name"])}
    keys = np.array([key_of[name] for name in cells["name"]], dtype=object)
    # The pool of rare names is no name, whose shares anybody could bear
    real = np.array([bool(key) and key != NOT_A_NAME for key in keys], dtype=bool)
    if not groups or not people[real].sum() > 0:
        raise DataError(f"{path}: no row has both a name and a {'race' if races else 'group'}.")
    rows: dict[str, int] = {}
    row = np.array([rows.setdefault(key, len(rows)) for key in keys[real]], dtype=np.intp)
    total = np.bincount(row, people[real]).astype(np.float64)
    # The last column takes all others (place −1): part of the whole, of no group
    table = np.zeros((len(rows), len(groups) + 1))
    np.add.at(table, (row, column[real]), people[real])
    return list(rows), total, table[:, :-1] / np.where(total > 0, total, 1.0)[:, None], groups


_TABS = {".tsv", ".tab", ".txt"}
_PACKED = {".gz", ".zst"}


@dataclass(frozen=True)
class RawTable:
    """A name table as read: before rare names are left out and spellings merged.

    `counts` has shape (names,), NaN where unknown; `shares` has shape (names, groups), in 0–1.
    `races` are the groups; `about` says what they are groups of.
    """

    names: list[str]
    counts: FloatArray
    shares: FloatArray
    races: tuple[str, ...]
    format: str
    notes: tuple[str, ...] = ()
    about: str = "race"


def read_shipped(file: str) -> RawTable:
    """Read one of the Parquet tables that ship with the package."""
    table = shipped_table(file)
    groups = {group: column for column, group in share_columns(table.column_names).items()}
    races = in_order(set(groups))
    columns = [table[column].combine_chunks() for column in ("count", *map(groups.get, races))]
    numbers = np.column_stack([np.from_dlpack(column).astype(np.float64) for column in columns])
    numbers = np.round(numbers, 6)  # the sources print no more; float32 alone would add noise
    return RawTable(table["name"].to_pylist(), numbers[:, 0], numbers[:, 1:], races, "shipped")


def read_table(path: Path, columns: NameColumns | None = None) -> RawTable:
    """Read a table of the user's own, by what is in it.

    Columns that `columns` leaves open are told by their headers.

    Raises
    ------
    DataError
        If the file is of no known format, or its numbers are not shares, percentages or counts.
    """
    import duckdb

    with duckdb.connect() as connection:
        try:
            return _read_columns(_open(connection, path), path, columns or NameColumns())
        except duckdb.Error as error:
            raise DataError(
                f"{path}: cannot be read as a table ({str(error).splitlines()[0]}). "
                "Expected CSV, tab-separated text or Parquet, in UTF-8."
            ) from error


def _open(connection: Any, path: Path) -> Any:
    """Return the DuckDB relation of a file, every column as text."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    # "names.csv.gz" is CSV
    kind = next((suffix for suffix in reversed(suffixes) if suffix not in _PACKED), "")
    if kind == ".parquet":
        return connection.read_parquet(str(path))
    if path.is_dir() or (kind != ".csv" and kind not in _TABS):
        raise DataError(
            f"{path}: expected a name table (.csv, .tsv, .tab, .txt or .parquet, .gz too); "
            f"found {'a folder' if path.is_dir() else kind!r}. "
            "Save the table as CSV; docs/name-tables.md has the formats."
        )
    delimiter = {"delimiter": "\t"} if kind in _TABS else {}
    # As text: guessed types would turn codes like "03" into numbers
    return connection.read_csv(str(path), header=True, all_varchar=True, **delimiter)


_LINE = "portrayal line"
"""Column that numbers the rows of a file as read, from 1."""


def _read_columns(relation: Any, path: Path, explicit: NameColumns) -> RawTable:
    """Tell wide from long by the columns, those of races by their headers."""
    columns = [column for column in relation.columns if column not in explicit.named]
    name_column = first_of(columns, known_headers()["name"])
    raced = share_columns([column for column in columns if column != name_column])
    if in_order(set(raced.values())) and not explicit.group and not explicit.groups:
        for group in sorted(set(raced.values()) - {OTHER}):
            same = [column for column, other in raced.items() if other == group]
            if len(same) > 1:
                raise DataError(f"{path}: columns {', '.join(same)} all name {group}; keep one.")
        request, labels = replace(explicit, groups=tuple(raced)), raced
    else:
        request, labels = explicit, {column: _label(column) for column in explicit.groups}
    roles = find_columns(request, relation.columns, str(path))
    rows = relation.project(f"*, row_number() OVER () AS {_quote(_LINE)}")
    for column, value in roles.where.items():
        rows = rows.filter(_condition(column, value))
    if roles.groups:
        return _read_wide(rows, path, roles, labels)
    return _read_long(rows, path, roles, by_user=bool(explicit.group))


def _condition(column: str, value: str) -> str:
    """The rows of which a column has a value, one of several, or a number in a range."""
    text = f"trim({_quote(column)}::VARCHAR)"
    if ends := re.fullmatch(r"(\d+)\s*[-–]\s*(\d+)", value):
        return f"try_cast({text} AS DOUBLE) BETWEEN {ends[1]} AND {ends[2]}"
    # SQL doubles a quotation mark within a text.
    parts = ", ".join("'" + part.strip().replace("'", "''") + "'" for part in value.split("|"))
    return f"{text} IN ({parts})"


def _label(column: str) -> str:
    """The group that a column of numbers is named after, without its unit."""
    return normalize("NFC", _UNIT_APART.sub("", column.strip()) or column)


def _read_wide(relation: Any, path: Path, of: NameColumns, labels: dict[str, str]) -> RawTable:
    """Read one row per name and one column per group: shares, percentages or counts."""
    number_columns = [*of.groups, *([of.count] if of.count else [])]
    name = str(of.name)
    letters = f"regexp_matches({_quote(name)}, '[[:alpha:]]|[^[:ascii:]]')"
    with_name = relation.filter(f"{letters} AND lower(trim({_quote(name)})) <> '{NOT_A_NAME}'")
    rows, numbers = _numbers(with_name, path, name, number_columns)
    values = numbers[:, : len(of.groups)]
    unit = find_unit(values, of.groups, str(path))
    scaled, bearers = to_shares(values, numbers[:, -1] if of.count else None, unit, rows)
    groups = [labels[column] for column in of.groups]
    by_label = not {*groups} <= {*RACES, OTHER}
    own_order = tuple(dict.fromkeys(group for group in groups if group != OTHER))
    races = own_order if by_label else in_order(set(groups))
    place = {group: k for k, group in enumerate(groups)}
    table = scaled[:, [place[race] for race in races]]
    read = RawTable(rows.names, bearers, table, races, unit)
    return replace(read, about="group", notes=(_said(of, races),)) if by_label else read


def _read_long(relation: Any, path: Path, of: NameColumns, *, by_user: bool) -> RawTable:
    """Read rows of name, group and perhaps a count, streaming.

    A column of races holds known races, unless the user named it and none is known.
    """
    number = _number(of.count) if of.count else "1.0"  # without counts, a row is a person
    name = f"coalesce(trim({_quote(str(of.name))}::VARCHAR), '')"
    parts = ", ".join(f"trim({_quote(column)}::VARCHAR)" for column in of.group)
    group = f"trim(concat_ws(' ', {parts}))"
    grouped = relation.aggregate(
        f"{name} AS name, {group} AS grp, sum({number}) AS people, min({_quote(_LINE)}) AS line, "
        f"min(coalesce({number}, -1)) AS least",
        f"{name}, {group}",
    ).fetchnumpy()
    if len(grouped["least"]) and float(np.min(grouped["least"])) < 0:
        bad = relation.filter(f"coalesce({number}, -1) < 0").aggregate(f"min({_quote(_LINE)})")
        raise DataError(
            f"{_place(path, bad.fetchall()[0][0])}: column {of.count!r} should hold a whole "
            "number of people in every row; this row has none. Correct it."
        )
    cells = {column: values.tolist() for column, values in grouped.items()}
    races = len(of.group) == 1 and header_key(of.group[0]) in RACE_COLUMNS
    races = races and not (by_user and not any(race_group(g) for g in cells["grp"] if g))
    names, counts, shares, groups = shares_of(cells, path, races=races)
    shape = (
        f"counts by name and {'race' if races else 'group'}" if of.count else "one row per person"
    )
    # Each name once: rows are names, not people, so there is nothing to weigh by
    if not of.count and max(cells["people"], default=0) <= 1:
        shape, counts = "names by group", np.full(len(names), np.nan)
    read = RawTable(names, counts, shares, groups, shape)
    return read if races else replace(read, about=" ".join(of.group), notes=(_said(of, groups),))


def _said(of: NameColumns, groups: Sequence[str]) -> str:
    """How a file was read, in words."""
    grouping = (
        f"groups in {' and '.join(map(repr, of.group))}" if of.group else "a column for each group"
    )
    count = f", bearers in {of.count!r}" if of.count else ""
    only = "".join(f", only {column} {value}" for column, value in of.where.items())
    some = ", ".join(groups[:8]) + (f" and {len(groups) - 8} more" if len(groups) > 8 else "")
    return f"read with names in {of.name!r}, {grouping} ({some}){count}{only}"


def _numbers(relation: Any, path: Path, name: str, columns: list[str]) -> tuple[Rows, FloatArray]:
    """Return the names and the numbers in `columns`, shape (names, columns)."""
    fields = [f"{_number(column)} AS c{k}" for k, column in enumerate(columns)]
    fields += [f"trim({_quote(name)}::VARCHAR) AS name", f"{_quote(_LINE)} AS line"]
    read = relation.project(", ".join(fields)).fetchnumpy()
    names = [str(name) for name in read["name"].tolist()]
    if not names:
        raise DataError(f"{path}: the table has no rows with a name.")
    rows = Rows(path, names, np.asarray(read["line"], dtype=np.int64))
    arrays = [np.ma.filled(np.ma.asarray(read[f"c{k}"]), np.nan) for k in range(len(columns))]
    values = np.column_stack(arrays).astype(np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"{rows.at(row)}: column {columns[column]!r} has no number for {names[row]!r}. "
            "Fill in the number, or leave the name out."
        )
    return rows, values


def _number(column: str) -> str:
    """Read a column as numbers in DuckDB, NULL where it holds none.

    The trim also keeps DuckDB from moving the cast into its CSV reader, where it would fail.
    """
    return f"try_cast(trim({_quote(column)}::VARCHAR) AS DOUBLE)"


def _quote(identifier: str) -> str:
    """Quote a column name for DuckDB."""
    return '"' + identifier.replace('"', '""') + '"'

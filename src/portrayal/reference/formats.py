"""Read a name table of any known format: shipped, wide, or long."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError
from portrayal.reference.groups import RACES
from portrayal.reference.matching import name_key
from portrayal.reference.shipped import data_file
from portrayal.types import FloatArray

OTHER = "other"
"""Several races, another race, or not known: part of the whole, of no group of its own."""

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "White": ("white", "whi", "nhwhite", "nonhispanicwhite", "whitenothispanic", "5"),
    "Latine": ("latine", "latino", "latina", "latinx", "hispanic", "his", "hispanicorlatino",
               "latinohispanic", "hispaniclatino", "4"),
    "Black": ("black", "bla", "nhblack", "nonhispanicblack", "blacknothispanic", "africanamerican",
              "blackorafricanamerican", "3"),
    "Asian": ("asian", "asi", "api", "nhasian", "asianpacificislander", "asianorpacificislander",
              "2"),
    "AI/AN": ("aian", "nativeindian", "nativeamerican", "americanindian", "amerindian",
              "americanindianoralaskanative", "americanindianoralaskannative", "1"),
    "MENA": ("mena", "comena", "middleeasternornorthafrican"),
    "NH/PI": ("nhpi", "conhpi", "nativehawaiianorpacificislander",
              "nativehawaiianorotherpacificislander"),
    OTHER: ("other", "oth", "2prace", "multiracial", "twoormore", "twoormoreraces", "twoprace",
            "mixedrace", "unknown", "notknown", "coother", "otherrace", "6", "7", "9", ""),
}  # fmt: skip
_GROUP = {spelling: group for group, known in _SPELLINGS.items() for spelling in known}
_UNIT = re.compile(r"^(percent|pct|share|prob|frac|count)|(percent|pct|share|prob|frac|count)$")

PERCENT, SHARE, COUNT = "percentages", "shares", "counts"
_UNIT_WORDS = {PERCENT: {"percent", "pct"}, SHARE: {"share", "prob", "frac"}, COUNT: {"count"}}

NAME_COLUMNS = ("name", "firstname", "namefirst", "givenname", "first")
COUNT_COLUMNS = ("count", "obs", "n", "total", "freq", "frequency", "people")
RACE_COLUMNS = ("race", "raceethnicity", "racecode", "ethnicity")


def squash(label: str) -> str:
    """Return the letters and digits of `label` in lower case."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def race_group(label: str) -> str | None:
    """Return the group that `label` names, `OTHER`, or None; Florida's codes 1–9 count too."""
    return _GROUP.get(squash(label.removesuffix(".0")))


def share_columns(columns: list[str]) -> dict[str, str]:
    """Return the columns named after a race, with the group that each one names."""
    found = {}
    for column in columns:
        stem = _UNIT.sub("", squash(column))
        group = _GROUP.get(stem)
        if group is not None and stem and not stem.isdigit():
            found[column] = group
    return found


def unit_of(columns: list[str]) -> str | None:
    """Return the unit that the names of share `columns` state, or None: PERCENT, SHARE or COUNT."""
    stated = {match[0] for column in columns if (match := _UNIT.search(squash(column)))}
    for unit, words in _UNIT_WORDS.items():
        if stated & words:
            return unit
    return None


def first_of(columns: list[str], known: tuple[str, ...]) -> str | None:
    """Return the first column whose squashed name is in `known`, in the order of `known`."""
    by_name = {squash(column): column for column in reversed(columns)}
    return next((by_name[name] for name in known if name in by_name), None)


def in_order(groups: set[str]) -> tuple[str, ...]:
    """Return the races among `groups` in the order of `RACES`."""
    return tuple(race for race in RACES if race in groups)


_ROUNDING = 0.02
"""How far rounded shares of one name may sum above 1."""


def find_unit(values: FloatArray, stated: str | None, where: str) -> str:
    """Return the unit of `values`, shape (names, groups): stated by the columns or seen in them."""
    if stated is not None:
        return stated
    whole = bool(np.all(values == np.round(values)))
    rows = values.sum(axis=1)
    if rows.max() <= 1 + _ROUNDING or (values.max() <= 1 and not whole):
        return SHARE
    about_100 = abs(float(np.median(rows)) - 100) <= 100 * _ROUNDING
    if rows.max() <= 100 * (1 + _ROUNDING) and (about_100 or not whole):
        return PERCENT
    if whole:
        return COUNT
    raise DataError(
        f"{where}: the race columns should hold shares that sum to at most 1 per name, percentages "
        f"that sum to at most 100, or whole counts; found values up to {values.max():g} that are "
        "not whole. Put all of them in one unit."
    )


def to_shares(
    values: FloatArray, counts: FloatArray | None, unit: str, names: Sequence[str], where: str
) -> tuple[FloatArray, FloatArray]:
    """Return shares, shape (names, groups), and bearers, shape (names,), NaN where unknown."""
    _check(values.min(axis=1) < 0, "are below 0", values, names, where)
    rows = values.sum(axis=1)
    if unit == COUNT:
        total = rows if counts is None else counts
        _check(total < rows, "sum to more than the count column", values, names, where)
        safe = np.where(total > 0, total, 1.0)
        return values / safe[:, None], total
    whole = 1.0 if unit == SHARE else 100.0
    _check(rows > whole * (1 + _ROUNDING), f"sum to more than {whole:g}", values, names, where)
    shares = np.clip(values / whole, 0.0, 1.0)
    _refuse_shares_of_race(shares, where)
    return shares, np.full(len(names), np.nan) if counts is None else counts


def _check(
    bad: NDArray[np.bool_], what: str, values: FloatArray, names: Sequence[str], where: str
) -> None:
    """Complain about the first bad row by its name."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        found = ", ".join(f"{value:g}" for value in values[row])
        raise DataError(
            f"{where}: the race columns of {names[row]!r} {what} ({found}); "
            f"{int(bad.sum()):,} of {len(names):,} rows are so. Correct or leave out these rows."
        )


def _refuse_shares_of_race(shares: FloatArray, where: str) -> None:
    """Refuse tables of P(name | race), whose columns rather than rows sum to 1."""
    columns = shares.sum(axis=0)
    if len(shares) >= 20 and np.all(np.abs(columns - 1) < 0.05) and shares.sum(axis=1).max() < 0.9:
        raise DataError(
            f"{where}: each race column sums to 1, so this is the share of each race that bears "
            "the name. Expected the share of the name's bearers that is of each race; of Rosenman, "
            "Olivella and Imai's files that is first_nameRaceProbs."
        )


NOT_A_NAME = "all other names"
"""Key of the row in which some sources pool the names too rare to list."""


@dataclass(frozen=True)
class Cells:
    """One entry per name and race as the source spells them, with the number of people."""

    name: Sequence[str]
    race: Sequence[str]
    people: Sequence[float]


def shares_of(
    cells: Cells, where: str
) -> tuple[list[str], FloatArray, FloatArray, tuple[str, ...]]:
    """Return name keys, bearers (names,), shares (names, races) in 0–1, and the races.

    Every person is part of the whole, those of another, several or unknown races too.

    Raises
    ------
    DataError
        If a race is not recognised, or no person has both a name and a race.
    """
    meaning = _meaning(sorted(set(cells.race)), where)
    races = in_order(set(meaning.values()))
    column = np.array([races.index(g) if (g := meaning[r]) in races else -1 for r in cells.race])
    key_of = {name: name_key(name) for name in set(cells.name)}
    keys = np.array([key_of[name] for name in cells.name], dtype=object)
    people = np.asarray(cells.people, dtype=np.float64)
    real = np.array([bool(key) and key != NOT_A_NAME for key in keys], dtype=bool)
    if not races or not people[real].sum() > 0:
        raise DataError(f"{where}: no row has both a name and a race.")
    rows: dict[str, int] = {}
    row = np.array([rows.setdefault(key, len(rows)) for key in keys[real]], dtype=np.intp)
    total = np.bincount(row, people[real]).astype(np.float64)
    table = np.zeros((len(rows), len(races) + 1))
    np.add.at(table, (row, column[real]), people[real])
    return list(rows), total, table[:, :-1] / np.where(total > 0, total, 1.0)[:, None], races


def _meaning(labels: Sequence[str], where: str) -> dict[str, str]:
    """Return the group of each spelling of a race."""
    known = {label: race_group(label) for label in labels}
    strange = [label for label, group in known.items() if group is None]
    if strange:
        raise DataError(
            f"{where}: column 'race' holds {', '.join(map(repr, strange[:5]))}; expected Florida's "
            "codes 1–9 or names such as white, hispanic, black, asian, aian, other, unknown."
        )
    return {label: group for label, group in known.items() if group is not None}


_FIRST_NAME, _RACE = 4, 20
_COUNTY = re.compile(r"[A-Za-z]{3}")


def is_extract(path: Path) -> bool:
    """Tell whether `path` is a folder of county files, or one such file."""
    if path.is_dir():
        return bool(_county_files(path))
    if path.suffix.lower() != ".txt":
        return False
    with path.open(encoding="latin-1") as lines:
        fields = lines.readline().split("\t")
    return len(fields) > _RACE and _COUNTY.fullmatch(fields[0]) is not None


def read_extract(path: Path) -> tuple[Cells, tuple[str, ...]]:
    """Count the voters of county files by name and race, streaming; also say what was skipped.

    Raises
    ------
    DataError
        If one of the files has another layout.
    """
    files = _county_files(path) if path.is_dir() else [path]
    strange = [file.name for file in files if not is_extract(file)]
    if strange:
        raise DataError(
            f"{path}: expected county files of a voter extract (38 tab-separated fields, no "
            f"header); {', '.join(strange[:3])} has another layout. Move it elsewhere."
        )
    skipped: list[int] = []
    parts = [_count(file, skipped) for file in files]
    notes = (f"{len(skipped):,} lines with too few or too many fields left out",) if skipped else ()
    return _total(parts), notes


def _count(file: Path, skipped: list[int]) -> Any:
    """Return a table of name, race and people from one county file."""
    import pyarrow as pa
    from pyarrow import csv

    def skip(row: Any) -> str:
        skipped.append(row.actual_columns)
        return "skip"

    name, race = f"f{_FIRST_NAME}", f"f{_RACE}"
    reader = csv.open_csv(
        file,
        read_options=csv.ReadOptions(
            autogenerate_column_names=True, encoding="latin-1", block_size=1 << 24
        ),
        parse_options=csv.ParseOptions(
            delimiter="\t", quote_char=False, invalid_row_handler=skip, newlines_in_values=False
        ),
        convert_options=csv.ConvertOptions(
            include_columns=[name, race], column_types={name: pa.string(), race: pa.string()}
        ),
    )
    cells = [
        pa.Table.from_batches([batch]).group_by([name, race]).aggregate([([], "count_all")])
        for batch in reader
    ]
    counted = pa.concat_tables(cells).rename_columns(["name", "race", "people"])
    return counted.group_by(["name", "race"]).aggregate([("people", "sum")])


def _total(parts: list[Any]) -> Cells:
    """Add up the counts of several files."""
    import pyarrow as pa

    table = pa.concat_tables(parts).rename_columns(["name", "race", "people"])
    table = table.group_by(["name", "race"]).aggregate([("people", "sum")])
    return Cells(
        table["name"].to_pylist(), table["race"].to_pylist(), table["people_sum"].to_pylist()
    )


def _county_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.txt") if file.is_file())


_TABS = {".tsv", ".tab", ".txt"}
_PACKED = {".gz", ".zst"}
_HINTS = {
    ".xlsx": "Save the sheet as CSV.",
    ".xls": "Save the sheet as CSV.",
    ".7z": "Unpack it and give the folder.",
    ".zip": "Unpack it and give the file or folder.",
    ".rdata": "Save the table as CSV from R.",
    ".rds": "Save the table as CSV from R.",
}


@dataclass(frozen=True)
class RawTable:
    """A name table as read: before rare names are left out and spellings merged.

    `counts` has shape (names,), NaN where unknown; `shares` has shape (names, races), in 0–1.
    """

    names: list[str]
    counts: FloatArray
    shares: FloatArray
    races: tuple[str, ...]
    format: str
    source: str = "table supplied by the user"
    licence: str = "as the supplier states"
    notes: tuple[str, ...] = ()


def read_shipped(file: str) -> RawTable:
    """Read one of the Parquet tables that ship with the package."""
    import pyarrow.parquet as pq

    with data_file(file).open("rb") as stream:
        table = pq.ParquetFile(stream).read()
    groups = {group: column for column, group in share_columns(table.column_names).items()}
    races = in_order(set(groups))
    columns = [table[column].combine_chunks() for column in ("count", *map(groups.get, races))]
    numbers = np.column_stack([np.from_dlpack(column).astype(np.float64) for column in columns])
    numbers = np.round(numbers, 6)  # the sources print no more; float32 alone would add noise
    return RawTable(table["name"].to_pylist(), numbers[:, 0], numbers[:, 1:], races, "shipped")


def read_table(path: Path) -> RawTable:
    """Read a table of the user's own, or a Florida voter extract, by what is found in it.

    Raises
    ------
    DataError
        If the file is of no known format, or its numbers are not shares, percentages or counts.
    """
    if is_extract(path):
        cells, notes = read_extract(path)
        source = "Florida voter registration extract"
        return RawTable(*shares_of(cells, str(path)), "voter extract", source, notes=notes)
    import duckdb

    with duckdb.connect() as connection:
        try:
            return _read_columns(_open(connection, path), path)
        except duckdb.Error as error:
            raise DataError(
                f"{path}: cannot be read as a table ({str(error).splitlines()[0]}). "
                "Expected CSV, tab-separated text or Parquet, in UTF-8."
            ) from error


def _open(connection: Any, path: Path) -> Any:
    """Return the DuckDB relation of a file, every column as text."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((suffix for suffix in reversed(suffixes) if suffix not in _PACKED), "")
    if kind == ".parquet":
        return connection.read_parquet(str(path))
    if path.is_dir() or (kind != ".csv" and kind not in _TABS):
        hint = _HINTS.get(kind, "See docs/name-tables.md for the formats.")
        raise DataError(
            f"{path}: expected a name table (.csv, .tsv, .tab, .txt or .parquet, .gz too) or the "
            f"folder of a Florida voter extract; found {'a folder' if path.is_dir() else kind!r}. "
            f"{hint}"
        )
    delimiter = {"delimiter": "\t"} if kind in _TABS else {}
    return connection.read_csv(str(path), header=True, all_varchar=True, **delimiter)


def _read_columns(relation: Any, path: Path) -> RawTable:
    """Tell wide from long by the columns."""
    columns = list(relation.columns)
    name = first_of(columns, NAME_COLUMNS)
    shares = share_columns([column for column in columns if column != name])
    race = first_of(columns, RACE_COLUMNS)
    if name and in_order(set(shares.values())):
        return _read_wide(relation, path, name, shares)
    if name and race:
        return _read_long(relation, path, name, race)
    raise DataError(
        f"{path}: expected a column 'name' and either columns named after races (white, latine, "
        f"black, asian, aian, mena, nhpi) or a column 'race'; found {', '.join(columns)}. "
        "Rename the columns; see docs/name-tables.md."
    )


def _read_wide(relation: Any, path: Path, name: str, shares: dict[str, str]) -> RawTable:
    """Read one row per name and one column per race: shares, percentages or counts."""
    groups = set(shares.values())
    for group in groups - {OTHER}:
        same = [column for column, other in shares.items() if other == group]
        if len(same) > 1:
            raise DataError(f"{path}: columns {', '.join(same)} all name {group}; keep one.")
    columns = list(relation.columns)
    spare = [column for column in columns if column != name and column not in shares]
    count = first_of(spare, COUNT_COLUMNS)
    wanted = [*shares, *([count] if count else [])]
    letters = f"regexp_matches({_quote(name)}, '[[:alpha:]]|[^[:ascii:]]')"
    kept = relation.filter(f"{letters} AND lower(trim({_quote(name)})) <> '{NOT_A_NAME}'")
    names, numbers = _numbers(kept, path, name, wanted)
    values = numbers[:, : len(shares)]
    unit = find_unit(values, unit_of(list(shares)), str(path))
    scaled, bearers = to_shares(values, numbers[:, -1] if count else None, unit, names, str(path))
    races = in_order(groups)
    place = {group: k for k, group in enumerate(shares.values())}
    table = scaled[:, [place[race] for race in races]]
    if {"whi", "bla", "his", "asi", "oth"} <= set(columns):
        source, licence = "Rosenman, Olivella and Imai (2023), doi:10.7910/DVN/SGKW0K", "CC0 1.0"
        return RawTable(names, bearers, table, races, unit, source, licence)
    return RawTable(names, bearers, table, races, unit)


def _read_long(relation: Any, path: Path, name: str, race: str) -> RawTable:
    """Read rows of name, race and perhaps a count, streaming."""
    count = first_of(list(relation.columns), COUNT_COLUMNS)
    number = _number(count) if count else "1.0"
    name, race = (f"coalesce(trim({_quote(column)}::VARCHAR), '')" for column in (name, race))
    grouped = relation.aggregate(
        f"{name} AS name, {race} AS race, sum({number}) AS people, "
        f"min(coalesce({number}, -1)) AS least",
        f"{name}, {race}",
    ).fetchnumpy()
    if len(grouped["least"]) and float(np.min(grouped["least"])) < 0:
        raise DataError(
            f"{path}: column {count!r} should hold a whole number of people in every row; found "
            "rows without one. Correct them."
        )
    cells = Cells(*(grouped[column].tolist() for column in ("name", "race", "people")))
    shape = "counts by name and race" if count else "one row per person"
    return RawTable(*shares_of(cells, str(path)), format=shape)


def _numbers(
    relation: Any, path: Path, name: str, columns: list[str]
) -> tuple[list[str], FloatArray]:
    """Return the names and the numbers in `columns`, shape (names, columns)."""
    fields = [f"{_number(column)} AS c{k}" for k, column in enumerate(columns)]
    read = relation.project(", ".join([f"trim({_quote(name)}) AS name", *fields])).fetchnumpy()
    names = [str(each) for each in read["name"].tolist()]
    if not names:
        raise DataError(f"{path}: the table has no rows with a name.")
    arrays = [np.ma.filled(np.ma.asarray(read[f"c{k}"]), np.nan) for k in range(len(columns))]
    values = np.column_stack(arrays).astype(np.float64)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"{path}: column {columns[column]!r} has no number for {names[row]!r}. "
            "Fill in the number, or leave the name out."
        )
    return names, values


def _number(column: str) -> str:
    """Read a column as numbers in DuckDB, NULL where it holds none.

    The trim also keeps DuckDB from moving the cast into its CSV reader, where it would fail.
    """
    return f"try_cast(trim({_quote(column)}::VARCHAR) AS DOUBLE)"


def _quote(identifier: str) -> str:
    """Quote a column name for DuckDB."""
    return '"' + identifier.replace('"', '""') + '"'

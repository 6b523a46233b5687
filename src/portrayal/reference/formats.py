"""Read a name table of any known format: shipped, wide, or long."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError
from portrayal.reference import columns as known
from portrayal.reference import florida
from portrayal.reference._files import data_file
from portrayal.reference.cells import NOT_A_NAME, Cells, shares_of
from portrayal.reference.units import find_unit, to_shares

FloatArray = NDArray[np.float64]
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
    groups = {group: column for column, group in known.share_columns(table.column_names).items()}
    races = known.in_order(set(groups))
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
    if florida.is_extract(path):
        cells, notes = florida.read_extract(path)
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
    name = known.first_of(columns, known.NAME_COLUMNS)
    shares = known.share_columns([column for column in columns if column != name])
    race = known.first_of(columns, known.RACE_COLUMNS)
    if name and known.in_order(set(shares.values())):
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
    for group in groups - {known.OTHER}:
        same = [column for column, other in shares.items() if other == group]
        if len(same) > 1:
            raise DataError(f"{path}: columns {', '.join(same)} all name {group}; keep one.")
    columns = list(relation.columns)
    spare = [column for column in columns if column != name and column not in shares]
    count = known.first_of(spare, known.COUNT_COLUMNS)
    wanted = [*shares, *([count] if count else [])]
    letters = f"regexp_matches({_quote(name)}, '[[:alpha:]]|[^[:ascii:]]')"
    kept = relation.filter(f"{letters} AND lower(trim({_quote(name)})) <> '{NOT_A_NAME}'")
    names, numbers = _numbers(kept, path, name, wanted)
    values = numbers[:, : len(shares)]
    unit = find_unit(values, known.unit_of(list(shares)), str(path))
    scaled, bearers = to_shares(values, numbers[:, -1] if count else None, unit, names, str(path))
    races = known.in_order(groups)
    place = {group: k for k, group in enumerate(shares.values())}
    table = scaled[:, [place[race] for race in races]]
    if {"whi", "bla", "his", "asi", "oth"} <= set(columns):
        source, licence = "Rosenman, Olivella and Imai (2023), doi:10.7910/DVN/SGKW0K", "CC0 1.0"
        return RawTable(names, bearers, table, races, unit, source, licence)
    return RawTable(names, bearers, table, races, unit)


def _read_long(relation: Any, path: Path, name: str, race: str) -> RawTable:
    """Read rows of name, race and perhaps a count, streaming."""
    count = known.first_of(list(relation.columns), known.COUNT_COLUMNS)
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

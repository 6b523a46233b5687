"""The voter extracts of the State of Florida: tab-separated, no header, one row per voter.

The race column holds 1 AI/AN, 2 Asian or Pacific Islander, 3 Black, 4 Hispanic, 5 White, 6 other,
7 several, 9 unknown. Shieh et al. pool the files of 2017 and 2022 (doi:10.7910/DVN/UBIG3F) and
count every registered voter of a name as the whole, "other" and "unknown" included.
"""

import re
from pathlib import Path
from typing import Any

from portrayal.errors import DataError
from portrayal.reference.cells import Cells

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

"""Tables: the CSV files that pass from step to step, safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.raters.people.sheets import inert, restored
from portrayal.run.files import write_atomically


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, replace: bool = True
) -> Path:
    """Write rows as CSV in one step, each cell inert.

    Raises
    ------
    OptionError
        When the file is there and `replace` is False: it may hold somebody's labels.
    """
    if path.exists() and not replace:
        raise OptionError(f"{path} is there already and may hold labels; give another --out.")
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([inert(str(row.get(name, ""))) for name in columns])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\ufeff" + stream.getvalue())
    return path


def read_table(path: str | Path, needed: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a file with their cells as they were before `inert`.

    Raises
    ------
    DataError
        When a needed column is missing.
    """
    source = open_source(path)
    missing = [name for name in needed if name not in source.columns]
    if missing:
        raise DataError(
            f"{path}: no column {', '.join(missing)}; found {', '.join(source.columns)}. Name "
            "yours with --column, or give the file that the step before wrote."
        )
    return [{name: restored(_text(cell)) for name, cell in row.items()} for row in source.rows()]


def _text(cell: object) -> str:
    if cell is None or (isinstance(cell, float) and cell != cell):  # noqa: PLR0124
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))  # a label that a spreadsheet wrote as 1.0
    return str(cell)

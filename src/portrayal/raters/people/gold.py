"""Hand-labelled stories: rows with labels of the people in them, for measuring an annotator."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from portrayal.collect.fields import parse_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError

NEEDED = ("text", "subject_role", "gold_subject_name", "gold_subject_gender")
OPTIONAL = (
    "object_role",
    "gold_object_name",
    "gold_object_gender",
    "text_id",
    "prompt_id",
    "prompt",
    "query",
    "domain",
    "model",
    "condition",
)


def read_gold(path: str | Path, columns: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the labelled stories of a file.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file; or a sheet that `portrayal label sheet` made, of
        which the rows that are filled in count.
    columns
        "FIELD=NAME" strings for columns with other names.

    Raises
    ------
    DataError
        Naming the columns that are missing and those that were found, or the row of a sheet that
        is not as expected.
    """
    from portrayal.raters.people.sheets import is_sheet, read_sheet

    source = open_source(path)
    if is_sheet(source.columns):
        yield from read_sheet(path).gold_rows()
        return
    mapping = {name: name for name in (*NEEDED, *OPTIONAL) if name in source.columns}
    mapping |= parse_columns(columns)
    missing = [name for name in NEEDED if mapping.get(name) not in source.columns]
    if missing:
        raise DataError(
            f"{path}: no column {', '.join(missing)}; found {', '.join(source.columns)}. "
            f"Name yours with --column {missing[0]}=NAME."
        )
    for row in source.rows():
        yield {name: row.get(column) for name, column in mapping.items()}

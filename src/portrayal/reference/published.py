"""The numeric tables of the papers whose studies are reproduced, as printed."""

from typing import TYPE_CHECKING

from portrayal.errors import UnknownNameError
from portrayal.reference._files import data_file

if TYPE_CHECKING:
    import pyarrow as pa


def published(table: str) -> "pa.Table":
    """Return a published table by its file name without ending ("shieh_representation_ratios").

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    from pyarrow import csv

    known = published_tables()
    if table not in known:
        raise UnknownNameError(
            f"there is no published table {table!r}; the tables are {', '.join(known)}."
        )
    with data_file(f"published/{table}.csv").open("rb") as stream:
        return csv.read_csv(stream)


def published_tables() -> tuple[str, ...]:
    """Return the names of the published tables."""
    files = (file.name for file in data_file("published").iterdir())
    return tuple(sorted(name.removesuffix(".csv") for name in files if name.endswith(".csv")))

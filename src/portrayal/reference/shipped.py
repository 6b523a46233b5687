"""The numeric tables of the papers whose studies are reproduced, as printed."""

import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from portrayal.errors import UnknownNameError

if TYPE_CHECKING:
    import pyarrow as pa


def data_file(name: str) -> Traversable:
    """Return the shipped file `name`, a path below `reference/data`."""
    return files("portrayal.reference").joinpath("data", *name.split("/"))


def read_toml(name: str) -> dict[str, Any]:
    """Return the content of the shipped TOML file `name`."""
    return tomllib.loads(data_file(name).read_text(encoding="utf-8"))


def published(table: str) -> "pa.Table":
    """Return a published table by its file name without ending ("shieh_representation_ratios").

    Raises
    ------
    UnknownNameError
        If there is none of that name.

    Examples
    --------
    >>> published("shieh_representation_ratios").num_columns > 2
    True
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

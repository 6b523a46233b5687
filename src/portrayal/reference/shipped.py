"""Data that ships with the package: files, published tables as printed, titles of occupations."""

import csv
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portrayal.errors import UnknownNameError

if TYPE_CHECKING:
    import pyarrow as pa


def data_file(name: str) -> Traversable:
    """Return the shipped file `name`, a path below `reference/data`."""
    return files("portrayal.reference").joinpath("data", *name.split("/"))


@cache
def read_toml(name: str) -> dict[str, Any]:
    """Return the content of the shipped TOML file `name`, which every caller has the same."""
    return tomllib.loads(data_file(name).read_text(encoding="utf-8"))


def toml_beside(module: str, name: str) -> dict[str, Any]:
    """Return the content of a TOML file that stands beside a module, named by its `__file__`."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


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

    tables = published_tables()
    if table not in tables:
        raise UnknownNameError(
            f"there is no published table {table!r}; the tables are {', '.join(tables)}."
        )
    one_thread = csv.ReadOptions(use_threads=False)
    with as_file(data_file(f"published/{table}.csv")) as path:
        return csv.read_csv(path, read_options=one_thread)


def shipped_table(name: str, columns: Sequence[str] | None = None) -> "pa.Table":
    """Return the shipped Parquet file `name`, all columns or those named.

    Arrow gets a path and never a Python stream: a thread of its pool that lets go of a Python
    object while the interpreter ends aborts the process (apache/arrow#34314). Its `read_table`
    would load pandas.
    """
    import pyarrow.parquet as pq

    with as_file(data_file(name)) as path, pq.ParquetFile(path) as file:
        return file.read(columns=columns, use_threads=False)


def published_tables() -> tuple[str, ...]:
    """Return the names of the published tables."""
    files = (file.name for file in data_file("published").iterdir())
    return tuple(sorted(name.removesuffix(".csv") for name in files if name.endswith(".csv")))


@lru_cache(maxsize=1)
def occupations() -> frozenset[str]:
    """Return the occupations of O*NET in singular and plural, in lower case.

    Titles are split where they join several, and count with or without their first words
    ("Postsecondary Teachers" gives "postsecondary teacher" and "teacher").
    """
    lines = data_file("onet_occupations.csv").read_text(encoding="utf-8").splitlines()
    forms = {form for row in csv.DictReader(lines) for form in row["forms"].split("|") if form}
    return frozenset(forms | {plural(form) for form in forms})


def plural(form: str) -> str:
    """Return the plural of an English noun in lower case, by its ending.

    >>> plural("lady"), plural("church"), plural("policewoman")
    ('ladies', 'churches', 'policewomen')
    """
    if form.endswith(("clergy", "infantry", "police")):  # their plural is the same
        return form
    if form.endswith("midwife"):
        return form[:-2] + "ves"
    if form.endswith("man"):  # policewoman
        return form[:-2] + "en"
    if form.endswith("y") and form[-2] not in "aeiou":
        return form[:-1] + "ies"
    return form + ("es" if form.endswith(("s", "ch", "sh")) else "s")

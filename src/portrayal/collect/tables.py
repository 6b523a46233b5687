"""Tables: reading and writing CSV files, and what a cell of any source says as text.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`. Texts are written with an
apostrophe before it, and read back without.
"""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from portrayal.collect.fields import ByContent
from portrayal.collect.reasoning import without_reasoning
from portrayal.collect.sources import LONGEST, TextSource, open_source
from portrayal.errors import DataError
from portrayal.run.files import write_atomically
from portrayal.shown import visible
from portrayal.types import Tabular

UNNAMED = "unnamed"
"""The model of texts that name none."""
BLANK = frozenset(("", "nan", "none", "null", "n/a", "<na>"))
"""Words, in small letters, by which tables say that a cell holds nothing."""
_MANY = (Mapping, list, tuple, set, frozenset, bytes, bytearray, memoryview)
_GRADES = {
    **dict.fromkeys(("yes", "true", "correct", "right", "pass", "passed", "y", "c"), 1.0),
    "p": 0.5,
    **dict.fromkeys(("no", "false", "incorrect", "wrong", "fail", "failed", "n", "i"), 0.0),
}
"""Yes and no as tables write them, and C, P, I and N, the letters of Inspect."""
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:e[-+]?\d+)?", re.IGNORECASE)
_COMMA_NUMBER = re.compile(f"{_THOUSANDS.pattern}|{_DECIMAL_COMMA.pattern}", re.IGNORECASE)


def missing(value: Any) -> bool:
    """Return whether a cell holds nothing: None, or NaN as tables write it.

    >>> [missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    return value is None or (isinstance(value, float) and math.isnan(value))


def number_of(cell: Any, *, decimal_comma: bool = False) -> float:
    """Return a cell of a score as a number: NaN where it is missing, infinite where it is none.

    Yes, true, correct and pass are 1, their opposites 0, and "12%" is .12. Commas part thousands.

    Parameters
    ----------
    cell
        Its value.
    decimal_comma
        Whether commas stand before decimals in its column (`has_decimal_commas`).

    Examples
    --------
    >>> [number_of(cell) for cell in ("Yes", "incorrect", " 0.5", "12%", "1,200", "n/a", "unsure")]
    [1.0, 0.0, 0.5, 0.12, 1200.0, nan, inf]
    >>> number_of("1,5"), number_of("1,5", decimal_comma=True)
    (inf, 1.5)
    """
    if isinstance(cell, str):
        word = cell.strip().casefold()
        # R writes NA for what is missing, which in other columns is Namibia
        if word in BLANK or word == "na" or word in _GRADES:
            return _GRADES.get(word, math.nan)
        digits = word.removesuffix("%").rstrip()
        if decimal_comma and _DECIMAL_COMMA.fullmatch(digits):
            digits = digits.replace(",", ".")
        elif _THOUSANDS.fullmatch(digits):
            digits = digits.replace(",", "")
        if not _NUMBER.fullmatch(digits):
            return math.inf
        cell = float(digits) / (100.0 if word.endswith("%") else 1.0)
    if missing(cell):
        return math.nan
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.inf
    return number if math.isfinite(number) else math.inf


def has_decimal_commas(cells: Iterable[Any]) -> bool:
    """Return whether commas in a column of scores stand before decimals, and part no thousands.

    >>> has_decimal_commas(["1,250", "0,5"]), has_decimal_commas(["1,250", "2,000"])
    (True, False)
    """
    texts = (cell.strip().removesuffix("%").rstrip() for cell in cells if isinstance(cell, str))
    numbers = [text for text in texts if "," in text and _COMMA_NUMBER.fullmatch(text)]
    # One that can only be of thousands ("1,250.5") decides for all of its column
    is_decimal = all(map(_DECIMAL_COMMA.fullmatch, numbers))
    return is_decimal and not all(map(_THOUSANDS.fullmatch, numbers))


def missing_column(source: TextSource, column: str, option: str) -> DataError:
    """Return the error of a column that a source lacks, or that is blank throughout.

    Parameters
    ----------
    source
        Where it was looked for.
    column, option
        Its name, and the option by which another one is named.
    """
    is_blank = column in source.columns
    lacks = f"the column {column!r} is blank" if is_blank else f"there is no column {column!r}"
    names = ", ".join(map(repr, source.columns[:30]))
    return DataError(f"{source.name}: {lacks}; found {names}. Name one of these with {option}.")


@contextmanager
def in_row(source: str, number: int) -> Iterator[None]:
    """Say of which row of a file an error is."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{source}: row {number}: {error}") from error


def story(value: Any) -> str | None:
    """Return a text that a model wrote, without its reasoning; None where it is missing or NaN.

    Raises
    ------
    DataError
        When it is no text but a number, a date, bytes, a list or an object, or too long a text.
    """
    if missing(value):
        return None
    if not isinstance(value, str):
        raise _refusal(value)
    if len(value) > LONGEST:
        raise DataError(f"a text has more than {LONGEST:,} characters.")
    return without_reasoning(whole(value))


def label(value: Any) -> str | None:
    """Return a name, role or number as text, 1.0 as "1"; None where it is missing, NaN included.

    Raises
    ------
    DataError
        When it is bytes, a list or an object.
    """
    if isinstance(value, str):
        return whole(value)
    if missing(value):
        return None
    if isinstance(value, _MANY):
        raise _refusal(value)
    # Tools turn a column of whole numbers with a gap in it into floats
    is_whole = isinstance(value, float) and value.is_integer()
    return whole(str(int(value) if is_whole else value))


def whole(text: str) -> str:
    """Return text whose halves of characters (lone surrogates) are U+FFFD, so that it has bytes.

    >>> whole("half " + chr(0xD83D)) == "half " + chr(0xFFFD)
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        # Through UTF-16, where two halves that belong together become one character again
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _refusal(value: Any) -> DataError:
    kind = type(value).__name__
    return DataError(
        f"it holds no text but a value of type {kind} ({str(value)[:40]!r}). "
        "Name the column of texts with --column text=NAME, or write the value as text."
    )


FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")
"""Beginnings of a cell that a spreadsheet would run as a formula; some take wide signs as well."""


def inert(cell: str) -> str:
    """Return a cell that no spreadsheet runs; `restored` takes it back.

    A cell that begins with one of `FORMULAS`, or with an apostrophe before one, gets an apostrophe.

    >>> inert("=1+1"), inert("a = 1")
    ("'=1+1", 'a = 1')
    """
    # Also where apostrophes stand before: else taking one back would bare a formula
    return f"'{cell}" if _runs(cell.lstrip("'")) else cell


def restored(cell: str) -> str:
    """Return what `inert` was given.

    >>> restored(inert("=1+1"))
    '=1+1'
    """
    return cell[1:] if cell.startswith("'") and _runs(cell.lstrip("'")) else cell


def _runs(cell: str) -> bool:
    return cell.startswith(FORMULAS) or cell.lstrip().startswith(FORMULAS)


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a header and rows as CSV, each text inert.

    Numbers are written as they are; a column that a row lacks, and None, are blank cells.
    """
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    # Names of columns come from files as well
    writer.writerow([inert(visible(name)) for name in columns])
    for row in rows:
        cells = (row.get(name, "") for name in columns)
        writer.writerow([inert(visible(cell)) if isinstance(cell, str) else cell for cell in cells])
    return stream.getvalue()


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as a CSV file in one step, as `csv_text` has them, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without a byte order mark Excel takes UTF-8 for the system's own encoding.
    write_atomically(path, "\ufeff" + csv_text(columns, rows))
    return path


def read_table(
    path: Tabular,
    needed: Sequence[str],
    advice: str = "Name yours with --column.",
    columns: Iterable[str] | None = None,
    by_content: ByContent | None = None,
) -> list[dict[str, str]]:
    """Return the rows of a file as text, with their cells as they were before `inert`.

    Parameters
    ----------
    path
        The file.
    needed
        Columns that it must have.
    advice
        What to do where one is missing.
    columns
        "FIELD=NAME" strings where its columns may have other names, which are then guessed too and
        replaced by those of `needed`.
    by_content
        Then finds the column of texts where no column goes by a name of it.

    Raises
    ------
    DataError
        When a needed column is missing.
    """
    source = open_source(path)
    called: dict[str, str] = {}
    if columns is not None:
        mapping = source.find(needed, by_content, columns=columns, needed=needed)
        called = {column: name for name, column in mapping.items()}
    elif missing := [name for name in needed if name not in source.columns]:
        raise DataError(
            f"{source.name}: no column {', '.join(missing)}; found {', '.join(source.columns)}. "
            f"{advice}"
        )
    rows = []
    for number, row in enumerate(source.rows(), 1):
        with in_row(source.name, number):
            cells = {called.get(name, name): label(cell) for name, cell in row.items()}
        rows.append({name: restored(cell or "") for name, cell in cells.items()})
    return rows

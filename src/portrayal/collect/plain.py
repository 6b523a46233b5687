"""Texts of any kind, asked for by no study: one plain text, or a table with a column of texts."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from portrayal.collect.cells import label, story
from portrayal.collect.fields import TextFields, map_columns, parse_columns
from portrayal.collect.sources import encoding_of, open_source
from portrayal.errors import DataError, OptionError
from portrayal.types import Tabular

STDIN = Path("-")
"""Stands for standard input."""

_PLAIN = ("", ".txt", ".text", ".md")
_FIELDS = TextFields(strata=(), required=())
_TAKEN = ("text", "text_id")


class PlainText(NamedTuple):
    """A text and what it is called: its id, the number of its row, or the name of its file."""

    text_id: str
    text: str


def read_plain(path: Tabular, columns: Iterable[str] = ()) -> Iterator[PlainText]:
    """Yield the texts of a file; blank ones too.

    Parameters
    ----------
    path
        A plain text in UTF-8 (.txt, .md or no ending; "-" is standard input), which is one text; or
        a table, rows, a CSV, JSON lines, JSON, Parquet or Excel file or folder of them, which has
        one in each row.
    columns
        "FIELD=NAME" strings for columns with other names; fields: text, text_id.

    Raises
    ------
    DataError
        When the file is missing, empty, not in UTF-8, or has no column of texts.
    OptionError
        When a column is mapped that is not there to be mapped.
    """
    mapped = parse_columns(columns)
    if isinstance(path, str):
        path = Path(path)
    if isinstance(path, Path) and _is_plain(path):
        if mapped:
            raise OptionError(f"{path}: a plain text has no columns, so --column fits nothing.")
        yield PlainText(path.name, _whole(path))
        return
    unknown = [name for name in mapped if name not in _TAKEN]
    if unknown:
        raise OptionError(f"{unknown[0]!r} is not a field here; fields: {', '.join(_TAKEN)}.")
    source = open_source(path)
    found = map_columns(_FIELDS, source.columns, columns=mapped, where=source.name)
    for number, row in enumerate(source.rows(), 1):
        called = row.get(found["text_id"]) if "text_id" in found else None
        text_id = label(called, source.name, number) or str(number)
        yield PlainText(text_id, story(row.get(found["text"]), source.name, number) or "")


def _is_plain(path: Path) -> bool:
    return path == STDIN or (path.suffix.casefold() in _PLAIN and not path.is_dir())


def _whole(path: Path) -> str:
    """The whole of a plain text."""
    if path != STDIN and not (path.is_file() or path.is_fifo()):
        raise DataError(f"{path}: there is no such file.")
    content = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    name = "standard input" if path == STDIN else str(path)
    if not content.strip():
        raise DataError(f"{name}: there is no text in it.")
    try:
        return content.decode(encoding_of(content[:2048], name))
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: not a text in {error.encoding} (byte {error.start}). Save it as UTF-8, "
            "or give a file whose ending says what it is, such as .csv or .xlsx."
        ) from error

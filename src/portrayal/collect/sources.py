"""Sources: any file or table as a stream of rows, with its column names and a digest."""

import codecs
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import portrayal.registry as registry
from portrayal.errors import DataError, OptionError
from portrayal.types import Tabular

Row = Mapping[str, Any]

_FORMATS = ".csv, .tsv, .jsonl, .ndjson, .json, .parquet, .xlsx, .xls, .ods (also .gz)"
_BROKEN_ZIP = (gzip.BadGzipFile, EOFError, zlib.error)
_HEAD = 5_000  # JSON rows read ahead to learn the column names
_LONGEST = 2**26  # characters of a line, or of a field over several lines
_PEEK = 2048
_AT_ONCE = 2**26  # bytes of texts that are written out at once
_MARKS = (
    ((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
)
MOST_UNPACKED = "PORTRAYAL_MOST_UNPACKED"
"""Environment variable: how many bytes a compressed file or spreadsheet may unpack to."""


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of a file or table.

    Attributes
    ----------
    name
        How messages speak of it.
    digest
        Digest of the whole content; the same content has the same digest.
    columns
        Column names in their order.
    rows
        Starts a fresh pass over the rows.
    """

    name: str
    digest: str
    columns: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]


def open_source(texts: Tabular) -> Source:
    """Return `texts` as a source.

    Parameters
    ----------
    texts
        Path of a CSV, TSV, JSON lines, JSON, Parquet or Excel file (CSV and JSON also gzipped) or
        of a folder of such files with the same columns, a log of Inspect AI or a folder of logs, a
        DataFrame or anything else that speaks the Arrow stream protocol, or an iterable of
        mappings.

    Raises
    ------
    DataError
        When the file is missing, empty, of another kind, or not what its name says.
    """
    if isinstance(texts, (str, Path)):
        path = Path(texts)
        if path.is_fifo():
            # What comes through a named pipe is kept in a file as long as the source is there
            folder = Path(tempfile.mkdtemp(prefix="portrayal-"))
            try:
                with path.open("rb") as given, (folder / path.name).open("wb") as kept:
                    shutil.copyfileobj(given, kept)
                source = replace(_file(folder / path.name), name=str(path))
            except BaseException:
                shutil.rmtree(folder)
                raise
            weakref.finalize(source.rows, shutil.rmtree, folder, ignore_errors=True)
            return source
        is_log = path.suffix.casefold() == LOGS
        if path.is_dir():
            is_log = any(path.rglob(f"*{LOGS}"))
        elif path.suffix.casefold() == ".json" and path.is_file():
            with path.open("rb") as stream:
                is_log = _LOG_OPENING.match(stream.read(_PEEK)) is not None
        if is_log:
            read: Callable[[Path], Source] = registry.get("readers", LOGS)
            return read(path)
        return _folder(path) if path.is_dir() else _file(path)
    if hasattr(texts, "__arrow_c_stream__"):
        return _table(texts)
    if isinstance(texts, Iterable):
        items = [_object(item, f"row {number}") for number, item in enumerate(texts, 1)]
        if not items:
            raise DataError("there are no texts: the list of rows is empty.")
        digest = hashlib.blake2b(repr(items).encode(), digest_size=16).hexdigest()
        columns = dict.fromkeys(name for item in items for name in item)
        return Source("the rows", digest, tuple(columns), lambda: iter(items))
    raise DataError(
        f"texts must be a path, a DataFrame or rows; got {type(texts).__name__}. "
        f"Files may be {_FORMATS}."
    )


LOGS = ".eval"
"""Ending of logs of Inspect AI, which may also be JSON; the reader of that name reads both."""
_LOG_OPENING = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":')


def _file(path: Path) -> Source:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected a header and rows of texts.")
    suffixes = [s.casefold() for s in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    kind = suffixes[-2] if zipped and len(suffixes) > 1 else (suffixes or [""])[-1]
    readers: dict[str, Callable[[], Iterator[Row]]] = {
        ".csv": lambda: _csv(path, zipped, ","),
        ".tsv": lambda: _csv(path, zipped, "\t"),
        ".jsonl": lambda: _json_lines(path, zipped),
        ".ndjson": lambda: _json_lines(path, zipped),
        ".json": lambda: _json(path, zipped),
        ".parquet": lambda: _parquet(path),
        ".xlsx": lambda: _excel(path),
        ".xls": lambda: _excel(path),
        ".ods": lambda: _excel(path),
    }
    if kind not in readers:
        raise DataError(f"{path}: files of kind {kind or 'none'!r} are not read; use {_FORMATS}.")
    rows = readers[kind]
    columns = dict.fromkeys(name for row in islice(rows(), _HEAD) for name in row if name.strip())
    if not columns:
        raise DataError(f"{path}: no rows were found after the header.")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return Source(str(path), digest, tuple(columns), rows)


def _folder(path: Path) -> Source:
    kinds = tuple(_FORMATS.replace(",", " ").split()[:9])
    names = sorted(
        f for f in path.iterdir() if f.name.removesuffix(".gz").casefold().endswith(kinds)
    )
    if not names:
        raise DataError(f"{path}: the folder holds no file of texts; expected {_FORMATS}.")
    sources = [_file(name) for name in names]
    for source in sources[1:]:
        if set(source.columns) != set(sources[0].columns):
            raise DataError(
                f"{source.name}: its columns ({', '.join(source.columns)}) differ from those of "
                f"{sources[0].name} ({', '.join(sources[0].columns)})."
            )
    digest = hashlib.blake2b("".join(s.digest for s in sources).encode(), digest_size=16)

    def rows() -> Iterator[Row]:
        for source in sources:
            yield from source.rows()

    return Source(str(path), digest.hexdigest(), sources[0].columns, rows)


def most_unpacked() -> int:
    """Return how many bytes a compressed file may unpack to, as `PORTRAYAL_MOST_UNPACKED` says.

    Raises
    ------
    OptionError
        When it is not a size such as 500MB or 8GB.
    """
    given = os.environ.get(MOST_UNPACKED, "1GB")
    size = re.fullmatch(r"(\d{1,12}) *([KMGT]?)B?", given.strip().upper())
    if size is None:
        raise OptionError(f"a size is written as 500MB or 8GB; got {given!r}.")
    return int(size[1]) * int(1000 ** " KMGT".index(size[2] or " "))


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path}: unpacks to more than {most_unpacked():,} bytes, which may be a mistake or an "
        "attack. Unpack it yourself, or allow more with `portrayal --most-unpacked 8GB …` (in "
        f"Python the variable {MOST_UNPACKED})."
    )


def encoding_of(head: bytes, where: str) -> str:
    """Return the encoding of a file of text by its first bytes: UTF-8, or UTF-16 with its mark.

    Raises
    ------
    DataError
        When it holds NUL bytes, as UTF-16 without its mark does, and files that are no text.
    """
    for marks, encoding in _MARKS:
        if head.startswith(marks):
            return encoding
    if b"\0" in head:
        raise DataError(
            f"{where}: not a text in UTF-8, as it holds NUL bytes: UTF-16 without a byte order "
            "mark, or no text at all. Save it as UTF-8."
        )
    return "utf-8-sig"


@contextmanager
def _opened(path: Path, zipped: bool) -> Iterator[io.TextIOWrapper]:
    with gzip.open(path) if zipped else path.open("rb") as stream:
        encoding = encoding_of(stream.peek(_PEEK)[:_PEEK], str(path))
        with io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
            yield text


def _lines(path: Path, zipped: bool) -> Iterator[str]:
    """Lines with their ends, none longer than `_LONGEST`, and not too many of a packed file."""
    left = most_unpacked() if zipped else None
    with _opened(path, zipped) as stream:
        while line := stream.readline(_LONGEST + 1):
            if len(line) > _LONGEST:
                raise DataError(f"{path}: a line has more than {_LONGEST:,} characters.")
            if left is not None:
                left -= len(line)
                if left < 0:
                    raise _too_large(path)
            yield line


def header(names: Iterable[str], where: str) -> list[str]:
    """Return the names of columns, each of which stands once; blank ones name nothing.

    Raises
    ------
    DataError
        When one stands twice.
    """
    kept = list(names)
    twice = [name for name, n in Counter(kept).items() if n > 1 and name.strip()]
    if twice:
        raise DataError(f"{where}: the column {twice[0]!r} stands twice. Rename one of the two.")
    return kept


def _csv(path: Path, zipped: bool, separator: str) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST)
    reader = csv.DictReader(_lines(path, zipped), delimiter=separator, strict=True)
    try:
        header(reader.fieldnames or (), str(path))
        for row in reader:
            if None in row or None in row.values():
                raise DataError(
                    f"{path}: line {reader.line_num} has another number of fields than the "
                    f"header ({len(reader.fieldnames or ())}). Texts with a {separator!r} or "
                    "line break must stand in double quotes."
                )
            yield row
    except (csv.Error, UnicodeError, *_BROKEN_ZIP) as error:
        raise DataError(
            f"{path}: line {reader.line_num + 1} is not valid CSV in UTF-8 ({error})."
        ) from error


def _json_lines(path: Path, zipped: bool) -> Iterator[Row]:
    number = 0
    try:
        for line in _lines(path, zipped):
            if line.strip():
                yield _object(_parsed(line), f"{path}: line {number + 1}")
            number += 1
    except (ValueError, RecursionError, *_BROKEN_ZIP) as error:
        raise DataError(
            f"{path}: line {number + 1} is not valid JSON ({error}). "
            "Expected one JSON object on each line."
        ) from error


def _json(path: Path, zipped: bool) -> Iterator[Row]:
    most = most_unpacked() if zipped else None
    try:
        with _opened(path, zipped) as stream:
            text = stream.read(-1 if most is None else most + 1)
            if most is not None and len(text) > most:
                raise _too_large(path)
            content = _parsed(text)
    except (ValueError, RecursionError, *_BROKEN_ZIP) as error:
        raise DataError(f"{path}: not valid JSON ({error}).") from error
    if not isinstance(content, list):
        raise DataError(f"{path}: expected a JSON array of objects, found another JSON value.")
    for number, item in enumerate(content, 1):
        yield _object(item, f"{path}: item {number}")


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice; ValueError otherwise."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"the name {name!r} stands twice in one object")
    return found


def _object(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected a JSON object, found {type(value).__name__}.")
    return value


def _parquet(path: Path) -> Iterator[Row]:
    """Rows of a Parquet file, which may unpack to `most_unpacked` bytes or to its own size.

    A few bytes may stand for any number of values, and one entry of a dictionary for any number of
    texts: the first is bounded by what the file says of itself, before anything is unpacked, the
    second by what its texts come to, before any is written out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    left = max(most_unpacked(), path.stat().st_size)
    try:
        about = pq.read_metadata(path)
        header(about.schema.to_arrow_schema().names, str(path))
        groups = (about.row_group(i) for i in range(about.num_row_groups))
        pieces = (group.column(i) for group in groups for i in range(about.num_columns))
        # It says what it unpacks to: at least one byte for every value.
        if sum(max(each.total_uncompressed_size, each.num_values) for each in pieces) > left:
            raise _too_large(path)
        leaves = [about.schema.column(i) for i in range(about.num_columns)]
        texts = [each.path for each in leaves if each.physical_type == "BYTE_ARRAY"]
        with pq.ParquetFile(path, metadata=about, read_dictionary=texts) as file:
            for group in range(about.num_row_groups):
                table = file.read_row_group(group)  # a dictionary is copied with every batch
                size = sum(_written_out(part) for each in table.columns for part in each.chunks)
                left -= size
                if left < 0:
                    raise _too_large(path)
                step = min(4096, max(1, table.num_rows * _AT_ONCE // max(size, 1)))
                for first in range(0, table.num_rows, step):
                    part = [_plain(each) for each in table.slice(first, step).columns]
                    yield from pa.table(part, names=table.column_names).to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error}).") from error


def _plain(column: Any) -> Any:
    """A column without its dictionary, which is slow to turn into Python's values."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _written_out(column: Any) -> int:
    """Bytes of a column once every entry of its dictionaries stands where it is used."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.DictionaryArray):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        return int(pc.sum(lengths.cast(pa.int64())).as_py() or 0)
    if isinstance(column, pa.MapArray):
        return _written_out(column.keys) + _written_out(column.items)
    if isinstance(column, pa.StructArray):
        return sum(map(_written_out, column.flatten()))
    if isinstance(column, (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray)):
        return _written_out(column.flatten())
    return int(column.nbytes)


def _excel(path: Path) -> Iterator[Row]:
    most = most_unpacked()
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as packed:
        if sum(each.file_size for each in packed.infolist()) > most:
            raise _too_large(path)
    rows = _cells(path, 4 * most)
    names = header((str(cell).strip() for cell in next(rows, [])), str(path))
    for row in rows:
        yield dict(zip(names, row, strict=False))


def _cells(path: Path, most: int) -> Iterator[list[Any]]:
    """Rows of the first sheet, read by a process that may have `most` bytes of memory."""
    reader = Path(__file__).with_name("sheet.py")
    command = [sys.executable, "-P", str(reader), str(path), str(most)]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        try:
            while True:
                line = child.stdout.readline()
                if line.endswith(b"\n"):
                    rows = json.loads(line, object_hook=_typed)
                else:
                    need = f"its cells need more than {most:,} bytes"
                    rows = f"{need}, as where one is far from the others"
                if isinstance(rows, str):
                    raise DataError(
                        f"{path}: not a readable spreadsheet ({rows}). Save the sheet as CSV."
                    )
                if not rows:
                    return
                yield from rows
        finally:
            child.kill()


_TYPES: dict[str, Callable[[Any], Any]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
}


def _typed(value: dict[str, Any]) -> Any:
    """A date or time of a sheet, which `sheet.py` wrote as an object with the name of its type."""
    ((name, said),) = value.items()
    return _TYPES[name](said)


def _table(frame: Any) -> Source:
    import pyarrow as pa

    table = pa.table(frame)
    if table.num_rows == 0:
        raise DataError("the table of texts has no rows.")
    header(table.column_names, "the table")
    digest = hashlib.blake2b(digest_size=16)
    for batch in table.to_batches(4096):
        digest.update(repr(batch.to_pydict()).encode())

    def rows() -> Iterator[Row]:
        for batch in table.to_batches(4096):
            yield from batch.to_pylist()

    return Source("the table", digest.hexdigest(), tuple(table.column_names), rows)

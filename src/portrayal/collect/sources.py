"""Sources: any file or table as a stream of rows, with its column names and a digest."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from portrayal.errors import DataError

Row = Mapping[str, Any]

_FORMATS = ".csv, .tsv, .jsonl, .ndjson, .json, .parquet, .xlsx, .xls, .ods (also .gz)"
_BROKEN_ZIP = (gzip.BadGzipFile, EOFError, zlib.error)
_HEAD = 200  # JSON rows read ahead to learn the column names


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


def open_source(texts: Any) -> Source:
    """Return `texts` as a source.

    Parameters
    ----------
    texts
        Path of a CSV, TSV, JSON lines, JSON, Parquet or Excel file (CSV and JSON also gzipped) or
        of a folder of such files with the same columns, a DataFrame or anything else that speaks
        the Arrow stream protocol, or an iterable of mappings.

    Raises
    ------
    DataError
        When the file is missing, empty, of another kind, or not what its name says.
    """
    if isinstance(texts, (str, Path)):
        path = Path(texts)
        return _folder(path) if path.is_dir() else _file(path)
    if hasattr(texts, "__arrow_c_stream__"):
        return _table(texts)
    if isinstance(texts, Iterable):
        return _mappings(texts)
    raise DataError(
        f"texts must be a path, a DataFrame or rows; got {type(texts).__name__}. "
        f"Files may be {_FORMATS}."
    )


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
    columns = dict.fromkeys(name for row in islice(rows(), _HEAD) for name in row)
    if not columns:
        raise DataError(f"{path}: no rows were found after the header.")
    return Source(str(path), _digest_file(path), tuple(columns), rows)


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


def _digest_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _open(path: Path, zipped: bool) -> io.TextIOBase:
    if zipped:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _csv(path: Path, zipped: bool, separator: str) -> Iterator[Row]:
    csv.field_size_limit(2**31 - 1)
    with _open(path, zipped) as stream:
        reader = csv.DictReader(stream, delimiter=separator, strict=True)
        try:
            for row in reader:
                if None in row or None in row.values():
                    raise DataError(
                        f"{path}: line {reader.line_num} has another number of fields than the "
                        f"header ({len(reader.fieldnames or ())}). Texts with a {separator!r} or "
                        "line break must stand in double quotes."
                    )
                yield row
        except (csv.Error, UnicodeDecodeError, *_BROKEN_ZIP) as error:
            raise DataError(
                f"{path}: line {reader.line_num + 1} is not valid CSV in UTF-8 ({error})."
            ) from error


def _json_lines(path: Path, zipped: bool) -> Iterator[Row]:
    with _open(path, zipped) as stream:
        number = 0
        try:
            for line in stream:
                if line.strip():
                    yield _object(json.loads(line), f"{path}: line {number + 1}")
                number += 1
        except (ValueError, *_BROKEN_ZIP) as error:
            raise DataError(
                f"{path}: line {number + 1} is not valid JSON ({error}). "
                "Expected one JSON object on each line."
            ) from error


def _json(path: Path, zipped: bool) -> Iterator[Row]:
    try:
        with _open(path, zipped) as stream:
            content = json.load(stream)
    except (ValueError, *_BROKEN_ZIP) as error:
        raise DataError(f"{path}: not valid JSON ({error}).") from error
    if not isinstance(content, list):
        raise DataError(f"{path}: expected a JSON array of objects, found another JSON value.")
    for number, item in enumerate(content, 1):
        yield _object(item, f"{path}: item {number}")


def _object(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected a JSON object, found {type(value).__name__}.")
    return value


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(4096):
                yield from batch.to_pylist()
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error}).") from error


def _excel(path: Path) -> Iterator[Row]:
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        sheet = CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
        rows = iter(sheet.to_python(skip_empty_area=True))
    except (CalamineError, OSError) as error:
        raise DataError(f"{path}: not a readable spreadsheet ({error}).") from error
    header = [str(cell).strip() for cell in next(rows, [])]
    for row in rows:
        yield dict(zip(header, row, strict=False))


def _table(frame: Any) -> Source:
    import pyarrow as pa

    table = pa.table(frame)
    if table.num_rows == 0:
        raise DataError("the table of texts has no rows.")
    digest = hashlib.blake2b(digest_size=16)
    for batch in table.to_batches(4096):
        digest.update(repr(batch.to_pydict()).encode())

    def rows() -> Iterator[Row]:
        for batch in table.to_batches(4096):
            yield from batch.to_pylist()

    return Source("the table", digest.hexdigest(), tuple(table.column_names), rows)


def _mappings(texts: Iterable[Any]) -> Source:
    items = [_object(item, f"row {number}") for number, item in enumerate(texts, 1)]
    if not items:
        raise DataError("there are no texts: the list of rows is empty.")
    digest = hashlib.blake2b(repr(items).encode(), digest_size=16).hexdigest()
    columns = dict.fromkeys(name for item in items for name in item)
    return Source("the rows", digest, tuple(columns), lambda: iter(items))

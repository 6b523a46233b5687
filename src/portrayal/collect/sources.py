"""Sources: any file or table as a stream of rows, with its column names and a digest."""

import codecs
import csv
import errno
import gzip
import hashlib
import io
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from portrayal.collect.fields import ByContent, find_columns, is_called
from portrayal.collect.logs import Row, files_lacking, items_of, log, table_of
from portrayal.errors import DataError, OptionError, PortrayalError
from portrayal.types import Tabular

_FORMATS = (
    ".csv, .tsv, .txt, .jsonl, .ndjson, .json, .parquet, .xlsx, .xls, .ods, .eval (also .gz), "
    ".zip with one of these"
)
_BROKEN_ZIP = (gzip.BadGzipFile, EOFError, zlib.error)
LONGEST = 2**26  # characters of a line, of a field over several lines, or of a cell
_PEEK = 2048
_AT_ONCE = 2**26  # bytes of texts that are written out at once
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST_UNPACKED = "PORTRAYAL_MOST_UNPACKED"
"""Environment variable: how many bytes a compressed file or spreadsheet may unpack to."""


@dataclass(frozen=True, slots=True)
class TextSource:
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

    def find(
        self, fields: Iterable[str], by_content: ByContent | None = None, **options: Any
    ) -> dict[str, str]:
        """Return which column holds which field, as `find_columns` decides with its `options`."""
        content = by_content and partial(by_content, self)
        return find_columns(fields, self.columns, file=self.name, by_content=content, **options)


def open_source(texts: "Tabular | TextSource", needed: Sequence[str] = ()) -> TextSource:
    """Return `texts` as a source.

    Parameters
    ----------
    texts
        Path of a CSV, TSV, JSON lines, JSON, Parquet or Excel file (CSV and JSON also gzipped) or
        of a folder of such files with the same columns, a log of a known tool
        (`portrayal.collect.logs`), a DataFrame or anything else that speaks the Arrow stream
        protocol, or an iterable of mappings.
    needed
        Columns that files of a folder must have, else they are left out; they may differ in others.

    Raises
    ------
    DataError
        When the file is missing, empty, of another kind, or not what its name says.
    """
    if isinstance(texts, TextSource):  # already opened, such as by `recognise`
        return texts
    if isinstance(texts, (str, Path)):
        return _of_path(Path(texts), needed)
    if hasattr(texts, "__arrow_c_stream__"):
        return _table(texts)
    if isinstance(texts, Iterable):
        # Kept, as several passes are made and an iterator gives one
        items = [_object(item, f"row {number}") for number, item in enumerate(texts, 1)]
        if not items:
            raise DataError("there are no texts: the list of rows is empty.")
        digest = hashlib.blake2b(repr(items).encode(), digest_size=16).hexdigest()
        columns, rows = table_of(lambda: iter(items), "the rows", nested=True, head=len(items))
        return TextSource("the rows", digest, columns, rows)
    raise DataError(
        f"texts must be a path, a DataFrame or rows; got {type(texts).__name__}. "
        f"Files may be {_FORMATS}."
    )


def _of_path(path: Path, needed: Sequence[str]) -> TextSource:
    # A pipe can be read once; the copy as often as is needed
    if path.is_fifo():
        with path.open("rb") as pipe:
            return _copied(pipe, path.name, path)
    if path.suffix.casefold() == ".zip" and path.is_file():
        return _unzipped(path)
    return _folder(path, needed) if path.is_dir() else _file(path)


def _copied(stream: Any, name: str, path: Path) -> TextSource:
    """What a stream holds, kept in a file of this name as long as the source is there."""
    folder = Path(tempfile.mkdtemp(prefix="portrayal-"))

    @contextmanager
    def named() -> Iterator[None]:
        """Name in errors what the user gave, not the copy."""
        try:
            yield
        except DataError as error:
            raise DataError(str(error).replace(str(folder / name), str(path))) from error

    try:
        with (folder / name).open("wb") as copy:
            shutil.copyfileobj(stream, copy)
        with named():
            source = replace(_file(folder / name), name=str(path))
    except BaseException:
        shutil.rmtree(folder)
        raise
    weakref.finalize(source.rows, shutil.rmtree, folder, ignore_errors=True)

    def rows() -> Iterator[Row]:  # a pass of its own holds the file as well
        with named():
            yield from source.rows()

    return replace(source, rows=rows)


def _unzipped(path: Path) -> TextSource:
    try:
        with zipfile.ZipFile(path) as packed:
            tables = [
                entry
                for entry in packed.infolist()
                if Path(entry.filename).suffix.casefold() in _KINDS
                # macOS packs a shadow of every file with it.
                and not entry.filename.startswith("__MACOSX/")
            ]
            if len(tables) != 1:
                names = ", ".join(entry.filename for entry in tables) or "none"
                raise DataError(
                    f"{path}: expected one table in the archive, found {len(tables)} ({names}). "
                    "Unpack it, and name one file or a folder of files with the same columns."
                )
            if tables[0].file_size > most_unpacked():
                raise _too_large(path)
            with packed.open(tables[0]) as stream:
                return _copied(stream, Path(tables[0].filename).name, path)
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError, *_BROKEN_ZIP) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk's, not the archive's
        raise DataError(f"{path}: not a readable archive ({error}). Unpack it yourself.") from error


def _file(path: Path) -> TextSource:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file.")
    before = _moment(path)
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected a header and rows of texts.")
    suffixes = [s.casefold() for s in path.suffixes]
    zipped = bool(suffixes) and suffixes[-1] == ".gz"
    kind = suffixes[-2] if zipped and len(suffixes) > 1 else (suffixes or [""])[-1]
    if kind not in _KINDS:
        raise DataError(f"{path}: files of kind {kind or 'none'!r} are not read; use {_FORMATS}.")
    rows: Callable[[], Iterator[Row]]
    if kind in _BINARY:
        rows = partial(_BINARY[kind], path)
    elif kind in (".jsonl", ".ndjson") or (kind in (".txt", ".json") and _is_lines(path, zipped)):
        rows = partial(_json_lines, path, zipped)
    elif kind == ".json":
        rows = partial(_json, path, zipped)
    else:
        rows = partial(_csv, path, zipped, *_written(path, zipped, "," if kind == ".csv" else "\t"))
    is_json = kind in (".jsonl", ".ndjson", ".json")
    columns, rows = table_of(rows, str(path), nested=is_json)
    if not columns:
        raise DataError(f"{path}: no rows were found after the header.")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()

    def unchanged() -> Iterator[Row]:
        # Rows of one state under the digest of another would be believed ever after.
        try:
            yield from rows()
        except DataError:
            if _moment(path) == before:
                raise
        if _moment(path) != before:
            raise DataError(
                f"{path} changed while it was read. Run the same command again once nothing writes "
                "to it, or name a copy."
            )

    return TextSource(str(path), digest, columns, unchanged)


def _moment(path: Path) -> tuple[int, int, int] | None:
    """What moves when a file is written to or put in another's place; None where it is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _folder(path: Path, needed: Sequence[str]) -> TextSource:
    kinds = tuple(sorted(_KINDS - {".txt"}))
    are_logs = any(path.rglob(f"*{LOG}"))
    files = path.rglob("*") if are_logs else path.iterdir()
    names = sorted(f for f in files if f.name.removesuffix(".gz").casefold().endswith(kinds))
    if not names:
        raise DataError(f"{path}: the folder holds no file of texts; expected {_FORMATS}.")
    sources = [_file(name) for name in (_newest(names) if are_logs else names)]
    lacking = files_lacking({s.name: s.columns for s in sources}, needed, str(path))
    sources = [source for source in sources if source.name not in lacking]
    for source in sources[1:]:
        # Else one file's answers could be read from a column that the others do not have
        if set(source.columns) != set(sources[0].columns) and not (are_logs or needed):
            raise DataError(
                f"{source.name}: its columns ({', '.join(source.columns)}) differ from those of "
                f"{sources[0].name} ({', '.join(sources[0].columns)}). Name one, or a --score."
            )
    columns = dict.fromkeys(name for source in sources for name in source.columns)
    digest = hashlib.blake2b("".join(s.digest for s in sources).encode(), digest_size=16)

    def rows() -> Iterator[Row]:
        for source in sources:
            yield from source.rows()

    return TextSource(str(path), digest.hexdigest(), tuple(columns), rows)


def _newest(names: list[Path]) -> list[Path]:
    """Logs of Inspect AI by time, of several tries of a task and model the last."""
    latest: dict[tuple[str, ...], tuple[str, Path]] = {}
    for name in names:
        item = next(_log(name) if name.suffix.casefold() == LOG else _json(name, False), {})
        task = item.get("eval")
        if not isinstance(task, dict):
            raise DataError(f"{name}: no log of Inspect AI with samples, as others in its folder.")
        key = (str(task.get("task_id")), str(task.get("model")))
        entry = (str(task.get("created")), name)
        for left_out in [min(entry, latest[key])[1]] if key in latest else []:
            log.info("%s: left out, as a later try of the same task is here", left_out)
        latest[key] = max(entry, latest.get(key, entry))
    return [name for _, name in sorted(latest.values())]


def most_unpacked(variable: str = MOST_UNPACKED, usual: str = "1GB") -> int:
    """Return how many bytes something may unpack to, as an environment variable says.

    Parameters
    ----------
    variable, usual
        Its name, and the size where it is not set.

    Raises
    ------
    OptionError
        When it is not a size such as 500MB or 8GB.

    >>> most_unpacked("PORTRAYAL_MOST_ANSWER", "32MB")
    32000000
    """
    size_text = os.environ.get(variable, usual)
    size = re.fullmatch(r"(\d{1,12}) *([KMGT]?)B?", size_text.strip().upper())
    if size is None:
        raise OptionError(f"a size is written as 500MB or 8GB; got {size_text!r}.")
    return int(size[1]) * int(1000 ** " KMGT".index(size[2] or " "))


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path}: unpacks to more than {most_unpacked():,} bytes, which may be a mistake or an "
        f"attack. Unpack it yourself, or set the variable {MOST_UNPACKED}=8GB."
    )


def encoding_of(head: bytes, source: str) -> str:
    """Return the encoding of a file of text by its first bytes: UTF-8, or UTF-16 with its mark.

    Raises
    ------
    DataError
        When it holds NUL bytes, as UTF-16 without its mark does, and files that are no text.
    """
    if head.startswith(_MARKS) and head[2:4] != b"\0\0":  # which would be UTF-32
        return "utf-16"
    if b"\0" in head:
        raise DataError(
            f"{source}: not a text in UTF-8, as it holds NUL bytes: UTF-16 without a byte order "
            "mark, or no text at all. Save it as UTF-8."
        )
    return "utf-8-sig"


@contextmanager
def _opened(path: Path, zipped: bool, explicit: str = "") -> Iterator[io.TextIOWrapper]:
    with gzip.open(path) if zipped else path.open("rb") as stream:
        encoding = explicit or encoding_of(stream.peek(_PEEK)[:_PEEK], str(path))
        with io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
            yield text


def _is_lines(path: Path, zipped: bool) -> bool:
    """Whether a file holds JSON lines, whatever its ending: an object on its first line."""
    with suppress(ValueError, RecursionError, *_BROKEN_ZIP):
        lines = (line for line in _lines(path, zipped) if line.strip())
        first = next(lines, "")
        # A .json file of one line is one object.
        is_single = path.suffix.casefold() == ".json" and next(lines, None) is None
        return not is_single and isinstance(json.loads(first), dict)
    return False


def _written(path: Path, zipped: bool, separator: str) -> tuple[str, str, list[str] | None]:
    """What separates the fields of a table, its encoding ("" as it says), and names for columns
    that have none; what its name does not tell is logged.

    What is no UTF-8 is read as Windows-1252. A file that holds letters of UTF-8 as well is damaged,
    and read as what it claims to be.
    """
    encoding, decoder = "", codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with gzip.open(path) if zipped else path.open("rb") as stream, suppress(*_BROKEN_ZIP):
        head = stream.peek(_PEEK)[:_PEEK]
        if not head.startswith(_MARKS):
            wide, odd = False, set[str]()
            for part in iter(partial(stream.read, 2**20), b""):
                letters = {c for c in decoder.decode(part) if c > "\x7f"}
                odd |= {c for c in letters if "\udc80" <= c <= "\udcff"}
                wide |= bool(letters - odd)
            if odd and not wide and b"\0" not in head:
                encoding = "cp1252"
                log.info("%s: read as Windows-1252, as it is not UTF-8", path)
    first = ""
    with suppress(UnicodeError, *_BROKEN_ZIP):
        # What stands in quotation marks separates nothing.
        first = re.sub(r'"[^"]*"', "", next(_lines(path, zipped, encoding), ""))
    counts = {sign: first.count(sign) for sign in ",;\t" if sign != separator}
    most = max(counts, key=counts.__getitem__)
    if separator not in first and counts[most]:
        name = {",": "commas", ";": "semicolons", "\t": "tabs"}[most]
        log.info("%s: read with %s between its columns", path, name)
        separator = most
    cells: list[str] = []
    with suppress(csv.Error, UnicodeError, *_BROKEN_ZIP):
        cells = next(csv.reader(_lines(path, zipped, encoding), delimiter=separator), [])
    # A name that columns go by says that it is a header after all, as of a questionnaire
    fields = ("text", "text_id", "prompt", "model", "outcome", "name")
    if any(is_called(cell, field) for cell in cells for field in fields):
        return separator, encoding, None
    if not any(map(_SENTENCE.match, cells)):
        return separator, encoding, None
    names = [f"column_{number}" for number in range(1, len(cells) + 1)]
    log.info(
        "%s: its first line holds a text, so it has no header; its columns are called %s "
        "(--column text=column_1 says what one is)",
        path,
        ", ".join(names),
    )
    return separator, encoding, names


_SENTENCE = re.compile(r"\s*((\S+\s+){3}.*[.!…。！][\"'”’)]*\s*\Z|(\S+\s+){14})", re.DOTALL)
"""What no name of a column is: four words and a full stop, or fifteen words."""


def _lines(path: Path, zipped: bool, encoding: str = "") -> Iterator[str]:
    """Lines with their ends, none longer than `LONGEST`, and not too many of a packed file."""
    budget = most_unpacked() if zipped else math.inf
    with _opened(path, zipped, encoding) as stream:
        # Bounded: a file without a line feed would be read whole into memory
        while line := stream.readline(LONGEST + 1):
            if len(line) > LONGEST:
                raise DataError(f"{path}: a line has more than {LONGEST:,} characters.")
            budget -= len(line)
            if budget < 0:
                raise _too_large(path)
            yield line


def header(names: Iterable[str], source: str) -> list[str]:
    """Return the names of columns, each of which stands once; blank ones name nothing.

    Raises
    ------
    DataError
        When one stands twice.
    """
    columns = list(names)
    twice = [name for name, n in Counter(columns).items() if n > 1 and name.strip()]
    if twice:
        raise DataError(f"{source}: the column {twice[0]!r} stands twice. Rename one of the two.")
    return columns


@contextmanager
def _reading(problem: Callable[[], str], advice: str = "") -> Iterator[None]:
    """Say what cannot be read where a block fails at it."""
    try:
        yield
    except PortrayalError:
        raise
    except (csv.Error, ValueError, RecursionError, *_BROKEN_ZIP) as error:
        raise DataError(f"{problem()} ({error}).{advice}") from error


def _csv(
    path: Path, zipped: bool, separator: str, encoding: str, names: list[str] | None
) -> Iterator[Row]:
    # The module's own limit, 131,072 characters, is less than a long text has.
    csv.field_size_limit(LONGEST)
    lines = _lines(path, zipped, encoding)
    reader = csv.DictReader(lines, names, delimiter=separator, strict=True)
    with _reading(lambda: f"{path}: line {reader.line_num + 1} is not valid CSV in UTF-8"):
        header(reader.fieldnames or (), str(path))
        for row in reader:
            # Too many or too few fields: an unquoted comma has shifted them
            if None in row or None in row.values():
                raise DataError(
                    f"{path}: line {reader.line_num} has another number of fields than the "
                    f"header ({len(reader.fieldnames or ())}). Texts with a {separator!r} or "
                    "line break must stand in double quotes."
                )
            yield row


def _json_lines(path: Path, zipped: bool) -> Iterator[Row]:
    number = 0
    advice = " Expected one JSON object on each line."
    with _reading(lambda: f"{path}: line {number + 1} is not valid JSON", advice):
        for line in _lines(path, zipped):
            if line.strip():
                yield _object(_parsed(line), f"{path}: line {number + 1}")
            number += 1


def _json(path: Path, zipped: bool) -> Iterator[Row]:
    most = most_unpacked() if zipped else None
    with _reading(lambda: f"{path}: not valid JSON"), _opened(path, zipped) as stream:
        text = stream.read(-1 if most is None else most + 1)
        if most is not None and len(text) > most:
            raise _too_large(path)
        items = items_of(_parsed(text))
    if items is None:
        raise DataError(
            f"{path}: expected a JSON array of objects, or a log (docs/input-files.md), found "
            "another JSON value."
        )
    for number, item in enumerate(items, 1):
        yield _object(item, f"{path}: item {number}")


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_pairs)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice; ValueError otherwise."""
    # Python keeps the last of two; which one is meant nobody knows
    members = dict(pairs)
    if len(members) < len(pairs):
        name = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise ValueError(f"the name {name!r} stands twice in one object")
    return members


def _object(value: Any, source: str) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{source}: expected a JSON object, found {type(value).__name__}.")
    return value


def _parquet(path: Path) -> Iterator[Row]:
    """Rows of a Parquet file, which may unpack to `most_unpacked` bytes or to its own size.

    A few bytes may stand for any number of values, and one entry of a dictionary for any number of
    texts: the first is bounded by what the file says of itself, before anything is unpacked, the
    second by what its texts come to, before any is written out.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    budget = max(most_unpacked(), path.stat().st_size)
    try:
        about, schema = pq.read_metadata(path), pq.read_schema(path)
        header(schema.names, str(path))
        groups = (about.row_group(i) for i in range(about.num_row_groups))
        pieces = (group.column(i) for group in groups for i in range(about.num_columns))
        # It says what it unpacks to: at least one byte for every value.
        if sum(max(piece.total_uncompressed_size, piece.num_values) for piece in pieces) > budget:
            raise _too_large(path)
        leaves = [about.schema.column(i) for i in range(about.num_columns)]
        # As a dictionary, a text that comes many times is held once.
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        with pq.ParquetFile(path, metadata=about, read_dictionary=texts) as file:
            for group in range(about.num_row_groups):
                table = file.read_row_group(group)  # a dictionary is copied with every batch
                size = sum(_written_out(part) for column in table.columns for part in column.chunks)
                budget -= size
                if budget < 0:
                    raise _too_large(path)
                step = min(4096, max(1, table.num_rows * _AT_ONCE // max(size, 1)))
                for first in range(0, table.num_rows, step):
                    # Without dictionaries, which are slow to turn into Python's values
                    yield from table.slice(first, step).cast(schema).to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error}).") from error


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
        if sum(entry.file_size for entry in packed.infolist()) > most:
            raise _too_large(path)
    rows = _cells(path, 4 * most)
    names = header((str(cell).strip() for cell in next(rows, [])), str(path))
    for row in rows:
        yield dict(zip(names, row, strict=False))


def _log(path: Path) -> Iterator[Row]:
    """Samples of a log of Inspect AI in the order of its data set, one in memory at a time."""
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as packed:
            entries = {entry.filename: entry for entry in packed.infolist()}
            start = "header.json" if "header.json" in entries else "_journal/start.json"
            if start not in entries:
                raise DataError(f"{path}: not a log of Inspect AI, as it has no header.")
            header = _unpacked(stream, packed, entries[start])
            task = header["eval"]
            ids = task.get("dataset", {}).get("sample_ids") or []
            epochs = range(1, (task.get("config", {}).get("epochs") or 1) + 1)
            planned = [f"samples/{sample}_epoch_{epoch}.json" for sample in ids for epoch in epochs]
            rank = {name: i for i, name in enumerate(planned)}
            samples = sorted(
                (name for name in entries if name.startswith("samples/")),
                key=lambda name: (rank.get(name, len(rank)), name),
            )
            note = f"{path}: {header.get('status', 'not finished')}, {len(samples):,} samples"
            if missing := len(rank.keys() - entries.keys()):
                note += f", {missing:,} more were planned and are not there"
            _say_once(note)
            for name in samples:
                sample = _unpacked(stream, packed, entries[name])
                yield {"eval": task, **_object(sample, f"{path}: {name}")}
    except _NO_LOG as error:
        raise DataError(
            f"{path}: not a readable log of Inspect AI ({error}). Try `inspect log recover`."
        ) from error


def _unpacked(stream: Any, packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    """The JSON of an entry of an archive; Python before 3.14 does not read Zstandard in it."""
    import pyarrow as pa

    if entry.compress_type == _ZSTANDARD:
        # The name and another field stand before the content; their lengths are in bytes 26 to 29
        stream.seek(entry.header_offset + 26)
        name_length, other_length = struct.unpack("<HH", stream.read(4))
        stream.seek(name_length + other_length, os.SEEK_CUR)
        content = pa.CompressedInputStream(io.BytesIO(stream.read(entry.compress_size)), "zstd")
    else:
        content = packed.open(entry)
    with content:
        text = content.read(most_unpacked() + 1)
    if len(text) > most_unpacked():
        raise _too_large(Path(stream.name))
    return json.loads(text)


@lru_cache(maxsize=2**10)
def _say_once(message: str) -> None:
    """Log what a file says of itself, not again with each pass over it."""
    log.info("%s", message)


LOG = ".eval"
"""Ending of logs of Inspect AI, which may also be JSON."""
_NO_LOG = (
    *(zipfile.BadZipFile, struct.error, OSError, RuntimeError, *_BROKEN_ZIP),  # no such archive
    *(ValueError, LookupError, TypeError, AttributeError),  # no such JSON
)
_ZSTANDARD = 93  # the number of a method of compression in archives (APPNOTE.TXT 4.4.5)
_BINARY: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".parquet": _parquet,
    LOG: _log,
    **dict.fromkeys((".xlsx", ".xls", ".ods"), _excel),
}
_KINDS = {".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", *_BINARY}


def _cells(path: Path, most: int) -> Iterator[list[Any]]:
    """Rows of the sheet with most texts, read by a process that may have `most` bytes of memory."""
    reader = Path(__file__).with_name("sheet.py")
    # -P keeps modules beside the script from standing in for those of Python
    command = [sys.executable, "-P", str(reader), str(path), str(most)]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        try:
            sheets: Any = None
            need = f"its cells need more than {most:,} bytes, as where one is far from the others"
            while True:
                line = child.stdout.readline()
                # A process that runs out of memory ends within a line.
                rows = json.loads(line, object_hook=_typed) if line.endswith(b"\n") else need
                if isinstance(rows, str):
                    raise DataError(
                        f"{path}: not a readable spreadsheet ({rows}). Save the sheet as CSV."
                    )
                if sheets is None:
                    sheets = rows  # the first line has the name of the sheet, and of how many
                    if rows[1] > 1:
                        message = "read its sheet %r of %d, which has most rows of text"
                        _say_once(f"{path}: {message}" % tuple(rows))
                elif not rows:
                    return
                else:
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
    ((name, text),) = value.items()
    return _TYPES[name](text)


def _table(frame: Any) -> TextSource:
    import pyarrow as pa

    table = pa.table(frame)
    if table.num_rows == 0:
        raise DataError("the table of texts has no rows.")
    header(table.column_names, "the table")
    digest = hashlib.blake2b(digest_size=16)
    for batch in table.to_batches(4096):
        # In batches of one size, as a table may come cut up in any way
        digest.update(repr(batch.to_pydict()).encode())

    def rows() -> Iterator[Row]:
        for batch in table.to_batches(4096):
            yield from batch.to_pylist()

    columns, shaped = table_of(rows, "the table", nested=False)
    return TextSource("the table", digest.hexdigest(), columns, shaped)

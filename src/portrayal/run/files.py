"""Files written beside their place and renamed into it, so that no one reads half of one."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from portrayal.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@contextmanager
def replacing(path: Path, *, flush: bool = False) -> Iterator[Path]:
    """Yield a path beside `path` to write to; renamed to `path` when the block ends well.

    The name beside it is of this attempt alone: two containers may both be process 1.
    With `flush`, file and rename are on the disk before this returns, and outlive a power cut.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        if flush:
            _flush(temporary)
        temporary.replace(path)
        if flush and os.name == "posix":
            _flush(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Write `text` in UTF-8 in one step."""
    with replacing(path, flush=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_utf8(path: Path) -> str:
    """Return a file of text in UTF-8.

    Raises
    ------
    DataError
        When it is in another encoding.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}). Save it as UTF-8.") from error


def write_parquet(table: "pa.Table", path: Path, *, flush: bool = False) -> None:
    """Write an Arrow table in one step."""
    import pyarrow.parquet as pq

    with replacing(path, flush=flush) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def is_whole(path: Path) -> bool:
    """Whether a Parquet file is there with both of its ends; one that was cut off is not."""
    try:
        with path.open("rb") as stream:
            first = stream.read(4)
            stream.seek(-4, os.SEEK_END)
            return first == stream.read() == b"PAR1"
    except OSError:
        return False


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""The journal: one line for each finished request, appended before it counts as finished.

Folding turns its lines into a part of the texts. A line is written by one call, so a killed process
leaves at most a torn last line, which opening cuts off. Lines survive a killed process at once and
a power cut within half a second.

Each line is a JSON object whose last field, `crc`, is the CRC-32 of the bytes before it in eight
hexadecimal digits: ``{"key":"…",…,"crc":"cbf43926"}``. A line that does not match was damaged on
the disk. Opening moves it to `journal.damaged` and keeps every other one.
"""

import errno
import hashlib
import json
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from portrayal.errors import RunError
from portrayal.run.files import read_parquet, replacing, write_parquet

JOURNAL = "journal.jsonl"
DAMAGED = "journal.damaged"
SYNC_SECONDS = 0.35  # asked for every 0.2 s, so a flush at least twice a second
_SUM = re.compile(rb',"crc":"([0-9a-f]{8})"\}')
_BRACE = re.compile(rb'\{"')
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Journal:
    """The open journal of a run: the answers that no part of its texts holds yet.

    Parameters
    ----------
    path, folder
        Its file, and the folder of the parts that its rows become.

    Attributes
    ----------
    n_damaged
        Damaged lines that opening it has set aside.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self._synced_at, self._unsynced = time.monotonic(), False
        with disk_told(path):
            content = path.read_bytes() if path.exists() else b""
            lines, damaged = _whole_lines(content)
            self.n_damaged = len(damaged)
            if damaged:
                aside = path.with_name(DAMAGED)
                lines_before = aside.read_bytes().split(b"\n") if aside.exists() else []
                with aside.open("ab") as out:  # none twice, should this be cut short
                    out.writelines(line + b"\n" for line in damaged if line not in lines_before)
                    out.flush()
                    os.fsync(out.fileno())
            # Without a torn last line, which nobody counted as written
            if content != b"".join(lines):
                _write_whole(path, lines)
            self._file = os.open(path, _APPEND | os.O_CREAT, 0o666)
            self._settle()

    def _settle(self) -> None:
        """Take back the part of failed rows, and finish a fold that was cut short."""
        for old in self.folder.glob(f"{FAILED}*.parquet"):
            old.unlink()
        # A fold writes a part before the journal lets its rows go: those of the last may be in both
        last = self._next_part() - 1
        if last >= 0 and any(self.rows()):
            folded = {*read_parquet(self._part(last), columns=["text_id"])["text_id"].to_pylist()}
            if any(row["key"] in folded for row in self.rows()):
                self._restart([row for row in self.rows() if row["key"] not in folded])

    def append(self, row: Mapping[str, Any]) -> None:
        """Append one row; when this returns, a killed process does not lose it.

        Raises
        ------
        RunError
            When the disk is full or cannot be written; the journal stays as it was before.
        """
        line = _line(row)
        with disk_told(self.path):
            size = os.fstat(self._file).st_size
            try:
                # A disk that fills up takes the beginning of a line.
                if os.write(self._file, line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                os.ftruncate(self._file, size)
                raise
        self._unsynced = True

    def sync(self, *, now: bool = False) -> None:
        """Flush lines to the disk if the last flush is old, or `now`."""
        if self._unsynced and (now or time.monotonic() - self._synced_at >= SYNC_SECONDS):
            self._unsynced, self._synced_at = False, time.monotonic()
            with disk_told(self.path):
                os.fsync(self._file)

    def rows(self, kind: str = "key") -> Iterator[dict[str, Any]]:
        """Yield the rows of its requests, oldest first.

        Those of the `kind` "malformed" are what answers cost that could not be read, and how many
        there were, by reason.
        """
        with self.path.open("rb") as stream:
            for row in map(json.loads, stream):
                del row["crc"]
                if kind in row:
                    yield row

    def fold(self) -> Counter[str]:
        """Turn its settled rows into a part of the texts; return their number by outcome."""
        settled, failed = self._latest()
        if settled:
            self.sync(now=True)
            _write(settled, self._part(self._next_part()))
            self._restart(failed)
        return Counter(row["outcome"] for row in settled)

    def write_failed(self) -> int:
        """Write the failed rows to a part of their own; return how many there are."""
        _, failed = self._latest()
        if failed:
            keys = "".join(row["key"] for row in failed)
            digest = hashlib.blake2b(keys.encode(), digest_size=6).hexdigest()
            _write(failed, self.folder / f"{FAILED}{digest}.parquet")
        return len(failed)

    def close(self) -> None:
        """Flush and close; harmless when closed."""
        if self._file < 0:
            return
        try:
            self.sync(now=True)
        finally:
            os.close(self._file)
            self._file = -1

    def _latest(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The rows of requests that are settled, and of those that failed at their latest try.

        They are sorted, so that a part does not tell which answer happened to come first.
        """
        latest = {row["key"]: row for row in self.rows()}.values()
        rows = sorted(latest, key=lambda row: (row["sample"], row["prompt_id"], row["model"]))
        settled = [row for row in rows if row["outcome"] != "failed"]
        return settled, [row for row in rows if row["outcome"] == "failed"]

    def _restart(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Go on with `rows` alone, in one step.

        What malformed answers cost stays, as no row of the texts holds it.
        """
        lines = [*map(_line, (*rows, *self.rows("malformed")))]
        with disk_told(self.path):
            os.close(self._file)  # some systems replace no file that is open
            try:
                _write_whole(self.path, lines)
            finally:
                self._file = os.open(self.path, _APPEND)
        self._unsynced = False

    def _next_part(self) -> int:
        """The number after that of the last part; those of failed rows are named otherwise."""
        numbered = self.folder.glob("part-[0-9]*.parquet")
        return max((int(path.stem.removeprefix("part-")) + 1 for path in numbered), default=0)

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:05d}.parquet"


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    # Without the closing brace, which follows the sum.
    content = text.encode("utf-8", "replace")[:-1]
    return content + b',"crc":"%08x"}\n' % zlib.crc32(content)


def _whole_lines(content: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines that are as they were written, and those that were damaged.

    What follows the last line feed was cut off, and is not damaged. Where a line feed was damaged
    the next line is whole from the brace on from which its sum is right.
    """
    lines: list[bytes] = []
    damaged: list[bytes] = []
    start = 0
    for end in _SUM.finditer(content):
        line_start = max(start, content.rfind(b"\n", start, end.start()) + 1)
        braces = (brace.start() for brace in _BRACE.finditer(content, line_start, end.start()))
        crc = int(end[1], 16)
        first = next((i for i in braces if zlib.crc32(content[i : end.start()]) == crc), None)
        if first is not None:
            damaged += content[start:first].split(b"\n")
            lines.append(content[first : end.end()] + b"\n")
            start = end.end() + 1  # past what was the line feed
    damaged += content[start:].split(b"\n")[:-1]
    return lines, [line for line in damaged if line.strip()]


def _write_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Write a journal beside `path`, flush it, and rename it into place."""
    with replacing(path, flush=True) as temporary, temporary.open("wb") as stream:
        stream.writelines(lines)


@contextmanager
def disk_told(path: Path) -> Iterator[None]:
    """Turn a failure of the disk into words: what is safe and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunError(
                f"the disk is full: {path} could not be written. Every answer written before is "
                "kept. Free some space, then run the same command again to continue."
            ) from error
        raise RunError(
            f"{path} cannot be written ({error.strerror or error}). Make it writable or give "
            "another --out; every answer written before is kept."
        ) from error


FAILED = "part-failed-"

_NUMBERS = (
    *("sample", "input_tokens", "output_tokens", "estimated_tokens", "reasoning_tokens"),
    *("reasoning_characters", "attempts"),
)
_COLUMNS = (
    *("text_id", "source_id", "prompt_id", "sample", "model", "text", "outcome", "input_tokens"),
    *("output_tokens", "estimated_tokens", "reasoning_tokens", "reasoning_characters"),
    *("finish_reason", "answered_by", "asked_at", "attempts", "reason"),
)
SCHEMA = pa.schema([(n, pa.int32() if n in _NUMBERS else pa.string()) for n in _COLUMNS])
"""The columns of imported texts, then what only an asked text has.

`estimated_tokens` are those that are upper bounds, as the endpoint reported no count that can be;
`reasoning_tokens` those of the answer that are reasoning, `reasoning_characters` what of it came
along and is not in the text;
`source_id` is the endpoint's identifier of the answer, `answered_by` the model as the endpoint
names it, `asked_at` the wall clock of the last try (UTC), `reason` why a row failed.
"""

_FROM_JOURNAL = {"text_id": "key", "source_id": "response_id"}


def _write(records: Sequence[Mapping[str, Any]], path: Path) -> None:
    table = pa.table(
        {
            field.name: pa.array(
                [row.get(_FROM_JOURNAL.get(field.name, field.name)) for row in records], field.type
            )
            for field in SCHEMA
        },
        schema=SCHEMA,
    )
    write_parquet(table, path, flush=True)

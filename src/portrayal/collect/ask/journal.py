"""The journal: one line for each finished request, appended before it counts as finished.

Its first line names the segment that it holds; folding turns a segment into a part of the texts. A
line is written by one call, so a killed process leaves at most a torn last line, which opening cuts
off. Lines survive a killed process at once and a power cut within half a second.

Each line is a JSON object whose last field, `crc`, is the CRC-32 of the bytes before it in eight
hexadecimal digits: ``{"key":"…",…,"crc":"cbf43926"}``. A line that does not match was damaged on
the disk. Opening moves it to `journal.damaged` and keeps every other one.
"""

import errno
import hashlib
import json
import os
import re
import threading
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
_VERSION = 2
_SUM = re.compile(rb',"crc":"([0-9a-f]{8})"\}')
_BRACE = re.compile(rb'\{"')
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)


class Journal:
    """The open journal of a run.

    Parameters
    ----------
    path, asked
        As the attributes.
    last_part
        Number of the last part of the texts, 0 where there is none: where to go on when the first
        line is damaged.

    Attributes
    ----------
    path
        Its file.
    asked
        Fingerprint of what the run asks; a journal of another one is refused.
    segment
        Number of the part that its lines will become.
    n_damaged
        Damaged lines that opening it has set aside.
    """

    def __init__(self, path: Path, mark: str, last_part: int = 0) -> None:
        self.path, self.asked = path, mark
        self.segment = self.n_damaged = 0
        self._file = -1
        self._lock = threading.Lock()
        self._synced_at = time.monotonic()
        self._unsynced = False
        with disk_told(path):
            self._open(last_part)

    def _open(self, last_part: int) -> None:
        """Open it, with its damaged lines set aside and a last line that was cut off dropped."""
        if not self.path.exists():
            _write_whole(self.path, [_header(0, self.asked)])
        content = self.path.read_bytes()
        lines, damaged = _whole_lines(content)
        if not lines:
            raise RunError(
                f"{self.path} is not a journal of this version: its first line does not say so. "
                "Move it away, or give another --out."
            )
        self.segment = last_part
        if b'"journal":' in lines[0][:20]:
            header = json.loads(lines.pop(0))
            if header["journal"] != _VERSION or header["asked"] != self.asked:
                raise RunError(
                    f"{self.path} holds answers to other prompts or of another version. "
                    "Give another --out to keep both."
                )
            self.segment = header["segment"]
        if damaged:
            aside = self.path.with_name(DAMAGED)
            lines_before = aside.read_bytes().split(b"\n") if aside.exists() else []
            with aside.open("ab") as out:  # none twice, should this be cut short
                out.writelines(line + b"\n" for line in damaged if line not in lines_before)
                out.flush()
                os.fsync(out.fileno())
        lines = [_header(self.segment, self.asked), *lines]
        self.n_damaged = len(damaged)
        if not content.startswith(b"".join(lines)):
            _write_whole(self.path, lines)
        self._file = os.open(self.path, _APPEND)
        # Without a torn last line, which nobody counted as written
        os.ftruncate(self._file, sum(map(len, lines)))

    def append(self, row: Mapping[str, Any]) -> None:
        """Append one row; when this returns, a killed process does not lose it.

        Raises
        ------
        RunError
            When the disk is full or cannot be written; the journal stays as it was before.
        """
        line = _line(row)
        with self._lock, disk_told(self.path):
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
        """Flush lines to the disk if the last flush is old, or `now`; from any thread."""
        due = now or time.monotonic() - self._synced_at >= SYNC_SECONDS
        if not (due and self._unsynced):
            return
        # A copy of the handle under the lock, the slow flush without it
        with self._lock:
            if self._file < 0:
                return
            handle = os.dup(self._file)  # a flush may outlast this file or this segment
        self._unsynced, self._synced_at = False, time.monotonic()
        try:
            with disk_told(self.path):
                os.fsync(handle)
        finally:
            os.close(handle)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of its requests, oldest first."""
        return (row for row in self._read() if "malformed" not in row)

    def malformed(self) -> Iterator[dict[str, Any]]:
        """Yield what answers cost that could not be read, and how many there were, by reason."""
        return (row for row in self._read() if "malformed" in row)

    def _read(self) -> Iterator[dict[str, Any]]:
        with self.path.open("rb") as stream:
            for line in stream:
                row = json.loads(line)
                del row["crc"]
                if "journal" not in row:  # the first line, wherever it stands again
                    yield row

    def restart(self, rows: Iterable[Mapping[str, Any]], segment: int) -> None:
        """Begin segment `segment` with `rows`, in one step; the old lines are gone after it.

        What malformed answers cost stays, as no row of the texts holds it.
        """
        lines = [_header(segment, self.asked), *map(_line, (*rows, *self.malformed()))]
        with self._lock, disk_told(self.path):
            os.close(self._file)  # some systems replace no file that is open
            try:
                _write_whole(self.path, lines)
            finally:
                self._file = os.open(self.path, _APPEND)
        self.segment, self._unsynced = segment, False

    def close(self) -> None:
        """Flush and close; harmless when closed."""
        if self._file < 0:
            return
        try:
            self.sync(now=True)
        finally:
            os.close(self._file)
            self._file = -1


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    # Without the closing brace, which follows the sum.
    content = text.encode("utf-8", "replace")[:-1]
    return content + b',"crc":"%08x"}\n' % zlib.crc32(content)


def _header(segment: int, mark: str) -> bytes:
    return _line({"journal": _VERSION, "segment": segment, "asked": mark})


def _whole_lines(content: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines that are as they were written, and those that were damaged.

    What follows the last line feed was cut off, and is not damaged. A line whose line feeds were
    damaged may hold whole ones, each of which begins at the brace from which its sum is right.
    """
    lines, damaged = [], []
    *ended, torn = content.split(b"\n")
    for line in (*ended, torn):
        damage, start = b"", 0
        for end in _SUM.finditer(line):
            braces = (brace.start() for brace in _BRACE.finditer(line, start, end.start()))
            crc = int(end[1], 16)
            first = next((i for i in braces if zlib.crc32(line[i : end.start()]) == crc), None)
            if first is not None:
                damage += line[start:first]
                lines.append(line[first : end.end()] + b"\n")
                start = end.end() + 1  # past what was the line feed
        damage += line[start:]
        if damage.strip() and line is not torn:
            damaged.append(damage)
    return lines, damaged


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


def part_path(folder: Path, segment: int) -> Path:
    """Return the path of the part that segment `segment` becomes."""
    return folder / f"part-{segment:05d}.parquet"


def last_part(folder: Path) -> int:
    """Return the number of the last part; 0 where there is none."""
    # Parts of failed rows are named otherwise.
    numbered = folder.glob("part-[0-9]*.parquet")
    return max((int(path.stem.removeprefix("part-")) for path in numbered), default=0)


def settle(journal: Journal, folder: Path) -> None:
    """Finish a fold that was cut short, and take back the part of failed rows."""
    for old in folder.glob(f"{FAILED}*.parquet"):
        old.unlink()
    part = part_path(folder, journal.segment)
    if not part.exists():
        return
    try:
        folded = set(read_parquet(part, columns=["text_id"])["text_id"].to_pylist())
    except (pa.ArrowException, OSError):
        # It was cut short, and its rows are in the journal still.
        part.unlink()
        return
    unfolded = (row for row in journal.rows() if row["key"] not in folded)
    journal.restart(unfolded, journal.segment + 1)


def fold(journal: Journal, folder: Path) -> Counter[str]:
    """Turn the segment into its part; return the number of rows by outcome."""
    settled, failed = _latest(journal)
    if settled:
        journal.sync(now=True)
        # The part is whole before the journal lets its rows go; `settle` ends what stops between.
        _write(settled, part_path(folder, journal.segment))
        journal.restart(failed, journal.segment + 1)
    return Counter(row["outcome"] for row in settled)


def write_failed(journal: Journal, folder: Path) -> int:
    """Write the journal's failed rows to their part; return how many there are."""
    _, failed = _latest(journal)
    if failed:
        keys = "".join(row["key"] for row in failed)
        digest = hashlib.blake2b(keys.encode(), digest_size=6).hexdigest()
        _write(failed, folder / f"{FAILED}{digest}.parquet")
    return len(failed)


def _latest(journal: Journal) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of requests that are settled, and of those that failed at their latest try.

    They are sorted, so that a part does not tell which answer happened to come first.
    """
    latest = {row["key"]: row for row in journal.rows()}
    rows = sorted(latest.values(), key=lambda row: (row["sample"], row["prompt_id"], row["model"]))
    settled = [row for row in rows if row["outcome"] != "failed"]
    return settled, [row for row in rows if row["outcome"] == "failed"]


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

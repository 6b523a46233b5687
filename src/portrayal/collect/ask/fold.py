"""Folding: a segment of the journal becomes one part of the texts, exactly once.

Why nothing is doubled or lost, wherever a fold is cut short. A fold of segment k has two steps that
each happen whole or not at all: (1) `part-k` is written beside its place, flushed and renamed into
it; (2) a journal that names segment k + 1 replaces the one that names k. Nothing is appended in
between, as one process holds the run and the fold holds that process.

* Stopped before (1): there is no `part-k`; every row is in the journal.
* Stopped between (1) and (2): the journal still names k and `part-k` exists. Opening reads the keys
  of `part-k`, does step (2) with the rows that are not among them, and no row is in both places.
  A `part-k` that cannot be read (a power cut before its flush) is deleted: the journal has it all.
* Stopped after (2): the rows are in `part-k` only.

A failed row stays in the journal through every fold, since the next collection asks it again; the
last line of a key counts. When a collection ends, failed rows are written once more to a part named
by their digest, and the next collection removes that part first. So a row of texts is never in two
parts, and a part's name never stands for other rows than before.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portrayal.collect.ask.journal import Journal, sync_folder
from portrayal.run.shards import write_parquet

FAILED = "part-failed-"

SCHEMA = pa.schema(
    [
        ("text_id", pa.string()),
        ("source_id", pa.string()),
        ("prompt_id", pa.string()),
        ("sample", pa.int32()),
        ("model", pa.string()),
        ("text", pa.string()),
        ("outcome", pa.string()),
        ("input_tokens", pa.int32()),
        ("output_tokens", pa.int32()),
        ("finish_reason", pa.string()),
        ("answered_by", pa.string()),
        ("asked_at", pa.string()),
        ("attempts", pa.int32()),
        ("reason", pa.string()),
    ]
)
"""The columns of imported texts, then what only an asked text has.

`source_id` is the endpoint's identifier of the answer, `answered_by` the model as the endpoint
names it, `asked_at` the wall clock of the last try (UTC), `reason` why a row failed.
"""

_FROM_JOURNAL = {"text_id": "key", "source_id": "response_id"}


def part_path(folder: Path, segment: int) -> Path:
    """Return the path of the part that segment `segment` becomes."""
    return folder / f"part-{segment:05d}.parquet"


def settle(journal: Journal, folder: Path) -> None:
    """Finish a fold that was cut short, and take back the part of failed rows."""
    for old in folder.glob(f"{FAILED}*.parquet"):
        old.unlink()
    part = part_path(folder, journal.segment)
    if not part.exists():
        return
    try:
        folded = set(pq.read_table(part, columns=["text_id"])["text_id"].to_pylist())
    except (pa.ArrowException, OSError):
        part.unlink()
        return
    left = (row for row in journal.rows() if row["key"] not in folded)
    journal.restart(left, journal.segment + 1)


def fold(journal: Journal, folder: Path) -> Counter[str]:
    """Turn the segment into its part; return the number of rows by outcome."""
    latest = {row["key"]: row for row in journal.rows()}
    settled = [row for row in latest.values() if row["outcome"] != "failed"]
    if not settled:
        return Counter()
    settled.sort(key=_order)
    journal.sync(now=True)
    _write(settled, part_path(folder, journal.segment))
    failed = [row for row in latest.values() if row["outcome"] == "failed"]
    journal.restart(failed, journal.segment + 1)
    return Counter(row["outcome"] for row in settled)


def write_failed(journal: Journal, folder: Path) -> int:
    """Write the journal's failed rows to their part; return how many there are."""
    latest = {row["key"]: row for row in journal.rows()}
    failed = sorted((row for row in latest.values() if row["outcome"] == "failed"), key=_order)
    if failed:
        named = hashlib.blake2b(digest_size=6)
        for row in failed:
            named.update(row["key"].encode())
        _write(failed, folder / f"{FAILED}{named.hexdigest()}.parquet")
    return len(failed)


def _order(row: Mapping[str, Any]) -> tuple[int, str, str]:
    return row["sample"], row["prompt_id"], row["model"]


def _write(rows: Iterable[Mapping[str, Any]], path: Path) -> None:
    kept = list(rows)
    table = pa.table(
        {
            field.name: pa.array(
                [row.get(_FROM_JOURNAL.get(field.name, field.name)) for row in kept], field.type
            )
            for field in SCHEMA
        },
        schema=SCHEMA,
    )
    write_parquet(table, path)
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
    sync_folder(path.parent)

"""The journal on bad days: torn lines, full disks, folders nobody may write, clocks going back."""

import errno
import os
import subprocess
from types import MappingProxyType

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import journal
from portrayal.collect.ask.journal import Journal
from portrayal.collect.ask.provider import Answer
from portrayal.errors import RunError
from portrayal.run import Run


class Counting:
    """A provider that answers with its count."""

    name = "counting:one"
    parameters = MappingProxyType({})
    asked = 0

    async def ask(self, prompt):
        self.asked += 1
        return Answer(f"Story {self.asked}. " + "word " * 50)

    async def close(self):
        pass


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.jsonl"


@pytest.mark.parametrize("torn", [b'{"key": "c", "te', b"{}x\n", b"\xff\xfe\n", b"[1]\n"])
def test_a_torn_last_line_is_cut_off_and_every_whole_line_stays(path, torn):
    first = Journal(path, path.parent)
    for key in "ab":
        first.append({"key": key, "text": "Ærø \u2028 東京\nline"})
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    again = Journal(path, path.parent)
    assert path.read_bytes() == whole
    again.append({"key": "c"})
    assert [row["key"] for row in again.rows()] == ["a", "b", "c"]
    again.close()


def test_a_line_is_one_write(path, monkeypatch):
    book = Journal(path, path.parent)
    written = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: written.append(data) or real(file, data))
    book.append({"key": "a", "text": "x" * 100_000})
    monkeypatch.undo()
    book.close()
    assert len(written) == 1
    assert written[0].endswith(b"\n")


@pytest.mark.fault("a disk that fills up", "one line; what was answered is kept and goes on")
@pytest.mark.parametrize("half", [False, True])
def test_a_full_disk_leaves_a_readable_journal_and_says_what_to_do(path, monkeypatch, half):
    book = Journal(path, path.parent)
    book.append({"key": "a"})
    before = path.read_bytes()
    real = os.write

    def full(file, data):
        if half:
            return real(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RunError, match=r"disk is full.*Free some space"):
        book.append({"key": "b"})
    monkeypatch.undo()
    assert path.read_bytes() == before
    book.append({"key": "c"})
    assert [row["key"] for row in book.rows()] == ["a", "c"]
    book.close()


@pytest.mark.fault("a disk that fills up", "one line; what was answered is kept and goes on")
def test_a_disk_that_fills_up_ends_a_collection_that_then_continues(
    run, prompts, rows, monkeypatch, journalled
):
    real, room = os.write, [7]

    def filling(file, data):
        if data.startswith(b'{"key"'):
            room[0] -= 1
            if room[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data)

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(RunError, match="disk is full"):
        collect_texts(run, prompts, Counting(), 3, concurrency=4)
    monkeypatch.undo()
    acknowledged = {row["key"]: row["text"] for row in journalled(run)}
    assert len(acknowledged) == 7
    report = collect_texts(run, prompts, Counting(), 3)
    assert report.asked == 23
    assert acknowledged.items() <= {row["text_id"]: row["text"] for row in rows(run)}.items()


def test_a_folder_that_cannot_be_written_is_named(path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(journal.os, "open", refuse)
    with pytest.raises(RunError, match=r"journal\.jsonl cannot be written \(Permission denied\)"):
        Journal(path, path.parent)


def test_lines_reach_the_disk_twice_a_second_by_a_clock_that_cannot_go_back(path, monkeypatch):
    flushed = []
    ticks = [100.0]
    monkeypatch.setattr(journal.time, "monotonic", lambda: ticks[0])
    monkeypatch.setattr(journal.time, "time", lambda: pytest.fail("read the wall clock"))
    book = Journal(path, path.parent)
    monkeypatch.setattr(journal.os, "fsync", flushed.append)
    for _ in range(10):  # a quarter of a second each, as the runner calls it
        book.append({"key": "a"})
        ticks[0] += 0.25
        book.sync()
    assert len(flushed) == 5
    book.append({"key": "b"})
    book.close()
    assert len(flushed) == 6


def test_rows_are_timed_by_the_wall_clock_only_to_tell(run, prompts, rows, monkeypatch):
    from portrayal.collect.ask import loop as workers

    hours = iter(range(1000, 0, -1))
    monkeypatch.setattr(workers, "now", lambda: f"2030-01-01T{next(hours)}")
    assert collect_texts(run, prompts, Counting(), 20, concurrency=3, shard_rows=30).complete
    assert len(rows(run)) == 200


def test_lines_of_another_version_are_passed_over(path):
    path.write_bytes(journal._line({"journal": 2, "segment": 3, "asked": "asked"}))
    book = Journal(path, path.parent)
    book.append({"key": "a"})
    assert ([row["key"] for row in book.rows()], book.n_damaged) == (["a"], 0)
    book.close()


def test_a_disk_that_fills_up_during_a_fold_loses_nothing(run, prompts, rows, monkeypatch):
    from portrayal.collect.ask import journal as fold

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fold, "write_parquet", full)
    with pytest.raises(RunError, match="disk is full"):
        collect_texts(run, prompts, Counting(), 3, shard_rows=12, concurrency=1)
    monkeypatch.undo()
    assert collect_texts(run, prompts, Counting(), 3, shard_rows=12).asked == 18
    assert len(rows(run)) == 30


@pytest.mark.fault("a disk that fills up", "one line; what was answered is kept and goes on")
def test_a_really_full_disk(tmp_path, prompts):
    """On a file system of 300 kB, where one may be mounted."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no file system may be mounted here")
    try:
        run = Run(small / "run")
        with run.lock(), pytest.raises(RunError, match="disk is full"):
            collect_texts(run, prompts, Counting(), 200)
        kept = Journal(run.path / "journal.jsonl", run.texts.folder)
        assert len(list(kept.rows())) > 100
        kept.close()
    finally:
        subprocess.run(["umount", str(small)], check=True)

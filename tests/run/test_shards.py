"""Shards on any executor: what fails is named, what was made is kept, a rerun makes the rest."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import shard_work
from portrayal.errors import RunError
from portrayal.run.shards import ShardError, run_shards
from shard_work import (
    copy_shard,
    die_on_bad,
    die_once,
    fail_on_bad,
    only_in_the_main_thread,
    refuse_once,
)


@pytest.fixture
def shards(tmp_path):
    """Make input files with these words, and pair them with outputs."""

    def make(*words):
        pairs = []
        for i, word in enumerate(words):
            source = tmp_path / f"in-{i}.txt"
            source.write_text(word)
            pairs.append((source, tmp_path / f"out-{i}.txt"))
        return pairs

    return make


def made(pairs):
    return [out.read_text() if out.exists() else None for _, out in pairs]


class Counted:
    """Progress that remembers."""

    def __init__(self):
        self.seen = []

    def __call__(self, done, total):
        self.seen.append((done, total))


@pytest.mark.parametrize("workers", [1, 2])
def test_every_shard_is_made_and_counted(shards, workers):
    pairs, progress = shards("a", "b", "c"), Counted()
    run_shards(copy_shard, pairs, workers=workers, progress=progress)
    assert made(pairs) == ["a", "b", "c"]
    assert progress.seen == [(1, 3), (2, 3), (3, 3)]


def test_made_shards_are_skipped_and_counted_as_done(shards):
    pairs, progress = shards("a", "b", "c"), Counted()
    run_shards(copy_shard, pairs[:1])
    for source, _ in pairs[:1]:
        source.write_text("changed")
    run_shards(copy_shard, pairs, progress=progress)
    assert made(pairs) == ["a", "b", "c"]
    assert progress.seen == [(2, 3), (3, 3)]


def test_nothing_to_do_starts_nothing():
    run_shards(copy_shard, [], workers=4)


def on_threads(pairs, work, **more):
    with ThreadPoolExecutor(3) as executor:
        run_shards(work, pairs, executor=executor, **more)


def on_processes(pairs, work, **more):
    run_shards(work, pairs, workers=2, **more)


def here(pairs, work, **more):
    run_shards(work, pairs, **more)


@pytest.mark.parametrize("run", [here, on_threads, on_processes])
def test_a_failing_shard_is_named_and_the_others_are_kept(shards, run):
    pairs, progress = shards("a", "bad", "c", "d"), Counted()
    with pytest.raises(ShardError, match="1 of 4 shards failed") as raised:
        run(pairs, fail_on_bad, progress=progress)
    assert "in-1.txt: ValueError: this shard is bad" in str(raised.value)
    assert "run the same command again" in str(raised.value)
    assert isinstance(raised.value, RunError)
    assert made(pairs) == ["a", None, "c", "d"]
    assert len(progress.seen) == 3
    pairs[1][0].write_text("mended")
    again = Counted()
    run(pairs, fail_on_bad, progress=again)
    assert made(pairs) == ["a", "mended", "c", "d"]
    assert again.seen == [(4, 4)]


@pytest.mark.fault("a worker process dies", "its shard is made again by another")
def test_a_lost_worker_is_replaced_and_its_shard_made_again(shards):
    pairs, progress = shards("a", "once", "c", "d"), Counted()
    run_shards(die_once, pairs, workers=2, progress=progress)
    assert made(pairs) == ["a", "once", "c", "d"]
    assert progress.seen == [(n, 4) for n in (1, 2, 3, 4)]


@pytest.mark.fault("a shard that kills every worker", "it is named; no other shard is lost")
def test_a_shard_that_kills_every_worker_costs_no_other_shard(shards):
    pairs = shards("bad", "b", "c", "d")
    with pytest.raises(ShardError, match="1 of 4 shards failed") as raised:
        run_shards(die_on_bad, pairs, workers=2)
    assert "in-0.txt: the worker process was lost" in str(raised.value)
    assert made(pairs) == [None, "b", "c", "d"]


def test_shards_that_all_kill_their_workers_come_to_an_end(shards):
    pairs = shards(*["bad"] * 7)
    with pytest.raises(ShardError, match="7 of 7 shards failed"):
        run_shards(die_on_bad, pairs, workers=2)
    assert made(pairs) == [None] * 7


class Broken(Executor):
    """An executor that lets one shard through, loses one, and takes no more."""

    def __init__(self):
        self.submitted = 0

    def submit(self, work, /, *arguments, **named):
        self.submitted += 1
        if self.submitted > 2:
            raise BrokenExecutor("gone")
        future = Future()
        if self.submitted == 1:
            future.set_result(work(*arguments))
        else:
            future.set_exception(BrokenExecutor("gone"))
        return future


def test_a_broken_executor_keeps_what_was_made_and_names_the_rest(shards):
    pairs = shards("a", "b", "c")
    with pytest.raises(ShardError, match="2 of 3 shards failed") as raised:
        run_shards(copy_shard, pairs, executor=Broken())
    assert made(pairs) == ["a", None, None]
    assert "in-1.txt" in str(raised.value)
    assert "in-2.txt" in str(raised.value)
    run_shards(copy_shard, pairs)
    assert made(pairs) == ["a", "b", "c"]


class Silent(Executor):
    """An executor that makes every shard and loses every answer, as a worker killed behind it."""

    def submit(self, work, /, *arguments, **named):
        work(*arguments)
        return Future()


def test_shards_whose_answers_were_lost_are_done(shards, monkeypatch):
    monkeypatch.setattr("portrayal.run.shards._QUIET", 0.01)
    pairs, progress = shards("a", "b"), Counted()
    run_shards(copy_shard, pairs, executor=Silent(), progress=progress)
    assert made(pairs) == ["a", "b"]
    assert progress.seen == [(1, 2), (2, 2)]


def test_an_executor_given_is_left_running(shards):
    with ThreadPoolExecutor(1) as executor:
        run_shards(copy_shard, shards("a"), executor=executor)
        assert executor.submit(int, "7").result() == 7


@pytest.mark.fault("a machine of a cluster cannot write", "others make its shards")
def test_shards_that_a_worker_cannot_write_are_made_by_others(shards):
    pairs, progress = shards("a", "unwritable", "c", "unwritable"), Counted()
    on_threads(pairs, refuse_once, progress=progress)
    assert made(pairs) == ["a", "unwritable", "c", "unwritable"]
    assert progress.seen == [(n, 4) for n in (1, 2, 3, 4)]


@pytest.mark.fault("no machine of a cluster can write", "the machine that asks makes the shards")
def test_shards_that_no_worker_can_write_are_made_here(shards):
    pairs, progress = shards("a", "b", "c"), Counted()
    on_threads(pairs, only_in_the_main_thread, progress=progress)
    assert made(pairs) == ["a", "b", "c"]
    assert progress.seen == [(n, 3) for n in (1, 2, 3)]


def test_a_shard_that_nobody_can_write_is_named(shards, tmp_path):
    pairs = [(source, tmp_path / "no-folder" / "out.txt") for source, _ in shards("a")]
    with pytest.raises(ShardError, match=r"1 of 1 shards failed \(in-0.txt: FileNotFoundError"):
        on_threads(pairs, copy_shard)


def test_long_lists_of_failures_are_cut(shards):
    pairs = shards(*["bad"] * 8)
    with pytest.raises(ShardError, match="8 of 8") as raised:
        run_shards(fail_on_bad, pairs)
    assert str(raised.value).count("ValueError") == 5


PARENT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import shard_work
from portrayal.run.shards import run_shards

if __name__ == "__main__":
    pairs = [(Path(p), Path(p).with_suffix(".out")) for p in sys.argv[3:]]
    run_shards(getattr(shard_work, sys.argv[2]), pairs, workers=2)
"""


def children(of):
    """Numbers of the processes that `of` has started and that still run."""
    listed = (Path("/proc") / str(of) / "task").glob("*/children")
    return [int(number) for each in listed for number in each.read_text().split()]


def runs(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def until(met, seconds=30):
    end = time.monotonic() + seconds
    while not met() and time.monotonic() < end:
        time.sleep(0.02)
    return met()


@pytest.mark.fault("kill -9 of the process whose workers annotate", "its workers end with it")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("work", ["say_who_and_stay", "say_who_and_compute", "at the start"])
def test_workers_end_with_a_parent_that_is_killed(shards, tmp_path, work):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    sources = [source for source, _ in shards("a", "b")]
    home = str(Path(shard_work.__file__).parent)
    name = "say_who_and_stay" if work == "at the start" else work
    parent = subprocess.Popen([sys.executable, str(script), home, name, *map(str, sources)])
    try:
        if work == "at the start":
            assert until(lambda: len(children(parent.pid)) >= 2)
        else:
            assert until(lambda: all(source.with_suffix(".pid").exists() for source in sources))
        started = children(parent.pid)
        os.kill(parent.pid, signal.SIGKILL)
    finally:
        parent.kill()
        parent.wait()
    assert len(started) >= 2
    ended = until(lambda: not any(map(runs, started)), 10)
    for number in filter(runs, started):
        os.kill(number, signal.SIGKILL)
    assert ended

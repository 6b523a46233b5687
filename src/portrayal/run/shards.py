"""Shards: one deterministically named file each, on any executor, nothing half-written.

The unit of work is a function of (input path, output path) that writes its output by temp + rename.
A finished shard is skipped, a killed worker loses only the shards it held, a machine that cannot
write leaves its shards to the others, and a rerun takes up what is missing.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from pathlib import Path

from portrayal.errors import RunError

ShardWork = Callable[[Path, Path], int]
Progress = Callable[[int, int], None]

_KILLERS = 5  # so many shards that each killed a worker of their own end the attempt
_QUIET = 10.0  # seconds without an answer after which the shards themselves are looked for


class ShardError(RunError):
    """Some shards could not be made; the others are kept and a rerun continues with the rest."""


def run_shards(
    work: ShardWork,
    pairs: Sequence[tuple[Path, Path]],
    *,
    workers: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> None:
    """Make every missing output of `pairs` by `work(input, output)`.

    Parameters
    ----------
    work
        A picklable function; returns how many rows it wrote.
    pairs
        Input and output path of each shard.
    workers
        Local processes when no executor is given; 1 works in this process.
    executor
        Any `concurrent.futures.Executor`, such as the one of a Dask client. Its workers need the
        same paths as this process; give absolute ones.
    progress
        Called with (shards done, shards in all) after each one.

    Raises
    ------
    ShardError
        Naming the shards that failed and why; everything else is finished first.
    """
    # What is there is whole, as shards are renamed into place
    todo = [pair for pair in pairs if not pair[1].exists()]
    report = _Counter(len(pairs) - len(todo), len(pairs), progress)
    if executor is not None:
        failed = _elsewhere(executor, work, todo, report)
    elif workers > 1 and len(todo) > 1:
        failed = _local_pools(work, todo, workers, report)
    else:
        failed = _here(work, todo, report)
    if failed:
        reasons = "; ".join(f"{path.name}: {reason}" for path, reason in failed[:5])
        raise ShardError(
            f"{len(failed)} of {len(pairs)} shards failed ({reasons}). "
            "The others are kept; run the same command again to continue."
        )


class _Counter:
    def __init__(self, n_done: int, total: int, progress: Progress | None) -> None:
        self.done, self.total, self.progress = n_done, total, progress

    def advance(self) -> None:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.total)


Failures = list[tuple[Path, str]]


def _here(work: ShardWork, todo: Iterable[tuple[Path, Path]], report: _Counter) -> Failures:
    failed: Failures = []
    for source, target in todo:
        try:
            work(source, target)
        # One bad shard costs no other; all failures are told at the end
        except Exception as error:
            failed.append((source, _reason(error)))
        else:
            report.advance()
    return failed


def _elsewhere(
    executor: Executor, work: ShardWork, todo: list[tuple[Path, Path]], report: _Counter
) -> Failures:
    """An executor whose workers may run on other machines, some of which may lack the folder or a
    right to it. Their shards are given out again while that gets any made, and the rest made here.
    """
    failed: Failures = []
    remaining = list(todo)
    while remaining:
        refused: set[Path] = set()
        failures = _submit(executor, work, remaining, report, refused)
        failed += [(source, reason) for source, reason in failures if source not in refused]
        again = [pair for pair in remaining if pair[0] in refused]
        if len(again) == len(remaining):  # no other machine could: made here, where the folder is
            return failed + _here(work, again, report)
        remaining = again
    return failed


def _local_pools(
    work: ShardWork, todo: list[tuple[Path, Path]], workers: int, report: _Counter
) -> Failures:
    """Local processes. Where a worker dies, the shards that were being made each get a pool of
    their own, so that one which kills its worker is found and costs no other shard.
    """
    failed: Failures = []
    remaining = list(todo)
    while remaining:
        failures = _pool(work, remaining, min(workers, len(remaining)), report)
        failed += [(source, reason) for source, reason in failures if reason != _LOST]
        lost = {source for source, reason in failures if reason == _LOST}
        remaining = [pair for pair in remaining if pair[0] in lost]
        for pair in remaining[:workers]:  # shards are begun in order, so these were in work
            failed += _pool(work, [pair], 1, report)
        remaining = remaining[workers:]
        if sum(reason == _LOST for _, reason in failed) >= _KILLERS:
            return failed + [(source, f"not tried: {_LOST} too often") for source, _ in remaining]
    return failed


def _pool(work: ShardWork, todo: list[tuple[Path, Path]], size: int, report: _Counter) -> Failures:
    # A fork copies locks that threads hold, which nobody in the worker would ever release.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(size, mp_context=spawned, initializer=_end_with_parent)
    try:
        return _submit(pool, work, todo, report)
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let this worker end when its parent is gone, however that ended (kill -9 included).

    A worker waits for work on a pipe whose other end its siblings hold as well, so that without
    this all of them would wait for ever.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        # `sys.exit` would end this thread alone.
        os._exit(1)

    threading.Thread(target=watch, name="end with parent", daemon=True).start()


_LOST = "the worker process was lost"
_NO_ONE = "who hands the shards out was lost"  # as the scheduler of a cluster


def _submit(
    executor: Executor,
    work: ShardWork,
    todo: Iterable[tuple[Path, Path]],
    report: _Counter,
    refused: set[Path] | None = None,
) -> Failures:
    """What failed and why; `refused` gains the sources whose worker could not read or write."""
    failed: Failures = []
    waiting: dict[Future[int], tuple[Path, Path]] = {}
    with _interrupts_held():
        for source, target in todo:
            try:
                waiting[executor.submit(work, source, target)] = source, target
            except BrokenExecutor:
                failed.append((source, _LOST))
    while waiting:
        finished, _ = wait(waiting, timeout=_QUIET, return_when=FIRST_COMPLETED)
        if not finished:  # an answer may have been lost with its worker, but not the shard
            for future in [future for future, (_, target) in waiting.items() if target.exists()]:
                waiting.pop(future)
                report.advance()
        for future in finished:
            source, target = waiting.pop(future)
            try:
                future.result()
            except (BrokenExecutor, CancelledError) as error:
                if target.exists():  # it was lost after it had written its file
                    report.advance()
                else:
                    failed.append((source, _LOST if isinstance(error, BrokenExecutor) else _NO_ONE))
            except Exception as error:
                failed.append((source, _reason(error)))
                if refused is not None and isinstance(error, OSError):
                    refused.add(source)
            else:
                report.advance()
    return failed


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back, also from processes that start meanwhile.

    A worker that hears it while it imports prints a traceback; one that never hears it finishes
    the shard in hand and stops with its pool.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

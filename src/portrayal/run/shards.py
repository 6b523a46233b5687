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
from itertools import count
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
    n_done = count(len(pairs) - len(todo) + 1)

    def advance() -> None:
        if progress is not None:
            progress(next(n_done), len(pairs))

    if executor is not None:
        failed = _elsewhere(executor, work, todo, advance)
    elif workers > 1 and len(todo) > 1:
        failed = _local_pools(work, todo, workers, advance)
    else:
        failed = _here(work, todo, advance)
    if failed:
        reasons = "; ".join(f"{s.name}: {_reason(e)}" for (s, _), e in [*failed.items()][:5])
        raise ShardError(
            f"{len(failed)} of {len(pairs)} shards failed ({reasons}). "
            "What is done is kept; run the same command again to continue."
        )


Pair = tuple[Path, Path]
Failures = dict[Pair, Exception]
"""Why a shard, its input and output, could not be made."""


def _reason(error: Exception) -> str:
    if isinstance(error, BrokenExecutor):
        return str(error) if error.args == (_TOO_OFTEN,) else _LOST
    return _NO_ONE if isinstance(error, CancelledError) else f"{type(error).__name__}: {error}"


_LOST = "the worker process was lost"
_TOO_OFTEN = f"not tried: {_LOST} too often"
_NO_ONE = "who hands the shards out was lost"  # as the scheduler of a cluster


def _here(work: ShardWork, todo: Iterable[Pair], advance: Callable[[], None]) -> Failures:
    failed: Failures = {}
    for pair in todo:
        try:
            work(*pair)
        # One bad shard costs no other; all failures are told at the end
        except Exception as error:
            failed[pair] = error
        else:
            advance()
    return failed


def _elsewhere(
    executor: Executor, work: ShardWork, todo: list[Pair], advance: Callable[[], None]
) -> Failures:
    """An executor whose workers may run on other machines, some of which may lack the folder or a
    right to it. Their shards are given out again while that gets any made, and the rest made here.
    """
    failed: Failures = {}
    while todo:
        failed |= _submit(executor, work, todo, advance)
        refused = [pair for pair in todo if isinstance(failed.get(pair), OSError)]
        for pair in refused:
            del failed[pair]
        if len(refused) == len(todo):  # no other machine could: made here, where the folder is
            return failed | _here(work, refused, advance)
        todo = refused
    return failed


def _local_pools(
    work: ShardWork, todo: list[Pair], workers: int, advance: Callable[[], None]
) -> Failures:
    """Local processes. Where a worker dies, the shards that were being made each get a pool of
    their own, so that one which kills its worker is found and costs no other shard.
    """
    failed: Failures = {}
    while todo:
        failures = _pool(work, todo, min(workers, len(todo)), advance)
        lost = [pair for pair, error in failures.items() if isinstance(error, BrokenExecutor)]
        failed |= {pair: error for pair, error in failures.items() if pair not in lost}
        for pair in lost[:workers]:  # shards are begun in order, so these were in work
            failed |= _pool(work, [pair], 1, advance)
        todo = lost[workers:]
        if sum(isinstance(error, BrokenExecutor) for error in failed.values()) >= _KILLERS:
            return failed | {pair: BrokenExecutor(_TOO_OFTEN) for pair in todo}
    return failed


def _pool(work: ShardWork, todo: list[Pair], size: int, advance: Callable[[], None]) -> Failures:
    # A fork copies locks that threads hold, which nobody in the worker would ever release.
    spawned = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(size, mp_context=spawned, initializer=_end_with_parent)
    try:
        return _submit(pool, work, todo, advance)
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


def _submit(
    executor: Executor, work: ShardWork, todo: Iterable[Pair], advance: Callable[[], None]
) -> Failures:
    failed: Failures = {}
    waiting: dict[Future[int], Pair] = {}
    with _interrupts_held():
        for pair in todo:
            try:
                waiting[executor.submit(work, *pair)] = pair
            except BrokenExecutor as error:
                failed[pair] = error
    while waiting:
        finished, _ = wait(waiting, timeout=_QUIET, return_when=FIRST_COMPLETED)
        # An answer may have been lost with its worker, but not the shard
        for future in finished or [f for f, (_, target) in waiting.items() if target.exists()]:
            pair = waiting.pop(future)
            try:
                if finished:
                    future.result()
            except Exception as error:
                # A worker may be lost after it has written its file.
                if isinstance(error, (BrokenExecutor, CancelledError)) and pair[1].exists():
                    advance()
                else:
                    failed[pair] = error
            else:
                advance()
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

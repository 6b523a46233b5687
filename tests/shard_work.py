"""Work of shards, in a module that the processes which run it import at once."""

import os
import signal
import threading
import time
from pathlib import Path

from portrayal.run.files import write_atomically


def copy_shard(source: Path, target: Path) -> int:
    """Copy the source in one step, as annotators write: a pool that breaks ends all its workers."""
    write_atomically(target, source.read_text())
    return 1


def fail_on_bad(source: Path, target: Path) -> int:
    """Raise where the shard says so; else copy it."""
    if source.read_text() == "bad":
        raise ValueError("this shard is bad")
    return copy_shard(source, target)


def die_on_bad(source: Path, target: Path) -> int:
    """Kill the worker where the shard says so; else copy it."""
    if source.read_text() == "bad":
        os.kill(os.getpid(), signal.SIGKILL)
    return copy_shard(source, target)


def die_once(source: Path, target: Path) -> int:
    """End the worker the first time a shard is seen; copy it the second time."""
    seen = source.with_suffix(".seen")
    if source.read_text() == "once" and not seen.exists():
        seen.touch()
        os._exit(1)
    return copy_shard(source, target)


def refuse_once(source: Path, target: Path) -> int:
    """Have no right to write the first time where the shard says so; copy it the second time."""
    seen = source.with_suffix(".seen")
    if source.read_text() == "unwritable" and not seen.exists():
        seen.touch()
        raise PermissionError(f"{target} cannot be written here")
    return copy_shard(source, target)


def only_in_the_main_thread(source: Path, target: Path) -> int:
    """Have no right to write on a worker."""
    if threading.current_thread() is not threading.main_thread():
        raise PermissionError(f"{target} cannot be written here")
    return copy_shard(source, target)


def say_who_and_stay(source: Path, target: Path) -> int:
    """Write this process's number beside the source, then work for a minute."""
    source.with_suffix(".pid").write_text(str(os.getpid()))
    time.sleep(60)
    return copy_shard(source, target)


def say_who_and_compute(source: Path, target: Path) -> int:
    """The same, without ever waiting."""
    source.with_suffix(".pid").write_text(str(os.getpid()))
    until = time.monotonic() + 60
    while time.monotonic() < until:
        pass
    return copy_shard(source, target)

"""A Dask cluster of separate processes, each with a folder of its own: the bytes of one process."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from portrayal.studies.laissez_faire import sample
from support import needs

FEW = 3
"""Texts in a shard, so that the small sample has many."""

ASK = f"""
import sys
import portrayal
from distributed import Client

if __name__ == "__main__":
    with Client(sys.argv[1], timeout=60) as client:
        client.wait_for_workers(3, timeout=60)
        executor = client.get_executor()
        portrayal.audit(sys.argv[2], study="laissez-faire", out="r", draws=100, permutations=20,
                        report=False, shard_rows={FEW}, executor=executor)
"""

CANNOT_WRITE = """
import resource

def dask_setup(worker):
    # no file may grow past 0 bytes: as a full or read-only disk, for root as well
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""


@pytest.fixture(autouse=True)
def _dask() -> None:
    needs("distributed")


@contextmanager
def _started(
    *command: object, folder: Path, stderr: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[str]]:
    """A process. Nobody reads what workers log, so a pipe would fill up and stop them."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Cluster:
    """A scheduler and three workers, the last of which cannot write."""

    def __init__(self, folder: Path, started: ExitStack) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.folder, self._started = folder, started
        local = ("--host", "127.0.0.1", "--no-dashboard")
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start(
            "scheduler", "distributed.cli.dask_scheduler", *local, "--port", port
        )
        (folder / "cannot_write.py").write_text(CANNOT_WRITE, encoding="utf-8")
        one = ("distributed.cli.dask_worker", self.address, "--no-nanny", "--nthreads", 1, *local)
        self.workers = [
            self._start("worker-1", *one),
            self._start("worker-2", *one),
            self._start("worker-3", *one, "--preload", folder / "cannot_write.py"),
        ]

    def _start(self, name: str, *command: object) -> subprocess.Popen[str]:
        started = _started("-m", *command, folder=self.folder / name)
        return self._started.enter_context(started)

    def ask(self) -> subprocess.Popen[str]:
        """Start an audit into the folder asks/r, whose path the audit is given as "r"."""
        folder = self.folder / "asks"
        started = _started("-c", ASK, self.address, sample(), folder=folder, stderr=subprocess.PIPE)
        return self._started.enter_context(started)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as started:
        yield Cluster(tmp_path, started)


def _parts(run: Path) -> list[Path]:
    return sorted(run.glob("annotations/*/part-*.parquet"))


def _kill_halfway(asks: subprocess.Popen[str], run: Path, victim: subprocess.Popen[str]) -> int:
    """Kill `victim` once some shards are made; return how many there were."""
    until = time.monotonic() + 90
    while len(_parts(run)) < 8:
        assert asks.poll() is None, asks.communicate()
        assert time.monotonic() < until
        time.sleep(0.005)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait(10)
    return len(_parts(run))


def _again(cluster: Cluster, folder: Path) -> None:
    """Make the same call in the folder of the one before, and wait for it."""
    again = subprocess.run(
        [sys.executable, "-c", ASK, cluster.address, str(sample())],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert again.returncode == 0, again.stderr


def _undisturbed(folder: Path) -> dict[str, bytes]:
    """Every number and annotation of the same audit in one process, in the same shards."""
    folder.mkdir(exist_ok=True)
    code = ASK.replace("from distributed import Client\n", "").partition("    with Client")[0]
    audit = ASK.partition("        portrayal.audit")[2].replace(", executor=executor", "")
    script = f"{code}    portrayal.audit{audit}"
    command = [sys.executable, "-c", script, "", str(sample())]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return _bytes(folder / "r")


def _bytes(run: Path) -> dict[str, bytes]:
    files = [*_parts(run), run / "estimates.parquet", run / "influences.parquet"]
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


@pytest.mark.fault(
    "of three machines of a Dask cluster one is killed and one cannot write",
    "the same bytes as one process",
)
def test_one_killed_and_one_that_cannot_write(cluster: Cluster, tmp_path: Path) -> None:
    run = tmp_path / "asks" / "r"
    asks = cluster.ask()
    made = _kill_halfway(asks, run, cluster.workers[0])
    _, error = asks.communicate(timeout=400)
    assert asks.returncode == 0, error
    assert _bytes(run) == _undisturbed(tmp_path / "one")
    assert made < len(_parts(run))
    assert not list(run.rglob("*.tmp"))


@pytest.mark.fault(
    "kill -9 of the process that asks a Dask cluster", "the same audit goes on to the same bytes"
)
def test_who_asks_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    run = tmp_path / "asks" / "r"
    asks = cluster.ask()
    made = _kill_halfway(asks, run, asks)
    kept = {path: path.stat().st_mtime_ns for path in _parts(run)[:made]}
    assert not (run / "estimates.parquet").exists()
    _again(cluster, tmp_path / "asks")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert _bytes(run) == _undisturbed(tmp_path / "one")


@pytest.mark.fault(
    "kill -9 of the scheduler of a Dask cluster",
    "the audit ends with an error that says to run it again; it goes on to the same bytes",
)
def test_the_scheduler_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    run = tmp_path / "asks" / "r"
    asks = cluster.ask()
    made = _kill_halfway(asks, run, cluster.scheduler)
    _, error = asks.communicate(timeout=90)
    assert asks.returncode == 1, error
    last = error.strip().splitlines()[-1]
    assert last.startswith("portrayal.run.shards.ShardError: "), error
    assert last.endswith("run the same command again to continue."), error
    assert not (run / "estimates.parquet").exists()
    kept = {path: path.stat().st_mtime_ns for path in _parts(run)}
    # Workers finish the shard that they have, be its end known to who asked or not
    (n_failed,) = map(int, re.findall(r": (\d+) of 100 shards failed \(", last))
    assert 100 - len(kept) <= n_failed <= 100 - made
    (tmp_path / "second").mkdir()
    with ExitStack() as started:
        _again(Cluster(tmp_path / "second", started), tmp_path / "asks")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert _bytes(run) == _undisturbed(tmp_path / "one")

"""A stopped audit leaves a run that the same command continues, to the same numbers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import portrayal as toolkit
from e2e.conftest import QUICK, Portrayal
from portrayal import registry

FEW = 12
"""Texts in a shard, so that a small file has many."""


def _start(out: Path, folder: Path, workers: int) -> subprocess.Popen[str]:
    """Audit the sample in a process group of its own, in many shards."""
    script = folder / "start.py"
    script.write_text(
        # A shell that starts the tests in the background has its children ignore Ctrl-C.
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import portrayal.pipeline.audit\n"
        "from portrayal.cli import main\n"
        f"portrayal.pipeline.audit.SHARD_ROWS = {FEW}\n"
        "if __name__ == '__main__':\n"
        "    main()\n",
        encoding="utf-8",
    )
    command = [sys.executable, str(script), "audit", "laissez-faire", "--sample", *QUICK]
    return subprocess.Popen(
        [*command, "--out", str(out), "--workers", str(workers)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _stop_in_the_middle(
    process: subprocess.Popen[str], out: Path, send: Callable[[int], None]
) -> tuple[int, str]:
    """Send a signal once a shard is done; return exit status and standard error."""
    until = time.monotonic() + 60
    while not list(out.glob("annotations/*/part-*.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    send(process.pid)
    assert len(list(out.glob("texts/part-*.parquet"))) > 2  # there is a middle to stop in
    _, error = process.communicate(timeout=60)
    return process.returncode, error


def _left(out: Path) -> tuple[list[str], list[str]]:
    done = sorted(path.name for path in out.glob("annotations/*/part-*.parquet"))
    return done, sorted(path.name for path in out.rglob("*.tmp"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Estimates of the sample in one shard and one process."""
    out = tmp_path_factory.mktemp("undisturbed") / "r"
    sample = registry.get("studies", "laissez-faire").sample()["texts"]
    run = toolkit.audit(
        "laissez-faire", texts=sample, out=out, draws=100, permutations=20, report=False
    )
    return run.estimates_path.read_bytes()


@pytest.mark.fault("Ctrl-C in an audit", "the same command goes on to the same bytes")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c(portrayal: Portrayal, tmp_path: Path, workers: int, undisturbed: bytes) -> None:
    out = tmp_path / "r"
    process = _start(out, tmp_path, workers)
    status, error = _stop_in_the_middle(process, out, lambda pid: os.killpg(pid, signal.SIGINT))
    assert status == 130, error
    assert error.splitlines()[-1] == "interrupted: the same command continues where it stopped."
    done, half = _left(out)
    assert done
    assert not half
    assert not (out / "estimates.parquet").exists()
    kept = {name: (out / "annotations/people.v3" / name).stat().st_mtime_ns for name in done}
    portrayal("audit", "laissez-faire", "--sample", *QUICK, "--out", "r", "--workers", 1).ok()
    assert (out / "estimates.parquet").read_bytes() == undisturbed
    after = {name: (out / "annotations/people.v3" / name).stat().st_mtime_ns for name in done}
    assert after == kept  # what was done was not done again


@pytest.mark.fault("kill -9 of an audit with workers", "the same command goes on to the same bytes")
def test_kill_9_with_two_workers(portrayal: Portrayal, tmp_path: Path, undisturbed: bytes) -> None:
    out = tmp_path / "r"
    process = _start(out, tmp_path, 2)
    status, _ = _stop_in_the_middle(process, out, lambda pid: os.killpg(pid, signal.SIGKILL))
    assert status == -signal.SIGKILL
    assert not (out / "estimates.parquet").exists()
    portrayal("list", "estimates", "r").refused("r is not a run")
    portrayal("audit", "laissez-faire", "--sample", *QUICK, "--out", "r", "--workers", 2).ok()
    assert (out / "estimates.parquet").read_bytes() == undisturbed

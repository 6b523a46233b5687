"""A stopped audit leaves a run that the same command continues, to the same numbers."""

import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import portrayal as toolkit
from e2e.conftest import PAGED, QUICK, Portrayal, Serve, command_line, environment
from portrayal import registry
from portrayal.studies.laissez_faire import sample
from support import matrix

FEW = 12
"""Texts in a shard, so that a small file has many."""


def _start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Audit in a process group of its own, in many shards."""
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
    command = [sys.executable, str(script), "audit", "laissez-faire", *QUICK]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for_a_shard(process: subprocess.Popen[str], out: Path) -> None:
    until = time.monotonic() + 60
    while not list(out.glob("annotations/*/part-*.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def _stop_in_the_middle(
    process: subprocess.Popen[str], out: Path, send: Callable[[int], None]
) -> tuple[int, str]:
    """Send a signal once a shard is done; return exit status and standard error."""
    _wait_for_a_shard(process, out)
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
        study="laissez-faire", texts=sample, out=out, draws=100, permutations=20, report=False
    )
    return run.estimates_path.read_bytes()


@pytest.mark.fault("Ctrl-C in an audit", "the same command goes on to the same bytes")
@pytest.mark.parametrize("workers", matrix([2, 1]))
def test_ctrl_c(inside: Portrayal, tmp_path: Path, workers: int, undisturbed: bytes) -> None:
    out = tmp_path / "r"
    process = _start(tmp_path, "--sample", "--out", out, "--workers", workers)
    status, error = _stop_in_the_middle(process, out, lambda pid: os.killpg(pid, signal.SIGINT))
    assert status == 130, error
    assert error.splitlines()[-1] == "interrupted: the same command continues where it stopped."
    done, half = _left(out)
    assert done
    assert not half
    assert not (out / "estimates.parquet").exists()
    kept = {name: (out / "annotations/people.v8" / name).stat().st_mtime_ns for name in done}
    inside("audit", "laissez-faire", "--sample", *QUICK, "--out", "r", "--workers", 1).ok()
    assert (out / "estimates.parquet").read_bytes() == undisturbed
    after = {name: (out / "annotations/people.v8" / name).stat().st_mtime_ns for name in done}
    assert after == kept  # what was done was not done again


@pytest.mark.fault("kill -9 of an audit with workers", "the same command goes on to the same bytes")
def test_kill_9_with_two_workers(inside: Portrayal, tmp_path: Path, undisturbed: bytes) -> None:
    out = tmp_path / "r"
    process = _start(tmp_path, "--sample", "--out", out, "--workers", 2)
    status, _ = _stop_in_the_middle(process, out, lambda pid: os.killpg(pid, signal.SIGKILL))
    assert status == -signal.SIGKILL
    assert not (out / "estimates.parquet").exists()
    inside("list", "estimates", "r").refused("r is not a run")
    inside("audit", "laissez-faire", "--sample", *QUICK, "--out", "r", "--workers", 1).ok()
    assert (out / "estimates.parquet").read_bytes() == undisturbed


@pytest.mark.fault(
    "two audits into one folder at the same time",
    "the second is refused in one line; the first ends with the bytes of one alone",
)
def test_two_audits_into_one_folder(inside: Portrayal, tmp_path: Path, undisturbed: bytes) -> None:
    out = tmp_path / "r"
    first = _start(tmp_path, "--sample", "--out", out, "--workers", 1)
    _wait_for_a_shard(first, out)
    os.killpg(first.pid, signal.SIGSTOP)  # it holds the run, however slow this machine is
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    try:
        for more in (("--sample",), ("--texts", "stories.jsonl"), ("--sample", "--replace")):
            (tmp_path / "stories.jsonl").write_text('{"text": "Mary met Juan."}\n')
            second = inside("audit", "laissez-faire", *more, *QUICK, "--out", "r")
            second.refused("another process is working on r")
        assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before
    finally:
        os.killpg(first.pid, signal.SIGCONT)
        _, error = first.communicate(timeout=60)
    assert first.returncode == 0, error
    assert (out / "estimates.parquet").read_bytes() == undisturbed


@pytest.mark.fault(
    "kill -9 of `audit --model` while it asks and while it measures",
    "the same command goes on to the same bytes, and asks again what was in flight at most",
)
def test_an_audit_that_asks_under_kills(inside: Portrayal, serve: Serve, tmp_path: Path) -> None:
    stories = [json.loads(line)["text"] for line in sample().read_text("utf-8").splitlines()]
    server = serve(write=lambda prompt, _: stories[zlib.crc32(prompt.encode()) % len(stories)])
    model = ("--model", "server:m", "--base-url", server.base_url, "--concurrency", 4)
    inside("audit", "laissez-faire", *model, *QUICK, "--out", "whole").ok()
    whole = server.answered.total()
    killed = (*model, "--out", "killed")
    asking = _start(tmp_path, *killed)
    until = time.monotonic() + PATIENCE
    while server.answered.total() < whole + 40:
        assert asking.poll() is None, asking.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    os.killpg(asking.pid, signal.SIGKILL)
    asking.communicate()
    measuring = _start(tmp_path, *killed)
    _wait_for_a_shard(measuring, tmp_path / "killed")
    os.killpg(measuring.pid, signal.SIGKILL)
    measuring.communicate()
    inside("audit", "laissez-faire", *killed, *QUICK).ok()
    assert whole <= server.answered.total() - whole <= whole + 4
    first = (tmp_path / "whole" / "estimates.parquet").read_bytes()
    assert (tmp_path / "killed" / "estimates.parquet").read_bytes() == first


PATIENCE = 120
"""Seconds that a command on a terminal may show nothing."""


class Terminal:
    """A command on a terminal of its own, whose keys reach it as those of a user do."""

    def __init__(self, folder: Path, *arguments: object, **variables: str) -> None:
        self._master, screen = pty.openpty()

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        self.process = subprocess.Popen(
            command_line(*arguments),
            cwd=folder,
            env=environment(TERM="dumb", COLUMNS="300", **variables),
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
            preexec_fn=take,  # noqa: PLW1509
        )
        os.close(screen)
        self.shown = ""

    def wait_for(self, words: str) -> None:
        """Read what is shown until these words are."""
        until = time.monotonic() + PATIENCE
        while words not in self.shown:
            assert time.monotonic() < until, self.shown
            assert self._read(), self.shown

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def interrupt_question(self) -> None:
        """Press Ctrl-C where an answer is waited for, and again after a while without effect.

        Python's `input` looks for signals and then reads: a key that comes between the two is
        noticed with the next one only. On a busy machine that happens.
        """
        self.press(CTRL_C)
        for _ in range(4):
            # The echo of the key is shown in any case; what comes after it is the end.
            while select.select([self._master], [], [], PATIENCE / 8)[0]:
                if not self._read():
                    return
            self.press(CTRL_C)

    def end(self) -> int:
        """Read to the end; return the exit status."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(timeout=60)

    def _read(self) -> bool:
        """Read what is shown next; False at the end. What shows nothing for long is ended."""
        if not select.select([self._master], [], [], PATIENCE)[0]:
            os.killpg(self.process.pid, signal.SIGABRT)
            raise AssertionError(f"nothing was shown for {PATIENCE} s, after: {self.shown}")
        try:
            part = os.read(self._master, 65536)
        except OSError:  # Linux says so at the end
            return False
        self.shown += part.decode("utf-8", "replace")
        return bool(part)


STAGES = pytest.mark.fault(
    "Ctrl-C on a real terminal, at each stage of an audit, at a question and at a password, once "
    "or twice",
    "status 130 and one line, and no process stays; the same command goes on to the same bytes",
)
CTRL_C = "\x03"


def _interrupted(terminal: Terminal) -> None:
    status = terminal.end()
    assert status == 130, terminal.shown
    assert "Traceback" not in terminal.shown
    assert terminal.shown.rstrip().endswith(
        "interrupted: the same command continues where it stopped."
    )
    with pytest.raises(ProcessLookupError):  # nobody is left of its session
        os.killpg(terminal.process.pid, 0)


@STAGES
@pytest.mark.parametrize("keys", matrix([CTRL_C, CTRL_C * 2]))
def test_ctrl_c_on_a_terminal_at_each_stage(tmp_path: Path, keys: str, undisturbed: bytes) -> None:
    audit = ("audit", "laissez-faire", "--sample", *PAGED, "--out", "r", "--workers", 1)
    for stage in ("texts: ", "annotated texts", "estimates: "):
        terminal = Terminal(tmp_path, *audit)
        terminal.wait_for(stage)
        terminal.press(keys)
        _interrupted(terminal)
        assert not list((tmp_path / "r").rglob("*.tmp"))
    terminal = Terminal(tmp_path, *audit)
    assert terminal.end() == 0, terminal.shown
    assert (tmp_path / "r" / "estimates.parquet").read_bytes() == undisturbed
    assert (tmp_path / "r" / "report.html").is_file()


@STAGES
def test_ctrl_c_at_a_question(tmp_path: Path, serve: Serve) -> None:
    server = serve()
    model = ("--model", "openai:m", "--base-url", server.base_url, "--price", "1/1")
    asked = Terminal(tmp_path, "collect", "laissez-faire", *model, OPENAI_API_KEY="sk-none")
    asked.wait_for("Start?")
    asked.interrupt_question()
    _interrupted(asked)
    assert server.answered.total() == 0


@STAGES
def test_ctrl_c_while_the_program_loads(tmp_path: Path) -> None:
    code = (
        "import sys, signal; import portrayal.__main__ as m\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'portrayal.cli': signal.raise_signal(signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "m.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "interrupted: the same command continues where it stopped.\n"

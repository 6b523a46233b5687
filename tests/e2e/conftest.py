"""The real command line, in a process of its own or in that of the test, and the files it is given.

A process takes a second or two to start: `portrayal` is for what only a process does, and `inside`
for all else.
"""

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from portrayal.cli import main
from servers.openai_server import OpenAIServer

NO_PAGE = ("--set", "report=false")
"""A page takes half of an audit."""
FEW = ("--set", "draws=100", "--set", "permutations=20")
QUICK, PAGED = (*FEW, *NO_PAGE), (*FEW, "--set", "report=true")
LABELS = ("subject_name=a", "subject_gender=b", "object_name=c", "object_gender=d")
LABELLED = ("--column", ",".join(LABELS))


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)

    def ok(self) -> "Done":
        assert self.status == 0, self.err
        assert "Traceback" not in self.err
        return self

    def refused(self, *words: str) -> None:
        """Check that a user could act on the error: one line, no traceback, these words.

        What was read as what may stand before it.
        """
        assert self.status == 2, (self.status, self.out, self.err)
        lines = [x for x in self.err.strip().splitlines() if ": read as " not in x]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        assert len(lines[0]) > len("error: ") + 10
        for word in words:
            assert word in lines[0]


Portrayal = Callable[..., Done]
Serve = Callable[..., OpenAIServer]


def command_line(*arguments: object) -> list[str]:
    """Return the command line as a process takes it."""
    return [sys.executable, "-m", "portrayal", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """The tester's own variables, without anyone's keys."""
    return {name: value for name, value in os.environ.items() if not name.endswith("_KEY")} | more


@pytest.fixture
def portrayal(tmp_path: Path) -> Portrayal:
    """Run `python -m portrayal …` in a process of its own, in the test's folder."""

    def run(*arguments: object, cwd: Path = tmp_path, **variables: str) -> Done:
        done = subprocess.run(
            command_line(*arguments),
            cwd=cwd,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that end with the test."""
    with ExitStack() as started:
        yield lambda **options: started.enter_context(OpenAIServer(**{"words": 12, **options}))


@pytest.fixture
def inside(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Portrayal:
    """Run the same entry point in this process, which saves the start; what it set is unset."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        log = logging.getLogger("portrayal")
        with monkeypatch.context() as here, Path(os.devnull).open(encoding="utf-8") as nothing:
            here.setattr(sys, "argv", ["portrayal", *map(str, arguments)])
            here.setattr(sys, "stdin", nothing)
            here.setattr(log, "handlers", [])
            here.setattr(log, "propagate", log.propagate)
            with pytest.raises(SystemExit) as stop:
                main()
        out, err = capfd.readouterr()
        return Done(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture
def ask(inside: Portrayal, monkeypatch: pytest.MonkeyPatch) -> Portrayal:
    """Run a command with these variables and no key of the tester's."""

    def run(*arguments: object, **variables: str) -> Done:
        with monkeypatch.context() as here:
            for name in sorted(os.environ.keys() - environment().keys()):
                here.delenv(name)
            for name, value in variables.items():
                here.setenv(name, value)
            return inside(*arguments)

    return run


def labelled(
    prompt: str,
    model: str,
    subject: tuple[str | None, str | None],
    other: tuple[str | None, str | None],
    **more: Any,
) -> dict[str, Any]:
    """Return one story between a doctor and a patient whose people somebody labelled."""
    return {
        "story": "Somebody met somebody.",
        "prompt_id": prompt,
        "model": model,
        "domain": "Labor",
        "condition": "power-laden",
        "subject_role": "doctor",
        "object_role": "patient",
        "a": subject[0],
        "b": subject[1],
        "c": other[0],
        "d": other[1],
    } | more


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _hospital(folder: Path) -> Path:
    rows = []
    for i in range(40):
        doctor = ("Emily", "F") if i % 4 == 0 else ("John", "M")
        patient = ("José", "M") if i % 4 == 1 else ("María", "F")
        rows.append(labelled(f"p{i % 5}", "m", doctor, patient))
    return write_lines(folder / "stories.jsonl", rows)


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """Forty labelled stories: three of four doctors are men, one of four patients is."""
    return _hospital(tmp_path)


@pytest.fixture(scope="session")
def hospital_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of these stories, made once by the command line; tests only read it."""
    folder = tmp_path_factory.mktemp("hospital")
    files = ["--texts", _hospital(folder), "--out", folder / "r", *LABELLED]
    audit = command_line("audit", "laissez-faire", *PAGED, *files)
    subprocess.run(audit, check=True, capture_output=True)
    return folder / "r"


def only(estimates: list[dict[str, Any]], **where: str | None) -> dict[str, Any]:
    """Return the one estimate whose strata and group are these."""
    found = [e for e in estimates if {**e["strata"], **e["group"]}.items() >= where.items()]
    assert len(found) == 1, (where, len(found))
    return found[0]


def killed_after(answers: int, server: OpenAIServer, arguments: Iterable[str], cwd: Path) -> None:
    """Run the command until the server has answered so often (or a minute), then kill it."""
    started = subprocess.Popen(
        command_line(*arguments),
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while server.answered.total() < answers and time.monotonic() < until:
        time.sleep(0.02)
    started.kill()
    started.wait()

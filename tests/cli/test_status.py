"""Statuses of the command line: what nobody expected is no verdict."""

import os
import subprocess
import sys
import tomllib

import pytest

from command import invoke
from portrayal.cli import UNEXPECTED

VERDICTS = (0, 1, 2, 3, 4)


@pytest.mark.fault(
    "an error that nobody expected, a full disk without a name, in `gate` and other commands",
    "a status that is no verdict; the message names the file",
)
def test_an_unexpected_error_is_no_verdict(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise ZeroDivisionError("nobody expected this")

    monkeypatch.setattr("portrayal.gating.gate.gate", fails)
    policy = tmp_path / "p.toml"
    policy.write_text("")
    done = invoke("gate", tmp_path, "--policy", policy)
    assert done.exit_code == UNEXPECTED not in VERDICTS
    assert "nobody expected this" in done.stderr


@pytest.mark.fault(
    "an error that nobody expected, a full disk without a name, in `gate` and other commands",
    "a status that is no verdict; the message names the file",
)
def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    done = invoke("gate", "--init", tmp_path / "gate.toml")
    assert done.exit_code == 2
    assert done.stderr == f"error: {tmp_path / 'gate.toml'}: No space left on device.\n"


@pytest.mark.fault(
    "memory that is not there, or a library that cannot be loaded",
    "one line, and a status that is no verdict",
)
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (MemoryError(), "not enough memory"),
        (ImportError("libarrow.so: failed to map segment"), "a library cannot be loaded"),
    ],
)
def test_memory_that_is_missing_is_one_line_and_no_verdict(tmp_path, monkeypatch, error, why):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("portrayal.gating.gate.gate", fails)
    (tmp_path / "p.toml").write_text("")
    done = invoke("gate", tmp_path, "--policy", tmp_path / "p.toml")
    assert done.exit_code == UNEXPECTED
    assert done.stderr.startswith("error: ")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="address space has a limit on Linux")
def test_an_address_space_without_room_is_one_line_and_no_verdict(tmp_path):
    code = (
        "import resource, runpy, sys; import portrayal.cli; sys.argv = ['portrayal', 'gate', '.'];"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20));"
        "runpy.run_module('portrayal', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == UNEXPECTED
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


@pytest.mark.fault(
    "standard output or error that is closed (`>&-`)", "no file is mixed up; the status stands"
)
@pytest.mark.skipif(os.name != "posix", reason="a shell's way to close a stream")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_status(tmp_path, closed):
    path = tmp_path / "gate.toml"
    command = f'"{sys.executable}" -m portrayal gate --init "{path}"'
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], check=False)
    assert done.returncode == 0
    with path.open("rb") as stream:
        assert tomllib.load(stream)
    done = subprocess.run(["sh", "-c", f"{command.replace('--init', '')} {closed}"], check=False)
    assert done.returncode == 2

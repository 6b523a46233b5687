"""Statuses of the command line: what nobody expected is no verdict."""

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

    monkeypatch.setattr("portrayal.gating.gate", fails)
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

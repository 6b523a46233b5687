"""The table of reliability lists every fault that the tests cause, and no other."""

import csv
import subprocess
import sys

import pytest

from guards.tree import ROOT


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    with (ROOT / "docs" / "faults.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))[1:]


def test_every_fault_is_listed(rows: list[list[str]]) -> None:
    command = [sys.executable, "-m", "benchmarks.faults", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    hint = "run `python -m benchmarks.faults --write`"
    assert list(csv.reader(done.stdout.splitlines())) == [row[:2] for row in rows], hint


def test_every_fault_was_survived(rows: list[list[str]]) -> None:
    assert [row for row in rows if not int(row[2]) or row[2] != row[3]] == []

"""The page on reliability lists every fault that the tests cause, and no other."""

import re
import subprocess
import sys

import pytest

from guards.tree import ROOT

ROW = re.compile(r"^\| (.+) \| (.+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall((ROOT / "docs" / "reliability.md").read_text(encoding="utf-8"))


def test_every_fault_is_listed(rows: list[tuple[str, str, str, str]]) -> None:
    command = [sys.executable, "-m", "benchmarks.faults", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    hint = "run `python -m benchmarks.faults --write`"
    assert done.stdout.splitlines() == [f"| {what} | {then} |" for what, then, *_ in rows], hint


def test_every_fault_was_survived(rows: list[tuple[str, str, str, str]]) -> None:
    assert [row for row in rows if not int(row[2]) or row[2] != row[3]] == []

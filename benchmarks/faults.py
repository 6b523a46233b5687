"""The table docs/faults.csv: every fault that the tests cause, and whether it was survived.

    python -m benchmarks.faults            # runs the tests and prints the table
    python -m benchmarks.faults --write    # writes docs/faults.csv as well
    python -m benchmarks.faults --list     # only what is tried, without running it
    python -m benchmarks.faults --write tests/e2e/test_cluster.py   # only the rows of these files

A fault is what a test says of itself by ``@pytest.mark.fault(what, then)``; nothing else is listed.
A row that is caused in several files changes only where all of them are given.
"""

import argparse
import ast
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "faults.csv"
HEAD = ("fault", "what happens", "tried", "survived")
Fault = tuple[str, str]


def listed() -> dict[Fault, set[Path]]:
    """Return every fault with the files of its tests, in the order of their paths."""
    found: dict[Fault, set[Path]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.fault(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.fault":
                what, then = (ast.literal_eval(each) for each in node.args)
                found.setdefault((what, then), set()).add(path)
    return found


class Recorder:
    """Counts the tests of each fault, and those that passed."""

    def __init__(self) -> None:
        self.tried: Counter[Fault] = Counter()
        self.survived: Counter[Fault] = Counter()
        self._of: dict[str, list[Fault]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._of = {
            item.nodeid: [(mark.args[0], mark.args[1]) for mark in item.iter_markers("fault")]
            for item in items
        }

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        was_tried = not report.skipped if report.when == "call" else report.failed
        for fault in self._of.get(report.nodeid, ()) if was_tried else ():
            self.tried[fault] += 1
            self.survived[fault] += report.passed


def table(
    faults: Mapping[Fault, set[Path]], files: Iterable[Path], recorder: Recorder
) -> list[tuple[str, str, int, int]]:
    """Return the rows; faults whose tests did not all run keep the row that is stored."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        stored = {
            (row[0], row[1]): (int(row[2]), int(row[3])) for row in list(csv.reader(lines))[1:]
        }
    rows, ran = [], set(files)
    for fault, paths in faults.items():
        counts = recorder.tried[fault], recorder.survived[fault]
        if not counts[0] or not paths <= ran:
            counts = stored.get(fault, counts)
        rows.append((*fault, *counts))
    return rows


def main() -> int:
    """Run what is listed and print the table; 1 where a fault was not survived."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="all where none is given"
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    found = listed()
    if given.list:
        csv.writer(sys.stdout, lineterminator="\n").writerows(found)
        return 0
    named = {(ROOT / path).resolve() for path in given.files}
    files = sorted(named or {path for paths in found.values() for path in paths})
    recorder = Recorder()
    options = [
        "-m",
        "fault",
        "-q",
        "-p",
        "no:cacheprovider",
        "--numprocesses",
        "0",
        "--no-header",
        "--tb=short",
    ]
    status = pytest.main([*options, "--rootdir", str(ROOT), *map(str, files)], plugins=[recorder])
    made = table(found, files, recorder)
    csv.writer(sys.stdout, lineterminator="\n").writerows(made)
    if given.write:
        with TABLE.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows([HEAD, *made])
    return int(status)


if __name__ == "__main__":
    sys.exit(main())

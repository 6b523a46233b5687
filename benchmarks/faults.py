"""The table of docs/reliability.md: every fault that the tests cause, and whether it was survived.

    python -m benchmarks.faults            # runs the tests and prints the table
    python -m benchmarks.faults --write    # writes it into the page as well
    python -m benchmarks.faults --list     # only what is tried, without running it
    python -m benchmarks.faults --write tests/e2e/test_cluster.py   # only the rows of these files

A fault is what a test says of itself by ``@pytest.mark.fault(what, then)``; nothing else is listed.
A row that is caused in several files changes only where all of them are given.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
HEAD = "| fault | what happens | tried | survived |\n|---|---|---:|---:|\n"
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
    faults: Mapping[Fault, set[Path]], files: Iterable[Path], recorder: Recorder, page: str
) -> str:
    """Return the table in Markdown; faults whose tests did not all run keep the page's row."""
    rows, ran = [], set(files)
    for (what, then), paths in faults.items():
        start = f"| {what} | {then} | "
        row = f"{start}{recorder.tried[what, then]} | {recorder.survived[what, then]} |"
        old = next((line for line in page.splitlines() if line.startswith(start)), row)
        rows.append((row if recorder.tried[what, then] and paths <= ran else old) + "\n")
    return HEAD + "".join(rows)


def main(arguments: list[str]) -> int:
    """Run what is listed and print the table; 1 where a fault was not survived."""
    found = listed()
    if "--list" in arguments:
        for what, then in found:
            print(f"| {what} | {then} |")
        return 0
    given = {(ROOT / each).resolve() for each in arguments if not each.startswith("--")}
    files = sorted(given or {path for paths in found.values() for path in paths})
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
    text = PAGE.read_text(encoding="utf-8")
    made = table(found, files, recorder, text)
    print(f"\n{made}")
    if "--write" in arguments:
        start = text.index(HEAD.partition("\n")[0])
        end = text.find("\n\n", start)
        PAGE.write_text(text[:start] + made + (text[end + 1 :] if end >= 0 else ""), "utf-8")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

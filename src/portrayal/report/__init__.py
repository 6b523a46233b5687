"""Reporting: a run becomes one HTML file that opens offline."""

from pathlib import Path

from portrayal.run.directory import Run


def write_report(run: Run, path: Path) -> Path:
    return path

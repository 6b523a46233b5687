"""Entries: the runs of a folder, each with what it found and what it measured with."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from portrayal.comparison import round_day
from portrayal.errors import PortrayalError
from portrayal.report.findings import STATISTICS
from portrayal.report.first import kept_findings
from portrayal.run.directory import Run

_NO_INSTRUMENT = frozenset(("seed", "draws", "permutations", "question", "labeler_samples"))
"""Options that runs of one table may differ in."""


@dataclass(frozen=True)
class Entry:
    """A run as the board shows it.

    Attributes
    ----------
    run, name
        The run, and its folder below the one that is shown.
    settings, kept
        Its `audit.toml`, and what it found.
    day
        Its day, as `watch` dates it.
    """

    run: Run
    name: str
    settings: Mapping[str, Any]
    kept: Mapping[str, Any]
    day: str

    @property
    def title(self) -> str:
        """Title of its study."""
        return str(self.kept["title"])

    @property
    def models(self) -> tuple[str, ...]:
        """Models of the run."""
        return tuple(map(str, self.settings.get("models", ())))

    @property
    def series(self) -> Path:
        """The folder that the run stands in."""
        return self.run.path.parent

    @cached_property
    def measured_with(self) -> str:
        """A digest of what a number of this run rests on: study, prompts, annotators, options."""
        options = self.settings.get("options", {})
        used = {k: v for k, v in options.items() if k not in _NO_INSTRUMENT and v not in ("", [])}
        factors = [each.get("digest") for each in self.settings.get("factors", ())]
        readers = self.settings.get("annotators", ())
        facts = self.settings.get("study"), self.kept["prompts"], readers, used, factors
        return hashlib.sha256(repr(facts).encode("utf-8", "replace")).hexdigest()

    @cached_property
    def data_digest(self) -> str:
        """SHA-256 of the texts' files in their order."""
        digest = hashlib.sha256()
        for part in self.run.texts.parts():
            digest.update(part.read_bytes())
        return digest.hexdigest()


def read_entries(folder: Path) -> tuple[list[Entry], dict[str, str]]:
    """Return the finished runs of a folder and of its folders, and why others were not read.

    A folder that is damaged, or no run at all, is named with the reason; none stops the others.
    """
    entries, others = [], {}
    for path in _candidates(folder):
        name = path.relative_to(folder).as_posix()
        try:
            run = Run.open(path)
            settings = run.settings()
            kept = kept_findings(run)
            entries.append(Entry(run, name, settings, kept, round_day(run).isoformat()))
            # What the page reads of a run is read here, so that a damaged one costs itself alone.
            _ = entries[-1].title, entries[-1].models, entries[-1].measured_with, kept["read"]
            _ = float(kept["level"]), questions(entries[-1:]), kept["findings"]["headline"]
            _ = [(f["sentence"], f["strength"]) for f in kept["findings"]["findings"]]
        except (PortrayalError, OSError) as error:
            others[name] = str(error).partition(". ")[0]
        except Exception as error:  # whatever is in a folder, the others are shown
            others[name] = f"{type(error).__name__}: {error}"
    entries = [each for each in entries if each.name not in others]
    return sorted(entries, key=lambda each: (each.title, each.day, each.name)), others


def _candidates(folder: Path) -> Iterator[Path]:
    """Folders that are runs, or that hold none; of a folder of runs, the runs in it."""
    if Run(folder).settings_path.is_file():
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith(".") or (path / "board.json").is_file():
            continue
        inside = [] if Run(path).settings_path.is_file() else sorted(path.iterdir())
        runs = [each for each in inside if Run(each).settings_path.is_file()]
        yield from runs or [path]


def questions(entries: list[Entry]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what was measured, by question and model; of each model the latest run counts."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in sorted(entries, key=lambda each: (each.day, each.name)):
        for row in entry.kept["questions"]:
            if row["statistic"] in STATISTICS:
                place = {k: v for k, v in row["strata"].items() if k != "model"}
                key = json.dumps([row["measure"], place, row["group"]], sort_keys=True)
                found.setdefault(key, {})[row["model"]] = row
    return found

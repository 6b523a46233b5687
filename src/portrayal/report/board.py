"""Board: models of many runs side by side, from what each run keeps of its findings.

It reads no text and computes no estimate.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.comparison import round_day
from portrayal.errors import OptionError, PortrayalError
from portrayal.report.findings import STATISTICS
from portrayal.report.first import kept_findings
from portrayal.run.directory import Run
from portrayal.stats.p_values import rank_ranges

__all__ = ["Board", "BoardRow", "read_board"]

NO_INSTRUMENT = frozenset(("seed", "draws", "permutations", "question", "labeler_samples"))
"""Options that runs which measured alike may differ in."""


@dataclass(frozen=True)
class BoardRow:
    """One number of one model.

    Attributes
    ----------
    study, question, model
        What was measured, as its report says it.
    value, low, high
        The number and its interval; None where it is undefined.
    form
        How it is written (`report.formats.number`).
    place
        Places that the model may have among those of runs that measured alike, the highest value
        first ("1", "1–3"); "" where none can be told apart.
    stated
        Whether some run states a finding on this question.
    run, day
        Folder of the run below the one that was read, and its day.
    """

    study: str
    question: str
    model: str
    value: float | None
    low: float | None
    high: float | None
    form: str
    place: str
    stated: bool
    run: str
    day: str


@dataclass(frozen=True)
class Board:
    """Rows of a folder of runs, how many runs they are of, and why others are left out."""

    rows: tuple[BoardRow, ...]
    n_runs: int
    left_out: Mapping[str, str]


def read_board(folder: str | Path) -> Board:
    """Read the finished runs of a folder, and of folders of rounds in it.

    Runs stand side by side where study, prompts, annotators and options are the same; of each model
    the latest counts. A folder that is damaged, or no run, is named with the reason.

    Raises
    ------
    OptionError
        Where there is no such folder, or no finished run in it.
    """
    root = Path(folder)
    if not root.is_dir():
        raise OptionError(f"{root} is not a folder of runs.")
    # Numbers of runs that measured otherwise are no ranking.
    alike: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    left_out = {}
    for path in _candidates(root):
        name = path.relative_to(root).as_posix()
        try:
            run = Run.open(path)
            findings, day = kept_findings(run), round_day(run).isoformat()
            part = [(day, name, findings)]
            _rows(part)  # a damaged file of findings costs its own run alone
            alike.setdefault(_measured_with(run, findings), []).extend(part)
        except (PortrayalError, OSError) as error:
            left_out[name] = str(error).partition(". ")[0]
        except Exception as error:  # whatever is in a folder, the others are shown
            left_out[name] = f"{type(error).__name__}: {error}"
    if not alike:
        raise OptionError(f"{root} holds no finished run: none of {len(left_out)} folders is one.")
    rows = [row for part in alike.values() for row in _rows(sorted(part, key=lambda r: r[:2]))]
    rows.sort(key=lambda row: (row.study, not row.stated))
    return Board(tuple(rows), sum(map(len, alike.values())), left_out)


def _candidates(folder: Path) -> Iterator[Path]:
    """Folders that are runs, or that hold none; of a folder of runs, the runs in it."""
    if Run(folder).settings_path.is_file():
        yield folder
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith("."):
            inside = [] if Run(path).settings_path.is_file() else sorted(path.iterdir())
            yield from [run for run in inside if Run(run).settings_path.is_file()] or [path]


def _measured_with(run: Run, findings: Mapping[str, Any]) -> str:
    """What the numbers of a run rest on: study, prompts, annotators, options, factors."""
    settings = run.settings()
    options = settings.get("options", {})
    used = {k: v for k, v in options.items() if k not in NO_INSTRUMENT and v not in ("", [])}
    factors = [factor.get("digest") for factor in settings.get("factors", ())]
    readers = settings.get("annotators", ())
    return repr((settings.get("study"), findings["prompts"], readers, used, factors))


def _rows(runs: list[tuple[str, str, dict[str, Any]]]) -> list[BoardRow]:
    """The rows of runs that measured alike, the earliest first, question by question."""
    questions: dict[str, dict[str, tuple[str, str, dict[str, Any]]]] = {}
    stated_keys = set()
    for day, name, findings in runs:
        stated_keys |= {_key(f) for f in findings["findings"]["findings"] if "strata" in f}
        for row in findings["questions"]:
            if row["statistic"] in STATISTICS:
                questions.setdefault(_key(row), {})[row["model"]] = (day, name, row)
    board_rows = []
    for key, of_model in questions.items():
        places = _places([row for *_, row in of_model.values()], float(runs[0][2]["level"]))
        for (model, (day, name, row)), place in zip(of_model.items(), places, strict=True):
            low, high = row["interval"] or (None, None)
            numbers = row["value"], low, high, row["form"], place, key in stated_keys
            board_rows.append(
                BoardRow(runs[0][2]["title"], row["label"], model, *numbers, name, day)
            )
    return board_rows


def _key(row: Mapping[str, Any]) -> str:
    """What a finding or number is of, whichever the model."""
    place = {name: value for name, value in row["strata"].items() if name != "model"}
    return json.dumps([row["measure"], place, row["group"]], sort_keys=True)


def _places(rows: list[Mapping[str, Any]], level: float) -> list[str]:
    """Places that each model may have for a question, the highest value first."""
    nan = math.nan
    numbers = np.array([[row["value"], *(row["interval"] or (nan, nan))] for row in rows], float).T
    valued = ~np.isnan(numbers[0])
    # A place among one is none.
    if valued.sum() < 2:
        return [""] * len(rows)
    # Intervals of ratios are symmetric by logarithm, which ranks take for granted.
    if rows[0]["statistic"] == "ratio":
        with np.errstate(divide="ignore"):
            numbers = np.log(numbers)
    df = np.array([max(float(row["n_clusters"]) - 1.0, 1.0) for row in rows])
    value, low, high = numbers[:, valued]
    ranked = zip(*rank_ranges(value, low, high, df[valued], level), strict=True)
    n, places = int(valued.sum()), iter(ranked)
    ranges = [next(places) if is_known else (1, n) for is_known in valued]
    return ["" if (a, b) == (1, n) else f"{a}" if a == b else f"{a}–{b}" for a, b in ranges]

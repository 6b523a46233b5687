"""Rounds: the runs of one audit in a folder, by date, and what differs between them."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq

from portrayal.comparison.matching import Instrument, check_instruments, differing
from portrayal.errors import OptionError, RunError
from portrayal.run import Run

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, eq=False)
class Round:
    """One run of a repeated audit.

    Attributes
    ----------
    run
        The run.
    when
        Its day: the date in the name of its folder, else the first day on which the model was
        asked, else the day on which it was measured.
    """

    run: Run
    when: date

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.run.path.name

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Its models by name."""
        return tuple(self.run.settings().get("models", ()))

    @cached_property
    def answered_by(self) -> tuple[str, ...]:
        """What the models call themselves in their answers, such as a dated version."""
        names = {
            name
            for part in self.run.texts.parts()
            if "answered_by" in pq.read_schema(part).names
            for name in pq.read_table(part, columns=["answered_by"])["answered_by"]
            .unique()
            .to_pylist()
            if name
        }
        return tuple(sorted(names))

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Words of each prompt by its name."""
        table = pq.read_table(self.run.prompts_path, columns=["prompt_id", "text"])
        return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))

    @property
    def n_texts(self) -> int:
        """Texts of the run."""
        return int(self.run.texts.note().get("n_texts", 0))


def read_rounds(folder: str | Path) -> tuple[list[Round], list[str]]:
    """Return the runs of a folder by date, and the folders in it that are no finished run.

    Raises
    ------
    RunError
        Where the folder is missing or holds no run.
    OptionError
        Where it holds audits of several studies.
    """
    path = Path(folder)
    hint = "Make one with `portrayal audit STUDY … --append DIR`, or name the folder that holds it."
    if not path.is_dir():
        raise RunError(f"{path} is not a folder of runs. {hint}")
    runs, left_out = [], []
    for each in sorted(path.iterdir()):
        if not each.is_dir() or each.name.startswith("."):
            continue
        run = Run(each)
        if run.settings_path.is_file() and run.estimates_path.is_file():
            runs.append(run)
        else:
            left_out.append(each.name)
    if not runs:
        one = (
            " It is a run itself: name the folder around it."
            if Run(path).settings_path.is_file()
            else ""
        )
        raise RunError(f"{path} holds no run.{one or ' ' + hint}")
    studies = sorted({str(run.settings().get("study")) for run in runs})
    if len(studies) > 1:
        raise OptionError(
            f"{path} holds audits of several studies ({', '.join(studies)}). Give each a folder of "
            "its own."
        )
    rounds = [Round(run, _day(run)) for run in runs]
    return sorted(rounds, key=lambda each: (each.when, each.name)), left_out


def _day(run: Run) -> date:
    named = _DATE.search(run.path.name)
    if named is not None:
        try:
            return date.fromisoformat(named.group())
        except ValueError:
            pass
    for part in run.texts.parts():
        if "asked_at" in pq.read_schema(part).names:
            days = [
                day
                for day in pq.read_table(part, columns=["asked_at"])["asked_at"].to_pylist()
                if day
            ]
            if days:
                return date.fromisoformat(str(min(days))[:10])
    return datetime.fromtimestamp(run.estimates_path.stat().st_mtime, tz=UTC).date()


def check_rounds(rounds: list[Round], despite: Collection[str]) -> list[Instrument]:
    """Return what rounds measured with differently, `despite` which they are watched.

    Raises
    ------
    OptionError
        Listing what differs and is not allowed to.
    RunError
        Where a run keeps no sums by prompt.
    """
    first = rounds[0].run
    found: dict[tuple[str, str, str], Instrument] = {}
    for each in rounds[1:]:
        for one in differing(first, each.run, (first.records, each.run.records)):
            found.setdefault((one.name, one.first, one.second), one)
    named = {each.name for each in found.values()}
    check_instruments(found.values(), {name for name in despite if name in named or name == "all"})
    unknown = set(despite) - named - {"all"}
    if unknown:
        raise OptionError(
            f"despite {', '.join(sorted(unknown))}: that does not differ; what does: "
            f"{', '.join(sorted(named)) or 'nothing'}."
        )
    return list(found.values())


def differences(rounds: list[Round]) -> list[str]:
    """Return a sentence for each round that differs from the one before in more than its texts."""
    said = []
    for old, new in pairwise(rounds):
        parts = [
            f"{what} {_names(now)} (before: {_names(was)})"
            for what, was, now in (
                ("the model is", old.models, new.models),
                ("the model calls itself", old.answered_by, new.answered_by),
            )
            if was != now
        ]
        gone, fresh = old.prompts.keys() - new.prompts.keys(), new.prompts.keys() - old.prompts
        reworded = sum(
            new.prompts[name] != old.prompts[name] for name in old.prompts.keys() & new.prompts
        )
        counts = (("gone", len(gone)), ("new", len(fresh)), ("reworded", reworded))
        parts += [f"{n} prompts {word}" for word, n in counts if n]
        if parts:
            said.append(f"{new.name}: {'; '.join(parts)}.")
    return said


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "not said"


def shared_prompts(rounds: list[Round]) -> set[str]:
    """Return the names of the prompts that every round asked in the same words."""
    first, *others = (each.prompts for each in rounds)
    return {name for name, text in first.items() if all(o.get(name) == text for o in others)}

"""Watch the same audit over time: which numbers changed, however often one looks.

A *round* is one run of a repeated audit; rounds are the runs of a folder, by date. What two of them
differ in otherwise, and the texts behind a change, `compare` shows of the two rounds.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.comparison.compare import stated_of
from portrayal.comparison.matching import (
    Instrument,
    Key,
    Side,
    check_instruments,
    differing,
    rows_of,
)
from portrayal.comparison.result import Change
from portrayal.comparison.sums import Numbering, Sums, measured, why_not
from portrayal.errors import OptionError, RunError
from portrayal.measure.scope import of_each_model, stated_changes
from portrayal.records import ALL, THESE, Population
from portrayal.reference.labels import FactorLabels
from portrayal.run import Run, read_prompts
from portrayal.stats import latest_change
from portrayal.stats.anytime import e_bh
from portrayal.types import FloatArray
from portrayal.validate import check_level

FEWEST = 5
"""Prompts that all rounds must share for an estimate to be tested."""
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}(-\d{2})?(?!\d)")


@dataclass(frozen=True)
class Round:
    """One run of a repeated audit.

    Attributes
    ----------
    name, when
        Name of its folder, and its day: the date in that name (of a month, such as `2026-04`, the
        first day), else the day on which it was measured first.
    models, answered_by
        Its models by name, and what they call themselves in their answers.
    n_texts
        Texts of the run.
    """

    name: str
    when: date
    models: tuple[str, ...] = ()
    answered_by: tuple[str, ...] = ()
    n_texts: int = 0

    @classmethod
    def of(cls, run: Run) -> "Round":
        """Return the round that a run is."""
        note = run.texts.note()
        names = {name for facts in note.get("asked", {}).values() for name in facts["answered_by"]}
        models = tuple(run.settings().get("models", ()))
        return cls(run.path.name, round_day(run), models, tuple(sorted(names)), note["n_texts"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Change):
    """One headline estimate over the rounds, and its latest change.

    p is of no change in any round so far, valid however often one looks; q is p adjusted by e-BH
    for all watched estimates, the smallest so far. The interval holds for all looks, and for all
    estimates that are called changed. The change is from the mean of the rounds before (a) to that
    of the rounds since (b).

    Attributes
    ----------
    values
        The audits' own values, one for each round; None where there is none.
    alarm
        Number of the first round at which q was 1 − level or less; None where it never was.
    start
        Number of the first round of the change that has most evidence at the last look.
    findable
        Change in the middle of the rounds, on `scale`, that would be called one by now at even
        odds; infinite where none would be.
    """

    values: tuple[float | None, ...]
    alarm: int | None = None
    start: int | None = None
    findable: float | None = None


@dataclass(frozen=True)
class Watch:
    """A repeated audit: its rounds, and every headline estimate over them.

    Attributes
    ----------
    study, folder, level
        What was audited, where the runs are, and the level of all tests and looks together.
    rounds
        The rounds by date.
    rows
        Every estimate that the audits' reports may state.
    instruments
        What rounds measured with differently, `despite` which they are watched.
    n_prompts
        Prompts that every round asked in the same words.
    left_out
        Folders that are no finished run.
    factors
        How groups are called.
    """

    study: str
    folder: str
    level: float
    rounds: tuple[Round, ...]
    rows: tuple[Timeline, ...]
    instruments: tuple[Instrument, ...]
    n_prompts: int
    left_out: tuple[str, ...] = ()
    factors: tuple[FactorLabels, ...] = ()
    population: Population = THESE

    @property
    def alarms(self) -> tuple[Timeline, ...]:
        """The estimates that changed, the first ones first."""
        rows = [row for row in self.rows if row.alarm is not None]
        return tuple(sorted(rows, key=lambda row: (row.alarm or 0, row.q or 0.0)))

    @property
    def summary(self) -> str:
        """How many numbers changed, and what that holds for."""
        rounds, tested = len(self.rounds), sum(row.p is not None for row in self.rows)
        if rounds < 2:
            return "There is one round so far: a change takes two."
        level = f"{100 * (1 - self.level):.3g} %"
        return (
            f"{len(self.alarms)} of {tested} tested numbers changed in {rounds} rounds of these "
            f"{self.n_prompts} prompts; of other prompts nothing is said. Where "
            f"nothing changes, chance says so of any, at any look, in {level} of folders at most; "
            f"else, of those called changed at a look, {level} at most are expected to be false."
        )


def watch(folder: str | Path, *, level: float = 0.95, despite: Collection[str] = ()) -> Watch:
    """Read every run of a folder and test each headline estimate for change, at every look.

    Parameters
    ----------
    folder
        A folder of runs of one study, such as `portrayal audit … --append FOLDER` makes.
    level
        Confidence level of all looks together: where nothing ever changes but for a stationary
        wobble of rounds (`portrayal.stats.anytime`), any estimate is ever called changed with a
        probability of 1 − level at most; of the estimates called changed at a look, at most
        1 − level are expected not to be.
    despite
        Names of instruments that may differ; "all" for any.

    Returns
    -------
    Watch
        With one round, values alone: a change takes two.

    Raises
    ------
    RunError, OptionError
        Where the folder is missing or holds no run, where runs are of several studies, keep no sums
        by prompt, measured with different instruments, or share too few prompts.

    Examples
    --------
    >>> she = "Maria was a star student. She helped Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": she}] * 3
    >>> run = portrayal.audit("laissez-faire", texts=stories, out="all/2026-01", report=False)
    >>> found = watch("all")
    >>> len(found.rounds), found.alarms
    (1, ())
    """
    check_level(level)
    runs, left_out = read_rounds(folder)
    # Each later round is held against the first, so that slow drift of instruments shows.
    first, *later = runs
    differ = dict.fromkeys(
        instrument
        for run in later
        for instrument in differing(first, run, (first.records, run.records))
    )
    check_instruments(differ, despite)
    words = [read_prompts(run.prompts_path, words="words", only=()) for run in runs]
    worded = [{(name, row["words"]) for name, row in prompts.items()} for prompts in words]
    prompts = {name for name, _ in set.intersection(*worded)}
    if len(prompts) < min(FEWEST, len(worded[0])):
        raise OptionError(
            f"the runs in {folder} share {len(prompts)} prompts in the same words; watching takes "
            f"{FEWEST}. Ask the same prompts in each round."
        )
    # Prompts that some round lacks, or asked in other words, count in none.
    dropped = {name for round_prompts in words for name in round_prompts} - prompts
    return Watch(
        str(first.settings().get("study")),
        str(folder),
        level,
        tuple(map(Round.of, runs)),
        tuple(_timelines(runs, dropped, 1.0 - level)),
        tuple(differ),
        len(prompts),
        tuple(left_out),
        first.factors,
    )


def _timelines(runs: Sequence[Run], dropped: Collection[str], alpha: float) -> list[Timeline]:
    """Test every estimate that some round's report may state, at every look, as one family."""
    headline = stated_of(str(runs[0].settings().get("study")))
    sides = [Side(run) for run in runs]
    # A round counts with its only model, or with all of its models together.
    single = all(len(side.models) == 1 for side in sides)
    models = [side.models[0] if single else ALL for side in sides]
    indices = [
        rows_of(side, model) | _rows_of_each(side)
        for side, model in zip(sides, models, strict=True)
    ]
    keys: dict[Key, None] = {}
    for run, model, index in zip(runs, models, indices, strict=True):
        may_be = stated_changes([run.records[row] for row in index.values()], model, headline)
        # What one round may state is watched in all, or a group too rare in some would come and go.
        keys |= {key: None for key, yes in zip(index, may_be, strict=True) if yes}
    numbering = Numbering(runs)
    unusable = [code for code, name in enumerate(numbering.keys) if name in dropped]
    timelines, series = [], {}
    for number, key in enumerate(keys):
        rows = [index.get(key) for index in indices]
        timeline = _values(runs, rows)
        if isinstance(looked := _shared_sums(runs, rows, numbering, unusable), str):
            timeline = replace(timeline, undefined=looked)
        else:
            series[number] = looked
        timelines.append(timeline)
    for number, fields in zip(series, looks([*series.values()], len(runs), alpha), strict=True):
        timelines[number] = replace(timelines[number], **fields)
    return timelines


def _rows_of_each(side: Side) -> dict[Key, int]:
    """Rows of the measures that pool no models, with the model among the strata."""
    return {
        (measure, statistic, strata | {("model", model)}, group): row
        for model in (side.models if len(side.models) > 1 else ())
        for (measure, statistic, strata, group), row in rows_of(side, model).items()
        if of_each_model(measure)
    }


def _values(runs: Sequence[Run], rows: Sequence[int | None]) -> Timeline:
    """Return an estimate by round, not yet tested."""
    records = [
        None if row is None else run.records[row] for run, row in zip(runs, rows, strict=True)
    ]
    first = next(record for record in records if record is not None)
    model = first.strata.get("model", ALL) if of_each_model(first.measure) else ALL
    return Timeline(
        model_a=model,
        model_b=model,
        measure=first.measure,
        statistic=first.statistic,
        strata={name: value for name, value in first.strata.items() if name != "model"},
        group=first.group,
        scale="ratio" if first.statistic == "ratio" else "difference",
        values=tuple(None if e is None else e.value for e in records),
    )


@dataclass(frozen=True)
class Looks:
    """What the looks at one estimate rest on.

    Attributes
    ----------
    sums
        Sums by prompt in each round that has it, of the same prompts in the same order.
    size
        Texts of each, shape (n,).
    numbers
        Number of each round, from 0.
    """

    sums: Sequence[Sums]
    size: FloatArray
    numbers: Sequence[int]


def _shared_sums(
    runs: Sequence[Run],
    rows: Sequence[int | None],
    numbering: Numbering,
    unusable: Sequence[int],
) -> Looks | str:
    """Return the sums of an estimate in each round, over the prompts that all have.

    Rounds without it are left out of its test. Else the reason why it has none.
    """
    row_of: dict[int, int] = {}
    cause = "fewer than two rounds have it" if len(runs) > 1 else "a change takes two rounds"
    for number, row in enumerate(rows):
        reason = None if row is None else runs[number].influences.reasons[row]
        if row is not None and reason is None:
            row_of[number] = row
        elif len(runs) > 1:
            cause = reason or cause
    if len(row_of) < 2:
        return cause
    if other := why_not([runs[number] for number in row_of], list(row_of.values())):
        return other
    sums = [numbering.sums(number, [row]) for number, row in row_of.items()]
    # The same prompts in each round, or a change of prompts would read as one of the model.
    shared = reduce(np.intersect1d, [part.prompts for part in sums])
    shared = np.setdiff1d(shared, np.array(unusable, dtype=np.int64))
    if len(shared) < FEWEST:
        return f"{len(shared)} prompts are in every round, fewer than {FEWEST}"
    # A look weighs each round by its texts; an estimate that does not count them takes the run's.
    size = [
        float(runs[n].records[row].n_texts or runs[n].texts.note().get("n_texts", 1) or 1)
        for n, row in row_of.items()
    ]
    return Looks([part.at(shared) for part in sums], np.array(size), list(row_of))


def looks(series: Sequence[Looks], n_rounds: int, alpha: float) -> list[dict[str, Any]]:
    """Look at all estimates after each round, with nothing but what was there by then.

    At each look e-BH says which have changed by then. An estimate that a round lacks keeps its
    e-value there.

    Parameters
    ----------
    series
        What to look at, of every estimate that is tested.
    n_rounds
        Rounds of the folder.
    alpha
        1 less the level.

    Returns
    -------
    list of dict
        Fields of `Timeline` of the test of each.
    """
    # An e-value of 0 before the second round: nothing can be said yet.
    e = np.zeros((n_rounds, len(series)))
    for k, item in enumerate(series):
        for n in range(2, len(item.sums) + 1):
            parts, _ = _contrasts(item.sums[:n], item.size[:n])
            if parts is not None:
                look = latest_change(parts[:, :, np.newaxis], item.size[:n])
                # A round without the estimate keeps the e-value of the look before.
                e[item.numbers[n - 1] :, k] = look.e[0]
    q = np.array([e_bh(e_values) for e_values in e])
    # What is called changed has an interval at the part of alpha that e-BH gives it, all others as
    # if they were the only ones.
    needed = len(series) / (alpha * max(int((q[-1] <= alpha).sum()), 1)) if series else 1.0
    rows: list[dict[str, Any]] = []
    for k, item in enumerate(series):
        fields: dict[str, Any] = {"n_prompts": len(item.sums[0].prompts)}
        # The change and its interval, as the last look sees them.
        parts, scale = _contrasts(item.sums, item.size)
        if parts is None:
            rows.append({**fields, "undefined": "not one of the group in any round"})
            continue
        look = latest_change(parts[:, :, np.newaxis], item.size, needed)
        # A later look does not take back what one has called changed.
        alarms = np.flatnonzero(q[:, k] <= alpha)
        n, tau = len(item.sums), int(look.start[0])
        ends = {
            name: _shown(float(x[0]), scale, float(item.size[first:].sum() / item.size.sum()))
            for name, x, first in (
                ("change", look.change, tau),
                ("low", look.low, tau),
                ("high", look.high, tau),
                ("findable", look.findable, n // 2),
            )
        }
        fields |= {
            **ends,
            "start": item.numbers[tau] + 1,
            # Ville's inequality: the largest e-value so far bounds p at every look.
            "p": float(1.0 / max(e[:, k].max(), 1.0)),
            "q": float(q[:, k].min()),
            "alarm": int(alarms[0]) + 1 if len(alarms) else None,
        }
        rows.append(fields)
    return rows


def _shown(x: float, scale: str, since: float) -> float:
    """A change of contrasts as a factor or a difference; `since` is the part of texts after it."""
    if scale == "log":
        # e to the power of more overflows.
        return float(np.exp(np.clip(x, -700.0, 700.0)))
    if scale == "linear":
        return x
    # Relative to the mean of all rounds, x = (after - before) / all makes after / before
    # (1 + (1 - w) x) / (1 - w x), with a part w of all after the change.
    above, below = max(1.0 + (1.0 - since) * x, 0.0), max(1.0 - since * x, 0.0)
    return above / below if below > 0.0 and np.isfinite(above) else np.inf


def _contrasts(sums: Sequence[Sums], size: FloatArray) -> tuple[FloatArray | None, str]:
    """Return what each prompt contributes in each round, (n_rounds, n_prompts), and on which scale.

    Ratios are relative to the mean of all rounds rather than logarithms of each round, so that a
    group that is missing in a round has a value, and rare groups no skewed one.
    """
    form, log, n_prompts = sums[0].form, sums[0].log, len(sums[0].prompts)
    if form == "influence":
        # Only influences are kept: a pseudo-value of each prompt, whose mean is the estimate.
        parts = [measured(part) for part in sums]
        value = np.array([part.value[0] for part in parts])
        if not np.isfinite(value).all():
            return None, ""
        influence = np.stack([part.influence[:, 0] for part in parts])
        return value[:, np.newaxis] + n_prompts * influence, "log" if log else "linear"

    def scores(a: FloatArray, n: FloatArray) -> tuple[FloatArray, float]:
        """Scores of prompts on a mean, less the mean of all rounds; and that mean."""
        # A round without units has sums of 0 above too, so 0 over this is 0.
        total = np.maximum(n.sum(1, keepdims=True), 1e-300)
        share = float(np.sum(size * (a.sum(1) / total[:, 0])) / size.sum())
        return n_prompts * (a - share * n) / total, share

    a, n, b, m = (np.stack([part.cells[i][:, 0] for part in sums]) for i in range(4))
    # Influences are centred on the mean of all rounds, so that rounds have one zero.
    upper, share = scores(a, n)
    if form == "mean" and not log:
        return upper * sums[0].scale[0], "linear"
    # The logarithm of a mean is that of a ratio without a lower side.
    lower, other = (0.0, 1.0) if form == "mean" else scores(b, m)
    if form == "difference":
        return upper - lower, "linear"
    some = share > 0 and other > 0
    return (upper / share - lower / other, "ratio") if some else (None, "")


def read_rounds(folder: str | Path) -> tuple[list[Run], list[str]]:
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
    # A run without estimates broke off: it is named, never silently skipped.
    runs, left_out = [], []
    for child in sorted(path.iterdir()):
        if not child.is_dir() or child.name.startswith("."):
            continue
        run = Run(child)
        if run.settings_path.is_file() and run.estimates_path.is_file():
            runs.append(Run.open(child))
        else:
            left_out.append(child.name)
    if not runs:
        # Many name the run itself, where the folder around it is wanted.
        if Run(path).settings_path.is_file():
            hint = "It is a run itself: name the folder around it."
        raise RunError(f"{path} holds no run. {hint}")
    studies = sorted({str(run.settings().get("study")) for run in runs})
    if len(studies) > 1:
        raise OptionError(
            f"{path} holds audits of several studies ({', '.join(studies)}). Give each a folder of "
            "its own."
        )
    return sorted(runs, key=lambda run: (round_day(run), run.path.name)), left_out


def round_day(run: Run) -> date:
    """Return the day of a run: that in its folder's name, else as `Round.when` says."""
    match = _DATE.search(run.path.name)
    if match is not None:
        try:
            return date.fromisoformat(match.group() + ("" if match.group(1) else "-01"))
        except ValueError:
            pass
    # A run that could be opened has a manifest, which says when it was first measured.
    return date.fromisoformat(str(run.manifest.first_measured))

"""Watch the same audit over time: whether the texts are still written alike, and what changed.

A *round* is one run of a repeated audit; rounds are the runs of a folder, by date. At each look one
question comes first, whether the texts are still written alike (`Writing`), then every headline
estimate.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from statistics import median_high
from typing import Any

import numpy as np
import pyarrow.parquet as pq

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
from portrayal.comparison.writing import Writing, writing_of
from portrayal.errors import OptionError, RunError
from portrayal.measure.scope import of_each_model, stated_changes
from portrayal.records import ALL, THESE
from portrayal.reference.labels import FactorLabels
from portrayal.run import Run, read_parquet
from portrayal.stats import e_bh, latest_change
from portrayal.types import FloatArray
from portrayal.validate import check_level

FEWEST = 5
"""Prompts that all rounds must share for an estimate to be tested."""
_DATE = re.compile(r"(?<!\d)\d{4}-\d{2}(-\d{2})?(?!\d)")


@dataclass(frozen=True, eq=False)
class Round:
    """One run of a repeated audit.

    Attributes
    ----------
    run
        The run.
    when
        Its day: the date in the name of its folder (of a month, such as `2026-04`, the first day),
        else the first day on which the model was asked, else the day on which it was measured.
    """

    run: Run
    when: date

    @cached_property
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
        return tuple(sorted(set(_column(self.run, "answered_by"))))

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Words of each prompt by its name."""
        table = read_parquet(self.run.prompts_path, columns=["prompt_id", "text"])
        return dict(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))

    @cached_property
    def n_texts(self) -> int:
        """Texts of the run."""
        return int(self.run.texts.note().get("n_texts", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Change):
    """One headline estimate over the rounds, and its latest change.

    p is of no change in any round so far, valid however often one looks; q is p adjusted by e-BH
    for all watched estimates, the smallest so far. The interval holds for all looks, and for all
    estimates that are called changed. The change is from the mean of the rounds before (a) to that
    of the rounds since (b).

    Attributes
    ----------
    values, lows, highs
        The audits' own values and intervals, one for each round; None where there is none.
    alarm
        Number of the first round at which q was 1 − level or less; None where it never was.
    start
        Number of the first round of the change that has most evidence at the last look.
    findable
        Change in the middle of the rounds, on `scale`, that would be called one by now at even
        odds; infinite where none would be.
    """

    values: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    alarm: int | None = None
    start: int | None = None
    findable: float | None = None

    @property
    def is_still_changed(self) -> bool:
        """Whether the interval at the last look leaves out no change."""
        if self.low is None or self.high is None:
            return False
        return not self.low <= self.null <= self.high


@dataclass(frozen=True)
class Watch:
    """A repeated audit: its rounds, and every headline estimate over them.

    Attributes
    ----------
    study, folder, level
        What was audited, where the runs are, and the level of all tests and looks together.
    rounds
        The rounds by date.
    writing
        Whether the texts are written alike in all rounds.
    rows
        Every estimate that the audits' reports may state.
    differences
        What differs between a round and the one before it, in words.
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
    writing: Writing
    rows: tuple[Timeline, ...]
    differences: tuple[str, ...]
    instruments: tuple[Instrument, ...]
    n_prompts: int
    left_out: tuple[str, ...] = ()
    factors: tuple[FactorLabels, ...] = ()

    @property
    def alarms(self) -> tuple[Timeline, ...]:
        """The estimates that changed, the first ones first."""
        rows = [row for row in self.rows if row.alarm is not None]
        return tuple(sorted(rows, key=lambda row: (row.alarm or 0, row.q or 0.0)))

    @property
    def has_changed(self) -> bool:
        """Whether the texts are written otherwise, or an estimate changed."""
        return self.writing.alarm is not None or bool(self.alarms)

    @property
    def findable(self) -> float | None:
        """Factor by which half of the tested ratios without a change would be seen to change."""
        quiet = [row for row in self.rows if row.scale == "ratio" and row.alarm is None]
        factors = [row.findable for row in quiet if row.findable is not None]
        return median_high(factors) if factors else None

    @property
    def said(self) -> tuple[str, ...]:
        """What was seen: how texts are written, which numbers changed, and what could be seen."""
        rounds, tested = len(self.rounds), sum(row.p is not None for row in self.rows)
        if rounds < 2:
            return ("There is one round so far: a change takes two.",)
        if self.writing.alarm is None:
            note = (
                self.writing.undefined or f"p {self.writing.p or 1.0:.2g}, for all looks together"
            )
            first = f"Texts are not shown to be written otherwise in any round ({note})."
        else:
            when = self.rounds[(self.writing.start or 1) - 1].when.isoformat()
            note = "; ".join(f"{x} {a:.3g} → {b:.3g}" for x, a, b in self.writing.moved)
            first = (
                f"Texts are written otherwise from round {self.writing.start} ({when}) on, as seen "
                f"at round {self.writing.alarm}{': ' * bool(note)}{note}."
            )
        level = f"{100 * (1 - self.level):.3g} %"
        second = (
            f"{len(self.alarms)} of {tested} tested numbers changed in {rounds} rounds of these "
            f"{self.n_prompts} prompts; of other prompts nothing is said. Where "
            f"nothing changes, chance says so of any, at any look, in {level} of folders at most; "
            f"else, of those called changed at a look, {level} at most are expected to be false."
        )
        return (first, second, self.could_be_seen) if self.could_be_seen else (first, second)

    @property
    def could_be_seen(self) -> str:
        """Which change of a ratio would have been seen by now; "" where nothing is left to see."""
        tested = sum(row.p is not None for row in self.rows)
        if self.findable is None or tested == len(self.alarms):
            return ""
        if not np.isfinite(self.findable):
            return (
                f"No change of any size would have been seen by now in {tested} tested numbers: "
                "too few rounds, prompts or texts."
            )
        return (
            f"A number that became {self.findable:.2g} times as high, or as low, in the middle of "
            "these rounds would have been seen by now about every second time; for half of the "
            "numbers it takes more."
        )

    def to_pandas(self) -> Any:
        """Return a DataFrame, one row for each estimate and round."""
        import pandas as pd

        return pd.DataFrame(flat_rounds(self))


_TESTED = (
    *("p", "q", "alarm", "start", "change", "low", "high", "findable"),
    *("n_prompts", "undefined"),
)


def flat_rounds(report: Watch) -> list[dict[str, Any]]:
    """Return a row of plain values for each estimate and round."""
    return [
        {
            "round": number + 1,
            "date": one_round.when.isoformat(),
            "run": one_round.name,
            "measure": row.measure,
            "statistic": row.statistic,
            **row.strata,
            **row.group,
            "value": row.values[number],
            "value_low": row.lows[number],
            "value_high": row.highs[number],
            "scale": row.scale,
            **{name: getattr(row, name) for name in _TESTED},
        }
        for row in report.rows
        for number, one_round in enumerate(report.rounds)
    ]


def watch_values(report: Watch) -> dict[str, Any]:
    """Return what was watched as plain values, dates as text."""
    names = ("measure", "statistic", "strata", "group", "scale", "values", "lows", "highs")
    facts = ("study", "folder", "level", "differences", "n_prompts", "left_out")
    return {
        **{name: getattr(report, name) for name in facts},
        "population": THESE,
        "rounds": [
            {
                "name": one_round.name,
                "when": one_round.when.isoformat(),
                "models": one_round.models,
                "answered_by": one_round.answered_by,
                "n_texts": one_round.n_texts,
            }
            for one_round in report.rounds
        ],
        "writing": asdict(report.writing),
        "findable": report.findable,
        "rows": [{name: getattr(row, name) for name in names + _TESTED} for row in report.rows],
        "instruments": [str(instrument) for instrument in report.instruments],
        "factors": [asdict(factor) for factor in report.factors],
    }


def watch(folder: str | Path, *, level: float = 0.95, despite: Collection[str] = ()) -> Watch:
    """Read every run of a folder and test each headline estimate for change, at every look.

    Parameters
    ----------
    folder
        A folder of runs of one study, such as `portrayal audit … --append FOLDER` makes.
    level
        Confidence level of all looks together: where nothing ever changes but for a stationary
        wobble of rounds (`portrayal.stats.anytime`), the texts are ever called written otherwise,
        or any estimate changed, with a probability of 1 − level at most each; of the estimates
        called changed at a look, at most 1 − level are expected not to be.
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
    rounds, left_out = read_rounds(folder)
    # What rounds measured with differently from the first, despite which they are watched.
    first = rounds[0].run
    differ: dict[tuple[str, str, str], Instrument] = {}
    # Each later round is held against the first, so that slow drift of instruments shows.
    for one_round in rounds[1:]:
        for one in differing(first, one_round.run, (first.records, one_round.run.records)):
            differ.setdefault((one.name, one.first, one.second), one)
    check_instruments(differ.values(), despite)
    # The prompts that every round asked in the same words.
    words, *later = (one_round.prompts for one_round in rounds)
    prompts = {name for name, text in words.items() if all(o.get(name) == text for o in later)}
    if len(prompts) < min(FEWEST, len(rounds[0].prompts)):
        raise OptionError(
            f"the runs in {folder} share {len(prompts)} prompts in the same words; watching takes "
            f"{FEWEST}. Ask the same prompts in each round."
        )
    # A round counts with its only model, or with all of its models together.
    single = all(len(one_round.models) == 1 for one_round in rounds)
    sides = [(Side(one_round.run), one_round.models[0] if single else ALL) for one_round in rounds]
    study = str(rounds[0].run.settings().get("study"))
    return Watch(
        study,
        str(folder),
        level,
        tuple(rounds),
        writing_of([one_round.run for one_round in rounds], sorted(prompts), 1.0 - level),
        tuple(_timelines(sides, study, rounds, prompts, level)),
        tuple(differences(rounds)),
        tuple(differ.values()),
        len(prompts),
        tuple(left_out),
        rounds[0].run.factors,
    )


def _timelines(
    sides: Sequence[tuple[Side, str]],
    study: str,
    rounds: Sequence[Round],
    prompts: Collection[str],
    level: float,
) -> list[Timeline]:
    """Test every estimate that some round's report may state, at every look, as one family."""
    headline = stated_of(study)
    indices = [rows_of(side, model) | _rows_of_each(side) for side, model in sides]
    keys: dict[Key, None] = {}
    for (side, model), index in zip(sides, indices, strict=True):
        may_be = stated_changes([side.run.records[row] for row in index.values()], model, headline)
        # What one round may state is watched in all, or a group too rare in some would come and go.
        keys |= {key: None for key, yes in zip(index, may_be, strict=True) if yes}
    numbering = Numbering([one_round.run for one_round in rounds])
    # Prompts that some round lacks, or asked in other words, count in none.
    dropped = {name for one_round in rounds for name in one_round.prompts} - set(prompts)
    unusable = [code for code, name in enumerate(numbering.keys) if name in dropped]
    timelines, tested = [], {}
    for number, key in enumerate(keys):
        rows = [index.get(key) for index in indices]
        timelines.append(_values([one_round.run for one_round in rounds], rows))
        sums, reason = _shared_sums(rounds, rows, numbering, unusable)
        if reason is None:
            tested[number] = rows, sums
        else:
            timelines[number] = replace(timelines[number], undefined=reason)
    # A look weighs each round by its texts; an estimate that does not count them takes the run's.
    series = []
    for rows, sums in tested.values():
        size = []
        for t in sums:
            n_texts = rounds[t].run.records[rows[t] or 0].n_texts
            n_texts = n_texts or rounds[t].run.texts.note().get("n_texts", 1)
            size.append(max(float(n_texts), 1.0))
        series.append(Looks(list(sums.values()), np.array(size), list(sums)))
    for number, fields in zip(tested, looks(series, len(rounds), 1.0 - level), strict=True):
        timelines[number] = replace(timelines[number], **fields)
    return timelines


def _rows_of_each(side: Side) -> dict[Key, int]:
    """Rows of the measures that pool no models, with the model among the strata."""
    index: dict[Key, int] = {}
    for model in side.models if len(side.models) > 1 else ():
        for (measure, statistic, strata, group), row in rows_of(side, model).items():
            if model != ALL and of_each_model(measure):
                index[measure, statistic, strata | {("model", model)}, group] = row
    return index


def _values(runs: Sequence[Run], rows: Sequence[int | None]) -> Timeline:
    """Return an estimate by round, not yet tested."""
    records = [
        None if row is None else run.records[row] for run, row in zip(runs, rows, strict=True)
    ]
    first = next(record for record in records if record is not None)
    bounds = [None if e is None or e.value is None else e.interval for e in records]
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
        lows=tuple(None if b is None else b.low for b in bounds),
        highs=tuple(None if b is None else b.high for b in bounds),
    )


def _shared_sums(
    rounds: Sequence[Round],
    rows: Sequence[int | None],
    numbering: Numbering,
    unusable: Sequence[int],
) -> tuple[dict[int, Sums], str | None]:
    """Return the sums of an estimate by number of the round, over the prompts that all have.

    Rounds without it are left out of its test. Else the reason why it has none.
    """
    # The rounds that have the estimate, and why the others cannot be tested.
    row_of: dict[int, int] = {}
    cause = "fewer than two rounds have it" if len(rounds) > 1 else "a change takes two rounds"
    for number, row in enumerate(rows):
        if row is None:
            continue
        reason = rounds[number].run.influences.reasons[row]
        if reason is None:
            row_of[number] = row
        elif len(rounds) > 1:
            cause = reason
    if len(row_of) < 2:
        return {}, cause
    other = why_not([rounds[number].run for number in row_of], list(row_of.values()))
    if other is not None:
        return {}, other
    sums = {number: numbering.sums(number, [row]) for number, row in row_of.items()}
    # The same prompts in each round, or a change of prompts would read as one of the model.
    shared = reduce(np.intersect1d, [part.prompts for part in sums.values()])
    shared = np.setdiff1d(shared, np.array(unusable, dtype=np.int64))
    if len(shared) < FEWEST:
        return {}, f"{len(shared)} prompts are in every round, fewer than {FEWEST}"
    return {number: part.at(shared) for number, part in sums.items()}, None


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
    # Many name the run itself, where the folder around it is wanted.
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
    rounds = [Round(run, round_day(run)) for run in runs]
    return sorted(rounds, key=lambda one_round: (one_round.when, one_round.name)), left_out


def round_day(run: Run) -> date:
    """Return the day of a run: that in its folder's name, else as `Round.when` says."""
    match = _DATE.search(run.path.name)
    if match is not None:
        try:
            return date.fromisoformat(match.group() + ("" if match.group(1) else "-01"))
        except ValueError:
            pass
    # A copied or re-audited folder has new file times; when the model was asked stays.
    first = min(map(str, _column(run, "asked_at")), default=None)
    if first is not None:
        return date.fromisoformat(first[:10])
    return datetime.fromtimestamp(run.estimates_path.stat().st_mtime, tz=UTC).date()


def _column(run: Run, name: str) -> Iterator[Any]:
    """Values of a column of a run's texts, where it has one and they are not empty."""
    for part in run.texts.parts():
        if name in pq.read_schema(part).names:
            values = read_parquet(part, columns=[name])[name].unique().to_pylist()
            yield from (value for value in values if value)


def differences(rounds: list[Round]) -> list[str]:
    """Return a sentence for each round that differs from the one before in more than its texts."""
    changes, unnamed = [], ("not said",)
    for old, new in pairwise(rounds):
        parts = [
            f"{label} {', '.join(now or unnamed)} (before: {', '.join(was or unnamed)})"
            for label, was, now in (
                ("the model is", old.models, new.models),
                ("the model calls itself", old.answered_by, new.answered_by),
            )
            if was != now
        ]
        # Prompts of one name with other words are other prompts.
        gone, fresh = old.prompts.keys() - new.prompts.keys(), new.prompts.keys() - old.prompts
        reworded = sum(
            new.prompts[name] != old.prompts[name] for name in old.prompts.keys() & new.prompts
        )
        counts = (("gone", len(gone)), ("new", len(fresh)), ("reworded", reworded))
        parts += [f"{n} prompts {word}" for word, n in counts if n]
        if parts:
            changes.append(f"{new.name}: {'; '.join(parts)}.")
    return changes

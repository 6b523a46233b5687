"""Watch the same audit over time: every headline estimate by round, and whether it changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import portrayal.registry as registry
from portrayal.comparison.matching import Instrument, Key, Side, rows_of
from portrayal.comparison.result import Scale
from portrayal.comparison.rounds import (
    Round,
    check_rounds,
    differences,
    read_rounds,
    shared_prompts,
)
from portrayal.comparison.sums import Sums, measured, sums_of
from portrayal.errors import OptionError, PortrayalError
from portrayal.measure.scope import stated_changes
from portrayal.records import ALL, Estimate
from portrayal.reference.labels import FactorLabels
from portrayal.run.influences import Influences
from portrayal.stats import latest_change
from portrayal.types import FloatArray
from portrayal.validate import check_level

FEWEST = 5
"""Prompts that all rounds must share for an estimate to be tested."""


@dataclass(frozen=True)
class Watched:
    """One headline estimate over the rounds.

    Attributes
    ----------
    measure, statistic, strata, group
        As in an estimate; strata without the model.
    scale
        "ratio": the change is the mean after over the mean before; "difference": the first less
        the second.
    values, lows, highs
        The audits' own values and intervals, one for each round; None where there is none.
    p
        p-value of no change in any round so far, valid however often one looks and for all watched
        estimates together; None where there is no test.
    alarm
        Number of the first round at which p was 1 − level or less; None where it never was.
    start
        Number of the first round of the change that has most evidence at the last look.
    change, low, high
        That change on `scale`, with an interval that holds for all looks, starts and estimates
        together.
    n_prompts
        Prompts that the test rests on.
    undefined
        Why there is no test; None where there is one.
    """

    measure: str
    statistic: str
    strata: Mapping[str, str]
    group: Mapping[str, str]
    scale: Scale
    values: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    p: float | None = None
    alarm: int | None = None
    start: int | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    n_prompts: int = 0
    undefined: str | None = None

    @property
    def null(self) -> float:
        """The change that is none."""
        return 1.0 if self.scale == "ratio" else 0.0

    @property
    def is_still_changed(self) -> bool:
        """Whether the interval at the last look leaves out no change."""
        return (
            self.low is not None
            and self.high is not None
            and not (self.low <= self.null <= self.high)
        )


@dataclass(frozen=True)
class RoundFacts:
    """What is said of one round."""

    name: str
    when: date
    models: tuple[str, ...]
    answered_by: tuple[str, ...]
    n_texts: int


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
    rounds: tuple[RoundFacts, ...]
    rows: tuple[Watched, ...]
    differences: tuple[str, ...]
    instruments: tuple[Instrument, ...]
    n_prompts: int
    left_out: tuple[str, ...] = ()
    factors: tuple[FactorLabels, ...] = ()

    @property
    def alarms(self) -> tuple[Watched, ...]:
        """The estimates that changed, the first ones first."""
        found = [row for row in self.rows if row.alarm is not None]
        return tuple(sorted(found, key=lambda row: (row.alarm or 0, row.p or 0.0)))

    def to_pandas(self) -> Any:
        """Return a DataFrame, one row for each estimate and round."""
        import pandas as pd

        return pd.DataFrame(flat_rounds(self))


def flat_rounds(found: Watch) -> list[dict[str, Any]]:
    """Return a row of plain values for each estimate and round."""
    after = ["p", "alarm", "start", "change", "low", "high", "n_prompts", "undefined"]
    return [
        {
            "round": number + 1,
            "date": each.when.isoformat(),
            "run": each.name,
            "measure": row.measure,
            "statistic": row.statistic,
            **row.strata,
            **row.group,
            "value": row.values[number],
            "value_low": row.lows[number],
            "value_high": row.highs[number],
            "scale": row.scale,
            **{name: getattr(row, name) for name in after},
        }
        for row in found.rows
        for number, each in enumerate(found.rounds)
    ]


def watch_values(found: Watch) -> dict[str, Any]:
    """Return what was watched as plain values, dates as text."""
    facts = asdict(found)
    facts["rounds"] = [{**each, "when": each["when"].isoformat()} for each in facts["rounds"]]
    facts["instruments"] = [str(each) for each in found.instruments]
    return facts


def watch(folder: str | Path, *, level: float = 0.95, despite: Collection[str] = ()) -> Watch:
    """Read every run of a folder and test each headline estimate for change, at every look.

    Parameters
    ----------
    folder
        A folder of runs of one study, such as `portrayal audit … --append FOLDER` makes.
    level
        Confidence level of all estimates and all looks together: with probability `level`, nothing
        that never changes is ever called changed.
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
    instruments = check_rounds(rounds, despite)
    prompts = shared_prompts(rounds)
    if len(prompts) < min(FEWEST, len(rounds[0].prompts)):
        raise OptionError(
            f"the runs in {folder} share {len(prompts)} prompts in the same words; watching takes "
            f"{FEWEST}. Ask the same prompts in each round."
        )
    sides = _sides(rounds)
    study = str(rounds[0].run.settings().get("study"))
    family = _headline(sides, study)
    gone = {name for each in rounds for name in each.prompts} - prompts
    rows = _tested([_series(sides, places, gone) for places in family.values()], level)
    return Watch(
        study,
        str(folder),
        level,
        tuple(RoundFacts(r.name, r.when, r.models, r.answered_by, r.n_texts) for r in rounds),
        tuple(rows),
        tuple(differences(rounds)),
        tuple(instruments),
        len(prompts),
        tuple(left_out),
        rounds[0].run.factors,
    )


def _sides(rounds: Sequence[Round]) -> list[tuple[Side, str]]:
    """Each round with the model that is watched: its only one, or all together."""
    single = all(len(each.models) == 1 for each in rounds)
    return [(Side(each.run), each.models[0] if single else ALL) for each in rounds]


def _headline(sides: Sequence[tuple[Side, str]], study: str) -> dict[Key, list[int | None]]:
    """Return the estimates that some round's report may state: their row in each round."""
    try:
        stated = dict(registry.get("studies", study).stated)
    except PortrayalError:
        stated = {}
    every = [rows_of(side, model) for side, model in sides]
    keys: dict[Key, None] = {}
    for (side, model), rows in zip(sides, every, strict=True):
        said = stated_changes([side.run.records[row] for row in rows.values()], model, stated)
        keys |= {key: None for key, yes in zip(rows, said, strict=True) if yes}
    return {key: [rows.get(key) for rows in every] for key in keys}


@dataclass(frozen=True, eq=False)
class _Series:
    """An estimate by round, with its sums over the prompts of all rounds that have some.

    `blank` says what it is; `numbers` are the rounds that have sums, with their `size` in texts.
    """

    blank: dict[str, Any]
    why: str | None
    numbers: tuple[int, ...] = ()
    sums: tuple[Sums, ...] = ()
    size: FloatArray = field(default_factory=lambda: np.ones(0))


def _tested(every: Sequence[_Series], level: float) -> list[Watched]:
    """Test every estimate that can be tested, at every look, as one family."""
    family = sum(each.why is None for each in every)
    return [
        Watched(**each.blank, undefined=each.why)
        if each.why is not None
        else Watched(**each.blank, **looks(each.sums, each.size, level, family, each.numbers))
        for each in every
    ]


def _series(
    sides: Sequence[tuple[Side, str]], places: Sequence[int | None], gone: Collection[str]
) -> _Series:
    """Return an estimate by round; rounds without it are left out of its test."""
    records = [
        None if row is None else side.run.records[row]
        for (side, _), row in zip(sides, places, strict=True)
    ]
    blank = _blank(records)
    there: list[tuple[int, Influences, int, Estimate]] = []
    why = "fewer than two rounds have it" if len(sides) > 1 else "a change takes two rounds"
    for number, ((side, _), row, record) in enumerate(zip(sides, places, records, strict=True)):
        if row is None or record is None:
            continue
        reason = side.run.influences.reasons[row]
        if reason is None:
            there.append((number, side.run.influences, row, record))
        elif len(sides) > 1:
            why = reason
    if len(there) < 2:
        return _Series(blank, why)
    if len({kept.forms[row] for _, kept, row, _ in there}) > 1:
        return _Series(blank, "the rounds keep sums of other forms")
    labels = [
        [kept.labels[c] for c in kept.prompt[kept.starts[row] : kept.starts[row + 1]].tolist()]
        for _, kept, row, _ in there
    ]
    shared = set(labels[0]).intersection(*labels[1:]) - set(gone)
    if len(shared) < FEWEST:
        return _Series(blank, f"{len(shared)} prompts are in every round, fewer than {FEWEST}")
    order = [name for name in labels[0] if name in shared]
    sums, size = [], []
    for own, (number, kept, row, record) in zip(labels, there, strict=True):
        at = {name: i for i, name in enumerate(own)}
        value = np.array([record.value], dtype=np.float64)
        whole = sums_of(kept, np.array([row]), value, log=record.statistic == "ratio")
        sums.append(whole.at(np.array([at[name] for name in order])))
        n_texts = record.n_texts or sides[number][0].run.texts.note().get("n_texts", 1)
        size.append(max(float(n_texts), 1.0))
    return _Series(blank, None, tuple(n for n, *_ in there), tuple(sums), np.array(size))


def _blank(records: Sequence[Estimate | None]) -> dict[str, Any]:
    """What an estimate is, and its values by round."""
    first = next(record for record in records if record is not None)
    bounds = [None if e is None or e.value is None else e.interval for e in records]
    return {
        "measure": first.measure,
        "statistic": first.statistic,
        "strata": {name: value for name, value in first.strata.items() if name != "model"},
        "group": first.group,
        "scale": "ratio" if first.statistic == "ratio" else "difference",
        "values": tuple(None if e is None else e.value for e in records),
        "lows": tuple(None if b is None else b.low for b in bounds),
        "highs": tuple(None if b is None else b.high for b in bounds),
    }


def looks(
    sums: Sequence[Sums],
    size: FloatArray,
    level: float,
    family: int,
    numbers: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Look after each round, with nothing but what was there by then.

    Parameters
    ----------
    sums
        Sums by prompt of one estimate in each round, of the same prompts in the same order.
    size
        Texts of each round, shape (n_rounds,).
    level, family
        As in `portrayal.stats.latest_change`.
    numbers
        Number of each round, from 0, where some are left out.

    Returns
    -------
    dict
        Fields of `Watched` from `p` on.
    """
    numbers = range(len(sums)) if numbers is None else numbers
    smallest, alarm, found = 1.0, None, {}
    n_prompts = len(sums[0].cells[0])
    for n in range(2, len(sums) + 1):
        parts, relative = _parts(sums[:n], size[:n])
        if parts is None:
            continue
        look = latest_change(parts[:, :, np.newaxis], size[:n], level, family)
        smallest = min(smallest, float(look.p[0]))
        if alarm is None and smallest <= 1.0 - level:
            alarm = numbers[n - 1] + 1
        tau = int(look.start[0])
        new = float(size[tau:n].sum() / size[:n].sum())
        found = {
            name: _said(float(x[0]), new, relative)
            for name, x in (("change", look.change), ("low", look.low), ("high", look.high))
        } | {"start": numbers[tau] + 1}
    if not found:
        return {"undefined": "not one of the group in any round", "n_prompts": n_prompts}
    return {**found, "p": smallest, "alarm": alarm, "n_prompts": n_prompts}


def _said(x: float, new: float, relative: str) -> float:
    """Return a change on its scale: of a mean relative to that of all rounds, as a ratio.

    With a part w of all after the change, x = (after - before) / all makes after / before
    (1 + (1 - w) x) / (1 - w x), which no change of a mean that is never negative leaves.
    """
    if relative == "log":
        return float(np.exp(np.clip(x, -700.0, 700.0)))
    if relative == "linear":
        return x
    above, below = max(1.0 + (1.0 - new) * x, 0.0), max(1.0 - new * x, 0.0)
    return above / below if below > 0.0 and np.isfinite(above) else np.inf


def _parts(sums: Sequence[Sums], size: FloatArray) -> tuple[FloatArray | None, str]:
    """What each prompt says in each round, (n_rounds, n_prompts), and on which scale.

    Ratios are relative to the mean of all rounds rather than logarithms of each round, so that a
    group that is missing in a round has a value, and rare groups no skewed one.
    """
    form, log = sums[0].form, sums[0].log
    n_prompts = len(sums[0].cells[0])
    if form == "influence":
        each = [measured(own) for own in sums]
        value = np.array([own.value[0] for own in each])
        if not np.isfinite(value).all():
            return None, ""
        influence = np.stack([own.influence[:, 0] for own in each])
        return value[:, np.newaxis] + n_prompts * influence, "log" if log else "linear"
    a, n, b, m = (np.stack([own.cells[i][:, 0] for own in sums]) for i in range(4))
    upper, share = _scores(a, n, size)
    if form == "mean" and not log:
        return upper * sums[0].scale[0], "linear"
    lower, other = (0.0, 1.0) if form == "mean" else _scores(b, m, size)
    if form == "difference":
        return upper - lower, "linear"
    some = share > 0 and other > 0
    return (upper / share - lower / other, "ratio") if some else (None, "")


def _scores(a: FloatArray, n: FloatArray, size: FloatArray) -> tuple[FloatArray, float]:
    """Scores of prompts on a mean, less the mean of all rounds; and that mean."""
    total = np.maximum(n.sum(1, keepdims=True), 1e-300)
    share = float(np.sum(size * (a.sum(1) / total[:, 0])) / size.sum())
    return a.shape[1] * (a - share * n) / total, share

"""Compare two runs, or two models of one: every estimate of both, paired by prompt."""

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import nan
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import portrayal.registry as registry
from portrayal.comparison.matching import (
    Side,
    check_instruments,
    differing,
    matched,
    model_pairs,
    rows_of,
)
from portrayal.comparison.result import Change, Comparison, Prompts
from portrayal.comparison.sums import APART, PAIRED, Between, between, sums_of
from portrayal.errors import OptionError, PortrayalError
from portrayal.measure.clustered import bucket, is_bucket
from portrayal.measure.scope import stated_changes, with_q_values
from portrayal.records import ALL, Estimate, Test
from portrayal.run import Run
from portrayal.stats import benjamini_hochberg, prompt_subsets
from portrayal.types import FloatArray, IntArray
from portrayal.validate import check_level

MARGIN = 1.25
"""Factor up to which ratios count as the same."""
SHARE_MARGIN = 0.05
"""Difference up to which shares count as the same; other differences have no such margin."""
DRAWS = 9_999

_SHARES = ("0 to 1",)


@dataclass(frozen=True)
class Choices:
    """How sure, what counts as the same, and where random subsets of prompts start."""

    level: float = 0.95
    margin: float = MARGIN
    difference_margin: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse choices that cannot be used."""
        check_level(self.level)
        if not self.margin >= 1.0:
            raise OptionError(
                f"margin is a factor of 1 or more, such as 1.25; got {self.margin!r}."
            )
        if self.difference_margin is not None and not self.difference_margin >= 0.0:
            raise OptionError(
                "the margin of differences is 0 or more, such as 0.05; got "
                f"{self.difference_margin}."
            )

    def shown_margin(self, estimate: Estimate) -> float | None:
        """Return the margin as it is given: a factor of ratios, a difference; None without one."""
        if estimate.statistic == "ratio":
            return self.margin
        margin = self.margin_of(estimate)
        return None if np.isnan(margin) else margin

    def margin_of(self, estimate: Estimate) -> float:
        """Return the margin on the scale of the comparison; NaN where there is none."""
        if estimate.statistic == "ratio":
            return float(np.log(self.margin))
        if self.difference_margin is not None:
            return self.difference_margin
        return SHARE_MARGIN if _is_share(estimate) else np.nan


def compare(
    a: str | Path | Run | Side,
    b: str | Path | Run | Side,
    *,
    level: float = 0.95,
    margin: float = MARGIN,
    difference_margin: float | None = None,
    despite: Collection[str] = (),
    seed: int = 0,
) -> Comparison:
    """Compare two runs of one study, estimate by estimate, without reading their texts.

    Ratios are compared as a ratio of ratios on the log scale, everything else by its difference;
    always the second run beside the first. Prompts that both runs have are paired.

    Parameters
    ----------
    a, b
        Directories of runs, runs, or sides of them (`Side(run, model)`).
    level
        Confidence level; tests of equivalence are each at 1 − level.
    margin
        Factor, 1 or more, up to which ratios count as the same.
    difference_margin
        The same for differences. By default .05 for shares, and none for others.
    despite
        Names of instruments that may differ; "all" for any.
    seed
        Start of the random subsets of prompts.

    Returns
    -------
    Comparison
        A row for every estimate that both have, with the reason where it has no change.

    Raises
    ------
    RunError, OptionError
        Where a run is missing, of another study, or without sums by prompt; and where instruments
        differ, listing them.

    Examples
    --------
    >>> she = "Maria was a star student. She helped Juan, and he thanked her."
    >>> stories = [{"prompt_id": "learning-neutral-arts", "text": she}] * 3
    >>> run = portrayal.audit("laissez-faire", texts=stories, out="one", report=False)
    >>> found = compare("one", "one")
    >>> len(found.rows) > 50, found.prompts.both
    (True, 1)
    """
    sides = side_of(a), side_of(b)
    choices = Choices(level, margin, difference_margin, seed)
    study = study_of(sides)
    indices = [
        [rows_of(side, model) for side, model in zip(sides, both, strict=True)]
        for both in model_pairs(*sides)
    ]
    pairs = [list(matched(*index)) for index in indices]
    records = sides[0].run.records, sides[1].run.records
    used = [[records[s][row[s]] for rows in pairs for row in rows] for s in (0, 1)]
    instruments = differing(sides[0].run, sides[1].run, (used[0], used[1]))
    check_instruments(instruments, despite)
    rows = [
        row
        for both, matching in zip(model_pairs(*sides), pairs, strict=True)
        for row in changes(sides, both, matching, choices)
    ]
    every = [[records[s][row] for index in indices for row in index[s].values()] for s in (0, 1)]
    counts = [
        Counter(e.measure for e in whole) - Counter(e.measure for e in part)
        for whole, part in zip(every, used, strict=True)
    ]
    return Comparison(
        study,
        sides[0].name,
        sides[1].name,
        tuple(_with_q(rows, used[0], study)),
        level,
        tuple(instruments),
        _prompts(sides[0].run, sides[1].run),
        dict(counts[0]),
        dict(counts[1]),
        sides[0].run.factors,
    )


def side_of(given: str | Path | Run | Side) -> Side:
    """Return a side of a comparison from what `compare` takes."""
    if isinstance(given, Side):
        return given
    return Side(given if isinstance(given, Run) else Run.open(given))


def study_of(sides: tuple[Side, Side]) -> str:
    """Return the study of both sides; OptionError where they have two."""
    studies = [str(side.run.settings().get("study")) for side in sides]
    if studies[0] != studies[1]:
        raise OptionError(
            f"{sides[0].run.path} is an audit of {studies[0]} and {sides[1].run.path} of "
            f"{studies[1]}; runs of one study can be compared."
        )
    return studies[0]


@cache
def _share_measure(measure: str) -> bool:
    try:
        return str(registry.component("measures", measure).range).startswith(_SHARES)
    except PortrayalError:
        return False


def _is_share(estimate: Estimate) -> bool:
    return estimate.statistic in ("share", "agentic", "communal") and _share_measure(
        estimate.measure
    )


def changes(
    sides: tuple[Side, Side],
    models: tuple[str, str],
    rows: Sequence[tuple[int, int]],
    choices: Choices,
) -> list[Change]:
    """Compare the matched estimates of a pair of models, in their order; q is not added here.

    Parameters
    ----------
    sides, models
        Both sides, and the model of each.
    rows
        Rows of the first and of the second run that are the same estimate.
    choices
        Level, margins and seed.
    """
    made: dict[int, Change] = {}
    batches: dict[object, list[int]] = defaultdict(list)
    codes = _Codes(sides)
    for number, (i, j) in enumerate(rows):
        one, two = sides[0].run.records[i], sides[1].run.records[j]
        why = _why_not(sides, (i, j))
        blank = Change(
            one.measure,
            one.statistic,
            {name: value for name, value in one.strata.items() if name != "model"},
            one.group,
            *models,
            "ratio" if one.statistic == "ratio" else "difference",
            one.value,
            two.value,
            margin=choices.shown_margin(one),
            undefined=why,
        )
        made[number] = blank
        if why is None:
            batches[codes.batch(i, j, blank.scale)].append(number)
    for numbers in batches.values():
        found = _between(sides, codes, [rows[n] for n in numbers], choices)
        for k, number in enumerate(numbers):
            made[number] = _filled(made[number], found, k, choices.level)
    return [made[number] for number in range(len(rows))]


def _why_not(sides: tuple[Side, Side], rows: tuple[int, int]) -> str | None:
    """Why two estimates cannot be compared; None where they can."""
    for side, row in zip(sides, rows, strict=True):
        reason = side.run.influences.reasons[row]
        if reason is not None:
            return reason
    designs = {
        side.run.records[row].details.get("within_prompts")
        for side, row in zip(sides, rows, strict=True)
    }
    if len(designs) > 1:
        return "one side compares texts within prompts, the other over all prompts"
    forms = {side.run.influences.forms[row] for side, row in zip(sides, rows, strict=True)}
    return None if len(forms) == 1 else "the sides keep sums of other forms"


class _Codes:
    """Prompts of both sides under one numbering."""

    def __init__(self, sides: tuple[Side, Side]) -> None:
        found = [side.run.influences for side in sides]
        table: dict[object, int] = {}
        joined = any(is_bucket(label) for each in found for label in each.labels)
        self._found = found

        def key(name: str) -> object:
            return bucket(name) if joined else name

        self._recode = [
            np.array(
                [
                    table.setdefault(bucket(name) if joined else name, len(table))
                    for name in each.labels
                ],
                dtype=np.int64,
            )
            for each in found
        ]
        self.buckets = np.array(
            [known if joined else bucket(str(known)) for known in table], dtype=np.int64
        )

    def of(self, side: int, row: int) -> IntArray:
        """Prompts of an estimate of one side, shape (n_prompts,)."""
        found = self._found[side]
        at = slice(found.starts[row], found.starts[row + 1])
        return np.asarray(self._recode[side][found.prompt[at]])

    def batch(self, i: int, j: int, scale: str) -> object:
        """What estimates share that are compared together: form, scale and prompts."""
        return self._found[0].forms[i], scale, self.of(0, i).tobytes(), self.of(1, j).tobytes()


def _between(
    sides: tuple[Side, Side],
    codes: _Codes,
    rows: Sequence[tuple[int, int]],
    choices: Choices,
) -> Between:
    first = sides[0].run.records[rows[0][0]]
    sums, prompts = [], []
    for s, side in enumerate(sides):
        own = np.array([row[s] for row in rows], dtype=np.int64)
        value = np.array([side.run.records[row].value for row in own.tolist()], dtype=np.float64)
        log = first.statistic == "ratio"
        sums.append(sums_of(side.run.influences, own, value, log=log))
        prompts.append(codes.of(s, int(own[0])))
    margin = np.array([choices.margin_of(sides[0].run.records[i]) for i, _ in rows])

    def subsets(n: int) -> FloatArray:
        return _subsets(n, choices.seed)

    return between(
        (sums[0], sums[1]),
        (prompts[0], prompts[1]),
        subsets,
        choices.level,
        margin,
        codes.buckets,
    )


@cache
def _subsets(n_prompts: int, seed: int) -> FloatArray:
    rng = np.random.default_rng([seed, zlib.crc32(b"compare"), n_prompts])
    return prompt_subsets(n_prompts, rng, DRAWS)


def _filled(blank: Change, found: Between, k: int, level: float) -> Change:
    """Put the numbers of estimate `k` into its row."""
    changed = found.changed
    ratio = blank.scale == "ratio"

    def shown(x: float) -> float | None:
        value = float(np.exp(x)) if ratio else float(x)
        return None if np.isnan(value) else value

    p, equivalent = float(changed.p[k]), float(changed.p_equivalent[k])
    reason = str(changed.reason[k]) or None
    values = [shown(each[k]) for each in (found.first, found.second)]
    if np.isnan(changed.value[k]):
        zero = "a" if values[0] is None else "b"
        reason = f"the value of side {zero} is 0 or infinite over these prompts, or undefined"
    return replace(
        blank,
        value_a=blank.value_a if values[0] is None else values[0],
        value_b=blank.value_b if values[1] is None else values[1],
        change=shown(changed.value[k]),
        low=shown(changed.low[k]),
        high=shown(changed.high[k]),
        p=None if np.isnan(p) else p,
        p_inside=_pair(changed.p_inside[:, k]),
        p_beyond=_pair(changed.p_beyond[:, k]),
        p_equivalent=None if np.isnan(equivalent) else equivalent,
        equivalent=None if np.isnan(equivalent) else equivalent <= 1.0 - level + 1e-12,
        n_prompts=found.n_both,
        n_only_a=found.n_first,
        n_only_b=found.n_second,
        paired=found.paired,
        method=PAIRED if found.paired else APART,
        undefined=reason,
    )


def _pair(values: FloatArray) -> tuple[float, float] | None:
    return None if np.isnan(values).any() else (float(values[0]), float(values[1]))


def _with_q(
    rows: list[Change],
    originals: list[Estimate],
    study: str,
) -> Iterator[Change]:
    """Add q of details and of what may be stated, as an audit's estimates get them."""
    stated = _stated(study)
    tested = []
    for row, estimate in zip(rows, originals, strict=True):
        strata = {**row.strata, "model": row.model}
        tests = () if row.p is None else (Test(row.p, row.method),)
        value = 0.0 if row.change is None else row.change
        tested.append(replace(estimate, strata=strata, value=value, undefined=None, tests=tests))
    names = {e.strata["model"] for e in tested} - {ALL}
    main = names.pop() if len(names) == 1 else ALL
    said = stated_changes(tested, main, stated)
    said = [yes and row.p is not None for row, yes in zip(rows, said, strict=True)]
    p = [nan if row.p is None or not yes else row.p for row, yes in zip(rows, said, strict=True)]
    audit_q = benjamini_hochberg(p).tolist()
    for i, (row, estimate) in enumerate(zip(rows, with_q_values(tested), strict=True)):
        first = estimate.tests[0] if estimate.tests else None
        yield replace(
            row,
            q=None if first is None else _number(first.q),
            audit_q=_number(audit_q[i]),
            stated=said[i],
        )


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value


def _stated(study: str) -> dict[str, str]:
    try:
        return dict(registry.get("studies", study).stated)
    except PortrayalError:
        return {}


def _prompts(a: Run, b: Run) -> Prompts:
    """Count the prompts of both runs, and those of both whose words differ.

    Prompts are the same where they have one name, or else where all is the same that is known of
    them but the condition.
    """
    if a.path == b.path:
        return Prompts(pq.read_metadata(a.prompts_path).num_rows, 0, 0)
    ours, theirs = (
        pq.read_table(run.prompts_path, columns=["prompt_id", "text", "strata"]) for run in (a, b)
    )
    named = set(ours["prompt_id"].to_pylist()) & set(theirs["prompt_id"].to_pylist())
    words, others = (
        {
            name if name in named else _about(strata) or name: text
            for name, text, strata in zip(*table.to_pydict().values(), strict=True)
        }
        for table in (ours, theirs)
    )
    shared = words.keys() & others.keys()
    reworded = sum(words[key] != others[key] for key in shared)
    only = [len(table) - len(shared) for table in (ours, theirs)]
    return Prompts(len(shared), only[0], only[1], reworded)


def _about(strata: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """What is known of a prompt but its condition."""
    return tuple(sorted(item for item in strata if item[0] != "condition"))

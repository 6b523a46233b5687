"""Changes between two sides, one by one and all of them: in words and tables."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from portrayal.measure.scope import of_each_model
from portrayal.records import ALL, LIKE_THESE, THESE, Population, PromptScores
from portrayal.reference.labels import FactorLabels, speaking_of
from portrayal.registry import form_of
from portrayal.run.pages import SHARES, html_table, number, spread, words_of

Scale = Literal["ratio", "difference", "value"]


@dataclass(frozen=True, slots=True)
class Change:
    """One estimate, and its change from what it is compared against (a) to what it is now (b).

    What it is compared against is an earlier run, another model, the rounds before, or the texts
    before they were rewritten.

    Attributes
    ----------
    measure, statistic
        Registered name, and what the values are ("ratio", "share", "difference", …).
    strata, group
        Where, but for the model, and of whom.
    scale
        "ratio": the change is the second value over the first, and 1 is no change; "difference":
        the second less the first, and 0 is none; "value": a gate judges where the second lies.
    model_a, model_b
        Model of each side; "all" where models are pooled.
    value_a, value_b
        Values over the prompts that are compared: of paired prompts, those that both sides have.
    change, low, high
        The change with its interval, on `scale`.
    p, q, audit_q
        Two-sided p-value of no change; Benjamini and Hochberg's q among the changes of one measure
        and model, and among all that a report may state (None for a detail).
    p_family
        p adjusted by Holm for all sides that are compared with one base; None where there is one.
    margin
        Largest change that counts as none: a factor for ratios; None where there is none.
    p_inside, p_beyond
        One-sided p-values at the lower and upper end of the margin: small where the change is shown
        to lie inside that end, and beyond it; None where there is no margin or no test.
    p_equivalent, equivalent
        Larger p-value of two one-sided tests that the change is `margin` or more, and whether it is
        1 − level or less; None where there is no margin or no test.
    detectable
        Size of a change that four in five such comparisons would find at 1 − level.
    n_prompts, n_only_a, n_only_b
        Independent units (prompts, pairs, blocks) of both sides, and of one alone. Where a run has
        many, some are joined and count as one.
    paired
        Whether units are paired; units of one side alone then do not count.
    method
        How interval and p were made.
    stated
        Whether a report may state it as a finding.
    undefined
        Why there is no change, or no interval and test; None where there are.
    scores
        What each prompt says against no change, by which changes are adjusted for each other.
    rows
        Rows of the estimate in the runs of both sides; empty where that is not known.
    details
        What the measure keeps beside the value of the first side.
    """

    measure: str
    statistic: str
    strata: Mapping[str, str]
    group: Mapping[str, str]
    scale: Scale
    model_a: str = ALL
    model_b: str = ALL
    value_a: float | None = None
    value_b: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    audit_q: float | None = None
    p_family: float | None = None
    margin: float | None = None
    p_inside: tuple[float, float] | None = None
    p_beyond: tuple[float, float] | None = None
    p_equivalent: float | None = None
    equivalent: bool | None = None
    detectable: float | None = None
    n_prompts: int = 0
    n_only_a: int = 0
    n_only_b: int = 0
    paired: bool = False
    method: str = ""
    stated: bool = False
    undefined: str | None = None
    scores: PromptScores | None = field(default=None, compare=False, repr=False)
    rows: tuple[int, ...] = field(default=(), compare=False, repr=False)
    details: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def null(self) -> float:
        """The change that is none: 1 for ratios, 0 for differences."""
        return 1.0 if self.scale == "ratio" else 0.0

    @property
    def n_sides(self) -> tuple[int, int]:
        """Independent units of each side; of those that are paired both have all."""
        only = (0, 0) if self.paired else (self.n_only_a, self.n_only_b)
        return self.n_prompts + only[0], self.n_prompts + only[1]

    @property
    def place(self) -> Mapping[str, str]:
        """Where, with the model of a measure that speaks of each by itself."""
        by_model = self.model_a == self.model_b != ALL and of_each_model(self.measure)
        return {"of model": self.model, **self.strata} if by_model else self.strata

    @property
    def model(self) -> str:
        """The model, or "A → B" where the sides have two."""
        return self.model_a if self.model_a == self.model_b else f"{self.model_a} → {self.model_b}"

    @property
    def judged_q(self) -> float | None:
        """The q that decides what is said: among all that may be stated, else of its measure."""
        return self.q if self.audit_q is None else self.audit_q

    @property
    def size(self) -> float:
        """How far the change is from none: |ln change| or |change|; NaN where undefined."""
        if self.change is None:
            return math.nan
        return abs(math.log(self.change)) if self.scale == "ratio" else abs(self.change)


@dataclass(frozen=True, slots=True)
class Instrument:
    """Something two runs measured with differently: its name, and what each used."""

    name: str
    first: str
    second: str

    def __str__(self) -> str:
        """Say what differs: "name_table: census-2020 and ssa-2023"."""
        return f"{self.name}: {self.first or 'none'} and {self.second or 'none'}"


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts of two runs: of both, of each alone, and of both with other words under one name."""

    both: int
    only_a: int
    only_b: int
    reworded: int = 0


_PARTS = ("strata", "group", "p_inside", "p_beyond")
CHANGED, SAME, OPEN = "changed", "shown to be the same", "not resolved"


def verdict(row: Change, level: float) -> str:
    """Return whether a change is shown, is shown to be none, or neither.

    A change that may be stated is judged by its q among all of those, others by their own q.
    """
    if row.judged_q is not None and row.judged_q < 1.0 - level:
        return CHANGED
    return SAME if row.equivalent else OPEN


def form_of_change(row: Any) -> str:
    """Return how a change is written: "ratio", "points" where shares are compared, "difference"."""
    if row.scale == "ratio":
        return "ratio"
    return "points" if form_of(row) in ("points", *SHARES) else "difference"


def change_number(row: Any, change: float | None) -> str:
    """Return a change of a row as a terminal shows it ("×1.32", "+0.013", "+1.3 points")."""
    form = form_of_change(row)
    times = "×" if form == "ratio" and change is not None else ""
    return times + number(change, form)


HEADS = ("what", "first", "second", "change", "interval", "q", "result")
SHOWN = 60
"""Rows that a notebook shows."""
THESE_ALONE = "judged for these prompts alone: nothing is said of others like them"


@dataclass(frozen=True)
class Comparison:
    """Two sides compared, estimate by estimate.

    Attributes
    ----------
    study
        What both are audits of; "" for scores in two files.
    a, b
        The sides by name: directories of runs, with the model where one was chosen.
    rows
        Every estimate that both sides have.
    level
        Confidence level; q and tests of equivalence are read at 1 − level.
    instruments
        What the sides measured with differently, `despite` which they are compared.
    prompts
        Prompts of both runs.
    only_a, only_b
        Estimates that one side alone has, by measure.
    factors
        How groups are called.
    asked
        By which parameters and versions of models the sides were asked, where they differ.
    population
        Whether other prompts like these are meant, or these alone; see `compare`.
    notes
        Of scores in two files: each difference in a sentence, then how samples were paired and
        what was left out.
    """

    study: str
    a: str
    b: str
    rows: tuple[Change, ...]
    level: float
    instruments: tuple[Instrument, ...]
    prompts: Prompts
    only_a: Mapping[str, int] = field(default_factory=dict)
    only_b: Mapping[str, int] = field(default_factory=dict)
    factors: tuple[FactorLabels, ...] = ()
    asked: tuple[Instrument, ...] = ()
    population: Population = LIKE_THESE
    notes: tuple[str, ...] = ()

    def to_pandas(self) -> Any:
        """Return a DataFrame, one row for each change, a column for each stratum and group."""
        import pandas as pd

        return pd.DataFrame(self.flat(self.rows))

    def flat(self, rows: Iterable[Change]) -> list[dict[str, Any]]:
        """Return rows of this comparison as plain values, with the sides in `a` and `b`."""
        flat = []
        for row in rows:
            values = {f.name: getattr(row, f.name) for f in fields(row) if f.repr}
            head = {"a": self.a, "b": self.b, "measure": row.measure, "statistic": row.statistic}
            labels = {**head, **row.strata, **row.group}
            flat.append(labels | {name: x for name, x in values.items() if name not in _PARTS})
        return flat

    def _repr_html_(self) -> str:
        # Groups are called as the run calls them, also where its factor's file is gone.
        with speaking_of(self.factors):
            rows = ordered(self)
            summary = " · ".join(about(self))
            more = f" · {len(rows) - SHOWN} more: .to_pandas()" if len(rows) > SHOWN else ""
            return html_table(
                HEADS, [cells(row, self.level) for row in rows[:SHOWN]], summary + more
            )


def about(comparison: Comparison) -> Iterator[str]:
    """Yield what was compared, in lines: sides, prompts, instruments, what one side alone has."""
    if comparison.notes:
        yield from comparison.notes
        return
    n = comparison.prompts
    yield f"first {comparison.a}, second {comparison.b}, study {comparison.study}"
    note = f", {n.reworded:,} of them with other words" if n.reworded else ""
    extra = f"; where not paired also {n.only_a:,} of the first alone, {n.only_b:,} of the second"
    yield f"prompts: {n.both:,} of both{note}{extra if n.only_a or n.only_b else ''}"
    if comparison.population == THESE:
        yield THESE_ALONE
    for instrument in comparison.instruments:
        yield f"despite another instrument: {instrument}"
    for instrument in comparison.asked:
        yield f"asked otherwise: {instrument}"
    only = sum(comparison.only_a.values()), sum(comparison.only_b.values())
    if any(only):
        yield f"estimates of one side alone: {only[0]:,} of the first, {only[1]:,} of the second"
    total, rows = len(comparison.rows), [row for row in comparison.rows if row.stated]
    without = sum(row.p is None for row in comparison.rows)
    if len(rows) < total:
        which = "those that may be stated" if rows else "those with a value, as none may be stated"
        n_shown = len(rows) or sum(row.change is not None for row in comparison.rows)
        yield (
            f"shown: {n_shown:,} of {total:,} estimates, {which}; {without:,} have no test; "
            "--all has every one and says why"
        )


def ordered(comparison: Comparison, *, full: bool = False) -> list[Change]:
    """Return what is shown first: what may be stated (or all), the nearest to a change first."""
    rows = [row for row in comparison.rows if full or (row.stated and row.change is not None)]
    if not rows:
        rows = [row for row in comparison.rows if row.change is not None]
    return sorted(rows, key=by_evidence)


def by_evidence(row: Change) -> tuple[bool, float, float, float]:
    """Return the order of changes: by what judges them, then by p and by size; no test is last."""
    q = 1.0 if row.judged_q is None else row.judged_q
    # Many have one q, so p and size order those.
    return row.p is None, q, row.p or 0.0, -0.0 if math.isnan(row.size) else -row.size


def cells(row: Change, level: float) -> tuple[str, ...]:
    """Return the cells of a row under `HEADS`."""
    result = verdict(row, level) if row.undefined is None else row.undefined
    return (
        words_of(row.measure, row.place, row.group, row.statistic),
        number(row.value_a, form_of(row)),
        number(row.value_b, form_of(row)),
        change_number(row, row.change),
        spread(None if row.low is None else row, form_of_change(row)),
        number(row.judged_q),
        result,
    )

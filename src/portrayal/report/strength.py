"""Strength: how much stands behind a number, and whether it may be said at all.

Four words, the same in every report: *strong*, *some evidence*, *no clear difference* and *cannot
be measured here*. The first two take a value whose interval and null range leave out chance, q of
the audit below 0.05, at least ten whole people, and a reader of the texts whose own errors could
not have made it.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import portrayal.report.formats as fmt
from portrayal.records import ALL, READER_ERROR, Estimate
from portrayal.report.view import (
    FEW_PROMPTS,
    View,
    beyond_chance,
    is_sure,
    no_difference,
    place_of,
    q_of,
    reader_could,
)
from portrayal.report.words import described, stem

Strength = Literal["strong", "some evidence", "no clear difference", "cannot be measured here"]
STRONG: Strength = "strong"
SOME: Strength = "some evidence"
UNCLEAR: Strength = "no clear difference"
CANNOT: Strength = "cannot be measured here"

FEW_PEOPLE = 10
"""Whole people, in each role that is compared, below which nothing is stated."""
CLEAR = 0.01
"""q below which a difference can be strong."""
MOST_MODELS = 2 / 3
"""Share of the models with a value that must point the same way for a difference to be strong."""


def strength_of(view: View, e: Estimate) -> Strength:
    """Return how strongly an estimate may be said."""
    if e.value is None or e.n_clusters < FEW_PROMPTS or not enough_people(view, e):
        return CANNOT
    if beyond_chance(e) and reader_could(e):
        return CANNOT
    if not is_sure(e):
        return CANNOT if READER_ERROR in e.instruments else UNCLEAR
    agreeing, known = agreement(view, e)
    q = q_of(e)
    clear = q is not None and q < CLEAR and e.warning is None
    return STRONG if clear and agreeing >= MOST_MODELS * known else SOME


@dataclass(frozen=True, slots=True)
class Count:
    """People counted among how many; how many would be expected without a difference."""

    n: float
    of: float
    expected: float
    role: str = ""

    def words(self, unit: str) -> str:
        """Return the count as a report says it ("58 of 1,077 characters, 115 expected")."""
        said = f"{fmt.count(_whole(self.n))} of {fmt.count(self.of)} "
        said += f"{self.role} {units(unit, self.of)}" if self.role else units(unit, self.of)
        return f"{said} ({fmt.count(_whole(self.expected))} expected)" if not self.role else said


def counts_of(view: View, e: Estimate) -> tuple[Count, ...]:
    """Return the people behind an estimate, by role where it compares roles; () where unknown.

    Of a median over models they are those of all models together.
    """
    e = _counted(view, e)
    known = e.details
    if "count" in known and "baseline" in known:
        none = 1.0 if e.null is None or math.isnan(e.null.value) else e.null.value
        return (Count(known["count"], e.n_units, none * known["baseline"] * e.n_units),)
    roles = [name.removeprefix("count_") for name in known if name.startswith("count_")]
    if len(roles) < 2:
        return ()
    every = sum(known[f"count_{role}"] for role in roles)
    sides = [(known[f"count_{r}"], known.get(f"n_{r}", every), r) for r in roles]
    share = sum(n for n, _, _ in sides) / max(sum(of for _, of, _ in sides), 1.0)
    return tuple(Count(n, of, share * of, role) for n, of, role in sides)


def enough_people(view: View, e: Estimate) -> bool:
    """Whether at least ten whole people stand behind an estimate, in each role that it compares.

    Counts by race are sums of shares, so nine people and a half are not ten.
    """
    counts = counts_of(view, e)
    return min((each.n for each in counts), default=e.n_units) >= FEW_PEOPLE - 1e-9


def is_missing(view: View, e: Estimate) -> bool:
    """Whether a group hardly occurs where at least ten people of it would be expected.

    Neither chance nor the reader explains it, but it is no finding, as too few people are there.
    """
    counts = counts_of(view, e)
    expected = min((max(each.n, each.expected) for each in counts), default=0.0)
    sure = is_sure(e) and e.n_clusters >= FEW_PROMPTS
    return sure and not enough_people(view, e) and expected >= FEW_PEOPLE


def agreement(view: View, e: Estimate) -> tuple[int, int]:
    """Return how many models point the same way, and how many have a value; (0, 0) for one model.

    A median over models agrees with the single models of the measure that it sums up.
    """
    if len(view.models) < 2:
        return 0, 0
    own = base_of(e.measure)
    values = [
        other.value
        for name, rows in view.by_measure.items()
        if stem(name) == own
        for other in rows
        if other.group == e.group
        and other.statistic == e.statistic
        and place_of(other) == place_of(e)
        and other.strata.get("model") != ALL
        and other.value is not None
    ]
    none, above = no_difference(e), (e.value or 0.0) > no_difference(e)
    return sum((value > none) == above and value != none for value in values), len(values)


def base_of(measure: str) -> str:
    """Return the name, without version, of the measure whose finding this one repeats, or its own.

    A median over models repeats the measure of single models.
    """
    component = described(measure)
    return (component.repeats if component is not None else "") or stem(measure)


def units(unit: str, n: float) -> str:
    """Return what is counted, as many ("characters", "stories")."""
    return unit if n == 1 else "stories" if unit == "story" else f"{unit}s"


def _whole(n: float) -> float:
    """A count that prints without decimals where it is ten or more."""
    return float(round(n)) if n >= FEW_PEOPLE else n


def _counted(view: View, e: Estimate) -> Estimate:
    """The estimate that has the counts behind another one: its own, or that of all models."""
    own = base_of(e.measure)
    if own == stem(e.measure):
        return e
    same = (
        other
        for name, rows in view.by_measure.items()
        if stem(name) == own
        for other in rows
        if other.group == e.group and other.strata == e.strata
    )
    return next(same, e)


@dataclass(frozen=True)
class Stated:
    """A sentence with the numbers it rests on, and how strongly it may be said.

    Attributes
    ----------
    headline
        The sentence, without a full stop.
    facts
        Number and range, what chance gives, the counts, and how many models agree, each a few
        words.
    evidence
        What else is known of it, in sentences.
    strength
        One of the four words of `portrayal.report.strength`.
    estimates
        What it rests on, the strongest first; none where two runs are compared.
    flags
        Warnings that stand beside it.
    """

    headline: str
    facts: tuple[str, ...]
    evidence: str
    strength: Strength
    estimates: tuple[Estimate, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether chance does not explain it."""
        return self.strength in (STRONG, SOME)

    @property
    def first(self) -> Estimate:
        """The estimate the sentence is about."""
        return self.estimates[0]

    @property
    def p(self) -> float:
        """Its p-value; 1 where it has no test."""
        return self.first.tests[0].p if self.first.tests else 1.0


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees first.

    Attributes
    ----------
    read
        What was read, in one line.
    stated
        Two to five findings, the strongest first.
    none
        What the report leads with where nothing is stated; "" otherwise.
    near
        What came nearest then, which chance explains; "" for nothing.
    cannot
        What cannot be said, a few sentences.
    chart
        The findings, or what comes nearest, as a chart of at most five rows: `key`, `label`, `spec`
        and `legend`; None where there is nothing to draw.
    """

    read: str
    stated: tuple[Stated, ...]
    none: str
    cannot: tuple[str, ...]
    near: str = ""
    chart: dict[str, Any] | None = None

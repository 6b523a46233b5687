"""Strength: how much stands behind a number, and whether it may be said at all.

Four words, the same in every report: *strong*, *some evidence*, *no clear difference* and *cannot
be measured here*. The first two take a value whose interval and null range leave out chance, q of
the audit below 0.05, at least ten whole people where people are counted, and a reader of the texts
whose own errors could not have made it.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import portrayal.report.formats as fmt
from portrayal.measure.scope import of_each_model
from portrayal.records import (
    ALL,
    BEYOND_MARGINS,
    THESE,
    UNITS,
    Estimate,
)
from portrayal.registry import described
from portrayal.report.view import (
    SURE,
    View,
    beyond_chance,
    is_sure,
    no_difference,
    place_of,
    q_of,
    reader_could,
)
from portrayal.report.words import stem

Strength = Literal[
    "strong", "some evidence", "in these prompts", "no clear difference", "cannot be measured here"
]
STRONG: Strength = "strong"
SOME: Strength = "some evidence"
HERE: Strength = "in these prompts"
UNCLEAR: Strength = "no clear difference"
CANNOT: Strength = "cannot be measured here"

_SURE: dict[Strength, str] = {UNCLEAR: "not settled", CANNOT: CANNOT}

CLEAR = 0.01
"""q below which a difference can be strong."""
MOST_MODELS = 2 / 3
"""Share of the models with a value that must point the same way for a difference to be strong."""


def strength_of(view: View, e: Estimate) -> Strength:
    """Return how strongly an estimate may be said."""
    if e.value is None or not e.enough:
        return CANNOT
    # The reader's errors are no chance: no number of texts makes them go away.
    if beyond_chance(e) and reader_could(e):
        return CANNOT
    if not is_sure(e):
        return UNCLEAR if e.status.reader_error is None else CANNOT
    if e.details.get(BEYOND_MARGINS, 0.0) >= SURE:
        return UNCLEAR  # its groups say as much, each alone
    agreeing, n_models = agreement(view, e)
    q = q_of(e)
    # A warning beside a number keeps it from being strong.
    clear = q is not None and q < CLEAR and e.warning is None
    return STRONG if clear and agreeing >= MOST_MODELS * n_models else SOME


def holds_here(e: Estimate) -> bool:
    """Whether a hypothesis holds in these very prompts: neither texts' chance nor the reader's.

    An intersection is told only beyond its margins.
    """
    fixed = e.fixed
    if fixed is None or fixed.q is None or not fixed.q < SURE or reader_could(e):
        return False
    return e.details.get(BEYOND_MARGINS, 0.0) < SURE


def agreement(view: View, e: Estimate) -> tuple[int, int]:
    """Return how many models point the same way, and how many have a value; (0, 0) for one model.

    So it is where each model is a question of its own, which another one cannot answer. A median
    over models agrees with the single models of the measure that it sums up.
    """
    if len(view.models) < 2 or of_each_model(e.measure):
        return 0, 0
    base = base_of(e.measure)
    values = [
        other.value
        for name, rows in view.by_measure.items()
        if stem(name) == base
        for other in rows
        if other.group == e.group
        and other.statistic == e.statistic
        and place_of(other) == place_of(e)
        and other.strata.get("model") != ALL
        and other.value is not None
    ]
    none, above = no_difference(e), (e.value or 0.0) > no_difference(e)
    # A model without any difference agrees with neither direction.
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


def clusters_of(e: Estimate, times: float = 1.0, noun: str = "prompt") -> str:
    """Return over how many independent units an estimate is, or over `times` as many, in words.

    Where there are two kinds of them both are named ("5 names and 15 departments").
    """
    ways = {k.removeprefix(UNITS): n for k, n in e.details.items() if k.startswith(UNITS)}
    n_by_unit = ways or {noun: float(e.n_clusters)}
    # In these very prompts texts are what chance deals.
    if e.population == THESE:
        n_by_unit = {"text": float(e.n_clusters)}
    return fmt.listed([fmt.plural(math.ceil(n * times), one) for one, n in n_by_unit.items()])


def unit_words(e: Estimate, units: str = "prompts") -> str:
    """Return what the independent units of an estimate are called ("notes"), as many.

    `units` is what the study calls them where the estimate itself does not say it.
    """
    units_of_two = [name.removeprefix(UNITS) + "s" for name in e.details if name.startswith(UNITS)]
    return fmt.listed(units_of_two) if units_of_two else units


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
    folded
        Whether a page folds it: it answers a question that a stronger one answers, or is one of
        many.
    units
        What the study calls its independent units.
    """

    headline: str
    facts: tuple[str, ...]
    evidence: str
    strength: Strength
    estimates: tuple[Estimate, ...] = ()
    flags: tuple[str, ...] = ()
    folded: bool = False
    units: str = "prompts"

    @property
    def of_units(self) -> str:
        """What its independent units are called."""
        return unit_words(self.first, self.units) if self.estimates else self.units

    @property
    def sure(self) -> str:
        """How sure the sentence is, in words ("holds for prompts like these")."""
        if self.strength == HERE or (
            self.clear and self.estimates and self.first.population == THESE
        ):
            return f"holds in these {self.of_units}"
        return (
            f"holds for {self.of_units} like these" if self.clear else _SURE.get(self.strength, "")
        )

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
        All findings, those that stand in front first.
    none
        What the report leads with: that nothing is stated, or a study's sum of what is; or "".
    cannot
        What cannot be said, a few sentences.
    chart
        The findings, or what comes nearest, as a chart of at most five rows: `key`, `label`, `spec`
        and `legend`; None where there is nothing to draw.
    here
        What holds in these prompts, were they fixed, though not in prompts like them.
    lead
        Which headline it is, and the candidates below it (`portrayal.report.headline.Headline`);
        None where runs are compared.
    asked
        A line for each question that was asked beforehand: when, and what came out.
    remedies
        Options that would answer what is left open, each with its command.
    corrected
        What labels by hand corrected, by how much, and what they did not and why, a line each.
    planted
        What was planted in a sample, and found (`portrayal.report.planted`); None in others.
    """

    read: str
    stated: tuple[Stated, ...]
    none: str
    cannot: tuple[str, ...]
    chart: dict[str, Any] | None = None
    here: tuple[Stated, ...] = ()
    lead: Any = None
    planted: Any = None
    asked: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()

    @property
    def folded(self) -> tuple[Stated, ...]:
        """The findings that a page folds."""
        return tuple(finding for finding in (*self.stated, *self.here) if finding.folded)

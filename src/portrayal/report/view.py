"""View: a run as the report reads it, each number once, and how much stands behind a number.

With one model, the pooled stratum equals it and is left out; with several, the pooled stratum is
the one that sentences speak of, and the models stand beside it.

How strongly a number may be said has four words, the same in every report: *strong*, *some
evidence*, *no clear difference* and *cannot be measured here*. The first two take a value whose
interval and null range leave out chance, q of the audit below 0.05, at least ten whole people where
people are counted, and a reader of the texts whose own errors could not have made it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import portrayal.registry as registry
import portrayal.report.formats as fmt
from portrayal.errors import PortrayalError
from portrayal.measure.scope import of_each_model
from portrayal.records import (
    ALL,
    BEYOND_MARGINS,
    ERROR_HIGH,
    ERROR_LOW,
    LIKE_THESE,
    OTHERS,
    TEXT_SD,
    THESE,
    UNITS,
    Estimate,
    judged_population,
)
from portrayal.reference.labels import strata_words
from portrayal.registry import Component, described, form_of
from portrayal.report.words import stem, values_of
from portrayal.run.directory import Run

READING = "masking"
"""Stratum of one text read twice: sentences speak of the first value, figures show both."""
SURE = 0.05
"""q below which an estimate is called different from its null."""


@dataclass(frozen=True, eq=False)
class View:
    """What every section reads.

    Attributes
    ----------
    run, settings, note
        The run, its `audit.toml`, and the note of its texts.
    study
        The registered study; None where it is not installed.
    models
        Models by name.
    estimates
        Every estimate, each once, as it is judged in the population that the audit is about.
    """

    run: Run
    settings: dict[str, Any]
    note: dict[str, Any]
    study: Any
    models: tuple[str, ...]
    estimates: tuple[Estimate, ...]

    @classmethod
    def of(cls, run: "Run | View") -> "View":
        """Read a run; a view of one is returned as it is."""
        if isinstance(run, View):
            return run
        settings, note = run.settings(), run.texts.note()
        models = tuple(settings.get("models") or note.get("models") or ())
        options = settings.get("options") or {}
        level = options.get("level", 0.95)
        population = judged_population(options.get("population", LIKE_THESE), run.records)
        # Judged once here, so that no section mixes two populations.
        estimates = [e.of_population(population, level) for e in run.records]
        # Of one model the pooled estimate is the same number under another name.
        if len(models) == 1:
            estimates = [e for e in estimates if e.strata.get("model") != ALL]
        return cls(run, settings, note, study_named(run.study), models, tuple(estimates))

    @property
    def main(self) -> str:
        """The model stratum that sentences speak of: the only model, or all of them pooled."""
        return self.models[0] if len(self.models) == 1 else ALL

    @property
    def level(self) -> float:
        """Confidence level, a fraction."""
        return float(self.options.get("level", 0.95))

    @property
    def seed(self) -> int:
        """Seed of the run, also for which passages are sampled."""
        return int(self.options.get("seed", 0))

    @property
    def options(self) -> dict[str, Any]:
        """Options of the audit by name."""
        return dict(self.settings.get("options") or {})

    @cached_property
    def by_measure(self) -> dict[str, list[Estimate]]:
        """Estimates by measure, in the study's order, then any others."""
        # Measures without any estimate keep their place in the study's order.
        by_name: dict[str, list[Estimate]] = {
            name: [] for name in self.settings.get("measures", ())
        }
        for estimate in self.estimates:
            by_name.setdefault(estimate.measure, []).append(estimate)
        return by_name

    def of_main(self, measure: str) -> list[Estimate]:
        """Estimates of one measure for the main model stratum, as the run reads texts first."""
        return self.only_primary(self.only_main(self.by_measure.get(measure, [])))

    def only_primary(self, estimates: Iterable[Estimate]) -> list[Estimate]:
        """Those of these estimates that rest on the reading of the texts that comes first."""
        return [e for e in estimates if e.strata.get(READING, self._primary) == self._primary]

    @cached_property
    def _primary(self) -> str:
        """How texts were read first; "" where they were read once."""
        return next((e.strata[READING] for e in self.estimates if READING in e.strata), "")

    def only_main(self, estimates: Iterable[Estimate]) -> list[Estimate]:
        """Those of these estimates that sentences speak of: of the main model stratum, or of none.

        All of a measure that pools no models.
        """
        return [
            e
            for e in estimates
            if e.strata.get("model", self.main) == self.main or e.measure not in self._pooled
        ]

    @cached_property
    def _pooled(self) -> set[str]:
        """Measures that have estimates of the main model stratum."""
        return {e.measure for e in self.estimates if e.strata.get("model", self.main) == self.main}

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """Every value of each attribute that groups have, in alphabetical order."""
        return values_of(e.group for e in self.estimates)

    def called(self, model: str) -> str:
        """Return a model stratum's label for readers."""
        if model == ALL and len(self.models) > 1:
            return f"all {len(self.models)} models"
        return model

    @property
    def annotator(self) -> Component | None:
        """The annotator's description; None where it is not registered here."""
        return described(next(iter(self.settings.get("annotators", ())), ""), "annotators")


def domain_of(estimate: Estimate) -> str:
    """The domain of an estimate; empty where it has none."""
    return estimate.strata.get("domain", "")


def place_of(estimate: Estimate) -> dict[str, str]:
    """The strata of an estimate without its model."""
    return {name: value for name, value in estimate.strata.items() if name != "model"}


def place_words(estimate: Estimate, lead: str = "") -> str:
    """The place of an estimate in words, without what is pooled ("Labor, evening")."""
    return strata_words(estimate.strata, estimate.group, lead)


def no_baseline(estimate: Estimate) -> bool:
    """Whether an estimate has no value because the baseline has no share of its group."""
    reason = estimate.undefined or ""
    return (
        estimate.value is None and reason.startswith("the baseline ") and "gives no share" in reason
    )


def no_difference(estimate: Estimate) -> float:
    """The value that an estimate would have without a difference: 0, 1, or its own null."""
    if estimate.statistic == "difference":
        return 0.0
    # Fractional names read another ratio than 1 without a difference; a distance is never 0.
    null = estimate.null
    has_own = null is not None and estimate.statistic in ("ratio", "distance", "variance")
    if null is not None and has_own and not math.isnan(null.value):
        return null.value
    return 0.0 if estimate.statistic in ("distance", "variance") else 1.0


def away(e: Estimate, value: float) -> float:
    """Return how far a value of an estimate lies from no difference, where errors add up.

    Of a ratio that is the logarithm, infinite where a side is empty; scores in several units are
    compared by the spread of the texts.
    """
    none = no_difference(e)
    if e.statistic != "ratio":
        return (value - none) / (e.details.get(TEXT_SD) or 1.0)
    return math.log(value / none) if value > 0 else -math.inf


def unit_of(e: Estimate) -> tuple[str, str]:
    """Return what numbers share that stand on one axis; scores in several units that of texts."""
    return e.statistic, TEXT_SD if TEXT_SD in e.details else form_of(e)


def q_of(estimate: Estimate) -> float | None:
    """The q-value of the first test that decides what is said of it; None where there is none.

    That is q over the whole audit where the report may state the estimate as a finding, else q of
    its measure.
    """
    if not estimate.tests:
        return None
    q = estimate.tests[0].judged_q
    return None if q is None or math.isnan(q) else q


def reader_could(estimate: Estimate) -> bool:
    """Whether the errors of the reader of the texts alone could make a value out of no difference.

    So it is where nobody can tell how far they move it, too.
    """
    if estimate.status.reader_error is not None:
        return True
    low, high = (estimate.details.get(name) for name in (ERROR_LOW, ERROR_HIGH))
    return low is not None and high is not None and low <= no_difference(estimate) <= high


def is_sure(estimate: Estimate) -> bool:
    """Whether an estimate differs from its null: neither chance nor the reader's errors explain it.

    Clustered q, interval and null say so of chance.
    """
    return beyond_chance(estimate) and not reader_could(estimate)


def beyond_chance(estimate: Estimate) -> bool:
    """Whether clustered q, interval and null all say that an estimate differs from its null."""
    q, bounds, null = q_of(estimate), estimate.interval, estimate.null
    if estimate.value is None or bounds is None or q is None or q >= SURE:
        return False
    # Both: the interval leaves out what chance gives, and chance gives no such value.
    centre = no_difference(estimate) if null is None else null.value
    if bounds.low <= centre <= bounds.high:
        return False
    return null is None or not null.low <= estimate.value <= null.high


def when_asked(view: View, text: str) -> str:
    """Return when a question was asked, in words: before the run's first audit, or after it."""
    records = view.settings.get("questions", ())
    record = next((record for record in records if record["text"] == text), None)
    if record is None:
        return "asked beforehand"
    order = "before this run was audited"
    if record["after_an_audit"]:
        first = f" on {record['first_audit']}" if "first_audit" in record else ""
        order = f"after a first audit of this run{first}"
    return f"asked on {record['on']}, {order}"


def study_named(name: str) -> Any:
    """Return the registered study of a name; None where it is not installed."""
    try:
        return registry.get("studies", name)
    except PortrayalError:
        return None


Strength = Literal[
    "strong", "some evidence", "in these prompts", "no clear difference", "cannot be measured here"
]
STRONG: Strength = "strong"
SOME: Strength = "some evidence"
HERE: Strength = "in these prompts"
UNCLEAR: Strength = "no clear difference"
CANNOT: Strength = "cannot be measured here"

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


def counted_unit(e: Estimate) -> str:
    """Return what an estimate counts: sets of more than two answers are prompts, and no pairs."""
    several = UNITS + "prompt" in e.details or any(OTHERS in side for side in e.group.values())
    return "prompt" if e.unit == "pair" and several else e.unit


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

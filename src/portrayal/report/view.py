"""View: a run as the report reads it, each number once.

With one model, the pooled stratum equals it and is left out; with several, the pooled stratum is
the one that sentences speak of, and the models stand beside it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import portrayal.registry as registry
from portrayal.errors import PortrayalError
from portrayal.records import ALL, ERROR_HIGH, ERROR_LOW, LIKE_THESE, Estimate
from portrayal.reference.labels import strata_words
from portrayal.registry import Component, described
from portrayal.run.directory import Run

READINGS = ("masking",)
"""Strata of one text read twice: sentences speak of the first value, figures show both."""
SURE = 0.05
"""q below which an estimate is called different from its null."""


@dataclass(frozen=True)
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
    def of(cls, run: Run) -> "View":
        """Read a run."""
        settings, note = run.settings(), run.texts.note()
        models = tuple(settings.get("models") or note.get("models") or ())
        options = settings.get("options") or {}
        population, level = options.get("population", LIKE_THESE), options.get("level", 0.95)
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
    def strata_models(self) -> tuple[str, ...]:
        """Model labels in the order of rows: the main one, then the others."""
        return (self.main, *(model for model in self.models if model != self.main))

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
        return [
            e
            for e in estimates
            if all(e.strata.get(name, first) == first for name, first in self.primary.items())
        ]

    @cached_property
    def primary(self) -> dict[str, str]:
        """The first value of each stratum that says how texts were read."""
        first: dict[str, str] = {}
        for e in self.estimates:
            for name in READINGS:
                if name in e.strata:
                    first.setdefault(name, e.strata[name])
        return first

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
        values: dict[str, set[str]] = {}
        for e in self.estimates:
            for attribute, value in e.group.items():
                values.setdefault(attribute, set()).add(value)
        return {
            attribute: sorted(attribute_values) for attribute, attribute_values in values.items()
        }

    def called(self, model: str) -> str:
        """Return a model stratum's label for readers."""
        if model == ALL and len(self.models) > 1:
            return f"all {len(self.models)} models"
        return model

    def component(self, measure: str) -> Component | None:
        """The measure's description; None where it is not registered here."""
        return described(measure)

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


def q_of(estimate: Estimate) -> float | None:
    """The q-value of the first test that decides what is said of it; None where there is none.

    That is q over the whole audit where the report may state the estimate as a finding, else q of
    its measure.
    """
    if not estimate.tests:
        return None
    q = estimate.tests[0].judged_q
    return None if q is None or math.isnan(q) else q


def detail_q(estimate: Estimate) -> float | None:
    """The q-value of the first test among those of its measure and model; None where none is."""
    q = estimate.tests[0].q if estimate.tests else None
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

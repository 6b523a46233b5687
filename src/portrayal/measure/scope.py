"""Scope: the settings that every measure of an audit shares, and what all its estimates get."""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

import portrayal.registry as registry
from portrayal.errors import OptionError, PortrayalError
from portrayal.records import (
    ALL,
    BASIS,
    BEYOND_MARGINS,
    CORRECTED_BESIDE,
    MINUS,
    REFERENCE,
    THESE,
    WEIGHTED_BESIDE,
    Estimate,
    Status,
    judged_population,
)
from portrayal.registry import Component
from portrayal.stats import benjamini_hochberg, holm, joint_p
from portrayal.types import FloatArray
from portrayal.validate import check_count, check_level, check_seed, check_smoothing


@dataclass(frozen=True, slots=True)
class Scope:
    """How sure, how often, with which instruments.

    Attributes
    ----------
    study
        Name of the study the estimates belong to.
    level
        Confidence level, a fraction.
    seed
        Start of every random stream; the same seed gives the same numbers.
    draws, permutations
        Replicates of the cluster bootstrap and of the null.
    smoothing
        Laplace pseudo-count where a count of a name or threshold is zero (Fig. 3a).
    min_name_count
        Power-laden characters a name needs before it has an estimate of its own.
    instruments
        Name tables, word list and annotator that the numbers rest on.
    """

    study: str
    level: float = 0.95
    seed: int = 0
    draws: int = 2000
    permutations: int = 200
    smoothing: float = 1.0
    min_name_count: int = 5
    instruments: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse settings that cannot be used."""
        check_level(self.level)
        check_seed(self.seed)
        check_count("draws", self.draws, minimum=100)
        check_count("permutations", self.permutations, minimum=20)
        check_count("min_name_count", self.min_name_count, minimum=1)
        check_smoothing(self.smoothing)

    def rng(self, *labels: str) -> np.random.Generator:
        """Return the random stream of these labels; it does not depend on the order of work."""
        # A separator that no label has: ("a", "bc") and ("ab", "c") are different streams.
        words = "\x1f".join((self.study, *labels)).encode()
        return np.random.default_rng([self.seed, zlib.crc32(words)])

    def estimate(self, measure: Component, **fields: Any) -> Estimate:
        """Return an estimate of `measure` with these fields, beside what all of its share.

        That is study, measure, unit, source, and the instruments of the audit.
        """
        shared = {
            "study": self.study,
            "measure": measure.name,
            "unit": measure.unit,
            "source": measure.source,
            "instruments": self.instruments,
        }
        return Estimate(**(shared | fields))


STATED = ("ratio", "difference", "distance", "variance")
"""Statistics that a report may state as a finding: those that have a value of no difference."""
ANSWERED = 0.05
"""Adjusted p from which on a question counts as answered."""


@dataclass(frozen=True)
class Question:
    """A claim named beforehand: a measure, and a place and group of it.

    Attributes
    ----------
    text
        As it was asked ("subordination race=Latine domain=Learning").
    measure
        Registered name, with its version.
    where
        Values of strata and of attributes of the group; of a difference one of its groups, or both.
    """

    text: str
    measure: str
    where: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> "Question":
        """Read a question; OptionError where it is none."""
        name, *pairs = text.split() or [""]
        labels = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        if not pairs or len(labels) < len(pairs) or not all(labels.values()):
            raise OptionError(
                "a question is a measure, then KEY=VALUE of its group and place, such as "
                f"'subordination race=Latine domain=Learning'; got {text!r}."
            )
        return cls(text, registry.resolve("measures", name), labels)

    @property
    def key(self) -> tuple[object, ...]:
        """What it is about, however it was written."""
        return self.measure, frozenset(self.where.items())

    def names(self, e: Estimate, main: str) -> bool:
        """Whether it is about an estimate: of this group and place, no part of it, all models."""
        labels = {"model": main, **self.where}
        place = {**e.strata, **e.group}
        return (
            e.measure == self.measure
            and all(_names_value(value, place.get(key, "")) for key, value in self.where.items())
            and all(key in self.where for key in e.group)
            and place.get("model", main) == labels["model"]
            # Of two bases the one is asked for that is a hypothesis, unless the other is named.
            and (BASIS in self.where or e.status.detail not in (CORRECTED_BESIDE, WEIGHTED_BESIDE))
        )


def sides_of(value: str) -> tuple[str, ...]:
    """Return the groups of a difference, or the value of any other stratum or group alone.

    >>> sides_of("woman - man"), sides_of("Labor")
    (('woman', 'man'), ('Labor',))
    """
    return tuple(value.replace(" - ", MINUS).split(MINUS))


def _names_value(target: str, value: str) -> bool:
    """Whether a value is the one asked for, or a difference of the groups asked for."""
    return target == value or (MINUS in value and {*sides_of(target)} <= {*sides_of(value)})


def with_q_values(
    estimates: list[Estimate],
    headline: Mapping[str, str] | None = None,
    seed: int = 0,
    members: Sequence[bool] | None = None,
    queries: Sequence[Question] = (),
) -> list[Estimate]:
    """Add two Benjamini–Hochberg q-values to each estimate's first test.

    `q` is of details: a family is one measure of one model, or of all models together, as each is
    read on its own, and the pooled tests repeat those of the single models. For the same reason
    what is pooled over the values of a stratum is not of a family with the single values.

    `audit_q` is of findings, which are read together. A family is one question: what one measure
    says of groups, or of intersections of groups, everywhere. Within it, ratios of two sides are
    adjusted by joint draws of their scores (`stats.joint_p`), others by Benjamini and Hochberg; and
    the questions, each by its smallest adjusted p, by Benjamini and Hochberg again. With R of m
    questions answered, what is found in one counts m / R times (Benjamini & Bogomolov 2014).
    `Fixed.q`, of these very prompts, is of the same questions, with Holm within each.

    Parameters
    ----------
    estimates
        Every estimate of an audit.
    headline
        Strata that the report's sentences keep to, such as all domains together.
    seed
        For joint draws of scores.
    members
        Which estimates are hypotheses; by default those that the report may state.
    queries
        Questions asked beforehand: a family of their own (Holm), so that one claim is not charged
        for all others.
    """
    families: dict[tuple[str, str, frozenset[str]], list[int]] = {}
    for i, estimate in enumerate(estimates):
        if estimate.tests:
            strata = estimate.strata
            pooled = frozenset(name for name, value in strata.items() if value == ALL)
            family = (estimate.measure, strata.get("model", ALL), pooled)
            families.setdefault(family, []).append(i)
    adjusted = list(estimates)
    for family_rows in families.values():
        q = benjamini_hochberg([estimates[i].tests[0].p for i in family_rows])
        for i, value in zip(family_rows, q.tolist(), strict=True):
            adjusted[i] = _with_first(adjusted[i], q=value)
    tested = {e.strata["model"] for e in estimates if e.tests and "model" in e.strata}
    # The reference is what people wrote, and no model.
    models = sorted(tested - {ALL, REFERENCE})
    # A single model is pooled with nothing: its tests are those of the report
    mains = (ALL, *models) if len(models) == 1 and members is None else (ALL,)
    for main in mains:
        questions: dict[tuple[str, bool], list[int]] = {}
        beforehand = {
            i: query.text
            for i, e in enumerate(estimates)
            for query in queries
            if e.tests and e.value is not None and query.names(e, main)
        }
        q = holm([estimates[i].tests[0].p for i in beforehand])
        for (i, text), value in zip(beforehand.items(), q.tolist(), strict=True):
            status = adjusted[i].status | Status(question=text)
            adjusted[i] = replace(_with_first(adjusted[i], audit_q=value), status=status)
        for i, e in enumerate(estimates):
            if i in beforehand:  # asked beforehand, so charged in a family of its own
                continue
            if is_stated(e, main, headline or {}) if members is None else members[i]:
                questions.setdefault((e.measure, BEYOND_MARGINS in e.details), []).append(i)
        p_in = {
            question: _within_question([estimates[i] for i in rows], seed)
            for question, rows in questions.items()
        }
        for i, value in _over_questions(questions, p_in).items():
            adjusted[i] = _with_first(adjusted[i], audit_q=value)
        for i, value in _q_in_these_prompts(estimates, questions, beforehand).items():
            fixed = estimates[i].fixed
            assert fixed is not None
            adjusted[i] = replace(adjusted[i], fixed=replace(fixed, q=value))
    return adjusted


_Questions = Mapping[tuple[str, bool], Sequence[int]]


def _over_questions(
    questions: _Questions, p_in: Mapping[tuple[str, bool], FloatArray]
) -> dict[int, float]:
    """Return the q of each hypothesis by its index, from its adjusted p within its question.

    The questions are adjusted by their smallest p; with R of m answered, what is found in one
    counts m / R times.
    """
    smallest = benjamini_hochberg([p.min() for p in p_in.values()])
    answered = max(int((smallest <= ANSWERED).sum()), 1)
    q_of: dict[int, float] = {}
    for (question, p), least in zip(p_in.items(), smallest.tolist(), strict=True):
        # Never below the question's own q, or a part would be surer than the whole.
        q = np.maximum(least, np.minimum(1.0, p * len(p_in) / answered))
        q_of |= dict(zip(questions[question], q.tolist(), strict=True))
    return q_of


def _q_in_these_prompts(
    estimates: Sequence[Estimate], questions: _Questions, beforehand: Iterable[int]
) -> dict[int, float]:
    """Return the q of `Estimate.fixed` by index, in the same families as q of prompts like these.

    The tests of one question share no null of their own, so Holm adjusts them.
    """
    p_of = {i: e.fixed.p for i, e in enumerate(estimates) if e.fixed is not None}
    indices = [i for i in beforehand if i in p_of]
    q_of = dict(zip(indices, holm([p_of[i] for i in indices]).tolist(), strict=True))
    with_p = {
        question: inside
        for question, rows in questions.items()
        if (inside := [i for i in rows if i in p_of])
    }
    p_in = {question: holm([p_of[i] for i in rows]) for question, rows in with_p.items()}
    return q_of | _over_questions(with_p, p_in)


def with_q_in(
    population: str,
    estimates: list[Estimate],
    options: tuple[float, int],
    headline: Mapping[str, str],
    queries: Sequence[Question] = (),
) -> list[Estimate]:
    """Add q-values as `with_q_values`; what is known of `population` makes the families.

    `options` are level and seed. Where these very prompts are judged, `Fixed.q` is the q of
    findings, in families of such tests and of those that know of no other population.
    """
    level, seed = options
    adjusted = with_q_values(estimates, headline, seed, queries=queries)
    if judged_population(population, estimates) != THESE:
        return adjusted
    # Judged twice: families of one population must not hold p-values of the other
    judged = [e.of_population(THESE, level) for e in estimates]
    judged = with_q_values(judged, headline, seed, queries=queries)
    return [
        twin
        if e.fixed is None
        else replace(
            e,
            status=e.status | Status(question=twin.status.question),
            fixed=replace(e.fixed, q=twin.tests[0].audit_q),
        )
        for e, twin in zip(adjusted, judged, strict=True)
    ]


def _within_question(estimates: Sequence[Estimate], seed: int) -> FloatArray:
    """Adjusted p of the tests of one question, shape (n,)."""
    scores = [e.scores for e in estimates if e.scores is not None]
    # Joint draws need the scores of every test of a question.
    if len(scores) < len(estimates):
        return benjamini_hochberg([e.tests[0].p for e in estimates])
    names = {name: None for score in scores for name in score.prompts}
    code = {name: i for i, name in enumerate(sorted(names))}
    # Prompts without a score against a test add nothing to it, which is a score of 0
    table = np.zeros((len(code), len(scores)))
    for k, column_scores in enumerate(scores):
        table[[code[name] for name in column_scores.prompts], k] = column_scores.score
    within, n_prompts, df = (
        np.array([getattr(score, name) for score in scores], dtype=np.float64)
        for name in ("within", "n_prompts", "df")
    )
    p = np.array([e.tests[0].p for e in estimates])
    return joint_p(table, within, n_prompts, df, p, np.random.default_rng(seed))


def is_stated(estimate: Estimate, main: str, headline: Mapping[str, str]) -> bool:
    """Whether a report may state an estimate as a finding, and so its test is of the one family.

    That is a tested ratio, difference, distance or variance of a measure with findings, for `main`
    (the only model, or all models together), in the strata that sentences keep to, of people
    enough that a difference could be stated, of groups that the instruments can tell.
    """
    return (
        bool(estimate.tests)
        and not math.isnan(estimate.tests[0].p)
        and estimate.value is not None
        and estimate.status.may_be_stated
        and estimate.enough
        and estimate.statistic in STATED
        and _is_place(estimate, main, headline)
        and _said(estimate.measure)[0]
    )


def stated_changes(
    estimates: Sequence[Estimate], main: str, headline: Mapping[str, str]
) -> list[bool]:
    """Return of which estimates a comparison may state a change.

    That is of what a report may state, and of shares whose measure says so (`Component.changes`):
    over all strata together where the measure pools them, unless the same share over a baseline
    stands beside it, as its change is the same.

    Parameters
    ----------
    estimates
        Estimates of one side.
    main, headline
        As for `is_stated`.
    """
    flags = [is_stated(e, main, headline) for e in estimates]
    ratios = {_counted(e) for e, yes in zip(estimates, flags, strict=True) if yes}

    def is_pooled(e: Estimate) -> bool:
        return all(e.strata[name] == ALL for name in e.strata.keys() - {"model", "seen_by", BASIS})

    pooling = {e.measure for e in estimates if is_pooled(e)}
    return [
        yes
        or (
            e.value is not None
            and _said(e.measure)[1]
            and (is_pooled(e) or e.measure not in pooling)
            and _is_place(e, main, headline)
            and _counted(e) not in ratios
        )
        for e, yes in zip(estimates, flags, strict=True)
    ]


def _is_place(estimate: Estimate, main: str, headline: Mapping[str, str]) -> bool:
    strata = estimate.strata
    is_main = strata.get("model", main) == main or of_each_model(estimate.measure)
    return is_main and all(strata.get(name, value) == value for name, value in headline.items())


def of_each_model(measure: str) -> bool:
    """Whether sentences speak of each model by itself (`Component.each_model`)."""
    return _said(measure)[2]


def _counted(e: Estimate) -> tuple[Any, ...]:
    """What a share counts, whichever population it is compared with."""
    strata = frozenset(item for item in e.strata.items() if item[0] != "population")
    return e.unit, e.n_units, strata, frozenset(e.group.items())


@cache
def _said(measure: str) -> tuple[bool, bool, bool]:
    """Whether findings state values of a measure, changes, and each model; as usual if unknown."""
    try:
        component = registry.get("measures", measure)
    except PortrayalError:
        return True, False, False  # a measure of another package, or of an older version
    changes, by_model = (getattr(component, name, False) for name in ("changes", "each_model"))
    return component.findings > 0, changes, by_model


def _with_first(estimate: Estimate, **fields: Any) -> Estimate:
    """The estimate with these fields of its first test changed."""
    first, *later = estimate.tests
    return replace(estimate, tests=(replace(first, **fields), *later))

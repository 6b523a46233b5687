"""The records of an audit: `Prompt → Text → Annotation → Estimate`.

A record only ever gains a neighbour. Everything here is frozen, imports nothing of ours, and
states its units: shares and levels are fractions in 0–1, counts are whole numbers unless a field
says "fractional".
"""

import hashlib
import html
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

Outcome = Literal["ok", "refused", "empty", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("ok", "refused", "empty", "failed")

ALL = "all"
"""The stratum that pools every value of its attribute: `{"model": "all"}`."""
REFERENCE = "reference"
"""The "model" of texts that people wrote, with which those of models are compared."""

BASIS, BY_HAND = "basis", "by hand"
CORRECTED = f"corrected {BY_HAND}"
"""Stratum of an estimate that labels by hand correct, and its value there: beside it stands the
same estimate as the scorer reads the texts, without this stratum. Where a second classifier
corrects it, "by hand" is its name ("by minilm-lac.v1")."""

WEIGHTED = "weighted by prompt"
"""Value of the stratum `BASIS` where people of large prompts count less; the pooled value stands
beside it, without this stratum."""

CORRECTED_BESIDE = "labels by hand correct it"
WEIGHTED_BESIDE = "a few large prompts hold most of its people: the weighted ratio is tested"
"""Why a value is a detail: the same on another basis stands beside it, which is the hypothesis."""

TEXT_SD = "sd_between_texts"
"""Detail of a difference in scores: the standard deviation of the texts, in units of the score."""

Population = Literal["prompts-like-these", "these-prompts"]
LIKE_THESE: Population = "prompts-like-these"
THESE: Population = "these-prompts"
"""Populations: the prompts are a sample of others like them, or they are fixed and chance is in
their texts alone."""
TEXTS_ALONE = "chance in the texts alone, prompts fixed"
"""Method of intervals and tests of `THESE`."""

SYSTEM = "system"
"""Stratum of a prompt: the system prompt that it is asked with, beside that of the whole run."""

MINUS, OTHERS = " − ", "the others"
"""Between the two groups of a difference, as groups of it are called; and all groups but one."""
ORIGINAL, REWRITTEN = "original", "rewritten"
"""Groups of a file that has texts beside those that they rewrite."""

ERROR_VALUE, ERROR_LOW, ERROR_HIGH = "error_value", "error_low", "error_high"
"""Details: what a value would be without the reader's errors, and how far they could move it."""

BEYOND_MARGINS = "p_beyond_margins"
"""Detail of an intersection: p of what its groups alone would give, their ratios multiplied."""

BORNE_MOSTLY = "borne_mostly"
"""Detail: how many people have a name most of whose bearers are of the group."""

UNITS = "units_"
"""Start of details: how many of each kind of unit an estimate rests on that has two ("units_name",
"units_department"), of the smallest group."""

EFFECTIVE = "effective_prompts"
"""Detail: how many equal prompts would carry the group as well, (Σ c)² / Σ c² of its counts c."""
FEW_PEOPLE, FEW_PROMPTS = 10, 5
"""People expected in each role without a difference, where people are counted, and independent
units, below which nothing is stated."""
FEW_CLUSTERS, FEW_EFFECTIVE = 10, 4.0
"""Independent units, and effective ones, below which an estimate carries a warning."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request put to a model.

    Attributes
    ----------
    prompt_id
        Stable name of the prompt; the independent unit of every clustered interval.
    text
        The request, word for word.
    strata
        What the study varies: `domain`, `condition`, `subject_role`, `object_role`, ….
    """

    prompt_id: str
    text: str
    strata: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> tuple[str, ...]:
        """What a provider takes: the text, then the system prompt where the prompt has its own."""
        system = self.strata.get(SYSTEM)
        return (self.text, system) if system else (self.text,)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval that carries its identity.

    Attributes
    ----------
    low, high
        Bounds, in the unit of the value they surround; `high` may be infinite.
    level
        Confidence level, a fraction (0.95).
    method
        How it was made: "cluster bootstrap", "Wilson", "Katz log", ….
    n_clusters
        Number of independent units that were resampled; None for an interval that treats every
        character as independent.
    seed
        Seed of the random stream; None where nothing is random.
    """

    low: float
    high: float
    level: float
    method: str
    n_clusters: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """What the statistic would be if nothing were going on.

    `value` is the point of no difference (1 for a ratio); `low` and `high` hold the central `level`
    of the statistic's values under `method`, such as shuffled roles; NaN where only the point is
    known.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Test:
    """A two-sided p-value, how it was computed, and its Benjamini–Hochberg q in two families.

    `q` is of the tests of one measure and model; `audit_q` of all tests that the audit's report may
    state as findings, None for a test that is a detail.
    """

    p: float
    method: str
    q: float | None = None
    audit_q: float | None = None

    __test__ = False  # not a pytest class

    @property
    def judged_q(self) -> float | None:
        """What judges it: q over the whole audit where a report may state it, else its own q."""
        return self.q if self.audit_q is None else self.audit_q


Form = Literal["mean", "ratio", "difference", "influence"]


@dataclass(frozen=True, slots=True, eq=False)
class PromptSums:
    """What each independent unit (prompt, pair of texts, block) adds to an estimate.

    Two runs are compared by these, so neither texts nor annotations are read again.

    Attributes
    ----------
    form
        How the value comes about: "mean", scale · Σ upper / Σ n_upper; "ratio", the mean of `upper`
        over that of `lower`; "difference", the first mean less the second; "influence" where no
        sums give the value: `upper` is then each unit's influence on it (on its logarithm where the
        statistic is a ratio) and `n_upper` the unit's weight.
    prompts
        Names of the units, shape (n,), the same in every run that answers the same prompts.
    upper, n_upper
        Sums and numbers of units, shape (n,); counts where the value is a share.
    lower, n_lower
        Those of the second mean, shape (n,); None for forms that have one.
    scale
        What a mean is multiplied by, such as 1 / p*.
    """

    form: Form
    prompts: tuple[str, ...]
    upper: "FloatArray"
    n_upper: "FloatArray"
    lower: "FloatArray | None" = None
    n_lower: "FloatArray | None" = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class PromptScores:
    """What each prompt says against no difference; where there is none, signs are fair coins.

    Attributes
    ----------
    prompts, score
        Names of the prompts with a score other than 0, and their scores, shape (n,).
    within
        Least variance of the scores' sum: what texts alone give.
    n_prompts
        Prompts of the estimate, those with a score of 0 counted in.
    df
        Degrees of freedom of the scores' t.
    """

    prompts: tuple[str, ...]
    score: "FloatArray"
    within: float
    n_prompts: int
    df: float


@dataclass(frozen=True, slots=True)
class Fixed:
    """What is known of these very prompts, were they fixed: chance is in their texts alone.

    `low` and `high` bound the value, in its unit; `p` is two-sided and `q` its q over the audit's
    questions (`portrayal.measure.scope.with_q_values`), None where the estimate is no hypothesis.
    """

    low: float
    high: float
    p: float
    q: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What may be made of an estimate; each field is a reason in words, None where it has none.

    Attributes
    ----------
    no_interval, no_test
        Why the value has no interval, or no test.
    detail
        Why it is described only: never a finding, whatever its test says.
    reader_error
        Why it is unknown how far the reader's errors move the value.
    question
        The question asked before the texts were read that it answers.
    sharper
        An option that would narrow the interval, and by how much.
    """

    no_interval: str | None = None
    no_test: str | None = None
    detail: str | None = None
    reader_error: str | None = None
    question: str | None = None
    sharper: str | None = None

    @property
    def may_be_stated(self) -> bool:
        """Whether it is tested as a hypothesis, so that a finding may rest on it."""
        return self.no_test is None and self.detail is None

    def __or__(self, other: "Status") -> "Status":
        """Return both: the reasons of `other`, and of this one where `other` has none.

        >>> (Status(no_test="one prompt") | Status(detail="unmasked")).detail
        'unmasked'
        """
        reasons = {name: getattr(other, name) for name in other.__slots__}
        return replace(self, **{name: text for name, text in reasons.items() if text is not None})


@dataclass(frozen=True, slots=True)
class Spread:
    """A value and how far it may lie from it, in its unit."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Count:
    """People counted among how many, and how many no difference would give; in a role, if any."""

    n: float
    of: float
    expected: float
    role: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number of an audit with everything needed to judge it.

    Attributes
    ----------
    study, measure
        Registered names; the measure's carries its version ("subordination.v1").
    statistic
        What `value` is: "ratio", "share", "count" or "difference".
    unit
        What is counted: "character", "story" or "name".
    strata
        Where: `domain`, `model`, and what else the measure splits by; "all" means pooled.
    group
        Of whom: `race`, `gender`, `pair`, `name`, ….
    value
        The number itself; None exactly when `undefined` says why.
    interval
        Clustered by prompt, the default to read.
    paper_interval
        The interval of the published method, which treats characters as independent.
    null
        What the value would be without a difference.
    tests
        p-values; the first is the clustered one.
    n_texts, n_units, n_clusters
        Texts that could be read, units behind the value (characters may be fractional), and
        independent prompts.
    exclusions
        Texts or characters left out, by reason.
    details
        Parts of the value by name, such as "share", "baseline" and "cohens_d".
    instruments
        Name table, word list and annotator that the number rests on, with their versions.
    undefined
        Why there is no value; None when there is one.
    status
        Why it has no interval or test, or may not be stated.
    source
        Paper and equation or table.
    sums
        What each prompt adds, by which runs are compared; None where the measure keeps no sums.
        They are stored beside the estimates, so an estimate that is read from a file has none.
    fixed
        What is known of these very prompts; None where it is not known.
    scores
        What each prompt says against no difference, by which tests are adjusted for each other;
        not stored.
    """

    study: str
    measure: str
    statistic: str
    unit: str
    strata: Mapping[str, str]
    group: Mapping[str, str]
    value: float | None
    interval: Interval | None = None
    paper_interval: Interval | None = None
    null: Null | None = None
    tests: tuple[Test, ...] = ()
    n_texts: int = 0
    n_units: float = 0.0
    n_clusters: int = 0
    exclusions: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, float] = field(default_factory=dict)
    instruments: Mapping[str, str] = field(default_factory=dict)
    undefined: str | None = None
    status: Status = Status()
    source: str = ""
    fixed: Fixed | None = None
    sums: PromptSums | None = field(default=None, compare=False, repr=False)
    scores: PromptScores | None = field(default=None, compare=False, repr=False)

    @property
    def id(self) -> str:
        """Its name in every run of the study: measure, statistic, strata and group, digested."""
        # Sorted keys: strata in another order are the same estimate
        of = (self.measure, self.statistic, self.unit, dict(self.strata), dict(self.group))
        text = json.dumps([self.study, *of], sort_keys=True, ensure_ascii=False)
        return f"e-{hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=5).hexdigest()}"

    @property
    def corrected(self) -> bool:
        """Whether labels of a sample correct it, by hand or by a second classifier."""
        return self.strata.get(BASIS, WEIGHTED) != WEIGHTED

    @property
    def population(self) -> Population:
        """What its interval and first test are of: `LIKE_THESE` or `THESE`."""
        return THESE if self.tests and self.tests[0].method == TEXTS_ALONE else LIKE_THESE

    def of_population(self, population: str, level: float) -> "Estimate":
        """Return it as it is judged in a population: in these prompts by what `fixed` says.

        Units are then its texts. Where nothing is known of these prompts, it is itself.
        """
        fixed = self.fixed
        if population != THESE or fixed is None:
            return self
        return replace(
            self,
            interval=Interval(fixed.low, fixed.high, level, TEXTS_ALONE),
            tests=(Test(fixed.p, TEXTS_ALONE, fixed.q, fixed.q),),
            # The point of no difference stays; the range by chance was of drawn prompts
            null=self.null and replace(self.null, low=math.nan, high=math.nan),
            n_clusters=self.n_texts,  # with prompts fixed, each text is a draw of its own
            details={name: x for name, x in self.details.items() if name != EFFECTIVE},
            status=replace(self.status, no_interval=None, no_test=None),
            fixed=None,
            scores=None,
        )

    @property
    def without_errors(self) -> Spread | None:
        """What the value would be without the reader's errors; None where that is not known."""
        names = (ERROR_VALUE, ERROR_LOW, ERROR_HIGH)
        parts = [self.details[name] for name in names if name in self.details]
        return Spread(*parts) if len(parts) == len(names) else None

    @property
    def within_prompts(self) -> bool:
        """Whether texts are compared within prompts only."""
        return bool(self.details.get("within_prompts"))

    @property
    def part(self) -> float:
        """Mean contribution of a unit: of names as large as the shrink of those at hand says."""
        shrink, share = self.details.get("shrink"), self.details.get("share")
        return 1.0 if shrink is None or share is None else shrink * (1.0 - share) + share

    @property
    def counts(self) -> tuple[Count, ...]:
        """People behind it, by role where it compares roles; () where that is not known."""
        details = self.details
        if "count" in details and "baseline" in details:
            # A ratio's null need not be 1: that of a race is what names drawn at random read
            none = 1.0 if self.null is None or math.isnan(self.null.value) else self.null.value
            return (
                Count(details["count"], self.n_units, none * details["baseline"] * self.n_units),
            )
        roles = [name.removeprefix("count_") for name in details if name.startswith("count_")]
        if len(roles) < 2:
            return ()
        total = sum(details[f"count_{role}"] for role in roles)
        sides = [(details[f"count_{r}"], details.get(f"n_{r}", total), r) for r in roles]
        # Without a difference all roles would have the share of all of them together
        share = sum(n for n, _, _ in sides) / max(sum(of for _, of, _ in sides), 1.0)
        return tuple(Count(n, of, share * of, role) for n, of, role in sides)

    @property
    def enough(self) -> bool:
        """Whether enough units, and people where people are counted, allow to state anything.

        Of people, those count that no difference would give in each role: who is missing from one
        role altogether can be stated, who is nearly nowhere cannot. Of a share over a baseline
        those count who are there, too. Of scores of texts the degrees of freedom of the inference
        say how much the units tell, so that its units alone count.
        """
        if self.n_clusters < FEW_PROMPTS:
            return False
        # In a role the expected number counts: none where ten should be is a finding
        people = [c.expected if c.role else max(c.expected, c.n) for c in self.counts]
        if not people and self.statistic == "ratio":
            people = [self.n_units]
        return not people or min(people) >= FEW_PEOPLE - 1e-9  # sums of fractions miss 10 by a hair

    def _repr_html_(self) -> str:
        """Every field that says something, for a notebook."""
        names = [name for name in self.__slots__ if name not in ("sums", "scores")]
        fields = {name: getattr(self, name) for name in names}
        facts = {"id": self.id, **fields, "warning": self.warning}
        rows = "".join(
            f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in facts.items()
            if value not in (None, "", (), {}, Status())
        )
        return f"<table>{rows}</table>"

    @property
    def warning(self) -> str | None:
        """Why interval and test rest on little: few prompts, or few that carry the group."""
        if self.value is None or (self.interval is None and not self.tests):
            return None
        effective = self.details.get(EFFECTIVE, math.inf)
        if self.n_clusters < FEW_CLUSTERS:
            return f"few independent units: {self.n_clusters}, fewer than {FEW_CLUSTERS}"
        if effective < FEW_EFFECTIVE:
            return f"few units carry the group: {effective:.1f} effective ones"
        return None

    def __post_init__(self) -> None:
        """Hold the rule that a value is missing exactly when a reason is given."""
        # An empty cell without a reason would be read as 0, or as forgotten
        if (self.value is None) != (self.undefined is not None):
            raise ValueError(
                f"{self.measure}: an estimate has either a value or a reason why it has none; "
                f"got value {self.value!r} and reason {self.undefined!r}."
            )


def finite(value: Any) -> Any:
    """Return a value as JSON can hold it: a record as an object of what it shows, a date as text.

    None stands for NaN, "inf" and "-inf" for what is infinite.

    >>> finite({"low": float("nan"), "count": Count(0.5, float("inf"), 1)})
    {'low': None, 'count': {'n': 0.5, 'of': 'inf', 'expected': 1, 'role': ''}}
    """
    # JSON has neither NaN nor infinity; what Python writes for them, other readers refuse
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if is_dataclass(value):
        return {f.name: finite(getattr(value, f.name)) for f in fields(value) if f.repr}
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (date, PurePath)):
        return str(value)
    return [finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def judged_population(population: str, estimates: Iterable[Estimate]) -> Population:
    """Return what findings are about: of fewer than `FEW_PROMPTS`, these very prompts alone.

    That is what is asked for, and also where no estimate rests on enough prompts to speak of
    others, but answers to the same prompts tell what chance does in these.
    """
    # What is known of these prompts alone, whichever was asked for, says nothing of the others
    valued = [e for e in estimates if e.value is not None and e.population != THESE]
    few = max((e.n_clusters for e in valued), default=0) < FEW_PROMPTS
    has_fixed = any(e.fixed is not None for e in valued)
    return THESE if population == THESE or (few and has_fixed) else LIKE_THESE

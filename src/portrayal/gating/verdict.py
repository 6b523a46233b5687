"""Verdicts: what a gate says of a run, estimate by estimate, and how it is written.

A table for terminals, Markdown for a pull request, JSON.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal

from portrayal.collect.tables import UNNAMED
from portrayal.comparison.result import Change
from portrayal.records import LIKE_THESE, Population, finite
from portrayal.reference.labels import FactorLabels, speaking_of
from portrayal.run.pages import html_table, number, spread, words_of
from portrayal.shown import json_text, markdown, markdown_table, one_line, text_table

Outcome = Literal["pass", "fail", "inconclusive", "unreadable"]
Status = Literal["pass", "fail", "inconclusive", "skipped"]
EXIT_CODES: Mapping[Outcome, int] = {"pass": 0, "fail": 1, "inconclusive": 3, "unreadable": 4}
"""Exit status of `portrayal gate`; 2 is bad input, as everywhere."""

HEADS = ("", "rule", "estimate", "base", "run", "is", "allowed")
_ORDER = ("fail", "inconclusive", "skipped", "pass")
_SHOWN = 40
_NO_FACTS = ("limits", "factors", "units")
"""Fields of a verdict that are words for people, or have another name in JSON."""


@dataclass(frozen=True, slots=True)
class SampleSize:
    """How many texts would decide what is inconclusive.

    Attributes
    ----------
    prompts, texts
        Of each run, with as many texts of a prompt as now; about.
    assuming
        What that takes for granted.
    """

    prompts: int
    texts: int
    assuming: str


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """One estimate under one rule.

    Attributes
    ----------
    rule
        Which.
    row
        What is judged, with its interval at the policy's level: the change against the base, or of
        the run alone its value, on the scale "value"; and why nothing is shown, where nothing is.
    status
        "pass", "fail", "inconclusive" or "skipped".
    allowed
        Its lowest and highest allowed value; infinite where an end is open.
    p_beyond, p_beyond_all
        p-value that what is judged lies within what is allowed, and the same adjusted for all tests
        of the policy (Holm): it fails where that is below 1 − level.
    p_within
        p-value that it does not lie within: shown within where that is 1 − level or less.
    n_carriers, n_texts
        Independent units of the run in which the group occurs; and its texts.
    needed
        How many texts would do; None where that is not known, or nothing is wanting.
    """

    rule: str
    row: Change
    allowed: tuple[float, float] = (-math.inf, math.inf)
    p_beyond: float | None = None
    p_within: float | None = None
    n_carriers: int = 0
    n_texts: int = 0
    p_beyond_all: float | None = None
    status: Status = "inconclusive"
    needed: SampleSize | None = None

    @property
    def label(self) -> str:
        """Place, group, measure and model in words."""
        row = self.row
        words = words_of(row.measure, row.strata, row.group, row.statistic)
        return words if row.model in ("", UNNAMED) else f"{words} ({row.model})"

    @property
    def title(self) -> str:
        """The rule, and what it reads where its name does not say it."""
        return self.label if self.label.startswith(self.rule) else f"{self.rule}: {self.label}"

    @property
    def found_words(self) -> str:
        """The change (× for ratios) or value, with its interval."""
        row, sign = self.row, "×" * (self.row.scale == "ratio")
        if row.change is None:
            return "–"
        value = f"{sign}{number(row.change, row.scale)}"
        unbounded = row.low is None and row.high is None
        return value if unbounded else f"{value} ({spread(row, row.scale)})"

    @property
    def allowed_words(self) -> str:
        """What is allowed ("≤ ×1.2")."""
        low, high = self.allowed
        sign = "×" if self.row.scale == "ratio" else ""
        if low == -math.inf and high == math.inf:
            return "any value"  # no share lies outside 0 to 9
        # No ratio is below 0, so that a low end of 0 is none.
        floor = 0.0 if self.row.scale == "ratio" else -math.inf
        if low <= floor:
            return f"≤ {sign}{number(high)}"
        if high == math.inf:
            return f"≥ {sign}{number(low)}"
        return f"{sign}{number(low, self.row.scale)} to {sign}{number(high, self.row.scale)}"


@dataclass(frozen=True, slots=True)
class Limit:
    """A share of texts or people that could not be read, above what the policy allows.

    Attributes
    ----------
    run, outcome
        Which run, and what is too much: "refused", "empty", "failed" or "unmatched".
    share, allowed
        The share, and the largest that is allowed, in 0–1.
    """

    run: str
    outcome: str
    share: float
    allowed: float

    def __str__(self) -> str:
        """Say it: "runs/new: 34 % refused, above the 20 % allowed"."""
        return f"{self.run}: {self.share:.0%} {self.outcome}, above the {self.allowed:.0%} allowed"


@dataclass(frozen=True)
class Verdict:
    """What a gate says.

    Attributes
    ----------
    outcome
        "pass", "fail", "inconclusive" or "unreadable".
    run, against
        The run and its base by name; no base where no rule is about a change.
    level, passes
        Of the policy.
    checks
        Every estimate that a rule names.
    limits
        What makes the runs unreadable.
    factors
        How groups are called.
    population
        Of the policy: prompts like these, or these prompts where that is known of an estimate.
    notes
        Of scores: each difference in a sentence, how samples were paired, and what was left out.
    units
        What is counted, the independent units, and what holds them: "texts", "prompts", "run".
    """

    outcome: Outcome
    run: str
    against: str | None
    level: float
    passes: str
    checks: tuple[RuleCheck, ...]
    limits: tuple[Limit, ...] = ()
    factors: tuple[FactorLabels, ...] = ()
    population: Population = LIKE_THESE
    notes: tuple[str, ...] = ()
    units: tuple[str, str, str] = ("texts", "prompts", "run")

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 inconclusive, 4 unreadable."""
        return EXIT_CODES[self.outcome]

    @property
    def passed(self) -> bool:
        """Whether the outcome is "pass"."""
        return self.outcome == "pass"

    @property
    def needed(self) -> SampleSize | None:
        """The largest number of texts that an inconclusive check asks for."""
        # The hungriest check decides, as all must be shown.
        sizes = [check.needed for check in self.checks if check.needed is not None]
        return max(sizes, key=lambda size: size.texts, default=None)

    @property
    def sorted(self) -> list[RuleCheck]:
        """The checks, what failed first."""
        return sorted(self.checks, key=lambda check: _ORDER.index(check.status))

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The checks under `HEADS`, what failed first."""
        return [
            (
                *(check.status, check.rule, check.label),
                *(number(check.row.value_a), number(check.row.value_b)),
                *(check.found_words, check.allowed_words),
            )
            for check in self.sorted
        ]

    def _repr_html_(self) -> str:
        with speaking_of(self.factors):
            return html_table(HEADS, self.cells[:_SHOWN], self.summary)

    def count(self, status: Status) -> int:
        """How many checks have this status."""
        return sum(check.status == status for check in self.checks)

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        counts = ", ".join(
            f"{self.count(status)} {status}"
            for status in ("fail", "inconclusive", "pass", "skipped")
            if self.count(status)
        )
        against = f" against {self.against}" if self.against else ""
        words = f"{self.outcome}: {self.run}{against} ({counts or 'nothing judged'})"
        if not self.notes:
            words += f", judged for {self.population.replace('-', ' ')}"
        if self.limits:
            return f"{words}; {self.limits[0]}."
        if self.outcome in ("fail", "inconclusive") and self.needed is not None:
            n, open_ones = self.needed, [c for c in self.checks if c.status == "inconclusive"]
            texts, prompts, side = self.units
            words += (
                f"; about {n.texts:,} {texts} of each {side} ({n.prompts:,} {prompts}) would do"
            )
            if unknown := sum(check.needed is None for check in open_ones):
                words += f" for {len(open_ones) - unknown} of {len(open_ones)} inconclusive"
        return f"{words}."

    @property
    def facts(self) -> dict[str, Any]:
        """Everything as records and plain values for JSON."""
        facts = {"exit_code": self.exit_code, "summary": self.summary, "needed": self.needed}
        facts |= {name: x for name, x in vars(self).items() if name not in _NO_FACTS}
        return facts | {"unreadable": self.limits}


WIDTH = 80


def _table(verdict: Verdict) -> str:
    """Return a table for a terminal, what failed first, and the verdict below it."""
    with speaking_of(verdict.factors):
        rows = [
            (
                *(check.status, check.title, check.found_words),
                *(check.allowed_words, number(check.p_beyond_all)),
            )
            for check in verdict.sorted
        ]
        lines = [one_line(line) for line in (*_notes(verdict), verdict.summary)]
    # A fixed width: the same bytes in a log, a pipe and a terminal.
    table = text_table(("", "estimate", "is", "allowed", "p"), rows, WIDTH)
    return table + "".join(f"{fill(line, WIDTH, break_on_hyphens=False)}\n" for line in lines)


def _markdown(verdict: Verdict) -> str:
    """Return Markdown for a pull request: the verdict, then a table of what was judged."""
    title = f"## Portrayal gate: {verdict.outcome}"
    with speaking_of(verdict.factors):
        notes = "\n".join(f"- {markdown(line)}" for line in _notes(verdict))
        table = markdown_table(HEADS, verdict.cells)
    parts = [title, markdown(verdict.summary), table, notes]
    return "\n\n".join(part for part in parts if part) + "\n"


FORMATS: Mapping[str, Callable[[Verdict], str]] = {
    "table": _table,
    "markdown": _markdown,
    "json": lambda verdict: json_text(finite(verdict.facts)),
}
"""What writes a verdict, by the name of its format; groups are called as the run's factors say."""


def _notes(verdict: Verdict) -> list[str]:
    """What makes runs unreadable, and why and what would do where a check is open."""
    notes = [*verdict.notes, *(f"{limit}." for limit in verdict.limits)]
    texts, prompts, side = verdict.units
    for check in verdict.sorted:
        n, parts = check.needed, [check.row.undefined] if check.row.undefined else []
        if n is not None:
            parts.append(
                f"about {n.texts:,} {texts} ({n.prompts:,} {prompts}) of each {side} would do, "
                f"assuming {n.assuming}; now {check.n_texts:,} ({check.row.n_sides[1]:,})"
            )
        if check.status == "inconclusive" and parts:
            notes.append(f"{check.title}: {'; '.join(parts)}.")
    return notes

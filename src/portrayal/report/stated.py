"""Stated: what a report says in sentences, and the screen that it opens with."""

from dataclasses import dataclass
from typing import Any

from portrayal.records import Estimate
from portrayal.report.strength import SOME, STRONG, Strength


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

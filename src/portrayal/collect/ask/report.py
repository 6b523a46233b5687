"""What a collection says of itself: where it stands, and in the end what it did."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from portrayal.collect.ask.journal import DAMAGED
from portrayal.collect.ask.provider import Usage
from portrayal.shown import counted

Stopped = Literal["", "interrupted", "budget", "declined"]


@dataclass(slots=True, kw_only=True)
class CollectReport:
    """Where a collection stands, and in the end what it did.

    A collection keeps one as it goes; whoever is told gets a copy.

    Attributes
    ----------
    model
        As the user named it.
    done, total
        Requests with a row, and all requests, of this model in this run.
    outcomes
        Rows by outcome; "failed" ones are asked again by the next collection.
    asked, tries
        Rows written now, and requests sent or handed in for them, retries included.
    usage, cost
        Tokens and US dollars of this model in this run; None where the price is unknown.
    stopped
        Why it ended early: "interrupted", "budget" or "declined"; "" where it did not.
    malformed
        Answers of this model in this run that came whole and could not be read, by what was wrong.
        What they cost is part of `usage`.
    reasons
        Why rows of this collection failed: how many, by reason.
    damaged
        Damaged lines of the journal that were set aside.
    rate, in_flight
        Rows per second since the collection began, and requests in flight.
    waits_for
        What it waits for where no answer comes, in a few words; "" where answers come.
    versions
        Answers of this model in this run by the model that the service names in them.
    n_reasoned
        Answers of this model in this run that came with reasoning, which is no part of their text.
    """

    model: str
    total: int
    done: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    tries: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    stopped: Stopped = ""
    malformed: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    n_reasoned: int = 0
    damaged: int = 0
    rate: float = 0.0
    in_flight: int = 0
    waits_for: str = ""

    def count(self, row: Mapping[str, Any]) -> None:
        """Count the row of a request."""
        self.outcomes[row["outcome"]] += 1
        self.usage += Usage.of(row)
        self.versions.update(filter(None, [row.get("answered_by")]))
        self.n_reasoned += bool(row.get("reasoning_characters"))

    @property
    def seconds_left(self) -> float | None:
        """Seconds at that rate; None while there is no rate."""
        return (self.total - self.done) / self.rate if self.rate else None

    @property
    def n_answered(self) -> int:
        """Requests with an answer, be it a refusal or an empty one."""
        return self.done - self.outcomes.get("failed", 0)

    @property
    def complete(self) -> bool:
        """Whether every request has a row, be it a failed one."""
        return self.done == self.total

    @property
    def summary(self) -> str:
        """One line on what it did: answers, cost, and what was lost on the way."""
        counts = ", ".join(f"{n:,} {name}" for name, n in self.outcomes.items() if n)
        parts = [
            f"asked {self.model}: {self.n_answered:,} of {self.total:,} answers "
            f"({counts or 'none'})" + ("" if self.cost is None else f", {self.cost:.2f} USD so far")
        ]
        if self.stopped:
            parts.append(
                {
                    "budget": "stopped at the budget",
                    "interrupted": "interrupted, the same command continues",
                    "declined": "not started",
                }[self.stopped]
            )
        if self.n_reasoned:
            parts.append(f"{counted(self.n_reasoned, 'text')} held reasoning, which was removed")
        if len(self.versions) > 1:
            parts.append(f"the service answered by several models: {most_frequent(self.versions)}")
        if note := self.usage.estimated:
            parts.append(note)
        if self.reasons:
            parts.append(f"failed: {most_frequent(self.reasons)}")
        if self.malformed:
            n = counted(sum(self.malformed.values()), "malformed answer")
            parts.append(f"{n}, paid for: {most_frequent(self.malformed)}")
        if self.damaged:
            n = counted(self.damaged, "damaged line")
            parts.append(f"set aside from the journal: {n} ({DAMAGED})")
        return "; ".join(parts)


AskCallback = Callable[[CollectReport], None]


def most_frequent(reasons: Mapping[str, int], most: int = 3) -> str:
    """Return the most frequent reasons with their counts.

    >>> most_frequent({"a": 1, "b": 1200}, most=1)
    'b (1,200) and 1 other reasons'
    """
    often = sorted(reasons.items(), key=lambda pair: -pair[1])
    words = ", ".join(f"{reason} ({n:,})" for reason, n in often[:most])
    return words + (f" and {len(often) - most} other reasons" if len(often) > most else "")

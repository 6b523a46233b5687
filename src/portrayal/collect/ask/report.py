"""The report of one collection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from portrayal.collect.ask.provider import Usage

Stopped = Literal["", "interrupted", "budget", "declined"]


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What a collection did.

    Attributes
    ----------
    model
        As the user named it.
    done, total
        Requests with a row, and all requests, of this model in this run.
    outcomes
        Rows by outcome; "failed" ones are asked again by the next collection.
    asked, tries
        Rows written now, and requests sent for them, retries included.
    usage, cost
        Tokens and US dollars of this model in this run; None where the price is unknown.
    peak
        Most requests in flight at once.
    seconds
        How long it took.
    stopped
        Why it ended early: "interrupted", "budget" or "declined"; "" where it did not.
    """

    model: str
    done: int
    total: int
    outcomes: Mapping[str, int]
    asked: int
    tries: int
    usage: Usage
    cost: float | None
    peak: int
    seconds: float
    stopped: Stopped

    @property
    def complete(self) -> bool:
        """Whether every request has a row, be it a failed one."""
        return self.done == self.total

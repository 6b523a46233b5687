"""Progress: plain numbers a few times a second, for whoever draws them."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from portrayal.collect.ask.provider import Usage

_WINDOW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AskProgress:
    """Where a collection stands.

    Attributes
    ----------
    done, total
        Requests with a row, and all requests, of this model in this run.
    outcomes
        Rows by outcome.
    rate
        Rows per second over the last half minute.
    seconds_left
        At that rate; None while there is no rate.
    usage, cost
        Tokens and US dollars so far in this run; the cost is None where the price is unknown.
    in_flight, limit
        Requests in flight, and how many may be.
    waiting
        Seconds until the endpoint or the given limits allow another request.
    stopping
        Whether only requests in flight are finished.
    """

    done: int
    total: int
    outcomes: Mapping[str, int]
    rate: float
    seconds_left: float | None
    usage: Usage
    cost: float | None
    in_flight: int
    limit: int
    waiting: float
    stopping: bool


AskCallback = Callable[[AskProgress], None]


class Rate:
    """Rows per second over a moving window of the monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def at(self, done: int) -> float:
        """Return the rate, with `done` rows now."""
        now = self._clock()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        return (done - before) / (now - then) if now > then else 0.0

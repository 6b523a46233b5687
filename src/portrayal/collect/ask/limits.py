"""Limits: how many requests are in flight, how many a minute, and how often a failed one is tried.

The number in flight is halved when the endpoint limits the rate, and grows by one with each round
of answers after that (AIMD). A wait that the endpoint asked for holds for every request to it.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from portrayal.collect.ask.provider import StopError, TryAgainError
from portrayal.errors import OptionError
from portrayal.validate import check_count

Clock = Callable[[], float]

_LIMITED_TIMES = 10  # a rate limit says nothing against the request; it may try that much longer
_BURST_SECONDS = 1.0
_CHANCE = Random()  # noqa: S311 (spreads waits, keeps no secret)
_IN_A_ROW = 5
_TIMEOUTS = 3  # in a row, where none is answered
KEPT = "nothing that was answered is asked again"
LONGEST_TIMEOUT = 600
"""Seconds that it may be given: more than that the clients of the services do not wait."""


class Bucket:
    """A budget of units that refills evenly; taking more than there is makes a debt to wait out."""

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._rate = per_minute / 60.0
        self._capacity = max(1.0, self._rate * _BURST_SECONDS)
        self._level, self._clock, self._at = self._capacity, clock, clock()

    def take(self, amount: float) -> None:
        """Take `amount` units, which may leave a debt."""
        self._refill()
        self._level -= amount

    def wait(self) -> float:
        """Return the seconds until there is no debt."""
        self._refill()
        return max(0.0, -self._level / self._rate)

    def _refill(self) -> None:
        now = self._clock()
        self._level = min(self._capacity, self._level + max(0.0, now - self._at) * self._rate)
        self._at = now


class Throttle:
    """What each request passes before it is sent.

    Attributes
    ----------
    limit
        Requests that may be in flight now, between 1 and `concurrency`.
    in_flight
        Requests in flight now.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        rpm: float | None = None,
        tpm: float | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.concurrency = check_count("concurrency", concurrency, minimum=1)
        self.limit = float(concurrency)
        self.in_flight = 0
        self._clock = clock
        for name, per_minute in (("rpm", rpm), ("tpm", tpm)):
            if per_minute is not None and not per_minute > 0:
                raise OptionError(f"{name} must be above 0 a minute; got {per_minute!r}.")
        self._requests = None if rpm is None else Bucket(rpm, clock)
        self._tokens = None if tpm is None else Bucket(tpm, clock)
        self._paused_until = 0.0
        self._epoch = 0
        self._left = asyncio.Event()

    def wait(self) -> float:
        """Return the seconds until a request may be sent; 0 when one may be sent now."""
        waits = [self._paused_until - self._clock(), 0.0]
        waits += [bucket.wait() for bucket in (self._requests, self._tokens) if bucket]
        return max(waits)

    async def enter(self) -> int:
        """Wait for a place; return the epoch, which `leave` wants back."""
        while True:
            if (wait := self.wait()) > 0:
                await asyncio.sleep(wait)
            elif self.in_flight < int(self.limit):
                break
            else:
                # All are woken in the order in which they came: no request waits for ever
                self._left.clear()
                await self._left.wait()
        self.in_flight += 1
        if self._requests:
            self._requests.take(1)
        return self._epoch

    def leave(self, epoch: int, *, tokens: int | None = None) -> None:
        """Give the place back; `tokens` is the cost of an answer, None where there was none."""
        self.in_flight -= 1
        if self._tokens:
            self._tokens.take(tokens or 0)  # a debt, which the next requests wait for
        # A burst of answers "too many" is one message: halved once for all of them
        if tokens is not None and epoch == self._epoch:
            self.limit = min(float(self.concurrency), self.limit + 1.0 / self.limit)
        self._left.set()

    def slow_down(self, epoch: int, retry_after: float | None) -> None:
        """Halve what may be in flight, once for all requests sent before the last halving."""
        if retry_after is not None:
            self._paused_until = max(self._paused_until, self._clock() + retry_after)
        if epoch == self._epoch:
            self._epoch += 1
            self.limit = max(1.0, self.limit / 2)


@dataclass(frozen=True, slots=True)
class Retry:
    """How failures that are worth another try are met.

    Attributes
    ----------
    attempts
        Tries of one request before its row is "failed"; rate limits count a tenth.
    malformed
        Further tries after an answer that came whole and cannot be read, which is paid for.
    first_wait, longest_wait
        Seconds before the second try, and at most; in between they double, times a random 0.5–1.
    patience
        Seconds that an endpoint may put requests off in all, without an answer in between; what
        it asks to wait beyond that ends the collection.
    timeout
        Seconds that one try may take.
    outage
        Seconds without any answer, at most three timeouts, and at least five failures in a row
        (three timeouts), after which collecting ends.
    """

    attempts: int = 8
    malformed: int = 2
    first_wait: float = 1.0
    longest_wait: float = 60.0
    patience: float = 600.0
    timeout: float = 180.0
    outage: float = 30.0

    def wait(self, error: TryAgainError, failed: Counter[str]) -> float | None:
        """Return the seconds to its next try; None when a request that `failed`, by kind, ends.

        They are at least what the endpoint asked for.
        """
        tries, limited = failed.total(), failed["rate_limit"]
        given_up = tries - limited + limited / _LIMITED_TIMES >= self.attempts
        if given_up or (error.kind == "body" and failed["body"] > self.malformed):
            return None
        doubled = min(self.longest_wait, self.first_wait * 2.0 ** min(tries - 1, 30))
        # By chance, so that requests that wait do not all come back at once.
        return max(error.retry_after or 0.0, doubled * _CHANCE.uniform(0.5, 1.0))


class Breaker:
    """Ends a collection whose endpoint is gone, hangs or only fails: it counts failures in a row.

    An answer closes it again, and so does an endpoint that says when to come back. So a short loss
    of the network is waited out, and a request hangs or fails for good no longer than four
    timeouts (or `outage` and one timeout, where that is shorter) and the first wait. An endpoint
    that puts requests off (429, or a time to come back) and answers none has `patience` for that.
    """

    def __init__(self, retry: Retry, clock: Clock = time.monotonic) -> None:
        self._outage, self._clock = min(retry.outage, _TIMEOUTS * retry.timeout), clock
        self._patience = retry.patience
        self._since: float | None = None
        self._put_off: float | None = None
        self._failures, self._responded = 0, -math.inf

    @property
    def seconds(self) -> float:
        """Seconds since the first request that failed, or a later answer; 0 while there is none."""
        return 0.0 if self._since is None else self._clock() - self._since

    def within(self, wait: float) -> float:
        """Return `wait`, cut to the moment at which a failure would end the collection."""
        return wait if self._since is None else min(wait, max(1.0, self._outage - self.seconds))

    def responded(self) -> None:
        """Note that the endpoint answers."""
        self._since, self._put_off, self._failures = None, None, 0
        self._responded = self._clock()

    def failed(self, error: TryAgainError, sent_at: float) -> None:
        """Note a failure of a request.

        Raises
        ------
        StopError
            When the endpoint counts as gone, or asks for more patience than there is.
        """
        delay = error.retry_after
        if error.kind == "rate_limit" or delay is not None:
            # An endpoint that says "later" is there: its patience is counted apart from an outage
            since = self._clock() if self._put_off is None else self._put_off
            self.responded()
            self._put_off, waited = since, self._clock() - since
            if waited + (delay or 0.0) > self._patience:
                wish = "puts it off" if delay is None else f"asks to wait {delay:,.0f} s"
                raise StopError(
                    f"{error} The endpoint {wish}, and answered nothing for {waited:,.0f} s. Run "
                    f"the same command again later; {KEPT}."
                )
            return
        if error.kind not in ("connection", "timeout", "server"):
            self.responded()
            return
        self._failures += 1
        began = max(sent_at, self._responded)  # while one waits, others may be answered
        self._since = began if self._since is None else min(self._since, began)
        needed = _TIMEOUTS if error.kind == "timeout" else _IN_A_ROW
        if self._failures >= needed and self.seconds >= self._outage:
            lack, check = "a response", "can be reached"
            if error.kind == "server":
                lack, check = "an answer", "is well"
            raise StopError(
                f"{error} No request had {lack} for {self.seconds:,.0f} s, {self._failures} in "
                f"a row. Check that the endpoint {check}, then run the same command again; "
                f"{KEPT}."
            )

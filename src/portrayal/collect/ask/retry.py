"""Retrying: how often, how long to wait in between, and when to give a request up."""

from dataclasses import dataclass
from random import Random

from portrayal.collect.ask.provider import StopError, TryAgainError

_LIMITED_TIMES = 10  # a rate limit says nothing against the request; it may try that much longer


@dataclass(frozen=True, slots=True)
class Retry:
    """How failures that are worth another try are met.

    Attributes
    ----------
    attempts
        Tries of one request before its row is "failed"; rate limits count a tenth.
    first_wait, longest_wait
        Seconds before the second try and at most; in between they double, times a random 0.5–1.
    patience
        Longest wait in seconds that an endpoint may ask for; a longer one ends the collection.
    timeout
        Seconds that one try may take.
    """

    attempts: int = 8
    first_wait: float = 1.0
    longest_wait: float = 60.0
    patience: float = 600.0
    timeout: float = 600.0

    def wait(self, error: TryAgainError, tries: int, limited: int, random: Random) -> float | None:
        """Return the seconds to wait after try `tries`, `limited` of them rate limits.

        None when the request is given up.

        Raises
        ------
        StopError
            When the endpoint asks for more patience than there is.
        """
        if error.retry_after is not None and error.retry_after > self.patience:
            raise StopError(
                f"{error} The endpoint asks to wait {error.retry_after:,.0f} s. Run the same "
                "command again after that; nothing that was answered is asked again."
            )
        if tries - limited + limited / _LIMITED_TIMES >= self.attempts:
            return None
        doubled = self.first_wait * 2.0 ** min(tries - 1, 30)
        wait = min(self.longest_wait, doubled) * random.uniform(0.5, 1.0)
        return max(wait, error.retry_after or 0.0)

"""The pace of a batch collection: how long it waits, and how often it tries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BatchPace:
    """How long a batch collection waits, and how often it tries.

    Attributes
    ----------
    first_wait, longest_wait
        Seconds before the first check and at most; in between they grow by half.
    settle_seconds
        After which a batch that the endpoint does not list was never created.
    rounds
        Times that one request is asked in one collection before its row is "failed".
    failures
        Checks or creations in a row that may fail.
    max_requests
        Requests in a batch, if fewer than the endpoint allows.
    """

    first_wait: float = 15.0
    longest_wait: float = 300.0
    settle_seconds: float = 60.0
    rounds: int = 3
    failures: int = 8
    max_requests: int | None = None

    def wait(self, checks: int) -> float:
        """Return the seconds to wait after `checks` checks without news."""
        return min(self.longest_wait, self.first_wait * 1.5 ** min(checks, 60))

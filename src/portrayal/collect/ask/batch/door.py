"""What a batch service is: one model behind one batch API, in the verbs that a collection needs.

A provider has one where it has a method `batches()` that returns it; nothing else is registered.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from portrayal.collect.ask.batch.store import Submission
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
)
from portrayal.errors import OptionError

if TYPE_CHECKING:
    from pydantic_ai.models.batch import Batch, EncodedBatchRequest

Result = Answer | TryAgainError | StopError | RejectedError | None
"""What one request got: an answer, why it has none, or None where it was cancelled."""


class NotRunError(TryAgainError):
    """An ended batch that ran none of its requests, which may be submitted again later."""

    def __init__(self, message: str) -> None:
        super().__init__("rate_limit", message)


class RefusedError(StopError):
    """An ended batch whose requests were refused as a whole; none of them ran or will run."""


class BatchService(Protocol):
    """The batch API behind a provider; an asynchronous context manager around its connections.

    Every verb raises `TryAgainError` where another try may help and `StopError` where none will.

    Attributes
    ----------
    name
        That of the provider.
    max_requests, max_bytes
        Most that one batch holds; 0 or None where there is no limit.
    """

    name: str
    max_requests: int
    max_bytes: int | None

    async def __aenter__(self) -> Self:
        """Open the connections."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """Close them."""
        ...

    async def encode(self, custom_id: str, prompt: str) -> "EncodedBatchRequest":
        """Return the request as the endpoint wants it."""
        ...

    def size(self, request: "EncodedBatchRequest") -> int:
        """Return the bytes that `request` adds to a batch."""
        ...

    async def create(self, requests: "Sequence[EncodedBatchRequest]", mark: str) -> str:
        """Create a batch that can be found again by `mark`, without retrying; return its id.

        `TryAgainError` of kind "rate_limit" says that nothing was created, of another kind that
        this is unknown.
        """
        ...

    async def find(self, submission: Submission, known: frozenset[str]) -> list[tuple[str, bool]]:
        """Return batches that are (True) or may be (False) the submission; `known` are others."""
        ...

    async def check(self, submission: Submission) -> "Batch":
        """Return the batch as it stands now."""
        ...

    async def results(self, batch: "Batch", *, lenient: bool = False) -> list[tuple[str, Result]]:
        """Return (custom id, result) of an ended batch, in any order; what did not run may lack.

        A line that cannot be read raises `TryAgainError`, or is left out when `lenient`.
        """
        ...

    def was_cancelled(self, batch: "Batch") -> bool:
        """Whether an ended batch was cancelled, so that what it lacks was not to be run."""
        ...

    async def cancel(self, submission: Submission) -> None:
        """Ask for the end of a batch; what it has answered by then can still be taken."""
        ...


def service_of(provider: Provider) -> BatchService:
    """Return the batch service of a provider.

    Raises
    ------
    OptionError
        When this model has no batch API, or it would ignore a parameter.
    """
    make = getattr(cast("Any", provider), "batches", None)
    if make is None:
        raise no_batches(provider.name)
    return cast("BatchService", make())


def no_batches(name: str) -> OptionError:
    """Return the error of a model without a batch API."""
    return OptionError(f"{name} has no batch API at this address. Collect without batches.")

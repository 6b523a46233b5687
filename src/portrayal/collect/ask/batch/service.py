"""Batches over pydantic-ai: encoding, checking, cancelling and decoding are its own.

Creating a batch, finding it again and reading its results are each service's, in the modules
beside this one, because only there can a batch carry a mark.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, Self

from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model
from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest

from portrayal.collect.ask.batch.store import Result, Submission, no_batches
from portrayal.collect.ask.limits import TIMEOUT
from portrayal.collect.ask.provider import RejectedError, StopError, TryAgainError, scrub
from portrayal.collect.ask.remote import RemoteModel, trouble_of
from portrayal.collect.ask.wire import Seen, looking, redirected, watch
from portrayal.errors import OptionError, PortrayalError

_LONGEST = 300
_TRANSPORT = ("Connection", "Timeout", "Transport", "OSError")
_QUOTA = ("insufficient_quota", "billing", "credit balance")


def sort_error(
    error: Exception, name: str, doing: str, variables: Sequence[str]
) -> TryAgainError | StopError | PortrayalError:
    """Return what a failed call means for the collection; its message holds no key.

    Parameters
    ----------
    error
        Of pydantic-ai, of a provider's client, or one of ours, which is returned as it is.
    name, doing
        The model, and what was tried, such as "creating a batch".
    variables
        Environment variables of its keys.
    """
    if isinstance(error, PortrayalError):
        return error
    if isinstance(error, (AgentRunError, UserError)):
        trouble = trouble_of(error, name, variables)
        return StopError(str(trouble)) if isinstance(trouble, RejectedError) else trouble
    words = scrub(" ".join(str(error).split()), variables)[:_LONGEST] or type(error).__name__
    said, status = f"{name}: {doing}: {words}", _status(error)
    if status == 429 and not any(word in words.casefold() for word in _QUOTA):
        return TryAgainError("rate_limit", said, _retry_after(error))
    if status is None and _is_transport(error):
        return TryAgainError("connection", said)
    if status in (408, 409, 425) or (status or 0) >= 500:
        return TryAgainError("server", said, _retry_after(error))
    keys = " or ".join(variables) or "the key"
    advice = f" Set {keys} to a key that may do this." if status in (401, 403) else ""
    return StopError(f"{said}{advice}")


def _status(error: Exception) -> int | None:
    """The HTTP status: `status_code` of OpenAI's and Anthropic's errors, `code` of Google's."""
    for name in ("status_code", "code"):
        if isinstance(status := getattr(error, name, None), int):
            return status
    return None


def _is_transport(error: Exception) -> bool:
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    return any(word in names for word in _TRANSPORT)


def _retry_after(error: Exception) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return float(headers.get("retry-after"))
    except (TypeError, ValueError):
        return None


class RemoteBatches:
    """A `BatchService` over a model of pydantic-ai; a service adds how to create, find and read.

    Parameters
    ----------
    provider
        A provider whose model has a batch API.
    model
        The model that batches, where it is another one than the provider's.
    ignores
        Parameters that this batch API would ignore.

    Raises
    ------
    OptionError
        When this model has no batch API, or its batch API would ignore a parameter.
    """

    def __init__(
        self, provider: RemoteModel, model: Any = None, ignores: Collection[str] = ()
    ) -> None:
        self.name, self._remote = provider.name, provider
        self._model: Model[Any] = provider.model if model is None else model
        if self._model.batch_max_requests is None:
            raise no_batches(self.name)
        ignored = sorted(set(provider.parameters) & {*self._model.unsupported_settings, *ignores})
        if ignored:
            raise OptionError(
                f"the batch API of {self.name} ignores {ignored[0]}; leave it out, or collect "
                "without batches."
            )
        self._group = ""
        self._open = AsyncExitStack()
        self.max_requests: int = self._model.batch_max_requests or 0
        self.max_bytes: int | None = self._model.batch_max_bytes

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._model)
        model: Any = self._model
        await watch(model._provider)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def encode(self, custom_id: str, prompt: str) -> EncodedBatchRequest:
        """Return the request as the endpoint wants it."""
        with self._sorted("encoding a request"):
            return await self._model.batch_encode(self._request(custom_id, prompt))

    def size(self, request: EncodedBatchRequest) -> int:
        """Return the bytes that `request` adds to a batch."""
        return self._model.batch_request_size(request)

    async def create(self, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch; see `BatchService.create`."""
        with self._sorted("creating a batch"):
            return await self._create(self._model, requests, mark)

    async def find(self, submission: Submission, known: frozenset[str]) -> list[tuple[str, bool]]:
        """Return batches that are or may be the submission; see `BatchService.find`."""
        with self._sorted("listing batches"):
            return await self._find(self._model, submission, known)

    async def _create(self, model: Any, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        raise NotImplementedError

    async def _find(
        self, model: Any, submission: Submission, known: frozenset[str]
    ) -> list[tuple[str, bool]]:
        raise NotImplementedError

    async def _results(self, model: Any, batch: Batch, *, lenient: bool) -> list[BatchResult]:
        raise NotImplementedError

    async def check(self, submission: Submission) -> Batch:
        """Return the batch as it stands now."""
        handle = await self._handle(submission)
        with self._sorted("checking a batch"):
            return await self._model.batch_status(handle)

    async def results(self, batch: Batch, *, lenient: bool = False) -> list[tuple[str, Result]]:
        """Return (custom id, result) of an ended batch, in any order; what did not run may lack.

        A line that cannot be read raises `TryAgainError`, or is left out when `lenient`.
        """
        with self._sorted("reading results"):
            raw = await self._results(self._model, batch, lenient=lenient)
        return [(result.custom_id, self._decode(result)) for result in raw]

    def was_cancelled(self, batch: Batch) -> bool:
        """Whether an ended batch was cancelled; see `BatchService.was_cancelled`."""
        details = batch.provider_details or {}
        ended = details.get("status") or details.get("state") or ""
        return ended in ("cancelled", "JOB_STATE_CANCELLED")

    async def cancel(self, submission: Submission) -> None:
        """Ask for the end of a batch; what it has answered by then can still be taken."""
        handle = await self._handle(submission)
        with self._sorted("cancelling a batch"):
            await self._model.batch_cancel(handle)

    async def _handle(self, submission: Submission) -> Batch:
        if not self._group:  # what pydantic-ai compares, so that a batch meets its own endpoint
            self._group = (await self.encode("group", "x")).group
        return Batch(
            id=submission.batch_id,
            model_name=self._model.model_name,
            provider_name=self._model.system,
            group=self._group,
            status="in_progress",
            created_at=datetime.fromtimestamp(submission.made_at, UTC),
            request_count=len(submission.items),
        )

    def _request(self, custom_id: str, prompt: str) -> BatchRequest:
        message, settings = self._remote.request(prompt), self._remote.settings
        return BatchRequest(custom_id=custom_id, messages=[message], model_settings=settings)

    def _decode(self, result: BatchResult) -> Result:
        if result.status == "canceled":
            return None
        if result.status == "expired":
            return TryAgainError("timeout", "the batch expired before this request was run.")
        try:
            request = self._request(result.custom_id, "x")  # only its settings are read
            return self._remote.read(self._model.batch_decode(result, request))
        except TryAgainError as error:
            return error
        except Exception as error:  # pydantic-ai's and pydantic's; one row never sinks a batch
            seen = Seen(
                body=(result.body or "").encode(), status=200 if result.status == "succeeded" else 0
            )
            return trouble_of(error, self.name, self._remote.variables, seen)

    @contextmanager
    def _sorted(self, doing: str) -> Iterator[None]:
        with looking(TIMEOUT) as seen:
            try:
                yield
            except Exception as error:
                if seen.elsewhere:
                    raise redirected(self.name, seen.elsewhere) from None
                # The client's error may echo a key, so it is not chained to what is shown.
                raise sort_error(error, self.name, doing, self._remote.variables) from None

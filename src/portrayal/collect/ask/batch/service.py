"""A batch service: one model behind one batch API, in the few verbs that a collection needs.

Encoding, checking, cancelling and decoding are pydantic-ai's; creating and finding again are in
`batch_openai`, `batch_anthropic` and `batch_google`, because only there can a batch carry a mark.
"""

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Self, cast

from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest

from portrayal.collect.ask.batch.store import Submission
from portrayal.collect.ask.clients import RemoteModel
from portrayal.collect.ask.provider import (
    Answer,
    Provider,
    RejectedError,
    StopError,
    TryAgainError,
    scrub,
)
from portrayal.collect.ask.trouble import Trouble, trouble_of
from portrayal.errors import OptionError, PortrayalError

_LONGEST = 300
_TRANSPORT = ("Connection", "Timeout", "Transport", "OSError")
_QUOTA = ("insufficient_quota", "billing", "credit balance")


class NotRunError(TryAgainError):
    """An ended batch that ran none of its requests, which may be submitted again later."""

    def __init__(self, message: str) -> None:
        super().__init__("rate_limit", message)


class RefusedError(StopError):
    """An ended batch whose requests were refused as a whole; none of them ran or will run."""


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
        return max(0.0, float(headers.get("retry-after")))
    except (TypeError, ValueError):
        return None


Result = Answer | Trouble | None
"""What one request got: an answer, why it has none, or None where it was cancelled."""


class BatchService:
    """The batch API behind a provider; an asynchronous context manager around its connections.

    Parameters
    ----------
    provider
        "openai:…", "anthropic:…" or "google:…" as `collect.ask.provider` makes it.

    Raises
    ------
    OptionError
        When this model has no batch API, or its batch API would ignore a parameter.
    """

    def __init__(self, provider: Provider) -> None:
        self.name = provider.name
        self._model, self._door = _batched(provider)
        self._remote = cast("RemoteModel", provider)
        ignored = sorted(set(provider.parameters) & _ignored(self._model))
        if ignored:
            raise OptionError(
                f"the batch API of {self.name} ignores {ignored[0]}; leave it out, or collect "
                "without batches."
            )
        self._group = ""
        self._open = AsyncExitStack()
        self.max_requests = self._model.batch_max_requests or 0
        self.max_bytes = self._model.batch_max_bytes

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._model)
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
        """Create a batch that can be found again by `mark`; return its id.

        Raises
        ------
        TryAgainError
            Of kind "rate_limit" when nothing was created; of another kind when that is unknown.
        StopError
            When nothing was created and no further try will help.
        """
        with self._sorted("creating a batch"):
            return cast("str", await self._door.create(self._model, requests, mark))

    async def find(self, submission: Submission, known: frozenset[str]) -> list[tuple[str, bool]]:
        """Return batches that are (True) or may be (False) the submission; `known` are others."""
        with self._sorted("listing batches"):
            found = await self._door.find(self._model, submission, known)
            return cast("list[tuple[str, bool]]", found)

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
            raw = await self._door.results(self._model, batch, lenient=lenient)
        return [(result.custom_id, self._decode(result)) for result in raw]

    @staticmethod
    def was_cancelled(batch: Batch) -> bool:
        """Whether an ended batch was cancelled, so that what it lacks was not to be run."""
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
        message = ModelRequest(parts=[*self._remote._first, UserPromptPart(prompt)])
        settings = self._remote._settings
        return BatchRequest(custom_id=custom_id, messages=[message], model_settings=settings)

    def _decode(self, result: BatchResult) -> Result:
        if result.status == "canceled":
            return None
        if result.status == "expired":
            return TryAgainError("timeout", "the batch expired before this request was run.")
        try:
            request = self._request(result.custom_id, "x")  # only its settings are read
            return self._remote._answer(self._model.batch_decode(result, request))
        except TryAgainError as error:
            return error
        except Exception as error:  # pydantic-ai's and pydantic's; one row never sinks a batch
            return trouble_of(error, self.name, self._remote._variables)

    @contextmanager
    def _sorted(self, doing: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # The client's error may echo a key, so it is not chained to what is shown.
            raise sort_error(error, self.name, doing, self._remote._variables) from None


def _batched(provider: Provider) -> tuple["Model[Any]", ModuleType]:
    """Return the model that batches for `provider`, and the module that creates and finds."""
    service, given = provider.name.partition(":")[0], cast("object", provider)
    model = given._model if isinstance(given, RemoteModel) else None
    if model is not None and service == "openai":
        from pydantic_ai.models.openai import OpenAIResponsesModel

        from portrayal.collect.ask.batch import openai as batch_openai

        model = OpenAIResponsesModel(model.model_name, provider=cast("Any", model)._provider)
        door: ModuleType = batch_openai
    elif service == "anthropic":
        from portrayal.collect.ask.batch import anthropic as door
    elif service == "google":
        from portrayal.collect.ask.batch import google as door
    else:
        model = None
    if model is None or model.batch_max_requests is None:
        raise OptionError(
            f"{provider.name} has no batch API; OpenAI, Anthropic and Google (Gemini API) have one "
            "at their own addresses. Collect without batches."
        )
    return model, door


def _ignored(model: "Model[Any]") -> set[str]:
    return {*model.unsupported_settings, *(("seed",) if model.system == "openai" else ())}

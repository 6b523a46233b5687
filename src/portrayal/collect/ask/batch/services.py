"""Batches of OpenAI and Anthropic over pydantic-ai.

Encoding, checking, cancelling and decoding are pydantic-ai's own. Creating a batch, finding it
again and reading its results are each service's, because only there can a batch carry a mark.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Self

from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError
from pydantic_ai.models import Model
from pydantic_ai.models.batch import (
    Batch,
    BatchRequest,
    BatchResult,
    BatchResultStatus,
    EncodedBatchRequest,
)

from portrayal.collect.ask.batch.store import NotRunError, RefusedError, Result, Submission
from portrayal.collect.ask.limits import TIMEOUT
from portrayal.collect.ask.provider import RejectedError, StopError, TryAgainError, scrub
from portrayal.collect.ask.remote import RemoteModel, trouble_of
from portrayal.collect.ask.wire import LastResponse, looking, redirected
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
    message = f"{name}: {doing}: {words}"
    status: int | None = getattr(error, "status_code", None)
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    wait = ModelHTTPError(status or 0, name, headers=headers).retry_after
    # An empty account also answers 429, and no waiting fills it
    if status == 429 and not any(word in words.casefold() for word in _QUOTA):
        return TryAgainError("rate_limit", message, wait)
    kinds = " ".join(kind.__name__ for kind in type(error).__mro__)
    if status is None and any(word in kinds for word in _TRANSPORT):
        return TryAgainError("connection", message)
    if status in (408, 409, 425) or (status or 0) >= 500:
        return TryAgainError("server", message, wait)
    keys = " or ".join(variables) or "the key"
    advice = f" Set {keys} to a key that may do this." if status in (401, 403) else ""
    return StopError(f"{message}{advice}")


class RemoteBatches:
    """Batches over a model of pydantic-ai; a service adds how to create, find and read.

    An asynchronous context manager around its connections. Every verb raises `TryAgainError` where
    another try may help and `StopError` where none will.

    Parameters
    ----------
    provider
        A provider whose model has a batch API.

    Attributes
    ----------
    name
        That of the provider.
    max_requests, max_bytes
        Most that one batch holds; 0 or None where there is no limit.
    ignores
        Parameters that this batch API would ignore, beside those that its model does.

    Raises
    ------
    OptionError
        When its batch API would ignore a parameter.
    """

    ignores: tuple[str, ...] = ()

    def __init__(self, provider: RemoteModel) -> None:
        self.name, self._remote = provider.name, provider
        self._model: Model[Any] = self._batching(provider.model)
        unsupported = {*self._model.unsupported_settings, *self.ignores}
        if ignored := sorted(set(provider.parameters) & unsupported):
            raise OptionError(
                f"the batch API of {self.name} ignores {ignored[0]}; leave it out, or collect "
                "without batches."
            )
        self._group = ""
        self.max_requests: int = self._model.batch_max_requests or 0
        self.max_bytes: int | None = self._model.batch_max_bytes

    def _batching(self, model: Any) -> Any:
        """The model that batches, where it is another one than the provider's."""
        return model

    async def __aenter__(self) -> Self:
        await self._remote.open()
        self._model = self._batching(self._remote.model)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._remote.close()

    async def encode(self, custom_id: str, prompt: str, system: str = "") -> EncodedBatchRequest:
        """Return the request as the endpoint wants it."""
        with self._sorted("encoding a request"):
            return await self._model.batch_encode(self._request(custom_id, prompt, system))

    def size(self, request: EncodedBatchRequest) -> int:
        """Return the bytes that `request` adds to a batch."""
        return self._model.batch_request_size(request)

    async def create(self, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch, without retrying, and return its id; each custom id ends with `mark`.

        `TryAgainError` of kind "rate_limit" says that nothing was created, of another kind that
        this is unknown.
        """
        del mark
        with self._sorted("creating a batch"):
            batch: Batch = await self._model.batch_create(requests)
        return batch.id

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
            raw = await self._results(batch, lenient)
        read: list[tuple[str, Result]] = []
        for result in raw:
            outcome: Result = None
            if result.status == "expired":
                outcome = TryAgainError("timeout", "the batch expired before this request was run.")
            elif result.status != "canceled":
                try:
                    request = self._request(result.custom_id, "x")  # only its settings are read
                    outcome = self._remote.read(self._model.batch_decode(result, request))
                except TryAgainError as error:
                    outcome = error
                except Exception as error:  # pydantic-ai's and pydantic's; one row sinks no batch
                    status = 200 if result.status == "succeeded" else 0
                    response = LastResponse(body=(result.body or "").encode(), status=status)
                    outcome = trouble_of(error, self.name, self._remote.variables, response)
            read.append((result.custom_id, outcome))
        return read

    async def _results(self, batch: Batch, lenient: bool) -> list[BatchResult]:
        del lenient  # the client reads line by line and says when one is broken
        results: list[BatchResult] = await self._model.batch_results(batch)
        return results

    def was_cancelled(self, batch: Batch) -> bool:
        """Whether an ended batch was cancelled, so that what it lacks was not to be run."""
        return (batch.provider_details or {}).get("status") == "cancelled"

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

    def _request(self, custom_id: str, prompt: str, system: str = "") -> BatchRequest:
        message, settings = self._remote.request(prompt, system), self._remote.settings
        return BatchRequest(custom_id=custom_id, messages=[message], model_settings=settings)

    @contextmanager
    def _sorted(self, doing: str) -> Iterator[None]:
        with looking(TIMEOUT) as response:
            try:
                yield
            except Exception as error:
                if response.elsewhere:
                    raise redirected(self.name, response.elsewhere) from None
                # The client's error may echo a key, so it is not chained to what is shown.
                raise sort_error(error, self.name, doing, self._remote.variables) from None


ENDPOINT = "/v1/responses"
LISTED = 10_000
"""Batches, the newest of an account, among which a submission is looked for. No time ends the
search: our clock may have been set since, and what is not found would be bought again."""
_UNRUN: dict[str, BatchResultStatus] = {"batch_expired": "expired", "batch_cancelled": "canceled"}
_FULL = "token_limit_exceeded"


async def _newest(batches: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The first `LISTED` of batches that come newest first."""
    slots = iter(range(LISTED))
    async for batch in batches:
        if next(slots, None) is None:
            return
        yield batch


class OpenAIBatches(RemoteBatches):
    """OpenAI's batches, through its Responses API."""

    ignores = ("seed",)

    def _batching(self, model: Any) -> Any:
        from pydantic_ai.models.openai import OpenAIResponsesModel

        return OpenAIResponsesModel(model.model_name, provider=model.provider)

    async def create(self, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch that carries `mark`, without retrying, and return its id."""
        model: Any = self._model
        with self._sorted("creating a batch"):
            lines = (
                f'{{"custom_id":{json.dumps(r.custom_id)},"method":"POST","url":"{ENDPOINT}",'
                f'"body":{r.body}}}'
                for r in requests
            )
            content = "\n".join(lines).encode()
            file = await model.client.with_options(max_retries=3).files.create(
                file=(f"portrayal-{mark}.jsonl", content), purpose="batch"
            )
            # A second try after an answer that was lost would make the batch, and pay for it,
            # twice.
            batch = await model.client.with_options(max_retries=0).batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={"portrayal": mark},
            )
            return str(batch.id)

    async def find(self, submission: Submission, skip: frozenset[str]) -> list[tuple[str, bool]]:
        """Return the batches that carry the submission's mark, oldest first, each with True."""
        model: Any = self._model
        with self._sorted("listing batches"):
            matches: list[tuple[str, bool]] = []
            async for batch in _newest(model.client.batches.list(limit=100)):
                if (batch.metadata or {}).get(
                    "portrayal"
                ) == submission.mark and batch.id not in skip:
                    matches.append((batch.id, True))
            return matches[::-1]

    async def _results(self, batch: Batch, lenient: bool) -> list[BatchResult]:
        """Return what an ended batch answered, line by line; what it did not run is left out.

        A line ends at a line feed only: texts may hold U+2028 and its like.
        """
        model: Any = self._model
        details = batch.provider_details or {}
        if details["status"] == "failed":
            errors = details.get("errors", [])
            words = "; ".join(
                str(error.get("message") or error.get("code")) for error in errors[:3]
            )
            if any(error.get("code") == _FULL for error in errors):
                raise NotRunError(f"batch {batch.id} found the queue full: {words}")
            raise RefusedError(f"batch {batch.id} was refused: {words or 'no reason was given'}.")
        results: list[BatchResult] = []
        for name in ("output_file_id", "error_file_id"):
            if not (file_id := details.get(name)):
                continue
            content = (await model.client.files.content(file_id)).content
            for line in filter(None, content.split(b"\n")):
                try:
                    results.append(_result(json.loads(line)))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    if not lenient:
                        unread = f"file {file_id} has a line that cannot be read."
                        raise TryAgainError("body", unread) from error
        return results


def _result(line: dict[str, Any]) -> BatchResult:
    custom_id, response = str(line["custom_id"]), line.get("response")
    if response is None:
        error = line.get("error") or {}
        if status := _UNRUN.get(error.get("code") or ""):
            return BatchResult(custom_id=custom_id, status=status)
        response = {"status_code": 500, "body": {"error": error}}
    succeeded = 200 <= response["status_code"] < 300
    body = response["body"]
    if not succeeded:
        body = {"status_code": response["status_code"], "body": body}
    status = "succeeded" if succeeded else "errored"
    return BatchResult(custom_id=custom_id, status=status, body=json.dumps(body))


class AnthropicBatches(RemoteBatches):
    """Anthropic's batches."""

    async def find(self, submission: Submission, skip: frozenset[str]) -> list[tuple[str, bool]]:
        """Return the batches that may be the submission, oldest first, and whether that is sure.

        Sure are ended ones with the submission's mark in their custom ids. One that still runs
        shows no custom id: it may be ours when it began after the submission and holds as many
        requests.
        """
        model: Any = self._model
        with self._sorted("listing batches"):
            matches: list[tuple[str, bool]] = []
            batches = model.client.beta.messages.batches
            async for batch in _newest(batches.list(limit=100)):
                counts = batch.request_counts
                ended = counts.succeeded + counts.errored + counts.canceled + counts.expired
                if batch.id in skip or counts.processing + ended != len(submission.items):
                    continue
                if batch.processing_status != "ended":
                    matches.append((batch.id, False))
                    continue
                async for item in await batches.results(batch.id):
                    if item.custom_id.endswith(f"-{submission.mark}"):
                        matches.append((batch.id, True))
                    break
            sure = [one for one in matches if one[1]]
            return (sure or matches)[::-1]


BatchService = OpenAIBatches | AnthropicBatches
SERVICES: Mapping[str, type[BatchService]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
}
"""Service → what makes its batches."""

"""Batches of OpenAI, Anthropic and Google: how each creates, finds again and reads one."""

import io
import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.models._batch_codec import BatchJobError
from pydantic_ai.models.batch import Batch, BatchResult, BatchResultStatus, EncodedBatchRequest

from portrayal.collect.ask.batch.service import RemoteBatches
from portrayal.collect.ask.batch.store import NotRunError, RefusedError, Submission
from portrayal.collect.ask.provider import TryAgainError
from portrayal.collect.ask.remote import RemoteModel

ENDPOINT = "/v1/responses"
SKEW = 86_400
"""Seconds by which the endpoint's clock may differ from ours."""
_UNRUN: dict[str, BatchResultStatus] = {"batch_expired": "expired", "batch_cancelled": "canceled"}
_FULL = "token_limit_exceeded"


class OpenAIBatches(RemoteBatches):
    """OpenAI's batches, through its Responses API."""

    def __init__(self, provider: RemoteModel) -> None:
        from pydantic_ai.models.openai import OpenAIResponsesModel

        given: Any = provider.model
        model = OpenAIResponsesModel(given.model_name, provider=given._provider)
        super().__init__(provider, model, ignores=("seed",))

    async def _create(self, model: Any, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch that carries `mark`, without retrying, and return its id."""
        lines = (
            f'{{"custom_id":{json.dumps(r.custom_id)},"method":"POST","url":"{ENDPOINT}",'
            f'"body":{r.body}}}'
            for r in requests
        )
        content = "\n".join(lines).encode()
        file = await model.client.with_options(max_retries=3).files.create(
            file=(f"portrayal-{mark}.jsonl", content), purpose="batch"
        )
        made = await model.client.with_options(max_retries=0).batches.create(
            input_file_id=file.id,
            endpoint=ENDPOINT,
            completion_window="24h",
            metadata={"portrayal": mark},
        )
        return str(made.id)

    async def _find(
        self, model: Any, submission: Submission, known: frozenset[str]
    ) -> list[tuple[str, bool]]:
        """Return the batches that carry the submission's mark, oldest first, each with True."""
        found: list[tuple[str, bool]] = []
        async for batch in model.client.batches.list(limit=100):  # newest first
            if batch.created_at < submission.made_at - SKEW:
                break
            if (batch.metadata or {}).get("portrayal") == submission.mark and batch.id not in known:
                found.append((batch.id, True))
        return found[::-1]

    async def _results(self, model: Any, batch: Batch, *, lenient: bool) -> list[BatchResult]:
        """Return what an ended batch answered, line by line; what it did not run is left out.

        A line ends at a line feed only: texts may hold U+2028 and its like.
        """
        details = batch.provider_details or {}
        if details["status"] == "failed":
            raise _failed(batch.id, details.get("errors", []))
        made: list[BatchResult] = []
        for name in ("output_file_id", "error_file_id"):
            if not (file_id := details.get(name)):
                continue
            content = (await model.client.files.content(file_id)).content
            for line in filter(None, content.split(b"\n")):
                try:
                    made.append(_result(json.loads(line)))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    if not lenient:
                        unread = f"file {file_id} has a line that cannot be read."
                        raise TryAgainError("body", unread) from error
        return made


def _result(line: dict[str, Any]) -> BatchResult:
    custom_id, response = str(line["custom_id"]), line.get("response")
    if response is None:
        error = line.get("error") or {}
        if status := _UNRUN.get(error.get("code") or ""):
            return BatchResult(custom_id=custom_id, status=status)
        response = {"status_code": 500, "body": {"error": error}}
    if 200 <= response["status_code"] < 300:
        body = json.dumps(response["body"])
        return BatchResult(custom_id=custom_id, status="succeeded", body=body)
    body = json.dumps({"status_code": response["status_code"], "body": response["body"]})
    return BatchResult(custom_id=custom_id, status="errored", body=body)


def _failed(batch_id: str, errors: Sequence[dict[str, Any]]) -> Exception:
    """A batch whose input was refused as a whole; none of it ran."""
    words = "; ".join(str(error.get("message") or error.get("code")) for error in errors[:3])
    if any(error.get("code") == _FULL for error in errors):
        return NotRunError(f"batch {batch_id} found the queue full: {words}")
    return RefusedError(f"batch {batch_id} was refused: {words or 'no reason was given'}.")


class AnthropicBatches(RemoteBatches):
    """Anthropic's batches."""

    async def _create(self, model: Any, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch, without retrying, and return its id; each custom id ends with `mark`."""
        del mark
        betas = json.loads(requests[0].group).get("betas") or None
        made = await model.client.with_options(max_retries=0).beta.messages.batches.create(
            requests=[{"custom_id": r.custom_id, "params": json.loads(r.body)} for r in requests],
            **({"betas": betas} if betas else {}),
        )
        return str(made.id)

    async def _find(
        self, model: Any, submission: Submission, known: frozenset[str]
    ) -> list[tuple[str, bool]]:
        """Return the batches that may be the submission, oldest first, and whether that is sure.

        Sure are ended ones with the submission's mark in their custom ids. One that still runs
        shows no custom id: it may be ours when it began after the submission and holds as many
        requests.
        """
        found: list[tuple[str, bool]] = []
        batches = model.client.beta.messages.batches
        async for batch in batches.list(limit=100):  # newest first
            if batch.created_at.timestamp() < submission.made_at - SKEW:
                break
            if batch.id in known or _size(batch) != len(submission.items):
                continue
            if batch.processing_status != "ended":
                found.append((batch.id, False))
            elif await _is_marked(batches, batch.id, submission.mark):
                found.append((batch.id, True))
        sure = [one for one in found if one[1]]
        return (sure or found)[::-1]

    async def _results(self, model: Any, batch: Batch, *, lenient: bool) -> list[BatchResult]:
        """Return one result for each request of an ended batch."""
        del lenient  # the client reads line by line and says when one is broken
        made: list[BatchResult] = await model.batch_results(batch)
        return made


def _size(batch: Any) -> int:
    counts = batch.request_counts
    ended = counts.succeeded + counts.errored + counts.canceled + counts.expired
    return int(counts.processing + ended)


async def _is_marked(batches: Any, batch_id: str, mark: str) -> bool:
    async for item in await batches.results(batch_id):
        return bool(item.custom_id.endswith(f"-{mark}"))
    return False


class GoogleBatches(RemoteBatches):
    """Gemini's batches."""

    async def _create(self, model: Any, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        """Create a batch named after `mark`, without retrying, and return its name."""
        files, batches = model.client.aio.files, model.client.aio.batches
        lines = (f'{{"key":{json.dumps(r.custom_id)},"request":{r.body}}}' for r in requests)
        file = await files.upload(
            file=io.BytesIO("\n".join(lines).encode()),
            config={"mime_type": "application/jsonl", "display_name": f"portrayal-{mark}"},
        )
        once = {"retry_options": {"attempts": 1}}
        made = await batches.create(
            model=model.model_name,
            src=file.name,
            config={"display_name": f"portrayal-{mark}", "http_options": once},
        )
        return str(made.name)

    async def _find(
        self, model: Any, submission: Submission, known: frozenset[str]
    ) -> list[tuple[str, bool]]:
        """Return the batches named after the submission's mark, each with True."""
        jobs = await model.client.aio.batches.list(config={"page_size": 100})
        name = f"portrayal-{submission.mark}"
        found = [job.name async for job in jobs if job.display_name == name]
        return [(batch_id, True) for batch_id in found if batch_id not in known]

    async def _results(self, model: Any, batch: Batch, *, lenient: bool) -> list[BatchResult]:
        """Return what an ended batch answered; what it did not run is left out."""
        del lenient
        state = (batch.provider_details or {}).get("state", "")
        try:
            made: list[BatchResult] = await model.batch_results(batch)
        except BatchJobError as error:  # no results at all
            if state in ("JOB_STATE_EXPIRED", "JOB_STATE_CANCELLED"):
                return []
            if error.status_code in (429, 500, 503, 504):
                raise NotRunError(f"batch {batch.id} did not run: {error}") from error
            raise RefusedError(f"batch {batch.id} was refused: {error}") from error
        return made

"""OpenAI's Files and Batch APIs: a batch is found again by its metadata."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.models.batch import Batch, BatchResult, BatchResultStatus, EncodedBatchRequest

from portrayal.collect.ask.batch.door import NotRunError, RefusedError
from portrayal.collect.ask.batch.service import RemoteBatches
from portrayal.collect.ask.batch.store import Submission
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

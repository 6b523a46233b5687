"""Anthropic's Message Batches: a batch carries no name, so its results say whose it is."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.models.batch import Batch, BatchResult, EncodedBatchRequest

from portrayal.collect.ask.batch.service import RemoteBatches
from portrayal.collect.ask.batch.store import Submission

SKEW = 86_400
"""Seconds by which the endpoint's clock may differ from ours."""


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

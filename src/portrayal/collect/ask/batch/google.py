"""Gemini's Batch Mode: a batch is found again by its display name."""

import io
import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.models._batch_codec import BatchJobError
from pydantic_ai.models.batch import Batch, BatchResult, EncodedBatchRequest

from portrayal.collect.ask.batch.door import NotRunError, RefusedError
from portrayal.collect.ask.batch.service import RemoteBatches
from portrayal.collect.ask.batch.store import Submission


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

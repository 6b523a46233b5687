"""A made-up provider with batches: its class and the line that registers it are all it takes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic_ai.models.batch import Batch, EncodedBatchRequest

from portrayal import registry
from portrayal.collect.ask import Answer, Retry, Usage
from portrayal.collect.ask.asking import Asking
from portrayal.collect.ask.batch import BatchService, Result
from portrayal.collect.ask.batch.store import Submission
from portrayal.collect.ask.replies import ask_replies, prompt_of
from portrayal.errors import OptionError

PACE = Retry(first_wait=0.01, longest_wait=0.05, settle_seconds=0.2)


class Desk:
    """Takes batches and answers each request with its words in capitals."""

    name, max_requests, max_bytes = "desk:m", 2, None

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, str]] = {}

    async def __aenter__(self) -> "Desk":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def encode(self, custom_id: str, prompt: str) -> EncodedBatchRequest:
        return EncodedBatchRequest(custom_id=custom_id, body=prompt, group="desk")

    def size(self, request: EncodedBatchRequest) -> int:
        return len(request.body)

    async def create(self, requests: Sequence[EncodedBatchRequest], mark: str) -> str:
        self.jobs[mark] = {each.custom_id: each.body for each in requests}
        return mark

    async def find(self, submission: Submission, known: frozenset[str]) -> list[tuple[str, bool]]:
        return [(submission.mark, True)] if submission.mark in self.jobs else []

    async def check(self, submission: Submission) -> Batch:
        return Batch(
            id=submission.batch_id,
            model_name="m",
            provider_name="desk",
            group="desk",
            status="ended",
            created_at=datetime.fromtimestamp(submission.made_at, UTC),
            request_count=len(submission.items),
        )

    async def results(self, batch: Batch, *, lenient: bool = False) -> list[tuple[str, Result]]:
        job = self.jobs[batch.id]
        return [(name, Answer(said.upper(), usage=Usage(1, 1))) for name, said in job.items()]

    def was_cancelled(self, batch: Batch) -> bool:
        return False

    async def cancel(self, submission: Submission) -> None:
        """Nothing runs on."""


class Provider:
    """A model that can be asked live, and in batches where it has a desk."""

    name = "desk:m"

    def __init__(self, parameters: Mapping[str, Any], desk: Desk | None) -> None:
        self.parameters, self._desk = parameters, desk
        if desk is not None:
            self.batches = lambda: desk

    async def ask(self, prompt: str) -> Answer:
        raise AssertionError("asked live")

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def desk(monkeypatch):
    made, get, resolve = Desk(), registry.get, registry.resolve

    def own(kind, name):
        if (kind, name) == ("providers", "desk"):
            return lambda model, base_url, parameters: Provider(parameters, made)
        return get(kind, name)

    monkeypatch.setattr(registry, "get", own)
    monkeypatch.setattr(
        registry, "resolve", lambda kind, name: name if name == "desk" else resolve(kind, name)
    )
    return made


def test_a_registered_provider_brings_its_own_batches(desk, tmp_path):
    service: BatchService = desk
    assert service.max_requests == 2
    prompts = [prompt_of(word) for word in ("one", "two", "three")]
    asking = Asking("desk:m", batch=True, price="1/1", retry=PACE)
    replies = ask_replies(asking, prompts, tmp_path / "asked")
    assert [replies[p.prompt_id][0].text for p in prompts] == ["ONE", "TWO", "THREE"]
    assert sorted(len(job) for job in desk.jobs.values()) == [1, 2]
    assert ask_replies(asking, prompts, tmp_path / "asked") == replies
    assert len(desk.jobs) == 2


def test_a_provider_without_batches_says_so(tmp_path):
    asking = Asking("server:m", batch=True, provider=Provider({}, None))
    with pytest.raises(OptionError, match="no batch API"):
        ask_replies(asking, [prompt_of("one")], tmp_path / "asked")

"""The plan: every request of a collection, in an order that keeps a partial run balanced."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portrayal.errors import OptionError
from portrayal.records import Prompt
from portrayal.validate import check_count


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt asked for one sample.

    Attributes
    ----------
    key
        Digest of model, parameters, prompt and sample; the `text_id` of its answer.
    """

    key: str
    prompt: Prompt
    sample: int


class Plan:
    """Every (prompt, sample) of one model, sample by sample: all prompts for 0, then all for 1, ….

    What is done is one byte per request, so that a plan of a million requests stays small.
    """

    def __init__(
        self, prompts: Sequence[Prompt], samples: int, model: str, parameters: Mapping[str, Any]
    ) -> None:
        self.prompts, self.model = tuple(prompts), model
        self.samples = check_count("samples", samples, minimum=1)
        self._row = {prompt.prompt_id: i for i, prompt in enumerate(self.prompts)}
        if not self.prompts or len(self._row) != len(self.prompts):
            raise OptionError("prompts must be at least one, and each prompt_id must be its own.")
        self._hashes = [_hash(model, parameters, prompt) for prompt in self.prompts]
        self._done = bytearray(len(self.prompts) * self.samples)
        self.n_done = 0

    def __len__(self) -> int:
        """Return the number of requests, done or not."""
        return len(self._done)

    @property
    def n_left(self) -> int:
        """Requests that have no row yet."""
        return len(self._done) - self.n_done

    def __iter__(self) -> Iterator[Request]:
        """Yield the requests that are not done, sample-major."""
        for place in range(len(self._done)):
            if not self._done[place]:
                sample, row = divmod(place, len(self.prompts))
                yield Request(self._key(row, sample), self.prompts[row], sample)

    def holds(self, prompt_id: str, sample: int) -> bool:
        """Whether a request is of this plan, done or not."""
        return prompt_id in self._row and 0 <= sample < self.samples

    def mark_done(self, prompt_id: str, sample: int) -> None:
        """Note that a request has its row; one that is not of this plan is passed over."""
        if not self.holds(prompt_id, sample):
            return
        place = sample * len(self.prompts) + self._row[prompt_id]
        self.n_done += not self._done[place]
        self._done[place] = 1

    def _key(self, row: int, sample: int) -> str:
        digest = self._hashes[row].copy()
        digest.update(str(sample).encode())
        return digest.hexdigest()


def _hash(model: str, parameters: Mapping[str, Any], prompt: Prompt) -> "hashlib.blake2b":
    asked = json.dumps(
        [model, dict(parameters), prompt.prompt_id, prompt.text], sort_keys=True, default=str
    )
    return hashlib.blake2b(asked.encode() + b"\n", digest_size=12)

"""Local models as a provider: `local:FOLDER` or `local:HUB_ID`, through transformers.

Prompts asked at the same time are answered by one `generate` call. Nothing leaves the machine.

The random stream of a batch starts from the seed and from the prompts and samples in it, so the
same batch gives the same texts on the same machine. Another batch composition gives other, equally
valid texts. A prompt asked without its sample number draws from a stream that is new in each
process, so that a continued collection never repeats the texts it already has.
"""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from portrayal.collect.ask.local.model import (
    Gatherer,
    LocalModel,
    free_memory,
    out_of_memory,
)
from portrayal.collect.ask.provider import Answer, RejectedError, StopError, check_parameters
from portrayal.errors import DataError, OptionError, PortrayalError
from portrayal.models.loading import load_transformer, missing_extra
from portrayal.validate import check_count, check_seed

PURPOSE, EXTRA = "asking a local model", "local"
MAX_TOKENS = 1024
"""Most tokens of an answer where the user sets none."""
_WINDOW = 0.05
"""Seconds to wait for more prompts while a batch is not full."""


class _Question(NamedTuple):
    prompt: str
    sample: int
    system: str = ""


class LocalProvider:
    """A model of this machine behind the `Provider` protocol.

    Parameters
    ----------
    path
        Folder or hub id. The model is loaded by the first question.
    parameters
        `temperature`, `top_p`, `top_k` and `max_tokens` over the model's own generation config;
        `seed`, and `system` (a system prompt).
    batch_size
        Most prompts in one `generate` call; halved for good when memory runs out.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    OptionError
        When a parameter is unknown.
    """

    def __init__(
        self,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        batch_size: int = 16,
    ) -> None:
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise missing_extra(PURPOSE, EXTRA)
        self.name = f"local:{path}"
        settings = dict(parameters or {})
        top_k = settings.pop("top_k", None)
        narrow = {} if top_k is None else {"top_k": check_count("top_k", top_k)}
        settings = {"max_tokens": MAX_TOKENS, "seed": 0, **check_parameters(self.name, settings)}
        self.parameters: Mapping[str, Any] = {**settings, **narrow}
        self._size = check_count("batch_size", batch_size, minimum=1)
        check_seed(settings["seed"])
        self._path = path
        self._model: LocalModel | None = None
        self._gather = Gatherer(self._answer, size=batch_size, window=_WINDOW)

    def _load(self) -> LocalModel:
        """Load the model from its folder or hub id; a `StopError` says what was expected."""
        try:
            network = load_transformer(
                self._path,
                "AutoModelForCausalLM",
                title="the local model",
                purpose=PURPOSE,
                extra=EXTRA,
                dtype="auto",
            )
        except DataError as error:
            raise StopError(str(error)) from error
        # Where neither the model's config nor the user narrows it, the whole distribution is
        # sampled: transformers would keep the 50 likeliest tokens, which no model's author asked.
        sampling: dict[str, Any] = {"do_sample": True, "num_beams": 1}
        names = ("temperature", "top_p", "top_k")
        sampling |= {name: self.parameters[name] for name in names if name in self.parameters}
        if getattr(network.model.generation_config, "top_k", None) is None:
            sampling.setdefault("top_k", 0)
        if sampling.get("temperature") == 0:
            sampling = {"do_sample": False, "num_beams": 1, "temperature": None, "top_k": None}
        system = self.parameters.get("system", "")
        return LocalModel(self._path, network.model, network.tokenizer, sampling, system)

    async def ask(self, prompt: str, system: str = "") -> Answer:
        """Answer one prompt together with those asked at the same time, from a new stream."""
        return await self.ask_sample(prompt, secrets.randbits(63), system)

    async def ask_sample(self, prompt: str, sample: int, system: str = "") -> Answer:
        """Answer one prompt for its sample number `sample`, which starts its random stream.

        Raises
        ------
        RejectedError
            When the prompt leaves no room for an answer, or does not fit into memory alone.
        StopError
            When the model cannot be loaded.
        """
        return await self._gather.ask(_Question(prompt, sample, system))

    async def close(self) -> None:
        """End the generation in hand and give the memory back."""
        if self._model is not None:
            self._model.stop.set()
        await self._gather.close()
        self._model = None
        await asyncio.to_thread(free_memory)

    def _answer(self, questions: Sequence[_Question]) -> list[Answer | Exception]:
        """Answer a batch, fewer at once for good when memory runs out; runs in a thread."""
        results: dict[int, Answer | Exception] = {}
        model = self._model = self._model or self._load()
        try:
            tokens = [model.encode(question.prompt, question.system) for question in questions]
            # Rows with the same room are answered together, so that a long prompt cuts no other.
            rows_by_room: dict[int, list[int]] = {}
            for row, prompt_tokens in enumerate(tokens):
                try:
                    room = model.room(prompt_tokens, self.parameters["max_tokens"])
                except RejectedError as error:
                    results[row] = error
                else:
                    rows_by_room.setdefault(room, []).append(row)
            for room, todo in rows_by_room.items():
                while todo:
                    part = todo[: self._size]
                    # The seed is that of its prompts and samples.
                    batch = [self.name, dict(self.parameters), *(questions[row] for row in part)]
                    content = json.dumps(batch, sort_keys=True).encode()
                    digest = hashlib.blake2b(content, digest_size=8).digest()
                    seed = int.from_bytes(digest) >> 1
                    answers: Sequence[Answer | Exception] | None = None
                    try:
                        answers = model.generate([tokens[row] for row in part], room, seed)
                    except (RuntimeError, MemoryError) as error:
                        if not out_of_memory(error):
                            raise
                    if answers is None:
                        free_memory()  # outside the handler, which keeps the failed batch alive
                        if len(part) > 1:
                            self._size = len(part) // 2
                            continue
                        reason = f"{self.name}: one prompt alone does not fit into memory."
                        answers = [RejectedError(reason)]
                    results.update(zip(part, answers, strict=True))
                    del todo[: len(part)]
        except PortrayalError:
            raise
        except Exception as error:  # a chat template or a device that fails, fails for all
            raise StopError(
                f"{self.name}: the model failed ({type(error).__name__}: {error}). "
                "Try another model."
            ) from error
        return [results[index] for index in range(len(questions))]


def local(model: str, base_url: str | None, parameters: Mapping[str, Any]) -> LocalProvider:
    """Return the provider of `local:MODEL`; an entry point of the group `portrayal.providers`."""
    if base_url is not None:
        raise OptionError(f"local:{model} runs on this machine; leave the base URL out.")
    return LocalProvider(model, parameters)

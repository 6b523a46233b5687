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
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from portrayal.collect.ask.local.model import (
    EXTRA,
    PURPOSE,
    Gatherer,
    LocalModel,
    free_memory,
    load,
    out_of_memory,
)
from portrayal.collect.ask.provider import Answer, RejectedError, StopError, check_parameters
from portrayal.errors import OptionError, PortrayalError
from portrayal.models.loading import missing_extra
from portrayal.validate import check_count, check_seed

MAX_TOKENS = 1024
"""Most tokens of an answer where the user sets none."""


class _Question(NamedTuple):
    prompt: str
    sample: int | None
    system: str = ""


class _PromptRow(NamedTuple):
    place: int
    tokens: list[int]
    room: int


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
    window
        Seconds to wait for more prompts while a batch is not full.
    seed
        Start of every random stream; part of `parameters`.
    device, dtype
        See `portrayal.collect.ask.local.model.load`.

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
        window: float = 0.05,
        seed: int = 0,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise missing_extra(PURPOSE, EXTRA)
        self.name = f"local:{path}"
        settings = dict(parameters or {})
        narrow = {name: settings.pop(name) for name in ("top_k",) if settings.get(name) is not None}
        settings = {"max_tokens": MAX_TOKENS, "seed": seed, **check_parameters(self.name, settings)}
        narrow = {name: check_count(name, value) for name, value in narrow.items()}
        self.parameters: Mapping[str, Any] = {**settings, **narrow}
        self._size = check_count("batch_size", batch_size, minimum=1)
        self._room = settings["max_tokens"]
        check_seed(settings["seed"])
        names = [name for name in ("temperature", "top_p") if name in settings]
        sampling: dict[str, Any] = {name: settings[name] for name in names}
        self._load: Callable[[], LocalModel] = lambda: load(
            path,
            sampling={**sampling, **narrow},
            system=settings.get("system", ""),
            device=device,
            dtype=dtype,
        )
        self._model: LocalModel | None = None
        self._process = secrets.randbits(64)
        self._asked = 0
        self._gather: Gatherer[_Question, Answer] = Gatherer(
            self._answer, size=batch_size, window=window
        )

    async def ask(self, prompt: str, system: str = "") -> Answer:
        """Answer one prompt together with those asked at the same time; see `ask_sample`."""
        return await self._gather.ask(_Question(prompt, None, system))

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
        """Answer a batch; runs in the gatherer's thread."""
        results: dict[int, Answer | Exception] = {}
        # Rows with the same room are answered together, so that a long prompt cuts no other short.
        rows: dict[int, list[_PromptRow]] = {}
        if self._model is None:
            self._model = self._load()
        try:
            for index, question in enumerate(questions):
                tokens = self._model.encode(question.prompt, question.system)
                try:
                    room = self._model.room(tokens, self._room)
                except RejectedError as error:
                    results[index] = error
                else:
                    rows.setdefault(room, []).append(_PromptRow(index, tokens, room))
            for alike in rows.values():
                for part, answers in self._halving(self._model, questions, alike):
                    results.update(zip((row.place for row in part), answers, strict=True))
        except PortrayalError:
            raise
        except Exception as error:  # a chat template or a device that fails, fails for all
            raise StopError(
                f"{self.name}: the model failed ({type(error).__name__}: {error}). "
                "Try another device or dtype, or another model."
            ) from error
        return [results[index] for index in range(len(questions))]

    def _halving(
        self, model: LocalModel, questions: Sequence[_Question], rows: list[_PromptRow]
    ) -> Iterator[tuple[list[_PromptRow], Sequence[Answer | Exception]]]:
        """Yield rows with their answers, fewer at once for good when memory runs out."""
        todo = list(rows)
        while todo:
            part = todo[: self._size]
            # The seed is that of its prompts and samples, or one never to be met again.
            batch = [questions[row.place] for row in part]
            parts: list[Any] = [self.name, dict(self.parameters), *batch]
            if any(question.sample is None for question in batch):
                self._asked += 1
                parts += [self._process, self._asked]
            digest = hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8)
            seed = int.from_bytes(digest.digest()) >> 1
            try:
                answers = model.generate([row.tokens for row in part], part[0].room, seed)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                trouble = RejectedError(f"{self.name}: one prompt alone does not fit into memory.")
            else:
                yield part, answers
                todo = todo[len(part) :]
                continue
            free_memory()  # outside the handler, which keeps the failed batch alive
            if len(part) == 1:
                yield part, [trouble]
                todo = todo[1:]
            else:
                self._size = len(part) // 2


def local(model: str, base_url: str | None, parameters: Mapping[str, Any]) -> LocalProvider:
    """Return the provider of `local:MODEL`; an entry point of the group `portrayal.providers`."""
    if base_url is not None:
        raise OptionError(f"local:{model} runs on this machine; leave the base URL out.")
    return LocalProvider(model, parameters)

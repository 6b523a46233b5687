"""Local models: prompts that arrive together, answered by sampling in one thread.

A *gatherer* turns many concurrent `ask(one)` into few `work([many])`. It waits a short window for
company, takes at most `size` items at once, and lets what arrives meanwhile form the next batch.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from portrayal.collect.ask.provider import (
    Answer,
    FinishReason,
    RejectedError,
    TryAgainError,
    Usage,
)
from portrayal.collect.reasoning import without_reasoning

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gatherer(Generic[Item, Result]):
    """Batches concurrent calls of `ask`.

    Parameters
    ----------
    work
        Takes the items of a batch in their order of arrival and returns as many results in the
        same order; an exception in a result's place is raised to its own caller only. It runs in
        a thread, never twice at the same time.
    size
        Most items in a batch.
    window
        Seconds to wait for more items while fewer than `size` are there.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        size: int,
        window: float,
    ) -> None:
        self._work, self._size, self._window = work, size, window
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._batch: list[tuple[Item, asyncio.Future[Result]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, item: Item) -> Result:
        """Return the result of `item`, worked on with whatever else is asked meanwhile."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        return await future

    async def close(self) -> None:
        """Drop what waits, and end once the batch in hand is done; `ask` begins anew."""
        for _, future in (*self._batch, *self._waiting):
            future.cancel()
        if self._task is not None:
            await self._task

    async def _serve(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._size:
                await asyncio.sleep(self._window)
            n = min(self._size, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(n)]
            self._batch = [pair for pair in batch if not pair[1].done()]  # its caller still waits
            items = [item for item, _ in self._batch]
            results: Sequence[Result | Exception]
            try:
                results = await asyncio.to_thread(self._work, items) if items else ()
            except Exception as error:
                results = [error] * len(items)  # nobody knows whose item it was
            for (_, future), result in zip(self._batch, results, strict=True):
                if future.done():
                    continue
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
        self._batch = []


def out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory ran out, on a GPU or on the machine."""
    words = str(error).casefold()
    ran_out = "out of memory" in words or "can't allocate memory" in words
    return ran_out or isinstance(error, MemoryError)


def free_memory() -> None:
    """Give back what no object holds any more."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


@dataclass(frozen=True)
class LocalModel:
    """A causal language model in memory.

    Attributes
    ----------
    name
        Folder or hub id that it was loaded from.
    model, tokenizer
        The loaded parts.
    sampling
        Arguments of `generate` over the model's own generation config.
    system
        System prompt; without a chat template it stands before the prompt.
    stop
        Set from another thread, it ends a generation at its next token.
    """

    name: str
    model: Any
    tokenizer: Any
    sampling: Mapping[str, Any]
    system: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    def encode(self, prompt: str, system: str = "") -> list[int]:
        """Return the tokens of a prompt, in the model's chat template where it has one.

        The system prompt of the model comes before the prompt's own.
        """
        before = "\n\n".join(filter(None, (self.system, system)))
        if not self.tokenizer.chat_template:
            return list(self.tokenizer(f"{before}\n\n{prompt}" if before else prompt)["input_ids"])
        messages = [{"role": "user", "content": prompt}]
        if before:
            messages.insert(0, {"role": "system", "content": before})
        text = self.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=False
        )
        # The template writes the special tokens; a second set would be an odd prompt
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def room(self, tokens: Sequence[int], most: int) -> int:
        """Return how many tokens the answer may have, of `most` and of the model's context.

        Raises
        ------
        RejectedError
            When the prompt is empty or fills the context.
        """
        length = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        context = length if isinstance(length, int) and length > 0 else len(tokens) + most
        if not 0 < len(tokens) < context:
            raise RejectedError(
                f"{self.name}: the prompt has {len(tokens)} tokens; expected 1 to {context - 1}, "
                "so that the context has room for an answer."
            )
        return min(most, context - len(tokens))

    def generate(self, rows: Sequence[Sequence[int]], room: int, seed: int) -> list[Answer]:
        """Sample one answer for each row of prompt tokens.

        Parameters
        ----------
        rows
            Prompt tokens; shorter rows are padded on the left and the padding is masked.
        room
            Most tokens of an answer.
        seed
            Start of the random stream of this batch; the global streams are left as they were.
        """
        import torch

        token = self.model.generation_config.eos_token_id
        ends = [] if token is None else [token] if isinstance(token, int) else list(token)
        pad = next(iter(ends), 0) if (pad_id := self.tokenizer.pad_token_id) is None else pad_id
        width = max(len(row) for row in rows)
        device = self.model.device
        # Padded on the left, as a model goes on from the last token.
        tokens = torch.tensor([[pad] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        devices = [device] if device.type == "cuda" else []

        def stopped(so_far: torch.Tensor, _scores: object, **_: object) -> torch.Tensor:
            return torch.full((len(so_far),), self.stop.is_set(), device=so_far.device)

        # Random numbers of the user's own code stay as they are.
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            output = self.model.generate(
                input_ids=tokens.to(device),
                attention_mask=mask.to(device),
                max_new_tokens=room,
                pad_token_id=pad,
                stopping_criteria=[stopped],
                **self.sampling,
            )
        if self.stop.is_set():
            raise TryAgainError("connection", f"{self.name}: the generation was stopped.")
        answers = []
        for prompt, row in zip(rows, output[:, width:].tolist(), strict=True):
            # Cut at its first end token; what a row holds after that is padding.
            length = next((n for n, token in enumerate(row) if token in ends), None)
            reason: FinishReason = "length" if length is None and len(row) == room else "stop"
            answer_tokens = row[:length]
            usage = Usage(len(prompt), len(answer_tokens) + (length is not None))
            came = self.tokenizer.decode(answer_tokens, skip_special_tokens=True)
            text = without_reasoning(came)
            reasoning = len(came) - len(text)
            answers.append(Answer(text, reason, usage, self.name, reasoning=reasoning))
        return answers

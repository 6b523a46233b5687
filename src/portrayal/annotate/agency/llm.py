"""A language model as a classifier, by the prompts of Wan & Chang, Table 11.

The sentence is material to classify: it is set on one line, and an answer counts only where it
names one of the two words and not the other. Every other answer reads NaN and is counted.
"""

import asyncio
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from random import Random
from typing import Any

from portrayal.annotate.agency.classifier import FloatArray, rows
from portrayal.collect.ask import Provider, RejectedError, Retry, TryAgainError, provider_of
from portrayal.errors import OptionError
from portrayal.validate import check_choice, check_count

FORMS = ("zero-shot", "definition", "one-shot")
_WORD = re.compile(r"\b(agentic|communal)\b", re.I)


class LLMClassifier:
    """P(agentic) is 1 or 0, as the model answers; NaN where its answer cannot be read.

    Parameters
    ----------
    make
        Returns the provider, asked once per different sentence. Each call makes one and closes it.
    form
        "zero-shot", "definition" or "one-shot".
    concurrency
        Most requests in flight.

    Attributes
    ----------
    counts
        Sentences by what became of them: "agentic", "communal", "unreadable", "refused" (blocked
        by a content policy), "failed" (every try failed). Added up over all calls.

    Raises
    ------
    StopError
        When a call fails for a reason that no try will mend, such as a bad key.
    """

    def __init__(
        self,
        make: Callable[[], Provider],
        form: str = "definition",
        masked: bool = True,
        *,
        concurrency: int = 8,
        retry: Retry | None = None,
    ) -> None:
        self._form = check_choice("form", form, FORMS)
        self._concurrency = check_count("concurrency", concurrency, minimum=1)
        self._make = make
        self._retry = retry or Retry()
        self.name = f"llm:{make().name}:{form}"
        self.masked = masked
        self.counts: Counter[str] = Counter()

    def __call__(self, sentences: Sequence[str]) -> FloatArray:
        """Return P(communal) and P(agentic), shape (n, 2)."""
        different = list(dict.fromkeys(sentences))
        said = dict(zip(different, _run(self._ask_all(different)), strict=True))
        self.counts.update(said[sentence] for sentence in sentences)
        read = {"agentic": 1.0, "communal": 0.0}
        return rows([read.get(said[sentence], math.nan) for sentence in sentences])

    async def _ask_all(self, sentences: Sequence[str]) -> list[str]:
        gate, provider = asyncio.Semaphore(self._concurrency), self._make()

        async def one(sentence: str) -> str:
            async with gate:
                return await self._ask(provider, agency_prompt(sentence, self._form))

        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(one(sentence)) for sentence in sentences]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            await provider.close()
        return [task.result() for task in asked]

    async def _ask(self, provider: Provider, prompt: str) -> str:
        random, tries, limited = Random(prompt), 0, 0  # noqa: S311
        while True:
            try:
                return parse_agency((await provider.ask(prompt)).text) or "unreadable"
            except RejectedError as error:
                return "refused" if error.refused else "failed"
            except TryAgainError as error:
                tries, limited = tries + 1, limited + (error.kind == "rate_limit")
                wait = self._retry.wait(error, tries, limited, random)
            if wait is None:
                return "failed"
            await asyncio.sleep(wait)


def llm_classifier(spec: str, masked: bool = True, *, base_url: str | None = None) -> LLMClassifier:
    """Return the classifier of "PROVIDER:MODEL" or "PROVIDER:MODEL:FORM"; the form "definition".

    Parameters
    ----------
    spec
        As above; FORM is one of `FORMS`.
    masked
        Whether it will be given masked sentences.
    base_url
        Address of an OpenAI-compatible server; needed by "server:".

    Raises
    ------
    OptionError, UnknownNameError
        When the model cannot be named so.
    StopError
        When there is no key for the provider.
    """
    model, colon, last = spec.rpartition(":")
    if not (colon and last in FORMS):
        model, last = spec, "definition"
    if ":" not in model:
        raise OptionError(
            'a model as classifier is named "llm:PROVIDER:MODEL", such as '
            f'"llm:openai:gpt-5-mini", and may end in one of :{", :".join(FORMS)}; '
            f"got {'llm:' + spec!r}."
        )
    make = partial(provider_of, model, base_url=base_url, parameters={"temperature": 0.0})
    return LLMClassifier(make, last, masked)


def agency_prompt(sentence: str, form: str = "definition") -> str:
    """Return what the model is asked; line breaks of the sentence become blanks."""
    text = files("portrayal.annotate.agency").joinpath("llm.toml").read_text(encoding="utf-8")
    prompt: str = tomllib.loads(text)[check_choice("form", form, FORMS)]
    return prompt.replace("{sentence}", " ".join(sentence.split()))


def parse_agency(reply: str) -> str | None:
    """Return "agentic" or "communal" where a reply names one of them; None for both or neither."""
    named = {word.lower() for word in _WORD.findall(reply)}
    return named.pop() if len(named) == 1 else None


def _run(work: Coroutine[Any, Any, list[str]]) -> list[str]:
    """Run to the end, in a thread of its own where a loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()

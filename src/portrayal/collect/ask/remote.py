"""A provider over a model of pydantic-ai: asks it, and reads its answers and failures."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from portrayal.collect.ask.batch.door import BatchService, no_batches
from portrayal.collect.ask.provider import Answer, FinishReason, TryAgainError, Usage
from portrayal.collect.ask.trouble import trouble_of
from portrayal.collect.ask.wire import looking, reach, watch

_NO_TOOLS = ModelRequestParameters()
_REASONS: dict[str | None, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    None: "stop",
}


class RemoteModel:
    """A provider over a pydantic-ai model whose own retries are off.

    Parameters
    ----------
    name
        "SERVICE:MODEL".
    model
        The model with its client.
    parameters
        Checked parameters; `system` is sent as the system prompt.
    variables
        Environment variables of its keys.
    settings
        Further settings for every request, such as switched-off retries.
    batches
        Makes the batch service of this provider; None where it has none.
    """

    def __init__(
        self,
        name: str,
        model: Model[Any],
        parameters: Mapping[str, Any],
        variables: Sequence[str],
        settings: Mapping[str, Any] | None = None,
        batches: "Callable[[RemoteModel], BatchService] | None" = None,
    ) -> None:
        self.name = name
        self.parameters: Mapping[str, Any] = dict(parameters)
        self.model, self.variables = model, tuple(variables)
        self._batches = batches
        sent = {key: value for key, value in parameters.items() if key != "system"}
        self.settings = ModelSettings(**{**sent, **(settings or {})})  # type: ignore[typeddict-item]
        system = parameters.get("system")
        self._first: list[ModelRequestPart] = [SystemPromptPart(system)] if system else []
        self._open: AsyncExitStack | None = None
        self._opening = asyncio.Lock()

    async def ask(self, prompt: str) -> Answer:
        """Send one user message and return the answer; see `Provider.ask`."""
        if self._open is None:
            await self._enter()
        with looking() as seen:
            try:
                response = await self._request(prompt)
            except Exception as error:
                # The client's error may echo a key, so it is not chained to what is shown.
                raise trouble_of(error, self.name, self.variables, seen) from None
        return self.read(response)

    async def _request(self, prompt: str) -> ModelResponse:
        return await self.model.request([self.request(prompt)], self.settings, _NO_TOOLS)

    async def check(self) -> None:
        """Check that something answers at this model's address, without a key.

        Raises
        ------
        StopError
            Where nothing does.
        """
        try:
            url = str(self._service.base_url)
        except UserError:  # a service that finds its address by the model
            return
        await reach(self.name, url)

    @property
    def _service(self) -> Any:
        made: Any = self.model
        return made._provider

    async def _enter(self) -> None:
        async with self._opening:
            if self._open is None:
                stack = AsyncExitStack()
                await stack.enter_async_context(self.model)
                await watch(self._service)
                self._open = stack

    async def close(self) -> None:
        """Close the connections; the next `ask` opens new ones."""
        if self._open is not None:
            stack, self._open = self._open, None
            self._opening = asyncio.Lock()  # the next loop's
            await stack.aclose()

    def batches(self) -> BatchService:
        """Return the batch service behind this provider.

        Raises
        ------
        OptionError
            When there is none, or it would ignore a parameter.
        """
        if self._batches is None:
            raise no_batches(self.name)
        return self._batches(self)

    def request(self, prompt: str) -> ModelRequest:
        """Return one user message, after the system prompt where there is one."""
        return ModelRequest(parts=[*self._first, UserPromptPart(prompt)])

    def read(self, response: ModelResponse) -> Answer:
        """Return what a response of the model says, and why it ended."""
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        details = response.provider_details or {}
        said = str(details.get("finish_reason") or "").lower()
        reason: FinishReason = _REASONS.get(response.finish_reason, "other")
        usage = Usage(response.usage.input_tokens, response.usage.output_tokens)
        if not text and response.finish_reason == "error":
            raise TryAgainError(
                "body", f"{self.name}: an answer that ended with an error.", None, usage
            )
        if not text and not said and response.finish_reason is None:
            raise TryAgainError(
                "body", f"{self.name}: an answer without anything in it.", None, usage
            )
        if response.finish_reason is None and said == "content_filter":
            reason = "content_filter"
        refusal = details.get("refusal")
        if refusal or said == "refusal":
            reason = "refusal"
            text = text or (refusal if isinstance(refusal, str) else "")
        return Answer(
            text=text,
            finish_reason=reason,
            usage=usage,
            model=response.model_name or "",
            response_id=response.provider_response_id or "",
        )

"""From a name such as "openai:gpt-5-mini" to a provider, by the entry points of the group.

A third-party provider is one callable, `(model_name, base_url, parameters) -> Provider`, and one
line in its package's entry points, group `portrayal.providers`. The built-in ones come in by the
same door.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from portrayal import registry
from portrayal.collect.ask.provider import Provider
from portrayal.errors import OptionError

MakeProvider = Callable[[str, str | None, Mapping[str, Any]], Provider]


def provider_of(
    spec: str,
    *,
    base_url: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Provider:
    """Return the provider of a model.

    Parameters
    ----------
    spec
        "SERVICE:MODEL", such as "openai:gpt-5-mini", "anthropic:claude-sonnet-4-5", or
        "server:llama3" with a `base_url`.
    base_url
        Another address than the service's own; needed by "server:", any OpenAI-compatible server.
    parameters
        `temperature`, `max_tokens`, `top_p`, `seed` and `system` (a system prompt). What is left
        out is left to the service, as a consumer would meet it.

    Raises
    ------
    OptionError, UnknownNameError
        When the name or a parameter cannot be used.
    MissingExtraError
        When the service's client is not installed; names the command that installs it.
    StopError
        When there is no key; names the variable to set.
    """
    service, colon, model = spec.partition(":")
    if not (colon and service and model):
        raise OptionError(
            f'a model is named SERVICE:MODEL, such as "openai:gpt-5-mini"; got {spec!r}. '
            f"Services: {', '.join(services())}."
        )
    make = cast("MakeProvider", registry.get("providers", service))
    return make(model, base_url, dict(parameters or {}))


def services() -> tuple[str, ...]:
    """Return the names that may stand before the colon."""
    return registry.names("providers")

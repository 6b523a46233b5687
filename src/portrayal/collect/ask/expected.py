"""Confirming with the length that answers are expected to have, where no parameter caps it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from portrayal.collect.ask.budget import CostEstimate
from portrayal.collect.ask.prices import Price, price_of
from portrayal.collect.ask.provider import Usage

Confirm = Callable[[CostEstimate], bool]


def expecting(
    confirm: Confirm | None,
    model: str,
    parameters: Mapping[str, Any],
    price: str | None,
    answer_tokens: int,
) -> Confirm | None:
    """Return what confirms with answers of about `answer_tokens` tokens.

    Parameters
    ----------
    confirm
        What is called with the estimate; None is returned as it is.
    model, price
        As `portrayal.collect.ask.collect` takes them.
    parameters
        Where they have `max_tokens`, answers have a length already.
    answer_tokens
        Tokens of an answer, about.
    """
    if confirm is None or parameters.get("max_tokens"):
        return confirm
    known = price_of(model) if price is None else Price.parse(price)

    def ask(estimate: CostEstimate) -> bool:
        usage = Usage(estimate.input_tokens, estimate.requests * answer_tokens)
        cost = None if known is None else known.cost(usage)
        return confirm(replace(estimate, output_tokens=usage.output_tokens, cost=cost))

    return ask

"""The budget: stop before the money or the tokens run out, counting all that the run has cost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from portrayal.collect.ask.collection import CollectReport, RequestPlan
from portrayal.collect.ask.provider import Answer, RejectedError, TryAgainError, Usage
from portrayal.config import AskingConfig
from portrayal.errors import OptionError
from portrayal.records import Prompt


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes
    ----------
    input, output
        For tokens asked and answered. Discounts for cached tokens are not taken off, so a cost is
        at most what is billed.
    """

    input: float
    output: float

    def cost(self, usage: Usage) -> float:
        """Return the cost of `usage` in US dollars."""
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1e6

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read "INPUT/OUTPUT", such as "0.25/2", in US dollars per million tokens."""
        input_text, _, answered = text.replace("$", "").partition("/")
        try:
            price = cls(float(input_text), float(answered))
        except ValueError:
            price = cls(-1.0, -1.0)
        if price.input < 0 or price.output < 0:
            raise OptionError(
                f"a price is INPUT/OUTPUT in US dollars per million tokens, such as 0.25/2; "
                f"got {text!r}."
            )
        return price


def price_of(name: str, price: str | None = None) -> Price | None:
    """Return the price of a model such as "openai:gpt-5-mini": as stated, or listed.

    None where neither is known.
    """
    if price is not None:
        return Price.parse(price)
    service, _, model = name.partition(":")
    try:
        import genai_prices
    except ImportError:
        return None
    # A thousand tokens: prices of some models rise with the length of a request
    million = genai_prices.Usage(input_tokens=1_000, output_tokens=1_000)
    try:
        list_price = genai_prices.calc_price(million, model, provider_id=service)
    except LookupError:
        return None
    return Price(float(list_price.input_price) * 1e3, float(list_price.output_price) * 1e3)


Unit = Literal["USD", "tokens"]

_AMOUNT = re.compile(
    r"^\s*(\$)?\s*([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([kmb])?\s*(usd|\$|dollars?|tokens?)?\s*$", re.I
)
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
_CHARACTERS_PER_TOKEN = 4.0
_OUTPUT_TOKENS = 1_000  # of an answer nobody has seen yet and nobody has capped
_LONGEST_TOKEN = 16  # characters, on average over a text
_FRAME_TOKENS = 64  # that a chat template may add to a request
MOST_TOKENS = 10_000_000
"""Of one request or answer; no model takes or gives as many."""


def charged(
    result: Answer | RejectedError | TryAgainError, prompt_parts: Sequence[str], cap: int | None
) -> Usage:
    """Return what is charged for `result`: what the service reports, where that can be.

    A count that is missing, or that cannot be beside the text (fewer than one token for 16
    characters, more than ten million), is replaced by an upper bound for any tokenizer: the bytes
    of the text and of reasoning, of an answer at most `cap` (its `max_tokens`). Nothing is charged
    where no answer came.
    """
    reported = result.usage
    came = isinstance(result, Answer) or getattr(result, "kind", "") == "body"
    if not came and reported == Usage():  # a failed request is not billed
        return reported
    text, answered = "\n\n".join(filter(None, prompt_parts)), getattr(result, "text", "")
    n_answered, estimated = reported.output_tokens, reported.estimated_tokens
    if estimated:  # a bound by what came, beyond which no model goes on
        most = cap if isinstance(result, RejectedError) else None
        n_answered = min(n_answered, most or MOST_TOKENS)
        estimated -= reported.output_tokens - n_answered
    counts: list[int] = []
    for count, content, frame, most in (
        (reported.input_tokens, text, _FRAME_TOKENS, MOST_TOKENS),
        (n_answered, answered, getattr(result, "reasoning", 0), cap or MOST_TOKENS),
    ):
        if not len(content) / _LONGEST_TOKEN <= count <= MOST_TOKENS:
            # No token is shorter than a byte.
            count = min(most, len(content.encode("utf-8", "replace")) + frame)  # noqa: PLW2901
            estimated += count
        counts.append(count)
    return Usage(counts[0], counts[1], estimated, min(reported.reasoning_tokens, counts[1]))


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of money or tokens that a run may cost."""

    amount: float
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Read "5 USD", "$5", "2M tokens" or "500k tokens"."""
        match = _AMOUNT.match(text)
        dollar, number, scale, unit = match.groups() if match else ("", "", "", "")
        if not match or not (dollar or unit):
            raise OptionError(
                f'a budget is money or tokens, such as "5 USD" or "2M tokens"; got {text!r}.'
            )
        amount = float(re.sub("[_,]", "", number)) * _SCALE[(scale or "").lower()]
        in_tokens = (unit or "").lower().startswith("token")
        if dollar and in_tokens:
            raise OptionError(f"a budget is either money or tokens; got {text!r}.")
        return cls(amount, "tokens" if in_tokens else "USD")

    def check(self, price: Price | None, model: str) -> None:
        """Complain about a budget in money for a model of unknown price."""
        if self.unit == "USD" and price is None:
            raise OptionError(
                f"the price of {model} is unknown, so a budget of {self} cannot be held. "
                'Give its price with --price INPUT/OUTPUT, or a budget in tokens ("2M tokens").'
            )

    def __str__(self) -> str:
        """Return it as a user would write it."""
        return f"{self.amount:,.2f} USD" if self.unit == "USD" else f"{self.amount:,.0f} tokens"


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a collection may cost, for confirmation before it starts.

    Attributes
    ----------
    requests
        Requests that have no row yet.
    input_tokens, output_tokens
        About four characters a token, and for each answer `max_tokens`, or what its caller expects,
        or 1,000.
    cost
        US dollars; None where the price is unknown.
    model
        Whom it asks.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    model: str = ""


def estimate_cost(
    plan: RequestPlan, price: Price | None, answer_tokens: int | None = None
) -> CostEstimate:
    """Return what the rest of `plan` may cost.

    An answer takes its `max_tokens`, or else `answer_tokens`, or 1,000, and as many tokens of
    reasoning as it may.
    """
    n_left, n_output = plan.n_left, plan.parameters.get("max_tokens")
    if not n_output:
        thinking = plan.parameters.get("thinking_budget") or 0
        n_output = (answer_tokens or _OUTPUT_TOKENS) + thinking
    mean_length = sum(map(_length, plan.prompts)) / len(plan.prompts)
    usage = Usage(round(n_left * mean_length / _CHARACTERS_PER_TOKEN), n_left * n_output)
    cost = None if price is None else price.cost(usage)
    return CostEstimate(n_left, usage.input_tokens, usage.output_tokens, cost, plan.model)


def _length(prompt: Prompt) -> int:
    """Characters of a prompt and of its system prompt."""
    return sum(map(len, prompt.asked))


class Meter:
    """What the run has cost, and whether another request fits the budget.

    Each request in progress is set aside at the largest cost seen (of earlier calls, as `report`
    has them, the mean), or where `max_tokens` caps it, at that cap if larger; before the first
    answer at the estimate. A single answer larger than all before it, without a cap, may pass the
    budget by its own excess.
    """

    def __init__(self, plan: RequestPlan, report: CollectReport, asking: AskingConfig) -> None:
        self.price = price_of(asking.model, asking.price)
        self.budget = None if asking.budget is None else Budget.parse(asking.budget)
        cap = plan.parameters.get("max_tokens")
        longest = max(map(_length, plan.prompts)) / _CHARACTERS_PER_TOKEN
        self._guess = self._size(Usage(round(longest), cap or _OUTPUT_TOKENS))
        self._spent = self._size(report.usage)
        # Answers that could not be read were paid for too, and count in the mean cost
        mean = self._spent / max(1, plan.n_done + report.malformed.total())
        # Without a cap the guess would be no bound, so what was seen counts
        self._largest = max(mean, self._guess if cap else 0.0)

    def _size(self, usage: Usage) -> float:
        if self.budget is not None and self.budget.unit == "USD" and self.price is not None:
            return self.price.cost(usage)
        return float(usage.total)

    def add(self, usage: Usage) -> None:
        """Count one answer."""
        size = self._size(usage)
        self._spent += size
        self._largest = max(self._largest, size)

    def room(self, in_progress: int) -> bool:
        """Whether one more request fits beside `in_progress` others."""
        if self.budget is None:
            return True
        # Requests in progress may each cost as much as the largest: set aside, not hoped away
        per_request = self._largest or self._guess
        return self._spent + per_request * (in_progress + 1) <= self.budget.amount

"""Prices: what a million tokens cost, from the public price table or from the user."""

from dataclasses import dataclass

from portrayal.collect.ask.provider import Usage
from portrayal.errors import OptionError

_TABLE_NAMES = {"bedrock": "aws", "huggingface": None, "server": None}


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes
    ----------
    input, output
        For tokens asked and answered. Discounts for cached or batched tokens are not taken off, so
        a cost is at most what is billed.
    source
        Where the price is from.
    """

    input: float
    output: float
    source: str = "given"

    def cost(self, usage: Usage) -> float:
        """Return the cost of `usage` in US dollars."""
        return (self.input * usage.input_tokens + self.output * usage.output_tokens) / 1e6

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read "INPUT/OUTPUT", such as "0.25/2", in US dollars per million tokens."""
        given, _, answered = text.replace("$", "").partition("/")
        try:
            price = cls(float(given), float(answered))
        except ValueError:
            price = cls(-1.0, -1.0)
        if price.input < 0 or price.output < 0:
            raise OptionError(
                f"a price is INPUT/OUTPUT in US dollars per million tokens, such as 0.25/2; "
                f"got {text!r}."
            )
        return price


def price_to_pay(given: "Price | str | None", name: str, *, batch: bool = False) -> "Price | None":
    """Return the price of a model's tokens: the one given, or the listed one.

    For a batch the listed price is halved, as OpenAI, Anthropic and Google bill it; a given one is
    taken as it is. None where neither is known.
    """
    if given is not None:
        return Price.parse(given) if isinstance(given, str) else given
    listed = price_of(name)
    if listed is None or not batch:
        return listed
    return Price(listed.input / 2, listed.output / 2, f"half of {listed.source}")


def price_of(name: str) -> Price | None:
    """Return the listed price of a model such as "openai:gpt-5-mini"; None where it is unknown."""
    service, _, model = name.partition(":")
    known = _TABLE_NAMES.get(service, service)
    if known is None or not model:
        return None
    try:
        import genai_prices
    except ImportError:
        return None
    million = genai_prices.Usage(input_tokens=1_000, output_tokens=1_000)
    try:
        listed = genai_prices.calc_price(million, model, provider_id=known)
    except LookupError:
        return None
    source = f"genai-prices {genai_prices.__version__}"
    return Price(float(listed.input_price) * 1e3, float(listed.output_price) * 1e3, source)

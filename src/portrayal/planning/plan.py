"""The plan: texts, tokens, cost and the smallest differences that could be found."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from portrayal.collect.ask.asking import prompts_of
from portrayal.collect.ask.budget import Price, price_of
from portrayal.errors import OptionError
from portrayal.planning.assumptions import (
    DEFAULTS,
    Assumption,
    Key,
    assumptions_from,
    census_shares,
    tables_of,
)
from portrayal.planning.effects import Detectable, Effects
from portrayal.planning.groups import group_effects
from portrayal.planning.power import REPLICATES
from portrayal.records import Prompt
from portrayal.reference import Factor
from portrayal.validate import check_count, check_level

if TYPE_CHECKING:
    from portrayal.run.directory import Run


CHARACTERS_PER_TOKEN = 4.0
"""The usual rule of thumb for English; languages in other scripts have more tokens."""

CHARACTERS_PER_WORD = 6.05
"""Of 2,230 stories by five models to prompts of Shieh et al. (2025), spaces included."""

_WORDS_ASKED = re.compile(r"\b(\d{2,5})[ -]words?\b", re.IGNORECASE)

Tokenizer = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """A number of tokens and how it was found; None where it is not known, and `source` says why.

    Attributes
    ----------
    per_text
        Mean tokens of one prompt or answer.
    source
        "tokenizer", "characters / 4", ….
    """

    per_text: float | None
    source: str


def tokens_of(texts: Iterable[str], tokenizer: Tokenizer | None = None) -> TokenEstimate:
    """Return the mean tokens of texts, from a tokenizer or as characters / 4."""
    if tokenizer is not None:
        counts = [float(tokenizer(text)) for text in texts]
        return TokenEstimate(_mean(counts), "tokenizer")
    return TokenEstimate(
        _mean([len(text) / CHARACTERS_PER_TOKEN for text in texts]), "characters / 4"
    )


def output_tokens(prompts: Iterable[Prompt]) -> TokenEstimate:
    """Return the mean tokens of answers, from the number of words that each prompt asks for.

    Answers to "100 words or less" are taken to use them all: 2,230 such stories of five models have
    90.6 words on average, and nine in ten at most 111.
    """
    asked = [_WORDS_ASKED.search(prompt.text) for prompt in prompts]
    words = [float(match.group(1)) for match in asked if match is not None]
    if not words or len(words) < len(asked):
        return TokenEstimate(
            None,
            f"{len(asked) - len(words):,} of {len(asked):,} prompts do not say how many words they "
            "want; give the tokens of an answer (output_tokens=), or a finished run",
        )
    per_word = CHARACTERS_PER_WORD / CHARACTERS_PER_TOKEN
    return TokenEstimate(_mean(words) * per_word, "words asked for")


def _mean(counts: list[float]) -> float:
    return sum(counts) / len(counts)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a collection takes and could find.

    Attributes
    ----------
    n_prompts, samples, models
        `models` is empty where none was named; the plan is then for one.
    input, output
        Mean tokens of a prompt and of an answer.
    prices
        Price of each model, US dollars per million tokens; None where it is not known.
    detectable
        For each model alone.
    level, power
        Of the two-sided tests, fractions.
    assumptions
        What `detectable` takes for granted.
    hypotheses, questions
        Of the audit: groups and places of all statistics of which people enough are expected; and
        its statistics, with intersections of groups in roles. What is detectable would be stated
        among them, if nothing else differed.
    """

    n_prompts: int
    samples: int
    models: tuple[str, ...]
    input: TokenEstimate
    output: TokenEstimate
    prices: Mapping[str, Price | None]
    detectable: tuple[Detectable, ...]
    level: float
    power: float
    assumptions: Mapping[Key, Assumption]
    hypotheses: int = 1
    questions: int = 1

    @property
    def n_texts(self) -> int:
        """Texts of all models together."""
        return self.n_prompts * self.samples * max(len(self.models), 1)

    @property
    def input_tokens(self) -> int:
        """Tokens asked, of all models together."""
        return round(self.n_texts * (self.input.per_text or 0.0))

    @property
    def output_tokens(self) -> int | None:
        """Tokens answered, of all models together; None where not known."""
        each = self.output.per_text
        return None if each is None else round(self.n_texts * each)

    @property
    def cost(self) -> float | None:
        """US dollars for everything; None where a price or the answers' length is not known."""
        answered = self.output.per_text
        if answered is None or not self.models:
            return None
        each = self.n_prompts * self.samples / 1e6
        total = 0.0
        for model in self.models:
            price = self.prices[model]
            if price is None:
                return None
            total += each * (price.input * (self.input.per_text or 0) + price.output * answered)
        return total

    @property
    def cost_unknown(self) -> str | None:
        """Why there is no cost; None where there is one."""
        if self.cost is not None:
            return None
        if not self.models:
            return "no model was named"
        if self.output.per_text is None:
            return f"the length of the answers is not known: {self.output.source}"
        unpriced = ", ".join(name for name in self.models if self.prices[name] is None)
        return f"no price is known for {unpriced}; give one in US dollars per million tokens"


def plan(
    prompts: str | Sequence[Prompt],
    samples: int,
    model: str | Sequence[str] | None = None,
    *,
    run: "Run | None" = None,
    shares: Mapping[str, Mapping[str, float]] | None = None,
    factors: Sequence[Factor] = (),
    compare: str | None = None,
    change: bool = False,
    sd: float = 1.0,
    icc: float | None = None,
    answer_tokens: float | None = None,
    price: Price | None = None,
    tokenizer: Tokenizer | None = None,
    level: float = 0.95,
    power: float = 0.8,
    replicates: int = REPLICATES,
) -> Plan:
    """Plan a collection of `samples` answers of each model to each prompt.

    Parameters
    ----------
    prompts, samples, model
        What to ask (a study's name, or prompts), how often, and whom ("openai:gpt-5-mini"), one or
        several.
    run
        A finished run of stories, to measure the assumptions on, in place of the defaults.
    shares
        Group shares to plan for, by attribute: {"race": {"Black": 0.136}}. By default those of the
        census baseline; {} where no people are read.
    factors
        Factors whose groups are planned for beside (`portrayal.reference.load_factor`).
    compare
        Stratum of the prompts whose groups' mean scores are compared ("gender"), or "reference" for
        each text against its own reference; "" for none, as within pairs (`PairDesign`). By default
        "gender" where the prompts state one.
    change
        Plan for ratios of stories of two models, one beside the other (`portrayal.compare`), each
        asked `samples` times; not for a model's own.
    sd
        Standard deviation of a text's score; 1 gives differences in standard deviations.
    icc
        Correlation of units within a prompt, over every assumption.
    answer_tokens, price, tokenizer
        Tokens of an answer, and price of every model, where they are known better; and a function
        that counts tokens, in place of characters / 4.
    level, power
        Of the two-sided tests, fractions.
    replicates
        Simulated audits for each ratio that is tried; 1,000 know a power of 80 % to 1.3 points.

    Raises
    ------
    OptionError
        For no prompts, samples below 1, or a comparison that the prompts do not state.
    """
    check_count("samples", samples, minimum=1)
    if isinstance(prompts, str):
        prompts = prompts_of(prompts)
    if not prompts:
        raise OptionError("there are no prompts to plan for.")
    if not 0 < power < 1:
        raise OptionError(f"power must be a fraction between 0 and 1, such as 0.8; got {power!r}.")
    if icc is not None and not 0 <= icc <= 1:
        raise OptionError(f"icc must lie between 0 and 1; got {icc!r}.")
    models = () if model is None else (model,) if isinstance(model, str) else tuple(model)
    people = shares is None or bool(shares)
    assumed = dict(DEFAULTS) if run is None or not people else assumptions_from(run)
    if icc is not None:
        assumed = {
            key: Assumption(icc, one.units_per_text, "given") for key, one in assumed.items()
        }
    planned = Effects(
        samples=samples,
        assumed=assumed,
        shares=census_shares() if shares is None else shares,
        sd=sd,
        level=check_level(level),
        power=power,
        tables=tables_of(run),
        replicates=check_count("replicates", replicates, minimum=1),
        change=change,
    )

    def rows() -> tuple[Detectable, ...]:
        of_factors = group_effects(prompts, factors, planned, run)
        return *planned.rows(prompts, compare), *of_factors

    counted = Counter[str]()
    for row in rows():
        counted[row.statistic] += row.hypotheses if row.undefined is None else 0
    planned = replace(planned, hypotheses=+counted)
    given = None if answer_tokens is None else TokenEstimate(float(answer_tokens), "given")
    return Plan(
        n_prompts=len(prompts),
        samples=samples,
        models=models,
        input=tokens_of(("\n\n".join(prompt.asked) for prompt in prompts), tokenizer),
        output=given or output_tokens(prompts),
        prices={name: price or price_of(name) for name in models},
        detectable=rows(),
        level=level,
        power=power,
        assumptions=assumed,
        hypotheses=counted.total(),
        questions=planned.questions,
    )

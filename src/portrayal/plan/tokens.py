"""Tokens: how many a prompt has, and how many its answer will have."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from portrayal.records import Prompt

CHARACTERS_PER_TOKEN = 4.0
"""The usual rule of thumb for English; languages in other scripts have more tokens."""

CHARACTERS_PER_WORD = 6.05
"""Of 2,230 stories by five models to prompts of Shieh et al. (2025), spaces included."""

_WORDS_ASKED = re.compile(r"\b(\d{2,5})[ -]words?\b", re.IGNORECASE)

Tokenizer = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Tokens:
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


def tokens_of(texts: Iterable[str], tokenizer: Tokenizer | None = None) -> Tokens:
    """Return the mean tokens of texts, from a tokenizer or as characters / 4."""
    if tokenizer is not None:
        counts = [float(tokenizer(text)) for text in texts]
        return Tokens(_mean(counts), "tokenizer")
    return Tokens(_mean([len(text) / CHARACTERS_PER_TOKEN for text in texts]), "characters / 4")


def output_tokens(prompts: Iterable[Prompt]) -> Tokens:
    """Return the mean tokens of answers, from the number of words that each prompt asks for.

    Answers to "100 words or less" are taken to use them all: 2,230 such stories of five models have
    90.6 words on average, and nine in ten at most 111.
    """
    asked = [_WORDS_ASKED.search(prompt.text) for prompt in prompts]
    words = [float(match.group(1)) for match in asked if match is not None]
    if not words or len(words) < len(asked):
        return Tokens(
            None,
            f"{len(asked) - len(words):,} of {len(asked):,} prompts do not say how many words they "
            "want; give the tokens of an answer (output_tokens=), or a finished run",
        )
    per_word = CHARACTERS_PER_WORD / CHARACTERS_PER_TOKEN
    return Tokens(_mean(words) * per_word, "words asked for")


def _mean(counts: list[float]) -> float:
    return sum(counts) / len(counts)

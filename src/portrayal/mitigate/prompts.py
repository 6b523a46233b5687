"""Prompts of mitigation: the rewrite and the fairness instruction of Table 15, and a mirror."""

import tomllib
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Literal

Direction = Literal["up", "down"]
"""To more agentic sentences, or to more communal ones."""


@cache
def _words() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def rewrite_prompt(
    text: str, n_sentences: int, chosen: Collection[int], direction: Direction = "up"
) -> str:
    """Return the request to rewrite the chosen sentences of a text.

    Parameters
    ----------
    text
        The whole text.
    n_sentences
        How many sentences it has.
    chosen
        Which of them to rewrite, by number from 0.
    direction
        "up" asks with the prompt of Table 15, where the list marks the chosen sentences as communal
        and every other one as agentic; "down" with its mirror, which is no paper's.

    References
    ----------
    Wan & Chang (2024), Table 15.
    """
    marked, other = ("communal", "agentic") if direction == "up" else ("agentic", "communal")
    said = [marked if number in chosen else other for number in range(n_sentences)]
    return _words()[direction].format(text=text, agency_list=said)


def with_instruction(prompt: str, text_type: str = "text") -> str:
    """Return a prompt with the fairness instruction of Table 15 at its end.

    `text_type` is what it asks for: "biography", "professor review", "reference letter", ….
    """
    return f"{prompt} {_words()['instruction'].format(text_type=text_type)}"

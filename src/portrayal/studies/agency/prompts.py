"""The 5,400 prompts of LABE, and how input files may describe theirs."""

import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from portrayal.collect.fields import TextFields
from portrayal.records import Prompt
from portrayal.studies.study import PromptMaker

ORIGINAL, FAIRNESS = "original", "fairness instruction"
DOMAINS = ("Biography", "Professor Review", "Reference Letter")

TASKS = {
    "biography": "Biography",
    "biographies": "Biography",
    "bio": "Biography",
    "professor review": "Professor Review",
    "review": "Professor Review",
    "reference letter": "Reference Letter",
    "letter": "Reference Letter",
}
"""Other spellings of the three tasks; any other task keeps its own name."""

FIELDS = TextFields(
    strata=(
        "domain",
        "condition",
        "race",
        "gender",
        "name",
        "age",
        "occupation",
        "department",
    ),
    required=(),
    values={"condition": {ORIGINAL: ORIGINAL, FAIRNESS: FAIRNESS, "fairness": FAIRNESS}},
    aliases={"domain": ("task", "text_type")},
)


@cache
def prompts(*, fairness: bool = False) -> tuple[Prompt, ...]:
    """Return LABE's prompts in the order of Table 4.

    Parameters
    ----------
    fairness
        Append the fairness instruction of Table 15 to each prompt ("prompt-based mitigation").

    Returns
    -------
    tuple of Prompt
        5,400: 40 names × 5 ages × 12 occupations = 2,400 biographies and as many reference letters,
        and 40 names × 15 departments = 600 professor reviews. Strata: `domain`, `condition`,
        `race`, `gender`, `name`, and `age` and `occupation` or `department`.

    References
    ----------
    Wan & Chang (2024), Tables 4, 5, 6, 10 and 15.
    """
    data = tomllib.loads(files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8"))
    return tuple(
        _prompt(task, strata, data["fairness"] if fairness else "")
        for task in data["task"]
        for strata in _people(data, task["descriptors"])
    )


def _people(data: Mapping[str, Any], descriptors: list[str]) -> Iterator[dict[str, str]]:
    """Yield race, gender, name and descriptors of everyone that one task describes."""
    values = [data[f"{name}s"] for name in descriptors]
    for group in data["group"]:
        for name, *chosen in product(group["names"], *values):
            person = {"race": group["race"], "gender": group["gender"], "name": name}
            yield person | dict(zip(descriptors, chosen, strict=True))


def _prompt(task: Mapping[str, str], strata: dict[str, str], instruction: str) -> Prompt:
    text = task["template"].format(**strata)
    condition, ending = ORIGINAL, ""
    if instruction:
        text += " " + instruction.format(text_type=task["text_type"])
        condition, ending = FAIRNESS, "-fairness"
    parts = [strata[name] for name in strata if name not in ("race", "gender")]
    prompt_id = "-".join(_slug(part) for part in (task["domain"], *parts)) + ending
    return Prompt(prompt_id, text, {"domain": task["domain"], "condition": condition} | strata)


@cache
def _slug(text: str) -> str:
    """Lower-case ASCII with hyphens: "José" is "jose", "Fine Arts department" "fine-arts"."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()
    return "-".join(folded.removesuffix(" department").split())


REPEATED = (
    r"\s*Generate a (?:personal biography|review|detailed reference letter) for [^.\n]*\."
    r"(?:\s*When generating the [^.\n]*\.)?"
)
"""A prompt as base models write it again at the start of an answer."""

PROMPTS = PromptMaker(FIELDS, prompts, REPEATED)
"""The door by which the prompts are registered."""

"""The study's 100 prompts, its sample stories, and how input files may describe theirs."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from portrayal.collect.fields import TextFields
from portrayal.records import ALL, Prompt
from portrayal.studies.study import PromptMaker

NEUTRAL, LADEN = "power-neutral", "power-laden"
RELATIONSHIPS = ("romantic partners", "friends", "siblings")

FIELDS = TextFields(
    strata=("domain", "condition", "subject_role", "object_role", "scenario", "relationship"),
    required=("condition",),
    required_unlabelled={"subject_role": None, "object_role": ("condition", LADEN)},
    values={
        "condition": dict.fromkeys(
            ("power-neutral", "power neutral", "neutral", "baseline", "base"), NEUTRAL
        )
        | dict.fromkeys(
            ("power-laden", "power laden", "laden", "power dynamic", "power-dynamic", "power"),
            LADEN,
        ),
    },
    presets={
        # Columns of the authors' 500,000 stories, Supplement E, question 8.
        "laissez-faire-dataverse": {
            "text": "Response",
            "prompt": "Query",
            "model": "Model",
            "domain": "Domain",
            "condition": "Power Dynamic",
            "subject_role": "Subject",
            "object_role": "Object",
            "subject_name": "Subject Name",
            "subject_references": "Subject References",
            "object_name": "Object Name",
            "object_references": "Object References",
        },
    },
)


@cache
def prompts() -> tuple[Prompt, ...]:
    """Return the 100 prompts of Tables S3–S5."""
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return tuple(
        Prompt(entry.pop("id"), entry.pop("text"), entry) for entry in tomllib.loads(text)["prompt"]
    )


def sample() -> Path:
    """Return the path of the sample stories, written by a language model for the package."""
    return Path(str(files(__package__).joinpath("sample.jsonl")))


def prompt_facts(strata: dict[str, str]) -> dict[str, object]:
    """Return what measures need to know of a prompt: domain, roles, couple, scenario."""
    roles = f"{strata.get('subject_role', '')} {strata.get('object_role', '')}".casefold()
    relationship = strata.get("relationship") or next(
        (kind for kind in RELATIONSHIPS if kind.split()[0].rstrip("s") in roles), ""
    )
    subject = strata.get("subject_role", "")
    told = strata.get("object_role", "") if subject in _GENERIC else subject
    scenario = strata.get("scenario") or told or subject or "unnamed"
    return {
        "domain": strata.get("domain", ALL),
        "laden": strata["condition"] == LADEN,
        "couple": relationship == "romantic partners",
        "scenario": f"{relationship}: {scenario}" if relationship else scenario,
    }


_GENERIC = ("student", "star student", "an American person", "two American friends")

PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""

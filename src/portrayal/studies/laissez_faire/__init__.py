"""Laissez-faire (Shieh et al. 2025): who open-ended stories omit, subordinate and stereotype."""

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from portrayal.records import Prompt
from portrayal.studies.own.reading import read_stories, read_study
from portrayal.studies.study import PromptMaker

FILE = Path(str(files(__package__).joinpath("study.toml")))

STORIES = read_stories(FILE)
"""What the study says of its stories."""

# It is a study in a file as anyone's own, with a card added.
STUDY = replace(read_study(FILE), card="card.md", file="")
"""The door by which the study is registered."""


FIELDS = STUDY.fields
prompt_facts = STORIES.facts


def prompts() -> tuple[Prompt, ...]:
    """Return the 100 prompts of Tables S3–S5."""
    return STUDY.prompts()


def sample() -> Path:
    """Return the path of the sample stories, written for the package by a script."""
    return STUDY.sample()["texts"]


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""

"""The study's 100 prompts, its sample stories, and how input files may describe theirs."""

from pathlib import Path

from portrayal.records import Prompt
from portrayal.studies.laissez_faire.audit import STORIES, STUDY
from portrayal.studies.study import PromptMaker

FIELDS = STUDY.fields
prompt_facts = STORIES.facts


def prompts() -> tuple[Prompt, ...]:
    """Return the 100 prompts of Tables S3–S5."""
    return STUDY.prompts()


def sample() -> Path:
    """Return the path of the sample stories, written by a language model for the package."""
    return STUDY.sample()["texts"]


PROMPTS = PromptMaker(FIELDS, prompts)
"""The door by which the prompts are registered."""

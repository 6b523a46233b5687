"""Collecting: bring texts into a run, whole and counted.

A *text* is one answer of one model to one prompt, with its outcome: ok, refused, empty or failed.
"""

from portrayal.collect.fields import LABELS, TextFields
from portrayal.collect.outcomes import outcome_of
from portrayal.collect.promptfile import read_prompts
from portrayal.collect.texts import import_texts

__all__ = ["LABELS", "TextFields", "import_texts", "outcome_of", "read_prompts"]

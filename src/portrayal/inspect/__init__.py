"""Inspect AI: the same prompts and readings inside the harness where evaluators work.

A *task* asks a study's prompts and scores each answer by the audit's own code; a *log* is what
Inspect writes of it. Logs, also those of other tasks, are read wherever texts are: `log_source`.
"""

try:
    import inspect_ai  # noqa: F401
except ImportError as error:
    from portrayal.errors import MissingExtraError

    raise MissingExtraError(
        'Inspect AI is not installed. Install it with: pip install "portrayal[inspect]"'
    ) from error

from portrayal.inspect.logs import log_source
from portrayal.inspect.scorers import (
    gender_shares,
    group_shares,
    groups,
    name_shares,
    outcome,
    outcome_shares,
    people,
    race_shares,
)
from portrayal.inspect.tasks import laissez_faire, portrayal_prompts

__all__ = [
    "gender_shares",
    "group_shares",
    "groups",
    "laissez_faire",
    "log_source",
    "name_shares",
    "outcome",
    "outcome_shares",
    "people",
    "portrayal_prompts",
    "race_shares",
]

"""What Inspect loads through the entry point `portrayal` of its group `inspect_ai`."""

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
from portrayal.inspect.tasks import laissez_faire, portrayal_prompts, register_studies

__all__ = [
    "gender_shares",
    "group_shares",
    "groups",
    "laissez_faire",
    "name_shares",
    "outcome",
    "outcome_shares",
    "people",
    "portrayal_prompts",
    "race_shares",
]

register_studies()

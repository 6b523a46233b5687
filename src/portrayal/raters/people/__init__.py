"""People of stories by hand labels: how often an annotator of people is right.

A *slot* is the subject of a story, and its object where the story has one; each is labelled with a
first name and a gender. Every share comes with an interval that resamples prompts, as stories that
answer one prompt share their difficulties.
"""

from portrayal.raters.people.scores import (
    PeopleScore,
    ScoreRate,
    score_people,
)
from portrayal.raters.people.slots import (
    Labelled,
    ModelLabels,
    label_by_model,
    label_by_reader,
    people_of,
    read_gold,
)

__all__ = [
    "Labelled",
    "ModelLabels",
    "PeopleScore",
    "ScoreRate",
    "label_by_model",
    "label_by_reader",
    "people_of",
    "read_gold",
    "score_people",
]

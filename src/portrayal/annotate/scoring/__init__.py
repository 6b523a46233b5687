"""Scoring: how far labels of people agree with hand labels, and how sure that figure is.

A *slot* is the subject of a story, and its object where the story has one. Every share comes with
an interval that resamples prompts, as stories that answer one prompt share their difficulties.
"""

from portrayal.annotate.scoring.labelers import Labels, label_by_model
from portrayal.annotate.scoring.people import PeopleScore, score_people
from portrayal.annotate.scoring.races import RaceGap
from portrayal.annotate.scoring.rates import Rate
from portrayal.annotate.scoring.selective import Bin, Selective
from portrayal.annotate.scoring.slots import Labelled

__all__ = [
    "Bin",
    "Labelled",
    "Labels",
    "PeopleScore",
    "RaceGap",
    "Rate",
    "Selective",
    "label_by_model",
    "score_people",
]

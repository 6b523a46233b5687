"""Scoring: how far labels of people agree with hand labels, and how sure that figure is.

A *slot* is the subject of a story, and its object where the story has one. Every share comes with
an interval that resamples prompts, as stories that answer one prompt share their difficulties.
"""

from portrayal.raters.people.agreement import Agreement, agreement
from portrayal.raters.people.rates import Rate
from portrayal.raters.people.scores import Bin, PeopleScore, RaceGap, Selective, score_people
from portrayal.raters.people.sheets import (
    Drawn,
    Guess,
    HandLabel,
    Merged,
    Sheet,
    draw,
    guesses_of,
    is_sheet,
    merge_sheets,
    read_sheet,
    readable_texts,
    write_sheet,
)
from portrayal.raters.people.slots import Labelled, Labels, label_by_model

__all__ = [
    "Agreement",
    "Bin",
    "Drawn",
    "Guess",
    "HandLabel",
    "Labelled",
    "Labels",
    "Merged",
    "PeopleScore",
    "RaceGap",
    "Rate",
    "Selective",
    "Sheet",
    "agreement",
    "draw",
    "guesses_of",
    "is_sheet",
    "label_by_model",
    "merge_sheets",
    "read_sheet",
    "readable_texts",
    "score_people",
    "write_sheet",
]

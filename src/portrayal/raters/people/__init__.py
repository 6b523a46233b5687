"""Hand labels of people: sheets for raters, and scores of a labeler.

A *slot* is the subject of a story, and its object where the story has one. A *hand label* is the
first name and gender that a rater gives each slot. Every share comes with an interval that
resamples prompts, as stories that answer one prompt share their difficulties.
"""

from portrayal.raters.people.scores import (
    Bin,
    PeopleScore,
    RaceGap,
    ScoreRate,
    Selective,
    score_people,
)
from portrayal.raters.people.sheets import (
    HandLabel,
    MajoritySheet,
    SampledText,
    Sheet,
    ShortPlace,
    draw,
    is_sheet,
    merge_sheets,
    read_sheet,
    readable_texts,
    sheet_labels,
    short_places,
    write_sheet,
)
from portrayal.raters.people.slots import (
    Labelled,
    ModelLabels,
    label_by_model,
    label_by_reader,
    read_gold,
)

__all__ = [
    "Bin",
    "HandLabel",
    "Labelled",
    "MajoritySheet",
    "ModelLabels",
    "PeopleScore",
    "RaceGap",
    "SampledText",
    "ScoreRate",
    "Selective",
    "Sheet",
    "ShortPlace",
    "draw",
    "is_sheet",
    "label_by_model",
    "label_by_reader",
    "merge_sheets",
    "read_gold",
    "read_sheet",
    "readable_texts",
    "score_people",
    "sheet_labels",
    "short_places",
    "write_sheet",
]

"""Raters: several people, or models, say what a text shows, and how far they agree.

A *codebook* is what is asked: questions with their answers. A *label* is what one rater answers to
one question about one text, or a unit in it; a *label file* has a label a row, and a *sheet* is one
that is still to be filled in. A *draw* gives each text a known chance to be labelled. The
*majority* is what more than half of the raters say. *Agreement* is how often they say the same, and
how far beyond chance.
"""

from portrayal.raters.agreement import Agreement, Coefficient, LabelAgreement, Resampling, agreement
from portrayal.raters.labels import (
    HandTable,
    Label,
    Labels,
    label_files,
    read_hand_labels,
    read_labels,
    settled,
    write_labels,
)
from portrayal.raters.sheets import (
    Codebook,
    CodebookQuestion,
    Draw,
    SheetItem,
    ShortPlace,
    codebook,
    drawn,
    evenly,
    short_places,
    write_sheets,
)

__all__ = [
    "Agreement",
    "Codebook",
    "CodebookQuestion",
    "Coefficient",
    "Draw",
    "HandTable",
    "Label",
    "LabelAgreement",
    "Labels",
    "Resampling",
    "SheetItem",
    "ShortPlace",
    "agreement",
    "codebook",
    "drawn",
    "evenly",
    "label_files",
    "read_hand_labels",
    "read_labels",
    "settled",
    "short_places",
    "write_labels",
    "write_sheets",
]

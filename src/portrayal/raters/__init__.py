"""Raters: several people, or models, say what a text shows, and how far they agree.

A *label* is what one rater says of one text, or of a unit in it, by one code. A *sheet* is a CSV
file that one rater fills in. The *majority* is what more than half of the raters say. *Agreement*
is how often they say the same, and how far beyond chance.
"""

from portrayal.raters.agreement import (
    STATISTICS,
    Agreement,
    Coefficient,
    LabelAgreement,
    Ratings,
    Resampling,
    agreement,
    coefficient,
    paradoxes,
)
from portrayal.raters.hand import HandTable, read_hand_labels, table_labels
from portrayal.raters.labels import Consensus, Label, Labels, consensus, majority

__all__ = [
    "STATISTICS",
    "Agreement",
    "Coefficient",
    "Consensus",
    "HandTable",
    "Label",
    "LabelAgreement",
    "Labels",
    "Ratings",
    "Resampling",
    "agreement",
    "coefficient",
    "consensus",
    "majority",
    "paradoxes",
    "read_hand_labels",
    "table_labels",
]

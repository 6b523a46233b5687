"""Raters: several people, or models, say what a text shows, and how far they agree.

A *sheet* is a CSV file that one rater fills in. The *majority* is what more than half of the raters
say. *Agreement* is how often they say the same, and how far beyond chance.
"""

from portrayal.raters.agreement import (
    STATISTICS,
    Coefficient,
    Ratings,
    Resampling,
    coefficient,
    paradoxes,
)
from portrayal.raters.sheets import check_new, majority, unique_rows, write_instructions

__all__ = [
    "STATISTICS",
    "Coefficient",
    "Ratings",
    "Resampling",
    "check_new",
    "coefficient",
    "majority",
    "paradoxes",
    "unique_rows",
    "write_instructions",
]

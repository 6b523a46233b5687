"""Hand labels: a random sample of texts as a sheet for people to fill in, and what they filled in.

A *sheet* is a CSV file with one text in a row and empty cells for its people. It holds no label of
a model, so that raters decide for themselves, and says how each text was drawn, so that estimates
from it hold for all texts.
"""

from portrayal.annotate.hand.agreement import Agreement, agreement
from portrayal.annotate.hand.majority import Merged, merge_sheets
from portrayal.annotate.hand.sample import Drawn, draw, readable_texts
from portrayal.annotate.hand.sheet import Guess, guesses_of, write_sheet
from portrayal.annotate.hand.sheet_in import HandLabel, Sheet, is_sheet, read_sheet

__all__ = [
    "Agreement",
    "Drawn",
    "Guess",
    "HandLabel",
    "Merged",
    "Sheet",
    "agreement",
    "draw",
    "guesses_of",
    "is_sheet",
    "merge_sheets",
    "read_sheet",
    "readable_texts",
    "write_sheet",
]

"""Measures of pairs: generated texts beside the originals that people wrote.

A *paired table* has one row for each generated text that has its original; a *level* is what is
compared within each row (words, sentences or topics); a *quantity* is a number of each row whose
mean over pairs is estimated.
"""

from portrayal.measure.pairs.estimates import IN_ORIGINALS
from portrayal.measure.pairs.levels import text_levels, with_hand_scores
from portrayal.measure.pairs.table import Paired, pair_texts
from portrayal.measure.pairs.topics import document_levels, read_topics

__all__ = [
    "IN_ORIGINALS",
    "Paired",
    "document_levels",
    "pair_texts",
    "read_topics",
    "text_levels",
    "with_hand_scores",
]

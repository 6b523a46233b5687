"""Measures of matched sets: texts of the same request that differ in the person alone.

A *matched set* is the answers of one model to one request, of each group one or more. Everything is
measured within sets, so what requests differ in never counts.
"""

from portrayal.measure.matched.differences import PAIR_DIFFERENCE
from portrayal.measure.matched.sets import MatchedSets, matched_sets
from portrayal.measure.matched.words import PAIR_WORDS, MatchedTexts

__all__ = ["PAIR_DIFFERENCE", "PAIR_WORDS", "MatchedSets", "MatchedTexts", "matched_sets"]

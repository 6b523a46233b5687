"""Raters: several people, or models, say what a text shows, and how far they agree.

A *codebook* is what is asked: questions with their answers. A *label* is what one rater answers to
one question about one text, or a unit in it; a *label file* has a label a row, and a *sheet* is one
that is still to be filled in. A *draw* gives each text a known chance to be labelled. The
*majority* is what more than half of the raters say. *Agreement* is how often they say the same, and
how far beyond chance.
"""

from portrayal.raters.agreement import agreement
from portrayal.raters.labels import Label, Labels
from portrayal.raters.sheets import codebook

__all__ = ["Label", "Labels", "agreement", "codebook"]

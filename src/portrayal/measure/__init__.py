"""Measuring: annotations become estimates.

A *measure* is a function of a tally of annotated texts and a scope; it returns one estimate per
stratum and group, each with an interval that clusters by prompt, a null, and a reason where it is
undefined.
"""

from portrayal.measure.scope import Scope
from portrayal.measure.stories.corrected import HandSample, hand_sample
from portrayal.measure.stories.tally import ROLES, Characters, Tally, tally_stories

__all__ = [
    "ROLES",
    "Characters",
    "HandSample",
    "Scope",
    "Tally",
    "hand_sample",
    "tally_stories",
]

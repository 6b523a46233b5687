"""Measures of people in stories: who occurs, in which role, under which names.

A *tally* counts the distinct stories of a run; a *stratum* is one domain of one model under one
condition; a *character* is a person of a story with a role, a first name and a gender.
"""

from portrayal.measure.stories.corrected import HandSample, hand_sample
from portrayal.measure.stories.strata import Stratum, group_features, prompt_sums, strata
from portrayal.measure.stories.tally import ROLES, Characters, Tally, tally_stories

__all__ = [
    "ROLES",
    "Characters",
    "HandSample",
    "Stratum",
    "Tally",
    "group_features",
    "hand_sample",
    "prompt_sums",
    "strata",
    "tally_stories",
]

"""Measuring: annotations become estimates.

A *measure* is a function of annotated texts and a `Scope`; it returns one estimate per stratum and
group, each with an interval that clusters by prompt, a null, and a reason where it is undefined.
The texts come as a tally of stories (`stories`), a paired table (`pairs`), agency texts (`agency`)
or mentions of cues (`cues`). A new measure is a function and a `Component` in one of these folders,
and a line in pyproject.toml.
"""

from portrayal.measure.scope import Scope, with_q_values
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
    "with_q_values",
]

"""Words of texts that name an identity.

A *cue* is a term that a text uses of a group, such as "Navajo". A *mention* is one place where a
text uses it, with whom it describes. The measure `cue_counts.v1` is the share of texts per cue.
"""

from portrayal.measure.cues.lists import Cue, CueList, cue_list, cues_of
from portrayal.measure.cues.people import StoryPerson, run_people
from portrayal.measure.cues.search import (
    ELSEWHERE,
    CueHits,
    Mention,
    cue_counts,
    cue_rows,
    find_cues,
    role_of,
)

__all__ = [
    "ELSEWHERE",
    "Cue",
    "CueHits",
    "CueList",
    "Mention",
    "StoryPerson",
    "cue_counts",
    "cue_list",
    "cue_rows",
    "cues_of",
    "find_cues",
    "role_of",
    "run_people",
]

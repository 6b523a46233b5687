"""Words of texts: terms that name an identity, words that mark a group, groups that factors see.

A *cue* is a term that a text uses of a group, such as "Navajo". A *mention* is one place where a
text uses it, with whom it describes. The measure `cue_counts.v1` is the share of texts per cue. A
*marked word* is one that a group's texts hold more often than others do.
"""

from portrayal.measure.cues.counts import cue_counts, cue_rows
from portrayal.measure.cues.documents import (
    Counts,
    Documents,
    StoryPerson,
    count_words,
    read_documents,
    run_documents,
    run_people,
)
from portrayal.measure.cues.groups import GroupMention, GroupObservations, observed_groups
from portrayal.measure.cues.lists import Cue, CueList, cue_list, cues_of
from portrayal.measure.cues.search import ELSEWHERE, CueHits, Mention, find_cues, role_of
from portrayal.measure.cues.words import MarkedWord, WordComparison, marked_words

__all__ = [
    "ELSEWHERE",
    "Counts",
    "Cue",
    "CueHits",
    "CueList",
    "Documents",
    "GroupMention",
    "GroupObservations",
    "MarkedWord",
    "Mention",
    "StoryPerson",
    "WordComparison",
    "count_words",
    "cue_counts",
    "cue_list",
    "cue_rows",
    "cues_of",
    "find_cues",
    "marked_words",
    "observed_groups",
    "read_documents",
    "role_of",
    "run_documents",
    "run_people",
]

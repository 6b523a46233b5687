"""Labels by a language model: who is in a text, asked with the prompts of Table S7.

A *labeler* decides the names and genders of a text's characters: the embedded extractor, or a
language model that is asked `samples` times and whose answers are repaired, checked against the
text and put to a vote. *Routing* sends to the model only the texts that the extractor is least
sure of.

Whoever has texts in memory calls `label_people(rows, asking, folder, route=…)`; its answers stay in
`folder`, and the same call continues there without asking anything twice. An audit's stage is
`label_run`.
"""

from portrayal.annotate.people.labeler.people import label_people
from portrayal.annotate.people.labeler.stage import (
    LABELERS,
    label_run,
    labeler_instrument,
    labelling_of_run,
    labelling_removed,
    labelling_sentence,
)

__all__ = [
    "LABELERS",
    "label_people",
    "label_run",
    "labeler_instrument",
    "labelling_of_run",
    "labelling_removed",
    "labelling_sentence",
]

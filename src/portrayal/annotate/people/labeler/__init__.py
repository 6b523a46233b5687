"""Labels by a language model: who is in a text, asked with the prompts of Table S7.

A *labeler* decides the names and genders of a text's characters: the embedded extractor, or a
language model that is asked `samples` times and whose answers are repaired, checked against the
text and put to a vote. `Labelling` labels texts in memory (`label`), or those of a run
(`answered`).
"""

from portrayal.annotate.people.labeler.stage import Labelling

__all__ = ["Labelling"]

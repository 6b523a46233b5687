"""Hand labels of sentences, for agency classifiers: paraphrases, labels and a split, by steps.

An *entry* is one paraphrase of one sentence, with its *target*: the class it was written to show.
Each step reads a file and writes a file, so that it can be used alone, repeated, and continued.
"""

from portrayal.raters.sentences.labels import (
    SentenceLabels,
    Sheets,
    merge_labels,
    read_sheet,
    write_sheets,
)
from portrayal.raters.sentences.seeds import (
    Paraphrases,
    Parts,
    Seeds,
    paraphrase,
    paraphrase_prompt,
    read_paraphrases,
    seed_sentences,
    split_labelled,
)

__all__ = [
    "Paraphrases",
    "Parts",
    "Seeds",
    "SentenceLabels",
    "Sheets",
    "merge_labels",
    "paraphrase",
    "paraphrase_prompt",
    "read_paraphrases",
    "read_sheet",
    "seed_sentences",
    "split_labelled",
    "write_sheets",
]

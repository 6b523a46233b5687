"""Hand labels of sentences, for agency classifiers: paraphrases, labels and a split, by steps.

An *entry* is one paraphrase of one sentence, with its *target*: the class it was written to show.
Each step reads a file and writes a file, so that it can be used alone, repeated, and continued.
"""

from portrayal.raters.sentences.labels import (
    BOOK,
    SentenceLabels,
    merge_labels,
    sentences_to_label,
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
    "BOOK",
    "Paraphrases",
    "Parts",
    "Seeds",
    "SentenceLabels",
    "merge_labels",
    "paraphrase",
    "paraphrase_prompt",
    "read_paraphrases",
    "seed_sentences",
    "sentences_to_label",
    "split_labelled",
]

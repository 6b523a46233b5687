"""Data for agency classifiers: sentences, paraphrases, hand labels and a split, step by step.

An *entry* is one paraphrase of one sentence, with its *target*: the class it was written to show.
Each step reads a file and writes a file, so that it can be used alone, repeated, and continued.
"""

from portrayal.annotate.agency_data.labels import Kappa, LabelsMerged, merge_labels
from portrayal.annotate.agency_data.paraphrases import (
    Paraphrases,
    paraphrase,
    paraphrase_prompt,
    read_paraphrases,
)
from portrayal.annotate.agency_data.seeds import Seeds, seed_sentences
from portrayal.annotate.agency_data.sheets import Sheets, read_sheet, write_sheets
from portrayal.annotate.agency_data.split import Parts, split_labelled

__all__ = [
    "Kappa",
    "LabelsMerged",
    "Paraphrases",
    "Parts",
    "Seeds",
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

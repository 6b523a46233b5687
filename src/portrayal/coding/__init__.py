"""Reading and coding: stereotypes that numbers miss.

A *coding project* is a sample of texts, a codebook, and what raters say each text shows. A *code*
is a pattern that a text shows or does not. A *marked word* is one that a group's texts hold more
often than others do.
"""

from portrayal.coding.characters import run_documents
from portrayal.coding.codebook import Code, Codebook, CodebookField, codebook
from portrayal.coding.documents import Counts, Documents, count_words, places_of, read_documents
from portrayal.coding.groups import GroupMention, GroupObservations, observed_groups
from portrayal.coding.labels import read_labels, write_labels
from portrayal.coding.project import (
    CodingItem,
    ItemPerson,
    Project,
    make_project,
    open_project,
    project_folder,
)
from portrayal.coding.sampling import Sampling, in_sentences, sample_items
from portrayal.coding.shares import CodePrevalence, GroupCodes, code_prevalence, code_shares
from portrayal.coding.words import MarkedWord, WordComparison, marked_words

__all__ = [
    "Code",
    "CodePrevalence",
    "Codebook",
    "CodebookField",
    "CodingItem",
    "Counts",
    "Documents",
    "GroupCodes",
    "GroupMention",
    "GroupObservations",
    "ItemPerson",
    "MarkedWord",
    "Project",
    "Sampling",
    "WordComparison",
    "code_prevalence",
    "code_shares",
    "codebook",
    "count_words",
    "in_sentences",
    "make_project",
    "marked_words",
    "observed_groups",
    "open_project",
    "places_of",
    "project_folder",
    "read_documents",
    "read_labels",
    "run_documents",
    "sample_items",
    "write_labels",
]

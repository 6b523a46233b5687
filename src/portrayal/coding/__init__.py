"""Reading and coding: stereotypes that numbers miss.

A *coding project* is a sample of texts, a codebook, and what raters say each text shows. A *code*
is a pattern that a text shows or does not. A *marked word* is one that a group's texts hold more
often than others do.
"""

from portrayal.coding.documents import (
    Counts,
    Documents,
    count_words,
    read_documents,
    run_documents,
)
from portrayal.coding.groups import GroupMention, GroupObservations, observed_groups
from portrayal.coding.labels import project_labels, store_labels, write_sheets
from portrayal.coding.project import (
    CodingItem,
    ItemPerson,
    Project,
    make_project,
    open_project,
    project_folder,
)
from portrayal.coding.sampling import draw_texts, field_book, items_of
from portrayal.coding.shares import CodePrevalence, GroupCodes, code_prevalence, code_shares
from portrayal.coding.words import MarkedWord, WordComparison, marked_words

__all__ = [
    "CodePrevalence",
    "CodingItem",
    "Counts",
    "Documents",
    "GroupCodes",
    "GroupMention",
    "GroupObservations",
    "ItemPerson",
    "MarkedWord",
    "Project",
    "WordComparison",
    "code_prevalence",
    "code_shares",
    "count_words",
    "draw_texts",
    "field_book",
    "items_of",
    "make_project",
    "marked_words",
    "observed_groups",
    "open_project",
    "project_folder",
    "project_labels",
    "read_documents",
    "run_documents",
    "store_labels",
    "write_sheets",
]

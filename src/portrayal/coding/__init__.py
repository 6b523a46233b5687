"""Reading and coding: stereotypes that numbers miss.

A *coding project* is a sample of texts, a codebook, and what raters say each text shows. A *code*
is a pattern that a text shows or does not. A *marked word* is one that a group's texts hold more
often than others do.
"""

from portrayal.coding.characters import run_documents
from portrayal.coding.clusters import GroupClusters, cluster_codes
from portrayal.coding.codebook import Code, Codebook, Field, codebook
from portrayal.coding.documents import Counts, Documents, count_words, places_of, read_documents
from portrayal.coding.groups import Mention, SeenGroups, seen_groups
from portrayal.coding.labels import read_labels, write_labels
from portrayal.coding.project import (
    Item,
    ItemPerson,
    Project,
    make_project,
    open_project,
    project_folder,
)
from portrayal.coding.sampling import Sampling, in_sentences, sample_items
from portrayal.coding.words import Comparison, MarkedWord, marked_words

__all__ = [
    "Code",
    "Codebook",
    "Comparison",
    "Counts",
    "Documents",
    "Field",
    "GroupClusters",
    "Item",
    "ItemPerson",
    "MarkedWord",
    "Mention",
    "Project",
    "Sampling",
    "SeenGroups",
    "cluster_codes",
    "codebook",
    "count_words",
    "in_sentences",
    "make_project",
    "marked_words",
    "open_project",
    "places_of",
    "project_folder",
    "read_documents",
    "read_labels",
    "run_documents",
    "sample_items",
    "seen_groups",
    "write_labels",
]

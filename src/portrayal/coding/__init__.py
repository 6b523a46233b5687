"""Reading and coding: stereotypes that numbers miss.

A *coding project* is a sample of texts, a codebook, and what raters found in each text. A *cue* is
a term that names an identity; a *marked word* is one that a group's texts hold more often than
others do.
"""

from portrayal.coding.agreement import Agreement, agreement
from portrayal.coding.characters import run_documents
from portrayal.coding.clusters import GroupClusters, cluster_codes
from portrayal.coding.codebook import Code, Codebook, Field, codebook
from portrayal.coding.codes import Codes, Settled, consensus, read_codes
from portrayal.coding.documents import Counts, Documents, count_words, places_of, read_documents
from portrayal.coding.project import (
    Item,
    Person,
    Project,
    make_project,
    open_project,
    project_folder,
)
from portrayal.coding.sampling import Sampling, in_sentences, sample_items
from portrayal.coding.words import Comparison, MarkedWord, marked_words
from portrayal.collect.corpus import Corpus, file_corpus, run_corpus
from portrayal.measure.cues.counts import cue_estimates
from portrayal.measure.cues.lists import Cue, CueList, cue_list
from portrayal.measure.cues.search import CueHits, Mention, find_cues

__all__ = [
    "Agreement",
    "Code",
    "Codebook",
    "Codes",
    "Comparison",
    "Corpus",
    "Counts",
    "Cue",
    "CueHits",
    "CueList",
    "Documents",
    "Field",
    "GroupClusters",
    "Item",
    "MarkedWord",
    "Mention",
    "Person",
    "Project",
    "Sampling",
    "Settled",
    "agreement",
    "cluster_codes",
    "codebook",
    "consensus",
    "count_words",
    "cue_estimates",
    "cue_list",
    "file_corpus",
    "find_cues",
    "in_sentences",
    "make_project",
    "marked_words",
    "open_project",
    "places_of",
    "project_folder",
    "read_codes",
    "read_documents",
    "run_corpus",
    "run_documents",
    "sample_items",
]

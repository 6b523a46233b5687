"""Mitigation of language agency as in Wan and Chang (2024): selective rewriting.

A *mitigation* takes texts and gives texts: it rewrites communal sentences by edits that are checked
one by one. Whatever fails leaves its text as it was and is counted. What a mitigation changed is
what `portrayal compare` says of two audits.
"""

from portrayal.mitigate.edits import REASONS, Edit, Edited, apply_edits, read_edits
from portrayal.mitigate.mitigation import (
    MitigatedText,
    Mitigation,
    mitigate_agency,
    read_agency,
    read_passages,
    rewrite,
    rewrite_prompt,
)

__all__ = [
    "REASONS",
    "Edit",
    "Edited",
    "MitigatedText",
    "Mitigation",
    "apply_edits",
    "mitigate_agency",
    "read_agency",
    "read_edits",
    "read_passages",
    "rewrite",
    "rewrite_prompt",
]

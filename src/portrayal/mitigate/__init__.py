"""Mitigation of language agency as in Wan and Chang (2024): selective rewriting, or an instruction.

A *mitigation* takes texts and gives texts. It rewrites communal sentences by edits that are checked
one by one, or asks the prompts again with a fairness instruction. Whatever fails leaves its text as
it was and is counted. What a mitigation changed is what `portrayal compare` says of two audits.
"""

from portrayal.mitigate.edits import REASONS, Edit, Edited, apply_edits, read_edits
from portrayal.mitigate.mitigation import METHODS, Mitigation, mitigate_agency
from portrayal.mitigate.passages import AgencyReading, AgencyText, read_agency, read_passages
from portrayal.mitigate.rewriting import (
    RewriteRound,
    Rewritten,
    instruct,
    rewrite,
    rewrite_prompt,
    with_instruction,
)

__all__ = [
    "METHODS",
    "REASONS",
    "AgencyReading",
    "AgencyText",
    "Edit",
    "Edited",
    "Mitigation",
    "RewriteRound",
    "Rewritten",
    "apply_edits",
    "instruct",
    "mitigate_agency",
    "read_agency",
    "read_edits",
    "read_passages",
    "rewrite",
    "rewrite_prompt",
    "with_instruction",
]

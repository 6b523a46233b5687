"""Mitigation: make texts about different groups more alike in language agency, and say what it did.

A *mitigation* takes texts and gives texts. It either rewrites sentences selectively, by edits that
are checked one by one, or asks the prompts again with a fairness instruction. Whatever fails leaves
its text as it was and is counted; the report says what got worse as well as what got better.
"""

from portrayal.mitigate.compare import GroupChange, GroupComparison, compare, noise_p
from portrayal.mitigate.edits import REASONS, Edit, Edited, apply_edits, read_edits
from portrayal.mitigate.mitigation import METHODS, Mitigation, mitigate_agency
from portrayal.mitigate.passages import AgencyReading, GroupedText, read_agency, read_passages
from portrayal.mitigate.rewriting import RewriteRound, Rewritten, instruct, rewrite
from portrayal.mitigate.targets import TARGETS, Levels, rewrite_prompt, with_instruction

__all__ = [
    "METHODS",
    "REASONS",
    "TARGETS",
    "AgencyReading",
    "Edit",
    "Edited",
    "GroupChange",
    "GroupComparison",
    "GroupedText",
    "Levels",
    "Mitigation",
    "RewriteRound",
    "Rewritten",
    "apply_edits",
    "compare",
    "instruct",
    "mitigate_agency",
    "noise_p",
    "read_agency",
    "read_edits",
    "read_passages",
    "rewrite",
    "rewrite_prompt",
    "with_instruction",
]

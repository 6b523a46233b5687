"""Mitigation of language agency as in Wan and Chang (2024): selective rewriting.

A *mitigation* takes texts and gives texts: it rewrites communal sentences by edits that are checked
one by one. Whatever fails leaves its text as it was and is counted. What a mitigation changed is
what `portrayal compare` says of two audits.
"""

from portrayal.mitigate.mitigation import Mitigation, mitigate_agency

__all__ = ["Mitigation", "mitigate_agency"]

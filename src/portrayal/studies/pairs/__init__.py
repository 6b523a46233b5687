"""Pairs: the same request with another person in it (Rickman 2025).

A *pair* is two texts, or more, that answer the same request about people of different groups.
"""

from portrayal.studies.pairs.audit import FIELDS, STUDY, PairOptions

__all__ = ["FIELDS", "STUDY", "PairOptions"]

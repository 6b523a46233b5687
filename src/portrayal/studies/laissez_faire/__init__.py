"""Laissez-faire (Shieh et al. 2025): who open-ended stories omit, subordinate and stereotype."""

from portrayal.studies.laissez_faire.audit import STUDY
from portrayal.studies.laissez_faire.prompts import prompts, sample

__all__ = ["STUDY", "prompts", "sample"]

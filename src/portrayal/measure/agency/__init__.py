"""Measures of language agency: shares, gaps and variances of the ratio gap of texts.

An *agency text* is one text with its ratio gap and the groups it is about; a *stratum* is one task
of one model, or a part of it, whose sums every measure of agency reads.
"""

from portrayal.measure.agency.estimates import AGENCY_GAP, AGENCY_SHARE, AGENCY_VARIANCE
from portrayal.measure.agency.strata import AgencyStratum, strata
from portrayal.measure.agency.texts import AgencyTexts, agency_texts

__all__ = [
    "AGENCY_GAP",
    "AGENCY_SHARE",
    "AGENCY_VARIANCE",
    "AgencyStratum",
    "AgencyTexts",
    "agency_texts",
    "strata",
]

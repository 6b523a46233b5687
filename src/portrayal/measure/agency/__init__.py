"""Measures of language agency: shares, gaps and variances of the ratio gap of texts.

An *agency text* is one text with its ratio gap and the groups it is about; a *stratum* is one task
of one model, or a part of it, whose sums every measure of agency reads.
"""

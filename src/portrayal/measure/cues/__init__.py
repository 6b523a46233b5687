"""Words of texts that name an identity.

A *cue* is a term that a text uses of a group, such as "Navajo". A *mention* is one place where a
text uses it, with whom it describes. The measure `cue_counts.v1` is the share of texts per cue.
"""

"""Evidence: a *pack* answers the questions of a text on documentation from one run.

Each field is filled from the run, with the ids of its estimates, or says that this audit did not
measure it. The manifest of the run holds the digests of all that the pack rests on.
"""

from portrayal.evidence.forms import Form, FormField, FormSection, form, forms
from portrayal.evidence.pack import NOT_MEASURED, FormAnswer, Pack, Statement, pack_of
from portrayal.evidence.writing import (
    FORMATS,
    Verification,
    to_json,
    to_markdown,
    verify_evidence,
    write_evidence,
    write_pack,
)

__all__ = [
    "FORMATS",
    "NOT_MEASURED",
    "Form",
    "FormAnswer",
    "FormField",
    "FormSection",
    "Pack",
    "Statement",
    "Verification",
    "form",
    "forms",
    "pack_of",
    "to_json",
    "to_markdown",
    "verify_evidence",
    "write_evidence",
    "write_pack",
]

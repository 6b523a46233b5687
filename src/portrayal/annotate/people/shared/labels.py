"""Labels brought to one form: names, genders, and lists of references."""

import re
from collections.abc import Iterable

from portrayal.annotate.people.shared.model import UNSPECIFIED, UNSURE
from portrayal.annotate.people.shared.words import FORMAL_TITLES, GENDER_OF_WORD, TITLES

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_NO_NAME = frozenset(
    ("", "unspecified", "none", "nan", "null", "unknown", "n/a", "na", "unnamed", "not specified")
)
_GENDER_LABELS = {
    "F": "f fem female females feminine feminized feminised woman women girl",
    "M": "m masc male males masculine masculinized masculinised man men boy",
    "NB": "nb nonbinary enby non-binary",
    UNSURE: "unsure",
}
_GENDER_OF_LABEL = {
    "".join(filter(str.isalpha, label)): gender
    for gender, labels in _GENDER_LABELS.items()
    for label in labels.split()
}


def gender_of_references(references: Iterable[str]) -> str:
    """Gender that `references` tell, by Table S6a; case and punctuation are ignored.

    Returns
    -------
    str
        "F", "M" or "NB"; "Unspecified" when no word is listed, "Unsure" when several genders are.
    """
    found = {
        gender
        for reference in references
        for word in _WORD.findall(reference.casefold())
        if (gender := GENDER_OF_WORD.get(word)) is not None
    }
    if not found:
        return UNSPECIFIED
    return found.pop() if len(found) == 1 else UNSURE


def clean_name(raw: object) -> str | None:
    """First name in a labelled name, or None where it has none.

    A formal title before a single token is a surname ("Dr. Smith" → None); an informal one is not
    ("Chef Maria" → "Maria"). Of alternatives ("Dr. Emma | Emma") the first with a name counts.
    """
    if not isinstance(raw, str) or raw.strip().casefold() in _NO_NAME:
        return None
    for alternative in raw.split("|"):
        words = _WORD.findall(alternative)
        formal = False
        while words and words[0].casefold() in TITLES:
            formal |= words.pop(0).casefold() in FORMAL_TITLES
        if words and not (formal and len(words) == 1):
            return str(words[0])
    return None


def normalise_gender(raw: object) -> str:
    """One of "F", "M", "NB", "Unsure" and "Unspecified" for a label of any common spelling."""
    if not isinstance(raw, str):
        return UNSPECIFIED
    return _GENDER_OF_LABEL.get("".join(filter(str.isalpha, raw.casefold())), UNSPECIFIED)

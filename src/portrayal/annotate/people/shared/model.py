"""What goes into an extraction and what comes out of it."""

from dataclasses import dataclass
from typing import NamedTuple

GENDERS = ("F", "M", "NB")
"""Genders that the word list can tell: feminised, masculinised, non-binary."""

UNSPECIFIED = "Unspecified"
"""No gendered word refers to the character."""

UNSURE = "Unsure"
"""Words of several genders refer to the character."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Whom a prompt asks for.

    Attributes
    ----------
    subject
        The role of the first character: "star student", "an American person",
        "two American friends".
    object
        The role of the second character, such as "struggling student in math class"; None where
        the prompt has none, or where both characters share the subject's role.
    """

    subject: str
    object: str | None

    @property
    def paired(self) -> bool:
        """Whether two characters share one role, so that neither is above the other."""
        subject = self.subject.casefold().strip()
        if self.object is not None:
            return subject == self.object.casefold().strip()
        return subject.startswith("two ")

    @property
    def has_object(self) -> bool:
        """Whether a second character is asked for."""
        return self.object is not None or self.paired


class Span(NamedTuple):
    """A piece of the original text: `text[start:end]`; `kind` is "name" or "reference"."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Character:
    """One character of a story and the words that say who it is.

    Attributes
    ----------
    name
        First name as written, without title and surname; None where the text gives none.
    gender
        "F", "M", "NB", "Unspecified" or "Unsure", from `references` alone, never from the name.
    references
        Casefolded words of Table S6a that refer to the character, in order of first occurrence.
    spans
        Where name and references stand in the original text.
    confidence
        Probability that name and gender are both right, 0–1, as calibrated on prompts left out.
    name_confidence, gender_confidence
        The same for the name, or for there being none, and for the gender; None where unknown.
    """

    name: str | None
    gender: str
    references: tuple[str, ...]
    spans: tuple[Span, ...]
    confidence: float
    name_confidence: float | None = None
    gender_confidence: float | None = None

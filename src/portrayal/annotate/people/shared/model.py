"""What goes into an extraction and what comes out, and labels brought to the same form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from portrayal.annotate.people.shared.scan import ENGLISH, LocalWords
from portrayal.annotate.people.shared.words import COMMON_TITLES, FORMAL_TITLES, GENDER_OF_WORD
from portrayal.reference.factors import load_factor
from portrayal.reference.matching import any_word

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
        if self.object is None:
            # "two friends" asks for two people with one phrase, so there is no object to read
            return subject.startswith("two ")
        return subject == self.object.casefold().strip()

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


People = tuple[Character, Character | None]
"""Subject and object of a story; the object is None where the prompt asks for none."""

_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_LIST = re.compile(r"""\[\s*['"]?(.*?)['"]?\s*\]""", re.S)
_NEXT = re.compile(r"""['"]\s*,\s*['"]""")
_NO_NAME = frozenset(
    ("", "unspecified", "none", "nan", "null", "unknown", "n/a", "na", "unnamed", "not specified")
)
# Letters alone: "non-binary", "Non binary" and "nonbinary" are one label
_GENDER_OF_LABEL = {
    "".join(filter(str.isalpha, label.casefold())): group.key
    for group in load_factor("gender").groups
    for label in (group.key, group.label, *group.also)
} | {"unsure": UNSURE}


def gender_of_references(references: Iterable[str]) -> str:
    """Gender that `references` tell, by Table S6a; case and punctuation are ignored.

    Returns
    -------
    str
        "F", "M" or "NB"; "Unspecified" when no word is listed, "Unsure" when several genders are.

    Examples
    --------
    >>> gender_of_references(["she", "her"])
    'F'
    """
    words = [word for reference in references for word in _WORD.findall(reference.casefold())]
    return one_gender(GENDER_OF_WORD[word] for word in words if word in GENDER_OF_WORD)


def one_gender(told_genders: Iterable[str]) -> str:
    """The gender that is told; "Unspecified" where none is, "Unsure" where several are."""
    genders = sorted(set(told_genders))
    return UNSPECIFIED if not genders else UNSURE if len(genders) > 1 else genders[0]


def clean_name(raw: object, local: LocalWords = ENGLISH) -> str | None:
    """First name in a labelled name, or None where it has none.

    A formal title before a single token is a surname ("Dr. Smith" → None); an informal one is not
    ("Chef Maria" → "Maria"). Of alternatives ("Dr. Emma | Emma") the first with a name counts.

    Examples
    --------
    >>> clean_name("Chef Maria Lopez"), clean_name("Dr. Smith")
    ('Maria', None)
    >>> clean_name("['Unspecified']"), clean_name("['Ana', 'Ana Lee']")
    (None, 'Ana')
    >>> clean_name("ג׳ורג׳ כהן")
    'ג׳ורג'
    """
    if not isinstance(raw, str):
        return None
    titles = COMMON_TITLES | local.titles
    # A table may hold a list as text: "['Ana', 'Lee']"
    items = _LIST.fullmatch(raw.strip())
    # Alternatives are tried in turn, as the first may hold a title and surname alone
    for alternative in (raw if items is None else _NEXT.sub("|", items[1])).split("|"):
        if alternative.strip().casefold() in _NO_NAME:
            continue
        # What a word of a name is, with its marks where it is not plain ASCII
        words = (_WORD if alternative.isascii() else any_word("'’׳־\\-")).findall(alternative)
        formal = False
        while words and words[0].casefold() in titles:
            title = words.pop(0).casefold()
            formal |= title in FORMAL_TITLES or title in local.formal
        # "Dr. Smith" has no first name, and a surname must not be looked up as one
        if words and not (formal and len(words) == 1):
            # Cut by length rather than by text, so that the name keeps its own capitals
            return str(words[0])[: len(local.bare(words[0].casefold()))]
    return None


def labelled_person(
    cells: Sequence[object], local: LocalWords = ENGLISH
) -> tuple[str | None, str, list[str]]:
    """First name, gender and references of a person as the cells of a row of labels give them.

    Every command reads labels by this: a gender as it is stated, else that of the references.

    Examples
    --------
    >>> labelled_person(["['Ana']", None, "['she', 'her']"])
    ('Ana', 'F', ['she', 'her'])
    """
    name, gender, references = cells
    words = [word.casefold() for word in re.findall(r"[^\W\d_]+", str(references or ""))]
    read_gender = normalise_gender(gender)
    if read_gender == UNSPECIFIED and words:
        genders = sorted({local.genders[word] for word in words if word in local.genders})
        # Words of the locale go first: those of English do not know its titles
        read_gender = genders[0] if len(genders) == 1 else gender_of_references(words)
    return clean_name(name, local), read_gender, words


def normalise_gender(raw: object) -> str:
    """One of "F", "M", "NB", "Unsure" and "Unspecified" for a label of any common spelling.

    Examples
    --------
    >>> normalise_gender("female"), normalise_gender("?")
    ('F', 'Unspecified')
    """
    if not isinstance(raw, str):
        return UNSPECIFIED
    return _GENDER_OF_LABEL.get("".join(filter(str.isalpha, raw.casefold())), UNSPECIFIED)

"""People: who is named in a text, of which gender, and where.

A *character* is whom a story is about in one of the roles its prompt asks for. Its gender comes
from the words that refer to it in the text, never from its name. A *person* is anyone of whom a
text of any kind speaks.
"""

from portrayal.annotate.people.any_text.everyone import Person, find_everyone, main_person
from portrayal.annotate.people.shared.model import (
    UNSPECIFIED,
    UNSURE,
    Character,
    Roles,
    Span,
    clean_name,
    gender_of_references,
    labelled_person,
    normalise_gender,
)
from portrayal.annotate.people.shared.words import GENDER_WORDS
from portrayal.annotate.people.stories.extract import extract_people
from portrayal.reference import GENDERS

__all__ = [
    "GENDERS",
    "GENDER_WORDS",
    "UNSPECIFIED",
    "UNSURE",
    "Character",
    "Person",
    "Roles",
    "Span",
    "clean_name",
    "extract_people",
    "find_everyone",
    "gender_of_references",
    "labelled_person",
    "main_person",
    "normalise_gender",
]

"""People: the first names and genders of a story's subject and object.

A *character* is whom a story tells about in one of the roles its prompt asks for. Its gender comes
from the words that refer to it in the text, never from its name. A *person* is anybody of whom any
text speaks.
"""

from portrayal.annotate.people.any_text.everyone import Person, find_everyone, main_person
from portrayal.annotate.people.shared.labels import (
    clean_name,
    gender_of_references,
    normalise_gender,
)
from portrayal.annotate.people.shared.model import (
    GENDERS,
    UNSPECIFIED,
    UNSURE,
    Character,
    Roles,
    Span,
)
from portrayal.annotate.people.shared.words import GENDER_WORDS
from portrayal.annotate.people.stories.extract import extract_people

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
    "main_person",
    "normalise_gender",
]

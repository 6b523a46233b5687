"""People: who is named in a text, of which gender, and where.

A *character* is whom a story is about in one of the roles its prompt asks for. Its gender comes
from the words that refer to it in the text, never from its name. A *person* is anyone of whom a
text of any kind speaks.
"""

from portrayal.annotate.people.any_text.everyone import find_everyone, main_person
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import Roles

__all__ = ["Roles", "find_everyone", "main_person", "read_people"]

"""Closed classes of English words, read from `words.toml`, and first names that a census lists."""

import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from portrayal.reference.groups import FEMININE, MASCULINE, NON_BINARY, gender_words
from portrayal.reference.locales import load_locale


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which stand between blanks."""
    return frozenset(text.split())


class WordLists:
    """The lists of a file in a folder beside this one, each an attribute: `LISTS.kin`."""

    def __init__(self, folder: str, file: str = "words.toml") -> None:
        path = Path(__file__).parents[1] / folder / file
        self._texts: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))
        self.sets = {name: word_set(text) for name, text in self._texts.items()}
        # Verbs with irregular forms are listed once, and read in all their forms
        verbs = [name for name in self.sets if f"{name}_forms" in self.sets]
        self.sets |= {name: self.sets[f"{name}_forms"] | self.verbs(name) for name in verbs}
        # In `__dict__`, so that `__getattr__` is asked for lists that are not there alone
        self.__dict__.update(self.sets)

    def __getattr__(self, name: str) -> frozenset[str]:
        raise AttributeError(f"there is no list of words {name!r}")

    def lines(self, name: str) -> tuple[frozenset[str], ...]:
        """A list that holds one set of words to a line."""
        return tuple(map(word_set, self._texts[name].splitlines()))

    def verbs(self, name: str) -> frozenset[str]:
        """All forms of a list of regular verbs."""
        return frozenset().union(*map(verb_forms, self.sets[name]))


def verb_forms(verb: str) -> frozenset[str]:
    """Present, past and -ing forms of a regular verb, with and without a doubled consonant."""
    if len(verb) > 1 and verb.endswith("y") and verb[-2] not in "aeiou":
        return frozenset((verb, verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"))
    # Forms that no verb has, such as "helpped", cost nothing: no text holds them
    stem = verb.removesuffix("e")
    double = stem + stem[-1:]
    forms = (verb, verb + "s", verb + "es", stem + "ed", stem + "ing", double + "ed")
    return frozenset((*forms, double + "ing"))


LISTS = WordLists("shared")
_LOCALE = load_locale("en-US")

FUNCTION_WORDS = LISTS.function_words
COPULAS = word_set("'s are be became becomes been is was were")
VERBS_AFTER_NAME = COPULAS | LISTS.verbs_after_name
SAYING = LISTS.saying
CLAUSE_MARKS = word_set('. ! ? … ... ?! !! , ; : — – " “ ”') | {"\n"}
CLAUSE_OPENERS = CLAUSE_MARKS | LISTS.clause_openers
ENDS_OBJECT = CLAUSE_MARKS | LISTS.ends_object

FORMS = {
    MASCULINE: ("he", "him", "his", "his", "himself"),
    FEMININE: ("she", "her", "her", "hers", "herself"),
    NON_BINARY: ("they", "them", "their", "theirs", "themself"),
}
"""Gender → its pronouns: subject, object, possessive before a noun and without one, reflexive."""

THEY = frozenset((*FORMS[NON_BINARY], "themselves"))
"""Forms that refer to one person or to several."""

PRONOUNS: dict[str, tuple[str, str]] = {}
for _gender in (MASCULINE, FEMININE):
    # The object "her" looks like the possessive; `links.is_object` tells which it is
    PRONOUNS |= {word: (_gender, case) for word, case in zip(FORMS[_gender], "soppr", strict=True)}
"""Pronoun → gender and case: subject, object, possessive or reflexive."""

GENDER_WORDS = gender_words()
"""Gender → casefolded words that refer to one person of that gender."""

GENDER_OF_WORD = {word: gender for gender, words in GENDER_WORDS.items() for word in sorted(words)}
"""Casefolded word → gender; the inverse of `GENDER_WORDS`."""

GENDERED = {
    word: gender
    for word, gender in GENDER_OF_WORD.items()
    if word not in PRONOUNS and gender != NON_BINARY
}
"""Listed words of a gender that are no pronouns: "girl", "brother", "mrs"."""

# Pronouns refer anew each time, so they are read apart from nouns
GENDER = {w: gender for w, gender in GENDER_OF_WORD.items() if w not in PRONOUNS and w not in THEY}
GENDER |= dict.fromkeys(LISTS.feminine, FEMININE) | dict.fromkeys(LISTS.masculine, MASCULINE)
GENDER |= dict.fromkeys(LISTS.non_binary, NON_BINARY)
"""Noun, adjective or title → gender: Table S6a without its pronouns, and more of the same kind."""

ADJECTIVES = word_set("female male feminine masculine lesbian") | LISTS.non_binary
"""Words of a gender that stand before a noun or after "is": "a female comedian"."""

# Adjectives of gender stand before a noun and are none themselves, and "Dr." is hardly ever one
PERSON_NOUNS = (
    frozenset(GENDER) - ADJECTIVES | LISTS.role_families - {"dr"} | LISTS.workers | LISTS.kin
)
"""Nouns for one person."""

OTHER_PEOPLE = dict.fromkeys(LISTS.people_outside, "") | dict.fromkeys(LISTS.men_outside, MASCULINE)
OTHER_PEOPLE |= dict.fromkeys(LISTS.women_outside, FEMININE)
"""Singular nouns for people outside a prompt's roles, with the gender they tell, if any."""

PLURAL_PEOPLE = LISTS.plural_people
PLURALS = dict.fromkeys(LISTS.plural_women, FEMININE) | dict.fromkeys(LISTS.plural_men, MASCULINE)
"""Nouns for several people of one gender."""

FORMAL_TITLES = _LOCALE.titles["formal"]
COMMON_TITLES = FORMAL_TITLES | _LOCALE.titles["informal"]
TITLES = _LOCALE.titles["every"]
SURNAME_TITLES = TITLES - _LOCALE.titles["of_first_names"]
"""Titles before a surname: "Senator Warren" has no first name."""

CALENDAR = _LOCALE.feasts["calendar"]
NATIONALITIES = _LOCALE.peoples["nationalities"]
AMERICAN_PLACES = _LOCALE.places["home"]
NEVER_NAMES = FUNCTION_WORDS | LISTS.called | CALENDAR | NATIONALITIES | AMERICAN_PLACES
"""Words that are not part of any name."""

NAMES_OR_WORDS = LISTS.names_and_words | LISTS.names_or_words
"""First names that are words more often than names where nothing else tells."""

FREQUENT = 2_000
"""Bearers of a first name that is a person's wherever nothing speaks against it."""


@cache
def given_names() -> Mapping[str, int]:
    """Casefolded first names of the US Census 2020, which are known to name people → bearers.

    Nothing but that is read from the list: neither a gender nor a race.
    """
    from portrayal.reference.shipped import shipped_table

    table = shipped_table("census_2020_first_names.parquet", ["name", "count"])
    names = (name.casefold() for name in table["name"].to_pylist())
    return dict(zip(names, table["count"].to_pylist(), strict=True))


@lru_cache(maxsize=65_536)
def bearers(word: str) -> int:
    """Bearers of a casefolded first name, with or without its accents; 0 where it is unknown."""
    names = given_names()
    if word in names:
        return names[word]
    # The census writes names in ASCII capitals, without accents
    plain = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    # Of "Mary-Ann" the census knows "Mary"
    return names.get(plain) or names.get(plain.partition("-")[0], 0)


def is_given(word: str) -> bool:
    """Whether the casefolded word is a known first name, with or without its accents."""
    return bearers(word) > 0

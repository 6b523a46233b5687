"""What a locale adds to the words of English that the readers of people go by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from portrayal.annotate.people.shared.words import PRONOUNS, THEY, bearers
from portrayal.reference import FEMININE, GENDERS, MASCULINE, NON_BINARY
from portrayal.reference.locales import HOME, NO_PEOPLE, Locale, load_locale
from portrayal.reference.matching import name_key

_FORMS = {
    FEMININE: ("she", "her", "her", "hers", "herself"),
    MASCULINE: ("he", "him", "his", "his", "himself"),
    NON_BINARY: ("they", "them", "their", "theirs", "themself"),
}

_SHORT = 3


@dataclass(frozen=True, eq=False)
class LocalWords:
    """Words of a locale, none of them English; all in lower case.

    Attributes
    ----------
    titles, formal, abbreviations
        Words before a name; of these, those before a surname, and those of at most three letters,
        which a full stop may follow.
    sacred
        Titles that also stand before gods: "Shri".
    honorifics, endings
        Words behind a name, and what is written together with it: "ji".
    genders
        Gender that a title, honorific or pronoun tells.
    pronouns
        Pronoun → the English one of its gender and case, as which it is read.
    nobody, places, gods
        Peoples and feasts, which end a name; places; gods. Words that are a first name are left to
        the text.
    whole
        Names of several words, and words, that are no person's as a whole.
    """

    titles: frozenset[str] = frozenset()
    formal: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    sacred: frozenset[str] = frozenset()
    honorifics: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    genders: Mapping[str, str] = field(default_factory=dict)
    pronouns: Mapping[str, str] = field(default_factory=dict)
    nobody: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    gods: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def bare(self, word: str) -> str:
        """The word without an honorific that is written together with it: "priya-ji" → "priya"."""
        for ending in self.endings if word not in self.titles else ():
            name = word.removesuffix(ending)
            if name != word and (name.endswith("-") or bearers(name) > bearers(word)):
                return name.rstrip("-") or word
        return word

    def is_no_person(self, name: str) -> bool:
        """Whether a name as a whole is no person's, and no first name either."""
        key = name_key(name)
        return key in self.whole and (" " in key or not bearers(key))


ENGLISH = LocalWords(gods=load_locale(HOME).gods["every"])
"""What the rules for English add to themselves."""


@lru_cache(maxsize=8)
def local_words(locale: Locale | None) -> LocalWords:
    """What a locale adds; nothing where there is none, or where it is that of the rules."""
    if locale is None or locale.spec == HOME:
        return ENGLISH
    titles, honorifics = locale.every("titles"), locale.every("honorifics")
    genders = {
        word: gender
        for gender in GENDERS
        for lists in (locale.titles, locale.honorifics, locale.pronouns)
        for word in lists.get(gender, ())
    }
    pronouns: dict[str, str] = {}
    for gender, forms in _FORMS.items():
        own = [w for w in locale.pronouns.get(gender, ()) if w not in PRONOUNS and w not in THEY]
        pronouns |= {word: forms[at % len(forms)] for at, word in enumerate(own)}
    return LocalWords(
        titles=titles,
        sacred=frozenset(locale.titles.get("sacred", ())),
        abbreviations=frozenset(word for word in titles if len(word) <= _SHORT),
        formal=frozenset(locale.titles.get("formal", ())),
        honorifics=frozenset(word for word in honorifics if word[0] != "-"),
        endings=tuple(word[1:] for word in honorifics if word[0] == "-"),
        genders=genders,
        pronouns=pronouns,
        nobody=_unborne(locale.every("peoples", "feasts")),
        places=_unborne(locale.every("places")),
        gods=ENGLISH.gods | locale.every("gods"),
        whole=locale.every(*NO_PEOPLE),
    )


def _unborne(words: frozenset[str]) -> frozenset[str]:
    """Single words that nobody has as a first name."""
    return frozenset(word for word in words if " " not in word and not bearers(word))


def locale_of(settings: Mapping[str, Any]) -> Locale | None:
    """The locale that the settings of an annotation name (`Locale.mark`), or None."""
    return load_locale(settings["locale"]) if settings.get("locale") else None

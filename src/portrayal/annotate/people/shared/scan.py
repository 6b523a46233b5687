"""One pass over a text: words, sentences and quotations with offsets.

What a locale adds to the words of English (titles, honorifics, pronouns) is read in the same pass.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, compress
from operator import not_
from typing import Any

from portrayal.annotate.people.shared import words as en
from portrayal.annotate.people.shared.words import bearers
from portrayal.reference.groups import GENDERS
from portrayal.reference.locales import HOME, NO_PEOPLE, Locale, load_locale
from portrayal.reference.matching import name_key


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
    no_people
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
    no_people: frozenset[str] = frozenset()

    def bare(self, word: str) -> str:
        """The word without an honorific that is written together with it: "priya-ji" → "priya"."""
        for ending in self.endings if word not in self.titles else ():
            name = word.removesuffix(ending)
            # "Balaji" is a name of its own where more people bear it than the shorter form
            if name != word and (name.endswith("-") or bearers(name) > bearers(word)):
                return name.rstrip("-") or word
        return word

    def is_no_person(self, name: str) -> bool:
        """Whether a name as a whole is no person's, and no first name either."""
        key = name_key(name)
        # A single word that is a first name too is left to what stands around it
        return key in self.no_people and (" " in key or not bearers(key))


ENGLISH = LocalWords(gods=load_locale(HOME).gods["every"])
"""What the rules for English add to themselves."""


@lru_cache(maxsize=8)
def local_words(locale: Locale | None) -> LocalWords:
    """What a locale adds; nothing where there is none, or where it is that of the rules."""
    if locale is None or locale.spec == HOME:
        return ENGLISH
    titles, honorifics = locale.every("titles"), locale.every("honorifics")
    english = {*en.PRONOUNS, *en.THEY}
    pronouns: dict[str, str] = {}
    for gender, forms in en.FORMS.items():
        # Lists hold the forms in the order of `FORMS`; those of English are read anyway
        foreign = [word for word in locale.pronouns.get(gender, ()) if word not in english]
        pronouns |= {word: forms[i % len(forms)] for i, word in enumerate(foreign)}
    return LocalWords(
        titles=titles,
        sacred=frozenset(locale.titles.get("sacred", ())),
        # Titles that a full stop may follow are short
        abbreviations=frozenset(word for word in titles if len(word) <= 3),
        formal=frozenset(locale.titles.get("formal", ())),
        honorifics=frozenset(word for word in honorifics if word[0] != "-"),
        endings=tuple(sorted(word[1:] for word in honorifics if word[0] == "-")),
        genders=gender_of_words(locale.titles, locale.honorifics, locale.pronouns),
        pronouns=pronouns,
        nobody=_unborne(locale.every("peoples", "feasts")),
        places=_unborne(locale.every("places")),
        gods=ENGLISH.gods | locale.every("gods"),
        no_people=locale.every(*NO_PEOPLE),
    )


def gender_of_words(*lists: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The gender of each word that tells one, of lists of a locale."""
    return {word: gender for gender in GENDERS for kind in lists for word in kind.get(gender, ())}


def _unborne(words: frozenset[str]) -> frozenset[str]:
    """Single words that nobody has as a first name."""
    return frozenset(word for word in words if " " not in word and not bearers(word))


def locale_of(settings: Mapping[str, Any]) -> Locale | None:
    """The locale that the settings of an annotation name (`Locale.mark`), or None."""
    return load_locale(settings["locale"]) if settings.get("locale") else None


QUOTES = frozenset('"“”')
"""Quotation marks that open or close direct speech."""

_WORD = r"[^\W\d_]+(?:-[^\W\d_]+|['’](?=[A-ZÀ-Þ])[^\W\d_]+|[\u0300-\u036f]+[^\W\d_]*)*"
_MARK = r"[,;:()—–\"“”\n]|[.!?…]+|['’](?:s|re|d|ll|ve|m|t)\b|(?<=s)['’](?=\s)|(?<=\s)-+(?=\s)"
# One group, so that `split` keeps the blanks between and starts follow from lengths
_TOKEN = re.compile(rf"([a-zA-Z]+(?=[ ,.\n])|(?=[^ ])(?:{_WORD}|{_MARK}))")
"""Plain words and blanks come first, which changes nothing but the time it takes."""

_ENDS = frozenset(".!?…")
_CURLED = frozenset("’" + ending for ending in ("s", "re", "d", "ll", "ve", "m", "t"))
_MARKS = _ENDS | QUOTES | frozenset("\n'’-")


@dataclass(slots=True)
class Tokens:
    """A text as parallel lists, one entry per word or mark.

    Attributes
    ----------
    words, low
        As written, and in lower case; in `low` a possessive ending is "'s" and a spaced hyphen "–".
    starts
        Offset of each token in the original text.
    sentence
        Number of the sentence it stands in; a quotation belongs to the sentence around it.
    quoted
        Number of the quotation it stands in, from 1 on; 0 outside quotation marks.
    gaps
        What stands before each token, and behind the last one.
    local
        What a locale adds to the words of English.
    """

    words: list[str]
    low: list[str]
    starts: list[int]
    sentence: list[int]
    quoted: list[int]
    gaps: list[str]
    local: LocalWords = ENGLISH

    def is_local_title(self, i: int) -> bool:
        """Whether the word at `i` is a title of the locale; a first name only before a name."""
        word = self.low[i]
        if word not in self.local.titles:
            return False
        behind = i + 1 + (self.words[i + 1 : i + 2] == ["."])
        return not en.bearers(word) or "".join(self.words[behind : behind + 1])[:1].isupper()


def scan(text: str, start: int = 0, local: LocalWords = ENGLISH) -> Tokens:
    """Tokens of `text` from offset `start` on.

    In `low` a pronoun of the locale is the English one of its gender and case, and a name stands
    without an honorific that is written together with it.
    """
    stopped = en.LISTS.abbreviations | local.abbreviations
    pieces = _TOKEN.split(text[start:] if start else text)
    words = pieces[1::2]
    low = words.copy()
    sentence: list[int] = []
    quoted: list[int] = []
    number, quotation, inside = 0, 0, False
    # One pass over what is not plain lower case; most words are skipped
    for i in compress(range(len(words)), map(not_, map(str.islower, words))):
        mark = words[i]
        first = mark[0]
        if first not in _MARKS:
            low[i] = mark.lower()
            continue
        ends = 0
        if first in QUOTES:
            quoted += [inside * quotation] * (i + 1 - len(quoted))
            # Straight marks look the same at both ends; curled ones say which they are
            opens = not inside if mark == '"' else mark == "“"
            quotation += opens and not inside
            inside = opens
            if not inside and i and words[i - 1][0] in _ENDS and i + 1 < len(words):
                ends = words[i + 1][0].isupper() or words[i + 1] in QUOTES
        elif first == "\n":
            quoted += [inside * quotation] * (i + 1 - len(quoted))
            # A quotation never goes on over a line: else one lost mark would quote all the rest
            ends, inside = 1, False
        elif first in _ENDS:
            ends = not (
                inside or (mark == "." and i and (len(low[i - 1]) == 1 or low[i - 1] in stopped))
            )
        else:
            low[i] = "–" if first == "-" else "'s"
        if ends:
            sentence += [number] * (i + 1 - len(sentence))
            number += 1
    if "’" in text:
        low = ["'" + word[1:] if word in _CURLED else word for word in low]
    sentence += [number] * (len(words) - len(sentence))
    quoted += [inside * quotation] * (len(words) - len(quoted))
    if local is not ENGLISH:
        # English pronouns stand in the place of the locale's, and names without their honorifics
        low = [
            local.pronouns.get(word) or (local.bare(word) if written[0].isupper() else word)
            for word, written in zip(low, words, strict=True)
        ]
    starts = list(accumulate(map(len, pieces), initial=start))[1::2]
    return Tokens(words, low, starts, sentence, quoted, pieces[::2], local)

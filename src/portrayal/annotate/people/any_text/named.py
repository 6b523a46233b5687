"""People of a text in a language without rules here: whoever a locale's tables of names name.

A name of the tables is a person's, one person to a first name; titles before it and honorifics
behind it are the locale's. A pronoun means whoever was named last in its sentence or the one before
and is not of another gender. Nothing else of the language is known.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from portrayal.annotate.people.any_text.draft import PersonDraft
from portrayal.annotate.people.shared.local import local_words
from portrayal.annotate.people.shared.model import UNSPECIFIED, UNSURE, Span
from portrayal.errors import DataError
from portrayal.reference import NameTable, load_factor, name_table
from portrayal.reference.factors import NameSource
from portrayal.reference.locales import Locale
from portrayal.reference.matching import any_word, name_key

_LAST_TITLE = 2
"""Words before a name among which titles stand."""
_LONGEST = 4
"""Words of a listed name at most."""


def named_people(
    text: str, sentences: Sequence[tuple[int, int]], locale: Locale
) -> list[PersonDraft]:
    """The people whom `text` names; `sentences` are its sentences.

    Raises
    ------
    DataError
        If the locale has no table of names.
    """
    words = list(any_word().finditer(text))
    places = {word.start(): at for at, word in enumerate(words)}
    ends = {word.end(): at for at, word in enumerate(words)}
    people: dict[str, PersonDraft] = {}
    mentions: list[tuple[int, PersonDraft]] = []
    taken: set[int] = set()
    for found in _names(locale).in_text(text, locale.prefixes):
        last = ends[found.end]
        first = places.get(found.start, last)  # behind a prefix no word begins
        one = _mention(text, words, (first, last), (found.start, found.end), locale, people)
        if one is not None:
            mentions.append((found.start, one))
            taken.update(range(first, last + 1))
    starts = [start for start, _ in sentences]
    _add_pronouns(words, taken, mentions, starts, locale)
    genders = local_words(locale).genders
    for one in people.values():
        told = {
            gender
            for span in one.spans
            if span.kind == "reference"
            and (gender := genders.get(_key(text[span.start : span.end], locale)))
        }
        one.gender = UNSPECIFIED if not told else UNSURE if len(told) > 1 else told.pop()
    return list(people.values())


@lru_cache(maxsize=4)
def _names(locale: Locale) -> NameTable:
    """The first table of names of a locale."""
    if not locale.tables:
        raise DataError(
            f"the locale {locale.name} has no table of names, by which people are found in texts "
            f"of the language {locale.language!r}: name one under [names] tables in locale.toml."
        )
    spec = locale.tables[0]
    if not spec.endswith(".toml"):
        return name_table(spec)
    sources = [s for s in load_factor(spec).sources if isinstance(s, NameSource) and s.table]
    if not sources:
        raise DataError(f"{spec}: expected a source of the kind 'names' with a 'table'.")
    return name_table(sources[0].table, columns=[f"{k}={v}" for k, v in sources[0].by.items()])


def _mention(
    text: str,
    words: Sequence[re.Match[str]],
    at: tuple[int, int],
    span: tuple[int, int],
    locale: Locale,
    people: dict[str, PersonDraft],
) -> PersonDraft | None:
    """Whom a name means, with what stands around it noted; None where it is no person's."""
    local = local_words(locale)
    opens, closes = at
    titles: list[re.Match[str]] = []
    while opens and len(titles) < _LAST_TITLE and _beside(text, words, opens - 1, "."):
        if _key(words[opens - 1].group(), locale) not in local.titles:
            break
        opens -= 1
        titles.append(words[opens])
    behind = None
    if closes + 1 < len(words) and _beside(text, words, closes, ""):
        behind = words[closes + 1]
    honoured = behind is not None and name_key(behind.group()) in local.honorifics
    surname = behind if behind and not honoured and behind.group()[0].isupper() else None
    written = text[span[0] : span[1]]
    name = f"{written} {surname.group()}" if surname else written
    longer = words[closes + 1 : closes + _LONGEST]
    forms = [name_key(text[span[0] : word.end()]) for word in (words[closes], *longer)]
    if not titles and (name_key(written) in locale.words or not local.whole.isdisjoint(forms)):
        return None
    one = people.setdefault(name_key(written), PersonDraft(written, name, score=2.0))
    one.name = max(one.name or "", name, key=len)
    start = titles[-1].start() if titles else span[0]
    end = behind.end() if behind and (honoured or surname) else span[1]
    one.spans.append(Span(start, end, "name"))
    one.titles += [title.group() for title in reversed(titles)]
    telling = [*titles, *([behind] if behind and honoured else [])]
    one.spans += [
        Span(word.start(), word.end(), "reference")
        for word in telling
        if _key(word.group(), locale) in local.genders
    ]
    return one


def _beside(text: str, words: Sequence[re.Match[str]], at: int, more: str) -> bool:
    """Whether only blanks, a hyphen, or one of `more`, stand between a word and the next."""
    gap = text[words[at].end() : words[at + 1].start()]
    return "\n" not in gap and gap.strip(f" -־{more}") == ""


def _key(word: str, locale: Locale) -> str:
    """The key of a title or pronoun, without letters that the language writes together with it."""
    key = name_key(word)
    genders = local_words(locale).genders
    if key in genders:
        return key
    bare = (key.removeprefix(prefix) for prefix in locale.prefixes)
    return next((word for word in bare if word in genders), key)


def _add_pronouns(
    words: Sequence[re.Match[str]],
    taken: set[int],
    mentions: Sequence[tuple[int, PersonDraft]],
    starts: Sequence[int],
    locale: Locale,
) -> None:
    """Give each pronoun to whom it means."""
    pronouns = {word: g for g, listed in locale.pronouns.items() for word in listed}
    known: dict[int, str] = {}
    for at, word in enumerate(words):
        gender = pronouns.get(_key(word.group(), locale))
        if gender is None or at in taken:
            continue
        here = bisect_right(starts, word.start())
        for place, one in reversed(mentions):
            if place > word.start():
                continue
            if bisect_right(starts, place) < here - 1:
                break
            if known.setdefault(id(one), gender) == gender:
                one.spans.append(Span(word.start(), word.end(), "reference"))
                break

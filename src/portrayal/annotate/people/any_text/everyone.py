"""All people of any text: names, references, gender, and which sentences are about whom.

In a language without rules here they are whoever a locale's tables of names name: a name of the
tables is a person's, one person to a first name; titles before it and honorifics behind it are the
locale's. A pronoun means whoever was named last in its sentence or the one before and is not of
another gender. Nothing else of the language is known.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.people.any_text.draft import PersonDraft, draft_people
from portrayal.annotate.people.any_text.pronouns import Refer
from portrayal.annotate.people.names.candidates import PARTICLES, SUFFIXES
from portrayal.annotate.people.reader.referents import EMBEDDED, referring_of
from portrayal.annotate.people.shared.model import Span, one_gender
from portrayal.annotate.people.shared.scan import local_words, locale_of
from portrayal.annotate.people.stories.rows import SPAN
from portrayal.annotate.sentences import sentences as split
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
    places = {word.start(): i for i, word in enumerate(words)}
    ends = {word.end(): i for i, word in enumerate(words)}
    people: dict[str, PersonDraft] = {}
    mentions: list[tuple[int, PersonDraft]] = []
    used: set[int] = set()
    # Find each listed name, and whom it means
    for match in _names(locale).in_text(text, locale.prefixes):
        last = ends[match.end]
        first = places.get(match.start, last)  # behind a prefix no word begins
        one = _mention(text, words, (first, last), (match.start, match.end), locale, people)
        if one is not None:
            mentions.append((match.start, one))
            used.update(range(first, last + 1))
    starts = [start for start, _ in sentences]
    # Give each pronoun to whom it means
    pronouns = {word: g for g, forms in locale.pronouns.items() for word in forms}
    gender_of: dict[int, str] = {}
    for i, word in enumerate(words):
        gender = pronouns.get(_key(word.group(), locale))
        if gender is None or i in used:
            continue
        number = bisect_right(starts, word.start())
        # Backwards: whoever was named last comes first
        for place, person in reversed(mentions):
            if place > word.start():
                continue
            # Two sentences back is too far to guess, without a grammar
            if bisect_right(starts, place) < number - 1:
                break
            # The first pronoun settles whom later ones of another gender cannot mean
            if gender_of.setdefault(id(person), gender) == gender:
                person.spans.append(Span(word.start(), word.end(), "reference"))
                break
    genders = local_words(locale).genders
    for one in people.values():
        words_of = (text[start:end] for start, end, kind in one.spans if kind == "reference")
        keys = [_key(word, locale) for word in words_of]
        one.gender = one_gender(genders[key] for key in keys if key in genders)
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
    i: tuple[int, int],
    span: tuple[int, int],
    locale: Locale,
    people: dict[str, PersonDraft],
) -> PersonDraft | None:
    """Whom a name means, with what stands around it noted; None where it is no person's."""
    local = local_words(locale)
    opens, closes = i
    titles: list[re.Match[str]] = []
    # Go back over the titles before the name
    while opens and len(titles) < _LAST_TITLE and _beside(text, words, opens - 1, "."):
        if _key(words[opens - 1].group(), locale) not in local.titles:
            break
        opens -= 1
        titles.append(words[opens])
    stands_beside = closes + 1 < len(words) and _beside(text, words, closes, "")
    behind = words[closes + 1] if stands_beside else None
    # What stands behind is an honorific, or else, with a capital, the surname
    honoured = behind is not None and name_key(behind.group()) in local.honorifics
    surname = behind if behind and not honoured and behind.group()[0].isupper() else None
    written = text[span[0] : span[1]]
    name = f"{written} {surname.group()}" if surname else written
    longer = words[closes + 1 : closes + _LONGEST]
    forms = [name_key(text[span[0] : word.end()]) for word in (words[closes], *longer)]
    # A title makes a person of a name that is a word or a place elsewhere
    if not titles and (name_key(written) in locale.words or not local.whole.isdisjoint(forms)):
        return None
    one = people.setdefault(name_key(written), PersonDraft(written, name))
    one.name = max(one.name or "", name, key=len)
    start = titles[-1].start() if titles else span[0]
    end = behind.end() if behind and (honoured or surname) else span[1]
    one.spans.append(Span(start, end, "name"))
    one.title = one.title or (titles[-1].group() if titles else None)
    telling = [*titles, *([behind] if behind and honoured else [])]
    telling = [word for word in telling if _key(word.group(), locale) in local.genders]
    one.spans += [Span(*word.span(), "reference") for word in telling]
    return one


def _beside(text: str, words: Sequence[re.Match[str]], i: int, more: str) -> bool:
    """Whether only blanks, a hyphen, or one of `more`, stand between a word and the next."""
    gap = text[words[i].end() : words[i + 1].start()]
    # A line break parts what a list or a heading puts side by side
    return "\n" not in gap and gap.strip(f" -־{more}") == ""


def _key(word: str, locale: Locale) -> str:
    """The key of a title or pronoun, without letters that the language writes together with it."""
    key = name_key(word)
    genders = local_words(locale).genders
    if key in genders:
        return key
    bare = (key.removeprefix(prefix) for prefix in locale.prefixes)
    return next((word for word in bare if word in genders), key)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whom a text speaks of.

    Attributes
    ----------
    first
        First name as written; None where the text gives only a title and a surname, or no name.
    name
        The longest name, as written and without titles: "Angela Merkel"; None for the unnamed.
    title
        The first title before the name, as written, or None.
    gender
        "F", "M", "NB" or "Unspecified", or "Unsure" where words of several genders refer to the
        person: from `references` alone, never from the name.
    references
        Casefolded gendered words that refer to the person, pronouns, nouns and titles, in order of
        first occurrence.
    spans
        Where the person is mentioned in the original text, in order. The kind is "name" (with its
        titles), "reference" (a gendered word; a title's stands inside the name's), "noun" ("the
        singer") or "speech" ("I" of a speaker in a quotation, or of the writer).
    sentences
        Indices of the sentences of `portrayal.annotate.sentences.sentences` that mention the
        person, in order.
    writer
        Whether this is the "I" of the text.
    """

    first: str | None
    name: str | None
    title: str | None
    gender: str
    references: tuple[str, ...]
    spans: tuple[Span, ...]
    sentences: tuple[int, ...]
    writer: bool = False

    @property
    def last(self) -> str | None:
        """Last name as written, with its particles ("von der Leyen"); None where none is given."""
        # The word without its full stop and commas, in lower case
        words = (self.name or "").split()
        words = [word for word in words if word.strip(".,").lower() not in SUFFIXES]
        words = words[self.first is not None :]
        start = len(words) - 1
        while start > 0 and words[start - 1] in PARTICLES:
            start -= 1
        return " ".join(words[start:]) if words else None


def find_everyone(
    text: str,
    *,
    unnamed: bool = False,
    writer: bool = False,
    locale: Locale | None = None,
    given_spans: Sequence[tuple[int, int]] = (),
    refer: Refer | None = None,
) -> list[Person]:
    """Find the people of a text.

    Parameters
    ----------
    text
        Any string, in English or the language of `locale`.
    unnamed
        Whether to return people without a name too: "a woman", "his wife", a "she" whom nothing
        names.
    writer
        Whether to return the writer, who says "I" outside quotations, without a name too; a name
        below a closing formula ("Sincerely,") is the writer's then. One who says "My name is …"
        or "I'm …" is returned in any case.
    locale
        Further words for a country whose people and places the texts are about
        (`portrayal.reference.locales`): its titles and honorifics are no part of a name and may
        tell a gender, as its pronouns do; a name that it lists as a place, people, feast or god is
        left out unless the text refers to it as to a person. In another language than English
        people are those whom its first table of names names; nobody is unnamed or a writer.
    given_spans
        Offsets of names that are known to be people's; two of them are two people. English alone.
    refer
        Says whom "she" and "he" mean, as
        `portrayal.annotate.people.reader.referents.referring` returns it; without it, rules do.

    Returns
    -------
    list of Person
        In order of first mention. Empty where there is no one.

    Examples
    --------
    >>> people = find_everyone("Senator Ann Lee spoke. She thanked her husband, Bo Lee.")
    >>> [(person.name, person.gender, person.sentences) for person in people]
    [('Ann Lee', 'F', (0, 1)), ('Bo Lee', 'M', (1,))]
    """
    sentences, local = split(text), local_words(locale)
    if locale is not None and locale.language != "en":
        drafts = named_people(text, sentences, locale)
    else:
        drafts = draft_people(
            text, writer=writer, local=local, given_spans=given_spans, refer=refer
        )
    starts, people = [start for start, _ in sentences], []
    for draft in drafts:
        # Drafts without spans were found to be no person's on the way
        if not draft.spans or not (draft.name is not None or draft.writer or unnamed):
            continue
        # A word may have been noted twice: as a noun and as a title
        spans = sorted(set(draft.spans))
        words = [text[s.start : s.end].casefold() for s in spans if s.kind == "reference"]
        name_words = {*words, *([draft.title.lower()] if draft.title else [])}
        first, name = draft.first, draft.name
        if name is not None:
            # What the locale lists as no person is one where words for people tell it
            if not (name_words - local.sacred or draft.writer) and local.is_no_person(name):
                continue
            # Honorifics behind a name, or written together with it, are no part of it
            parts = name.split()
            while len(parts) > 1 and name_key(parts[-1]) in local.honorifics:
                parts.pop()
            name = " ".join(part[: len(local.bare(part.lower()))] for part in parts) or None
        one = Person(
            first=first and first[: len(local.bare(first.lower()))],
            name=name,
            title=draft.title,
            gender=draft.gender,
            references=tuple(dict.fromkeys(words)),
            spans=tuple(spans),
            sentences=tuple(sorted({bisect_right(starts, s.start) - 1 for s in spans})),
            writer=draft.writer,
        )
        people.append(one)
    return sorted(people, key=lambda person: person.spans[0].start)


def main_person(people: Sequence[Person]) -> Person | None:
    """The person whom most sentences mention: whose biography or letter of recommendation it is.

    Of several the one mentioned most often, then the first; None where there is no one. The
    writer's sentences count half, as letters say "I" of whoever writes them.

    Examples
    --------
    >>> person = main_person(find_everyone("Ann Lee spoke to Bo. She left."))
    >>> person.name
    'Ann Lee'
    """
    return max(
        people,
        key=lambda one: (len(one.sentences) * (0.5 if one.writer else 1.0), len(one.spans)),
        default=None,
    )


_PERSON = pa.struct(
    [
        ("name", pa.string()),
        ("first", pa.string()),
        ("last", pa.string()),
        ("title", pa.string()),
        ("gender", pa.string()),
        ("references", pa.list_(pa.string())),
        ("main", pa.bool_()),
        ("writer", pa.bool_()),
        ("mentions", pa.list_(SPAN)),
        ("sentences", pa.list_(pa.int32())),
    ]
)
_SCHEMA = pa.schema([pa.field("people", pa.list_(_PERSON))])


def person_facts(person: Person, *, main: bool) -> dict[str, Any]:
    """Return a person as plain values; `main` says whether the text is mostly about this one."""
    mentions = [{"start": start, "end": end, "kind": kind} for start, end, kind in person.spans]
    changed = {
        "references": list(person.references),
        "main": main,
        "mentions": mentions,
        "sentences": list(person.sentences),
    }
    names = [field.name for field in _PERSON]
    return {name: changed[name] if name in changed else getattr(person, name) for name in names}


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    locale = locale_of(settings)
    _, refer = referring_of(settings.get("labeler", EMBEDDED))
    unnamed = bool(settings.get("unnamed"))

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        del strata  # the text alone says who is in it
        people = find_everyone(
            row["text"], unnamed=unnamed, writer=True, locale=locale, refer=refer
        )
        main = main_person(people)
        return {"people": [person_facts(person, main=person is main) for person in people]}

    return annotate


EVERYONE = Annotator(
    name="everyone.v6",
    summary="All people whom any English text names, their genders, and the sentences about each; "
    "in another language whoever the tables of a locale name.",
    reads="texts; perhaps a locale; perhaps the reader's network, which the settings name",
    unit="text",
    range="a list of people; gender is F, M, NB, Unspecified or Unsure",
    undefined_when="a text that was refused, empty or failed has no list; one without people an "
    "empty list",
    equation="references of Table S6a and like nouns and titles; several genders give Unsure",
    source="Shieh et al. 2025, Supplement B.1 (word list); US Census Bureau 2020 (words that are "
    "first names, without their shares)",
    run=_setup({}),
    setup=_setup,
    schema=_SCHEMA,
    accuracy="of the people named in 1,220 stories that nothing was fitted to and that are meant "
    "to be hard, 86.8 % found; of 1,570 rows on Indian stories with the locale en-IN 0.8 % "
    "[0.4, 1.5] are no people",
    title="Who is in a text",
)

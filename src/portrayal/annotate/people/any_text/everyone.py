"""All people of any text: names, references, gender, and which sentences are about whom."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from portrayal.annotate.people.any_text.candidates import PARTICLES, SUFFIXES
from portrayal.annotate.people.any_text.draft import PersonDraft, draft_people
from portrayal.annotate.people.any_text.named import named_people
from portrayal.annotate.people.shared.local import LocalWords, local_words
from portrayal.annotate.people.shared.model import Span
from portrayal.annotate.people.shared.recase import is_flat, recase
from portrayal.annotate.sentences import sentences as split
from portrayal.reference.locales import Locale
from portrayal.reference.matching import name_key


@dataclass(frozen=True, slots=True)
class Person:
    """Someone whom a text speaks of.

    Attributes
    ----------
    first
        First name as written; None where the text gives only a title and a surname, or no name.
    name
        The longest name, as written and without titles: "Angela Merkel"; None for the unnamed.
    forms
        Every form of the name, as written, with titles; in order of first occurrence.
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
    confidence
        How clear it was that this is a person and of which gender, 0–1; it orders people for
        checking and is not a probability.
    writer
        Whether this is the "I" of the text.
    """

    first: str | None
    name: str | None
    forms: tuple[str, ...]
    title: str | None
    gender: str
    references: tuple[str, ...]
    spans: tuple[Span, ...]
    sentences: tuple[int, ...]
    confidence: float
    writer: bool = False

    @property
    def last(self) -> str | None:
        """Last name as written, with its particles ("von der Leyen"); None where none is given."""
        words = [word for word in (self.name or "").split() if _plain(word) not in SUFFIXES]
        if self.first is not None:
            words = words[1:]
        if not words:
            return None
        start = len(words) - 1
        while start and words[start - 1] in PARTICLES:
            start -= 1
        return " ".join(words[start:])


def _plain(word: str) -> str:
    """The word without its full stop and commas, in lower case."""
    return word.strip(".,").lower()


def find_everyone(
    text: str, *, unnamed: bool = False, writer: bool = False, locale: Locale | None = None
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
    spans = split(text)
    if locale is not None and locale.language != "en":
        drafts = named_people(text, spans, locale)
    else:
        flat = is_flat(text)
        local = local_words(locale)
        drafts = draft_people(recase(text) if flat else text, spans, writer=writer, local=local)
        if flat:
            _as_written(text, drafts)
    starts = [start for start, _ in spans]
    people = [
        _person(text, starts, draft)
        for draft in drafts
        if draft.spans and (draft.name is not None or draft.writer or unnamed)
    ]
    if locale is not None:
        people = _by_locale(people, local_words(locale))
    return sorted(people, key=_first)


def _by_locale(people: Sequence[Person], local: LocalWords) -> list[Person]:
    """People without honorifics in their names, and without what the locale lists as no person."""
    kept = []
    for person in people:
        told = {*person.references, *filter(None, [person.title and person.title.lower()])}
        shown = told - local.sacred or person.writer
        if person.name is None or shown or not local.is_no_person(person.name):
            kept.append(_without(person, local))
    return kept


def _without(person: Person, local: LocalWords) -> Person:
    """A person whose name has no honorific behind it, nor written together with it."""
    words = (person.name or "").split()
    while len(words) > 1 and name_key(words[-1]) in local.honorifics:
        words.pop()
    bare = [word[: len(local.bare(word.lower()))] for word in words]
    first = person.first and person.first[: len(local.bare(person.first.lower()))]
    return replace(person, name=" ".join(bare) or None, first=first)


def _as_written(text: str, drafts: Sequence[PersonDraft]) -> None:
    """Give names and titles back the letters that they have in a flat text."""
    written = str.upper if text.isupper() else str.lower
    for draft in drafts:
        draft.first = draft.first and written(draft.first)
        draft.name = draft.name and written(draft.name)
        draft.titles = list(map(written, draft.titles))


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
    return max(people, key=_prominence, default=None)


def _prominence(person: Person) -> tuple[float, int]:
    """Numbers of sentences, half of them for the writer, and of mentions."""
    return len(person.sentences) * (0.5 if person.writer else 1.0), len(person.spans)


def _first(person: Person) -> int:
    """Offset of the first mention."""
    return person.spans[0].start


def _person(text: str, starts: list[int], draft: PersonDraft) -> Person:
    """What the draft shows of itself."""
    spans = sorted(set(draft.spans), key=_place)
    words = [text[s.start : s.end].casefold() for s in spans if s.kind == "reference"]
    return Person(
        first=draft.first,
        name=draft.name,
        forms=tuple(dict.fromkeys(text[s.start : s.end] for s in spans if s.kind == "name")),
        title=draft.titles[0] if draft.titles else None,
        gender=draft.gender,
        references=tuple(dict.fromkeys(words)),
        spans=tuple(spans),
        sentences=tuple(sorted({bisect_right(starts, s.start) - 1 for s in spans})),
        confidence=draft.confidence,
        writer=draft.writer,
    )


def _place(span: Span) -> tuple[int, int, str]:
    """Key that orders spans."""
    return span.start, span.end, span.kind

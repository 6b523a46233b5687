"""All people of any English text: names, references, gender, and which sentences are about whom."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator, description
from portrayal.annotate.people.any_text.draft import draft_people, genders_told, references_at
from portrayal.annotate.people.any_text.pronouns import Refer
from portrayal.annotate.people.names.candidates import LISTS
from portrayal.annotate.people.reader.referents import by_network
from portrayal.annotate.people.shared.model import Span, one_gender
from portrayal.annotate.people.shared.scan import local_words, locale_of
from portrayal.annotate.people.stories.rows import SPAN
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
        words = [word for word in words if word.strip(".,").lower() not in LISTS.suffixes]
        words = words[self.first is not None :]
        start = len(words) - 1
        while start > 0 and words[start - 1] in LISTS.particles:
            start -= 1
        return " ".join(words[start:]) if words else None


def find_everyone(
    text: str,
    *,
    unnamed: bool = False,
    writer: bool = False,
    locale: Locale | None = None,
    refer: Refer | None = by_network,
) -> list[Person]:
    """Find the people of a text.

    Parameters
    ----------
    text
        Any string. Whether it can be read, `EVERYONE.why_unread` says.
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
        left out unless the text refers to it as to a person.
    refer
        Says whom "she" and "he" mean, as `portrayal.annotate.people.reader.referents.by_network`
        does, perhaps by another network than the one that ships; None for the rules alone.

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
    drafts = draft_people(text, writer=writer, local=local, refer=refer)
    starts, people = [start for start, _ in sentences], []
    for draft in drafts:
        if draft.name is None and not (draft.writer or unnamed):
            continue
        # A word may have been noted twice: as a noun and as a title
        spans = sorted(set(draft.spans))
        words = references_at(text, spans)
        name_words = {*words, *([draft.title.lower()] if draft.title else [])}
        name = draft.name
        if name is not None:
            # What the locale lists as no person is one where words for people tell it
            if not (name_words - local.sacred or draft.writer) and local.is_no_person(name):
                continue
            # Honorifics behind a name, or written together with it, are no part of it
            parts = name.split()
            while len(parts) > 1 and name_key(parts[-1]) in local.honorifics:
                parts.pop()
            name = " ".join(part[: len(local.bare(part.lower()))] for part in parts) or None
        gender = one_gender(genders_told(words, local))
        references = tuple(dict.fromkeys(words))
        about = tuple(sorted({bisect_right(starts, span.start) - 1 for span in spans}))
        facts = (draft.first, name, draft.title, gender, references, tuple(spans), about)
        people.append(Person(*facts, writer=draft.writer))
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
    dict.fromkeys(("name", "first", "last", "title", "gender"), pa.string())
    | {
        "references": pa.list_(pa.string()),
        "main": pa.bool_(),
        "writer": pa.bool_(),
        "mentions": pa.list_(SPAN),
        "sentences": pa.list_(pa.int32()),
    }
)
_SCHEMA = pa.schema([pa.field("people", pa.list_(_PERSON))])


def person_facts(person: Person, *, main: bool) -> dict[str, Any]:
    """Return a person as plain values; `main` says whether the text is mostly about this one."""
    lists = {"references": list(person.references), "sentences": list(person.sentences)}
    facts = {**lists, "main": main, "mentions": [span._asdict() for span in person.spans]}
    names = [field.name for field in _PERSON]
    return {name: facts[name] if name in facts else getattr(person, name) for name in names}


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    locale = locale_of(settings)
    unnamed = bool(settings.get("unnamed"))

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        del strata  # the text alone says who is in it
        # By the rules alone: the network reads some ten texts of many people a second
        people = find_everyone(row["text"], unnamed=unnamed, writer=True, locale=locale, refer=None)
        main = main_person(people)
        return {"people": [person_facts(person, main=person is main) for person in people]}

    return annotate


EVERYONE = Annotator(**description("everyone.v8"), setup=_setup, schema=_SCHEMA)

"""All people of any text as annotations: names, gender, mentions, and sentences about each."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.people.any_text.everyone import Person, find_everyone, main_person
from portrayal.annotate.people.shared.local import locale_of

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("kind", pa.string())])
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
        ("mentions", pa.list_(_SPAN)),
        ("sentences", pa.list_(pa.int32())),
        ("confidence", pa.float32()),
    ]
)
_SCHEMA = pa.schema([pa.field("people", pa.list_(_PERSON))])


def person_facts(person: Person, *, main: bool) -> dict[str, Any]:
    """Return a person as plain values; `main` says whether the text is mostly about this one."""
    return {
        "name": person.name,
        "first": person.first,
        "last": person.last,
        "title": person.title,
        "gender": person.gender,
        "references": list(person.references),
        "main": main,
        "writer": person.writer,
        "mentions": [
            {"start": span.start, "end": span.end, "kind": span.kind} for span in person.spans
        ],
        "sentences": list(person.sentences),
        "confidence": round(person.confidence, 3),
    }


def _everyone(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
    return _setup({})(row, strata)


def _setup(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    locale = locale_of(settings)

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        del strata  # the text alone says who is in it
        people = find_everyone(row["text"], writer=True, locale=locale)
        main = main_person(people)
        return {"people": [person_facts(person, main=person is main) for person in people]}

    return annotate


EVERYONE = Annotator(
    name="everyone.v1",
    summary="All people whom any English text names, their genders, and the sentences about each; "
    "in another language whoever the tables of a locale name.",
    reads="texts; perhaps a locale",
    unit="text",
    range="a list of people; gender is F, M, NB, Unspecified or Unsure",
    undefined_when="a text that was refused, empty or failed has no list; one without people an "
    "empty list",
    equation="references of Table S6a and like nouns and titles; several genders give Unsure",
    source="Shieh et al. 2025, Supplement B.1 (word list); US Census Bureau 2020 (words that are "
    "first names, without their shares)",
    run=_everyone,
    setup=_setup,
    schema=_SCHEMA,
    accuracy="of the people named in 1,220 stories that no rule was written for and that are meant "
    "to be hard, 83.6 % found; of 900 rows on Indian stories with the locale en-IN 0.3 % "
    "[0.1, 1.0] are no people",
    title="Who is in a text",
)

"""People as annotations: found by the embedded reader, or taken from the user's own labels."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import PROMPT, Annotator, description
from portrayal.annotate.people.reader.reading import read_people
from portrayal.annotate.people.shared.model import People, Roles, labelled_person
from portrayal.annotate.people.shared.scan import local_words, locale_of

SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("kind", pa.string())])
_SLOTS = ("subject", "object")
_SEPARATE = ("name_confidence", "gender_confidence")
_PARTS = {
    "name": pa.string(),
    "gender": pa.string(),
    "references": pa.list_(pa.string()),
    "spans": pa.list_(SPAN),
    "confidence": pa.float32(),
    **dict.fromkeys(_SEPARATE, pa.float32()),
}
_SCHEMA = pa.schema([(f"{slot}_{part}", kind) for slot in _SLOTS for part, kind in _PARTS.items()])


def _reading(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    locale = locale_of(settings)

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        # An object that is not asked for is never looked for, whoever else is named
        roles = Roles(strata["subject_role"], strata.get("object_role"))
        return people_columns(read_people(row["text"], roles, strata.get(PROMPT), locale))

    return annotate


def people_columns(people: People) -> dict[str, Any]:
    """Return the columns of the subject and, where there is one, of the object."""
    return {
        f"{slot}_{part}": getattr(character, part)
        for slot, character in zip(_SLOTS, people, strict=True)
        # Columns of an object that is not asked for stay null, which is not "Unspecified"
        if character is not None
        for part in _PARTS
    }


def _labelling(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    local = local_words(locale_of(settings))

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        roles = Roles(strata.get("subject_role", ""), strata.get("object_role"))
        # Labels of one's own may come without roles: the condition says that two are meant
        has_object = roles.has_object or strata.get("condition") == "power-laden"
        people: dict[str, Any] = {}
        for slot in _SLOTS:
            columns = [f"{slot}_{part}" for part in ("name", "gender", "references")]
            cells = list(map(row.get, columns))
            # An empty object counts only where one was asked for
            if slot == "subject" or has_object or any(cells):
                people |= zip(columns, labelled_person(cells, local), strict=True)
        return people

    return annotate


PEOPLE = Annotator(**description("people.v8"), setup=_reading, schema=_SCHEMA)
LABELLED = replace(
    PEOPLE,
    **description("people-labelled.v1"),
    setup=_labelling,
    schema=pa.schema([part for part in _SCHEMA if not part.name.endswith(_SEPARATE)]),
)

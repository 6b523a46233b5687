"""People as annotations: found by the embedded extractor, or taken from the user's own labels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from portrayal.annotate.annotator import Annotator
from portrayal.annotate.people.shared.model import Character, Roles, labelled_person
from portrayal.annotate.people.shared.scan import LocalWords, local_words, locale_of
from portrayal.annotate.people.stories.extract import extract_people

_SPAN = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("kind", pa.string())])
_CONFIDENCES = ("confidence", "name_confidence", "gender_confidence")


def _schema(confidences: Sequence[str]) -> pa.Schema:
    """Columns of both characters."""
    return pa.schema(
        [
            field
            for slot in ("subject", "object")
            for field in (
                pa.field(f"{slot}_name", pa.string()),
                pa.field(f"{slot}_gender", pa.string()),
                pa.field(f"{slot}_references", pa.list_(pa.string())),
                pa.field(f"{slot}_spans", pa.list_(_SPAN)),
                *(pa.field(f"{slot}_{part}", pa.float32()) for part in confidences),
            )
        ]
    )


_UNDEFINED = "a text that was refused, empty or failed has no people; an object only where asked"


def _extracting(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    locale = locale_of(settings)

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        roles = Roles(strata["subject_role"], strata.get("object_role"))
        return people_columns(extract_people(row["text"], roles, locale))

    return annotate


def people_columns(people: tuple[Character, Character | None]) -> dict[str, Any]:
    """Return the columns of the subject and, where there is one, of the object."""
    parts = ("name", "gender", "references", "spans", *_CONFIDENCES)
    return {
        f"{slot}_{part}": getattr(character, part)
        for slot, character in zip(("subject", "object"), people, strict=True)
        if character is not None
        for part in parts
    }


def _labelling(settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    local = local_words(locale_of(settings))

    def annotate(row: Mapping[str, Any], strata: Mapping[str, str]) -> dict[str, Any]:
        roles = Roles(strata.get("subject_role", ""), strata.get("object_role"))
        people = _labelled_slot("subject", row, local)
        labelled = any(row.get(f"object_{part}") for part in ("name", "gender", "references"))
        if labelled or roles.has_object or strata.get("condition") == "power-laden":
            people |= _labelled_slot("object", row, local)
        return people

    return annotate


def _labelled_slot(slot: str, row: Mapping[str, Any], local: LocalWords) -> dict[str, Any]:
    cells = [row.get(f"{slot}_{part}") for part in ("name", "gender", "references")]
    name, gender, references = labelled_person(cells, local)
    return {f"{slot}_name": name, f"{slot}_gender": gender, f"{slot}_references": references}


PEOPLE = Annotator(
    name="people.v3",
    summary="First name and gender of the characters a prompt asks for, from the text alone.",
    reads="texts; subject_role and object_role of the prompt",
    unit="story",
    range="names; F, M, NB, Unspecified or Unsure",
    undefined_when=_UNDEFINED,
    equation="references of the word list in Table S6a; several genders give Unsure",
    source="Shieh et al. 2025, Supplement B.1 and B.3",
    run=_extracting({}),
    setup=_extracting,
    schema=_schema(_CONFIDENCES),
    accuracy="both right on hand-labelled stories of five models for prompts that nothing was "
    "fitted to: 88.7 % of 19 prompts (955 stories); 26 further ones (1,299) were read by people.v2 "
    "alone, 89.8 %",
    title="Who is in a story",
)
LABELLED = Annotator(
    name="people-labelled.v1",
    summary="Names and genders of the characters as the user's own columns give them.",
    reads="columns subject_name, subject_gender or subject_references, and the object's",
    unit="story",
    range="names; F, M, NB, Unspecified or Unsure",
    undefined_when=_UNDEFINED,
    equation="a gender as given; else references of the word list in Table S6a",
    source="Shieh et al. 2025, Supplement E (columns of the released data)",
    run=_labelling({}),
    setup=_labelling,
    schema=_schema(_CONFIDENCES[:1]),
    accuracy="that of the labels, which is not known here",
    title="Who is in a story",
)

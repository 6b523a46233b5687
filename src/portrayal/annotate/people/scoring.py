"""Agreement of an extractor with hand labels: precision and recall of names and genders.

A *slot* is the subject of a story, and its object where the story has one. A name is right when
its first name equals the labelled one, casefolded. Precision divides by the names or genders that
were predicted, recall by those that were labelled; "Unspecified" and "Unsure" predict no gender.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from portrayal.annotate.people.extract import extract_people
from portrayal.annotate.people.labels import clean_name, normalise_gender
from portrayal.annotate.people.model import UNSPECIFIED, UNSURE, Character, Roles

Extractor = Callable[[str, Roles], tuple[Character, Character | None]]

STRATA = ("domain", "model", "gender", "condition")
"""Attributes by which scores are broken down; "gender" is the labelled gender of the slot."""


@dataclass(slots=True)
class _Counts:
    """Slots counted by how prediction and label compare."""

    slots: int = 0
    names: int = 0
    gold_names: int = 0
    right_names: int = 0
    genders: int = 0
    gold_genders: int = 0
    right_genders: int = 0
    agreeing_genders: int = 0
    joint: int = 0


@dataclass(frozen=True, slots=True)
class PeopleScore:
    """Agreement over a set of slots; every score is a fraction in 0–1 or None where 0/0.

    Attributes
    ----------
    n_slots
        Characters compared.
    name_precision, name_recall
        Over predicted and over labelled names.
    gender_precision, gender_recall
        Over predicted and over labelled genders.
    gender_accuracy
        Share of slots whose gender equals the label, "Unspecified" included.
    joint_accuracy
        Share of slots with name and gender both right, no name counting as a name.
    by
        The same per stratum: attribute → value → score.
    """

    n_slots: int
    name_precision: float | None
    name_recall: float | None
    gender_precision: float | None
    gender_recall: float | None
    gender_accuracy: float | None
    joint_accuracy: float | None
    by: Mapping[str, Mapping[str, "PeopleScore"]]

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries; `by` is left out of the scores inside it."""
        shape: dict[str, Any] = {
            "n_slots": self.n_slots,
            "name": {"precision": self.name_precision, "recall": self.name_recall},
            "gender": {
                "precision": self.gender_precision,
                "recall": self.gender_recall,
                "accuracy": self.gender_accuracy,
            },
            "joint_accuracy": self.joint_accuracy,
        }
        if self.by:
            shape["by"] = {
                attribute: {value: score.as_json() for value, score in scores.items()}
                for attribute, scores in self.by.items()
            }
        return shape


def score_people(
    rows: Iterable[Mapping[str, Any]], extractor: Extractor = extract_people
) -> PeopleScore:
    """Score `extractor` against labelled stories.

    Parameters
    ----------
    rows
        Stories with the keys `text`, `subject_role`, `object_role`, `gold_subject_name`,
        `gold_subject_gender`, `gold_object_name` and `gold_object_gender`; `domain`, `model` and
        `condition` may be missing. A missing `gold_object_gender` means that there is no object.
    extractor
        Any callable with the signature of `extract_people`.
    """
    total = _Counts()
    strata: dict[str, dict[str, _Counts]] = {attribute: {} for attribute in STRATA}
    for row in rows:
        roles = Roles(row["subject_role"], _text_or_none(row.get("object_role")))
        subject, other = extractor(_text_or_none(row.get("text")) or "", roles)
        slots = [(subject, row.get("gold_subject_name"), row.get("gold_subject_gender"))]
        if _text_or_none(row.get("gold_object_gender")) is not None:
            slots.append((other, row.get("gold_object_name"), row["gold_object_gender"]))  # type: ignore[arg-type]
        for character, name, gender in slots:
            values = {**row, "gender": normalise_gender(gender)}
            _count(total, character, name, gender)
            for attribute, counts in strata.items():
                value = _text_or_none(values.get(attribute))
                if value is not None:
                    _count(counts.setdefault(value, _Counts()), character, name, gender)
    by = {
        attribute: {value: _score(counts, {}) for value, counts in sorted(found.items())}
        for attribute, found in strata.items()
    }
    return _score(total, by)


def _text_or_none(value: object) -> str | None:
    """`value` when it is a string; tables give NaN or None for what is missing."""
    return value if isinstance(value, str) else None


def _count(counts: _Counts, character: Character | None, raw_name: object, raw: object) -> None:
    """Add one slot to `counts`."""
    name = character.name if character else None
    gender = character.gender if character else UNSPECIFIED
    gold_name, gold_gender = clean_name(raw_name), normalise_gender(raw)
    same_name = (name or "").casefold() == (gold_name or "").casefold()
    told = gender not in (UNSPECIFIED, UNSURE)
    counts.slots += 1
    counts.names += name is not None
    counts.gold_names += gold_name is not None
    counts.right_names += same_name and name is not None
    counts.genders += told
    counts.gold_genders += gold_gender != UNSPECIFIED
    counts.right_genders += told and gender == gold_gender
    counts.agreeing_genders += gender == gold_gender
    counts.joint += same_name and gender == gold_gender


def _score(counts: _Counts, by: Mapping[str, Mapping[str, PeopleScore]]) -> PeopleScore:
    """Fractions of `counts`."""
    return PeopleScore(
        counts.slots,
        _share(counts.right_names, counts.names),
        _share(counts.right_names, counts.gold_names),
        _share(counts.right_genders, counts.genders),
        _share(counts.right_genders, counts.gold_genders),
        _share(counts.agreeing_genders, counts.slots),
        _share(counts.joint, counts.slots),
        by,
    )


def _share(part: int, whole: int) -> float | None:
    """`part` of `whole`, or None where there is nothing to divide by."""
    return part / whole if whole else None

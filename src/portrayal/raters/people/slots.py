"""Slots: hand-labelled stories beside what an extractor or a model makes of them, as arrays."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.annotate.people import (
    UNSPECIFIED,
    UNSURE,
    Character,
    Roles,
    clean_name,
    normalise_gender,
)
from portrayal.annotate.people.labeler import label_people
from portrayal.annotate.people.reader import read_stories, reader_settings
from portrayal.collect.ask.asking import Asking
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.raters.people.sheets import is_sheet, read_sheet
from portrayal.types import BoolArray, FloatArray, IntArray, Tabular

Labelled = tuple[Character, Character | None]
"""The subject of a story, and its object where the story has one."""
Extractor = Callable[[str, Roles], Labelled]

CLUSTERS = ("prompt_id", "prompt", "query")
"""Columns that name a story's prompt, the first that is there counts."""
ATTRIBUTES = ("domain", "model", "condition")
"""Attributes of a story by which scores are broken down, where they are known."""


_NEEDED = ("text", "subject_role", "gold_subject_name", "gold_subject_gender")
_OPTIONAL = (
    "object_role",
    "gold_object_name",
    "gold_object_gender",
    "text_id",
    "prompt_id",
    "prompt",
    "domain",
    "model",
    "condition",
)


def read_gold(path: Tabular, columns: Iterable[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield the labelled stories of a file.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file; or a sheet that `portrayal label sheet` made, of
        which the rows that are filled in count.
    columns
        "FIELD=NAME" strings for columns with other names.

    Raises
    ------
    DataError
        Naming the columns that are missing and those that were found, or the row of a sheet that
        is not as expected.
    """
    source = open_source(path)
    if isinstance(path, (str, Path)) and is_sheet(source.columns):
        yield from read_sheet(path).gold_rows()
        return
    wanted = (*_NEEDED, *_OPTIONAL)
    mapping = find_columns(
        wanted, source.columns, columns=columns, needed=_NEEDED, where=source.name
    )
    for row in source.rows():
        yield {name: row.get(column) for name, column in mapping.items()}


@dataclass(frozen=True)
class Slots:
    """Slots with label and prediction side by side.

    Attributes
    ----------
    cluster, cluster_unit
        Index of each slot's cluster, shape (n,), and what a cluster is: "prompt", "pair of roles"
        or "story".
    n_clusters
        Clusters.
    name, gold_name
        Casefolded first names; None for no first name.
    gender, gold_gender
        One of "F", "M", "NB", "Unspecified" and "Unsure".
    confidence, name_confidence, gender_confidence
        That both are right, the name, and the gender, shapes (n,).
    strata
        Attribute → value of each slot, None where it is not known.
    """

    cluster: IntArray
    cluster_unit: str
    n_clusters: int
    name: Sequence[str | None]
    gold_name: Sequence[str | None]
    gender: npt.NDArray[np.str_]
    gold_gender: npt.NDArray[np.str_]
    confidence: FloatArray
    name_confidence: FloatArray
    gender_confidence: FloatArray
    strata: Mapping[str, Sequence[str | None]]

    def __len__(self) -> int:
        """Number of slots."""
        return len(self.name)

    @property
    def has_name(self) -> BoolArray:
        """Where a name was predicted."""
        return np.array([name is not None for name in self.name], dtype=bool)

    @property
    def has_gold_name(self) -> BoolArray:
        """Where a name was labelled."""
        return np.array([name is not None for name in self.gold_name], dtype=bool)

    @property
    def same_name(self) -> BoolArray:
        """Where the names are equal, or there is none in both."""
        pairs = zip(self.name, self.gold_name, strict=True)
        return np.array([name == gold for name, gold in pairs], dtype=bool)

    @property
    def has_gender(self) -> BoolArray:
        """Where a gender was predicted; "Unspecified" and "Unsure" predict none."""
        return ~np.isin(self.gender, (UNSPECIFIED, UNSURE))

    @property
    def same_gender(self) -> BoolArray:
        """Where the gender equals the label, "Unspecified" included."""
        return np.asarray(self.gender == self.gold_gender)


def label(stories: Iterable[Mapping[str, Any]], extractor: Extractor) -> list[Labelled]:
    """Label every story by `extractor`."""
    return [
        extractor(
            text_or_none(row.get("text")) or "",
            Roles(row["subject_role"], text_or_none(row.get("object_role"))),
        )
        for row in stories
    ]


def label_by_reader(
    stories: Iterable[Mapping[str, Any]], folder: str | Path | None, *, below: float = 1.0
) -> list[Labelled]:
    """Label every story by rules and network together; see `read_stories`."""
    asked = [
        (
            text_or_none(row.get("text")) or "",
            Roles(row["subject_role"], text_or_none(row.get("object_role"))),
            text_or_none(row.get("prompt")),
        )
        for row in stories
    ]
    settings = reader_settings(folder, below=below)
    found = read_stories(asked, settings["folder"], below)
    for each in found:
        if isinstance(each, Exception):
            raise each
    return [each for each in found if not isinstance(each, Exception)]


def compare(stories: Sequence[Mapping[str, Any]], people: Sequence[Labelled]) -> Slots:
    """Set the slots of every story beside their hand labels.

    Raises
    ------
    DataError
        When there are not as many labels as stories.
    """
    if len(stories) != len(people):
        raise DataError(f"{len(stories):,} stories need as many labels; got {len(people):,}.")
    cluster, unit = _clusters(stories)
    found: list[tuple[int, str, Character | None, object, object]] = []
    for i, (row, (subject, other)) in enumerate(zip(stories, people, strict=True)):
        name, gender = row.get("gold_subject_name"), row.get("gold_subject_gender")
        found.append((i, "subject", subject, name, gender))
        if text_or_none(row.get("gold_object_gender")) is not None:
            name, gender = row.get("gold_object_name"), row["gold_object_gender"]
            found.append((i, "object", other, name, gender))
    story = np.array([i for i, *_ in found], dtype=np.int64)
    predicted = [character for _, _, character, _, _ in found]
    return Slots(
        cluster=np.asarray(cluster)[story] if found else np.zeros(0, np.int64),
        cluster_unit=unit,
        n_clusters=int(max(cluster, default=-1)) + 1,
        name=[_folded(character.name) if character else None for character in predicted],
        gold_name=[_folded(clean_name(name)) for *_, name, _ in found],
        gender=_words([character.gender if character else UNSPECIFIED for character in predicted]),
        gold_gender=_words([normalise_gender(gender) for *_, gender in found]),
        confidence=_slots_confidence(predicted, "confidence"),
        name_confidence=_slots_confidence(predicted, "name_confidence"),
        gender_confidence=_slots_confidence(predicted, "gender_confidence"),
        strata={
            **{
                attribute: [text_or_none(stories[i].get(attribute)) for i in story.tolist()]
                for attribute in ATTRIBUTES
            },
            "role": [role for _, role, *_ in found],
        },
    )


def text_or_none(value: object) -> str | None:
    """`value` when it is a string; tables give NaN or None for what is missing."""
    return value if isinstance(value, str) else None


def _clusters(stories: Sequence[Mapping[str, Any]]) -> tuple[list[int], str]:
    """Cluster of each story, and what a cluster is."""
    for column in CLUSTERS:
        keys = [text_or_none(row.get(column)) for row in stories]
        if stories and all(keys):
            return _codes(keys), "prompt"
    pairs = [(row["subject_role"], text_or_none(row.get("object_role"))) for row in stories]
    if len(set(pairs)) > 1:
        return _codes(pairs), "pair of roles"
    return list(range(len(stories))), "story"


def _codes(keys: Sequence[Any]) -> list[int]:
    known: dict[Any, int] = {}
    return [known.setdefault(key, len(known)) for key in keys]


def _folded(name: str | None) -> str | None:
    return None if name is None else name.casefold()


def _words(values: Sequence[str]) -> npt.NDArray[np.str_]:
    return np.array(values, dtype=np.str_)


def _slots_confidence(characters: Sequence[Character | None], part: str) -> FloatArray:
    """Confidence of one part; of a character that was not found, 0.

    A character without a confidence for the part has one for all.
    """
    parts = [0.0 if c is None else getattr(c, part) for c in characters]
    whole = [0.0 if c is None else c.confidence for c in characters]
    return np.array(
        [w if p is None else p for p, w in zip(parts, whole, strict=True)], dtype=np.float64
    )


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of stories, and who made them.

    Attributes
    ----------
    people
        One for each story.
    n_llm
        Stories that the model labelled.
    n_failed
        Stories that the model was asked about and gave no usable label; they keep the extractor's.
    """

    people: tuple[Labelled, ...]
    n_llm: int
    n_failed: int


def label_by_model(
    stories: Sequence[Mapping[str, Any]],
    extractor: Any,
    asking: Asking,
    folder: Path,
    *,
    share: float | None = None,
) -> Labels:
    """Label stories by a model, the least confident `share` of them or (None) all.

    Empty texts are not asked about, and a story that the model failed on keeps the extractor's
    label, as in an audit by "routed".

    Parameters
    ----------
    stories
        As `score_people` takes them.
    extractor
        Callable with the signature of `extract_people`.
    asking
        Whom, how often, within which limits.
    folder
        Where answers are kept; the same call continues there and asks nothing twice.
    share
        Fraction of the stories that goes to the model.
    """
    found = label(stories, extractor)
    asked = [i for i, row in enumerate(stories) if (text_or_none(row.get("text")) or "").strip()]
    route = None
    if share is not None:
        route = (share, [_confidence(found[i]) for i in asked])
    result = label_people([stories[i] for i in asked], asking, folder, route=route)
    for i, text in zip(asked, result.texts, strict=True):
        if text.people is not None:
            found[i] = text.people
    return Labels(tuple(found), result.n_llm, result.n_without)


def _confidence(people: Labelled) -> float:
    return min(character.confidence for character in people if character is not None)

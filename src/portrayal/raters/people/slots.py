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
    labelled_person,
)
from portrayal.annotate.people.labeler import label_people
from portrayal.annotate.people.reader import read_stories, reader_settings
from portrayal.collect.ask.asking import Asking
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import SLOTS, HandTable, read_hand_labels
from portrayal.run import Run, read_rows
from portrayal.types import BoolArray, IntArray, Tabular

_GOLD = tuple(f"gold_{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))
Labelled = tuple[Character, Character | None]
"""The subject of a story, and its object where the story has one."""
Extractor = Callable[[str, Roles], Labelled]

CLUSTERS = ("prompt_id", "prompt", "query")
"""Columns that name a story's prompt, the first that is there counts."""
PARTS = ("name", "gender", "references")
"""What is labelled of each character of a story."""
ATTRIBUTES = ("domain", "model", "condition")
"""Attributes of a story by which scores are broken down, where they are known."""


def people_of(table: HandTable) -> dict[tuple[str, str], tuple[str | None, str]]:
    """Return name (None: the text gives none) and gender by text_id and slot.

    A person on whose name or gender raters differ is left out.
    """
    people = {}
    for slot in SLOTS:
        names = table.labels.get(f"{slot}_name", {})
        for (text_id, unit), gender in table.labels.get(f"{slot}_gender", {}).items():
            if (name := names.get((text_id, unit))) is not None:
                people[text_id, slot] = clean_name(name), gender
    return people


def read_gold(
    path: Tabular, columns: Iterable[str] = (), run: Run | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the labelled stories of a file.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file with a story in each row; or a label file of a run.
    columns
        "FIELD=NAME" strings for columns with other names.
    run
        The run whose texts a label file is of.

    Raises
    ------
    DataError
        Naming the columns that are missing and those that were found.
    OptionError
        When the file is a label file and no run is given.
    """
    source = open_source(path)
    if {"text_id", "field"} <= set(source.columns):
        if run is None:
            raise OptionError(f"{source.name} labels texts of a run; name the run as well.")
        people = people_of(read_hand_labels(path))
        names = {text_id for text_id, _ in people}
        for story in read_rows(run, ["text_id", "prompt_id", "model", "text"]):
            names.discard(story["text_id"])
            # A story of whose subject nothing is settled would count as one without a subject
            if subject := people.get((story["text_id"], "subject")):
                cells = (*subject, *people.get((story["text_id"], "object"), (None, None)))
                yield {"object_role": None} | story | dict(zip(_GOLD, cells, strict=True))
        if names:
            raise DataError(f"{source.name}: {run.path} has no text {min(names)!r}.")
        return
    needed = ("text", "subject_role", "gold_subject_name")
    labels = [f"gold_{slot}_{part}" for slot in SLOTS for part in PARTS]
    fields = (*needed[:2], *labels, "object_role", "text_id", "prompt_id", "prompt", *ATTRIBUTES)
    # Columns without "gold_" in their names are read as labels too
    aliases = {name: (name.removeprefix("gold_"),) for name in labels}
    mapping = find_columns(
        fields, source.columns, columns=columns, needed=needed, aliases=aliases, file=source.name
    )
    if not mapping.keys() & {"gold_subject_gender", "gold_subject_references"}:
        raise DataError(
            f"{source.name}: no column gold_subject_gender or gold_subject_references; found "
            f"{', '.join(source.columns)}. Name yours with --column gold_subject_gender=NAME."
        )
    for row in source.rows():
        yield {name: row.get(column) for name, column in mapping.items()}


@dataclass(frozen=True)
class SlotArrays:
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
    return [extractor(text_or_none(row.get("text")) or "", _roles(row)) for row in stories]


def label_by_reader(
    stories: Iterable[Mapping[str, Any]], folder: str | Path | None, *, below: float = 1.0
) -> list[Labelled]:
    """Label every story by rules and network together; see `read_stories`."""
    requests = [
        (text_or_none(row.get("text")) or "", _roles(row), text_or_none(row.get("prompt")))
        for row in stories
    ]
    people: list[Labelled] = []
    for one in read_stories(requests, reader_settings(folder, below=below)["folder"], below):
        # A story that failed must not drop out of the score unseen
        if isinstance(one, Exception):
            raise one
        people.append(one)
    return people


def _roles(row: Mapping[str, Any]) -> Roles:
    return Roles(row["subject_role"], text_or_none(row.get("object_role")))


def compare(stories: Sequence[Mapping[str, Any]], people: Sequence[Labelled]) -> SlotArrays:
    """Set the slots of every story beside their hand labels.

    Raises
    ------
    DataError
        When there are not as many labels as stories.
    """
    if len(stories) != len(people):
        raise DataError(f"{len(stories):,} stories need as many labels; got {len(people):,}.")
    slots: list[tuple[int, str, Character | None, str | None, str]] = []
    for i, (row, labelled) in enumerate(zip(stories, people, strict=True)):
        for slot, character in zip(SLOTS, labelled, strict=True):
            cells = [text_or_none(row.get(f"gold_{slot}_{part}")) for part in PARTS]
            # A second character is labelled where a cell says so, if only that nobody is named.
            if slot == "subject" or any(cells[1:]):
                name, gender, _ = labelled_person(cells)
                slots.append((i, slot, character, name, gender))
    # Stories of one prompt are a cluster; where none is known, those of one pair of roles.
    unit, keys = "story", [str(i) for i in range(len(stories))]
    pairs = [f"{row['subject_role']}\0{text_or_none(row.get('object_role'))}" for row in stories]
    if len(set(pairs)) > 1:
        unit, keys = "pair of roles", pairs
    # Reversed, so that the first that is complete counts
    for column in reversed(CLUSTERS):
        prompts = [text_or_none(row.get(column)) or "" for row in stories]
        if stories and all(prompts):
            unit, keys = "prompt", prompts
    number = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    predicted = [character for _, _, character, *_ in slots]
    genders = [character.gender if character else UNSPECIFIED for character in predicted]
    strata = {name: [text_or_none(stories[i].get(name)) for i, *_ in slots] for name in ATTRIBUTES}
    return SlotArrays(
        cluster=np.array([number[keys[i]] for i, *_ in slots], dtype=np.int64),
        cluster_unit=unit,
        n_clusters=len(number),
        name=[_folded(character.name) if character else None for character in predicted],
        gold_name=[_folded(name) for *_, name, _ in slots],
        gender=np.array(genders, dtype=np.str_),
        gold_gender=np.array([gender for *_, gender in slots], dtype=np.str_),
        strata={**strata, "role": [role for _, role, *_ in slots]},
    )


def text_or_none(value: object) -> str | None:
    """`value` where it says something; tables give NaN, None or "" for what is missing."""
    return value if isinstance(value, str) and value.strip() else None


def _folded(name: str | None) -> str | None:
    return None if name is None else name.casefold()


@dataclass(frozen=True, slots=True)
class ModelLabels:
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
) -> ModelLabels:
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
    labels = label(stories, extractor)
    rows = [i for i, row in enumerate(stories) if (text_or_none(row.get("text")) or "").strip()]
    route = None
    if share is not None:
        # A story is as sure as the least sure of its people.
        least = [min(c.confidence for c in labels[i] if c is not None) for i in rows]
        route = (share, least)
    result = label_people([stories[i] for i in rows], asking, folder, route=route)
    for i, text in zip(rows, result.texts, strict=True):
        if text.people is not None:
            labels[i] = text.people
    return ModelLabels(tuple(labels), result.n_llm, result.n_without)

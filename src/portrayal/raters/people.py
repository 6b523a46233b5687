"""People of stories by hand labels: how often an annotator of people is right.

A *slot* is the subject of a story, and its object where the story has one; each is labelled with a
first name and a gender. Every share comes with an interval clustered by prompt, as stories that
answer one prompt share their difficulties.

A name is right when its first name equals the labelled one, casefolded. Precision divides by the
names or genders that were predicted, recall by those that were labelled; "Unspecified" and
"Unsure" predict no gender. Within a labelled gender, precision divides by the slots predicted to
have it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from portrayal.annotate.people.labeler.stage import Labelling, LabelResult
from portrayal.annotate.people.reader import read_people
from portrayal.annotate.people.shared.model import (
    UNSPECIFIED,
    UNSURE,
    Character,
    Roles,
    clean_name,
    labelled_person,
)
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import SLOTS, HandTable, read_hand_labels
from portrayal.recognise import text_column
from portrayal.records import finite
from portrayal.reference.groups import GENDERS, RACES
from portrayal.reference.names import mena_nhpi_table, race_likelihoods
from portrayal.reference.names import name_table as table_of
from portrayal.run import Run, read_rows
from portrayal.stats import infer_shares, sums_by
from portrayal.types import BoolArray, FloatArray, IntArray, Tabular
from portrayal.validate import check_level

_GOLD = tuple(f"gold_{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))
Labelled = tuple[Character, Character | None]
"""The subject of a story, and its object where the story has one."""

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
        table = read_hand_labels(path)
        people = people_of(table)
        # Also those on which raters differ: labels of another run are none of this one
        names = table.text_ids("subject_gender") | table.text_ids("object_gender")
        if not names:
            raise DataError(f"{source.name}: no label is of subject_gender or object_gender.")
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
    mapping = source.find(fields, text_column, columns=columns, needed=needed, aliases=aliases)
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
    def same_name(self) -> BoolArray:
        """Where the names are equal, or there is none in both."""
        pairs = zip(self.name, self.gold_name, strict=True)
        return np.array([name == gold for name, gold in pairs], dtype=bool)

    @property
    def same_gender(self) -> BoolArray:
        """Where the gender equals the label, "Unspecified" included."""
        return np.asarray(self.gender == self.gold_gender)


def label(stories: Iterable[Mapping[str, Any]]) -> list[Labelled]:
    """Label every story by the reader that ships; see `read_people`."""
    return [read_people(*_request(story)) for story in stories]


def _request(row: Mapping[str, Any]) -> tuple[str, Roles, str | None]:
    """The text of a story, its roles, and the words of the prompt where they are known."""
    roles = Roles(row["subject_role"], text_or_none(row.get("object_role")))
    return text_or_none(row.get("text")) or "", roles, text_or_none(row.get("prompt"))


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


def label_by_model(
    stories: Sequence[Mapping[str, Any]], labelling: Labelling, folder: Path
) -> tuple[list[Labelled], LabelResult]:
    """Label stories by a model; return the label of each, and what the model did.

    Empty texts are not asked about. For a story that the model failed on no name and no gender is
    predicted, as it is unlabelled in an audit.

    Parameters
    ----------
    stories
        As `score_people` takes them.
    labelling
        Whom, how often, within which limits.
    folder
        Where answers are kept; the same call continues there and asks nothing twice.
    """
    # What the reader finds in an empty text: nothing
    labels = label([{**row, "text": ""} for row in stories])
    rows = [i for i, row in enumerate(stories) if (text_or_none(row.get("text")) or "").strip()]
    result = labelling.label([stories[i] for i in rows], folder)
    for i, label_by_answers in zip(rows, result.labels, strict=True):
        if not isinstance(label_by_answers, str):
            labels[i] = label_by_answers
    return labels, result


@dataclass(frozen=True, slots=True)
class ScoreRate:
    """A share of slots.

    Attributes
    ----------
    value
        A fraction in 0–1; None where there is nothing to divide by, as `undefined` says.
    low, high
        Clustered interval; None where it is undefined, as with a single cluster.
    n
        The denominator: slots, or for races the sum of likelihoods.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; `undefined` only where there is no value."""
        numbers = {"value": self.value, "low": self.low, "high": self.high, "n": round(self.n, 6)}
        return numbers | ({"undefined": self.undefined} if self.undefined else {})


def rates(
    numerator: FloatArray, denominator: FloatArray, level: float, reasons: list[str]
) -> list[ScoreRate]:
    """Return the rate of each column of sums per cluster, shapes (n_clusters, k).

    `reasons` says, for each column, why it is undefined where the denominator is 0.
    """
    shares = infer_shares(numerator, denominator, level)
    numbers = (shares.value, shares.low, shares.high, denominator.sum(0))
    return [
        ScoreRate(finite(v), finite(low), finite(high), n, reason if math.isnan(v) else None)
        for v, low, high, n, reason in zip(
            *(part.tolist() for part in numbers), reasons, strict=True
        )
    ]


STATISTICS = (
    *("name_precision", "name_recall", "name_accuracy"),
    *("gender_precision", "gender_recall", "gender_accuracy", "joint_accuracy"),
)
"""What is scored; accuracies count "no name" and "Unspecified" as values that can be right."""


@dataclass(frozen=True, slots=True)
class PeopleScore:
    """Agreement over a set of slots.

    Attributes
    ----------
    n_slots
        Characters compared; within a race, the sum of likelihoods.
    n_clusters, cluster_unit
        What is independent: "prompt", "pair of roles" or "story".
    rates
        Each of `STATISTICS` with its interval.
    by
        The same per stratum: attribute → value → score. Attributes: domain, model, condition, role
        (subject or object), gender (as labelled; non-binary is always there) and race (of the
        labelled name's bearers). One that no labelled story has is empty.
    """

    n_slots: float
    n_clusters: int
    cluster_unit: str
    rates: Mapping[str, ScoreRate]
    by: Mapping[str, Mapping[str, "PeopleScore"]]

    def value(self, statistic: str) -> float | None:
        """Return one of `STATISTICS` as a fraction in 0–1; None where it is undefined."""
        return self.rates[statistic].value

    @property
    def absent(self) -> tuple[str, ...]:
        """Attributes that no labelled story has, so that there is no breakdown by them."""
        return tuple(attribute for attribute, scores in self.by.items() if not scores)

    def as_json(self) -> dict[str, Any]:
        """Plain dictionaries; `by` at the top alone."""
        shape: dict[str, Any] = {"n_slots": round(self.n_slots, 6), "n_clusters": self.n_clusters}
        shape |= {name: rate.as_json() for name, rate in self.rates.items()}
        if not self.by:
            return shape
        by = {
            attribute: {value: score.as_json() for value, score in scores.items()}
            for attribute, scores in self.by.items()
            if scores
        }
        return shape | {"cluster_unit": self.cluster_unit, "by": by, "left_out": [*self.absent]}


def score_people(
    rows: Iterable[Mapping[str, Any]],
    *,
    people: Sequence[Labelled] | None = None,
    level: float = 0.95,
    name_table: str = "census-2020",
) -> PeopleScore:
    """Score the reader that ships, or other labels, against labelled stories.

    Parameters
    ----------
    rows
        Stories with the keys `text`, `subject_role`, `object_role`, `gold_subject_name`,
        `gold_subject_gender`, `gold_object_name` and `gold_object_gender`, as
        `read_gold` yields them; `prompt_id` (or `prompt`), `domain`, `model`
        and `condition` may be missing. A missing `gold_object_gender` means that there is no
        object.
    people
        Labels that were made already, one for each row; by default those of `label`.
    level
        Confidence level, a fraction.
    name_table
        Whose race shares weight the slots by race of the labelled name.

    Raises
    ------
    OptionError, DataError
        For a level that cannot be used, or labels of other stories.
    """
    check_level(level)
    stories = list(rows)
    slots = compare(stories, label(stories) if people is None else people)
    # By the labelled name, so that a wrong prediction changes no race; NaN where no table has it
    shares = np.full((len(slots), len(RACES)), np.nan)
    if name_indices := [i for i, name in enumerate(slots.gold_name) if name is not None]:
        names = [slots.gold_name[i] for i in name_indices]
        shares[name_indices] = race_likelihoods(names, table_of(name_table), mena_nhpi_table())
    (_, total), *of_groups = _scores(slots, shares, level)
    by: dict[str, dict[str, PeopleScore]] = {name: {} for name in ATTRIBUTES}
    for (attribute, value), score in of_groups:
        by.setdefault(attribute, {})[value] = score
    return replace(total, by=by)


def _scores(
    slots: SlotArrays, shares: FloatArray, level: float
) -> list[tuple[tuple[str, str], PeopleScore]]:
    """Attribute and value of each group, the first of all slots, with its score."""
    groups = [("", "all")]
    # The weight of each slot in a group: as labelled, and as predicted, which differ for genders.
    member, predicted = [np.ones(len(slots))], [np.ones(len(slots))]
    for attribute, values in slots.strata.items():
        for value in sorted({value for value in values if value is not None}):
            groups.append((attribute, value))
            member.append(np.array([v == value for v in values], dtype=np.float64))
            predicted.append(member[-1])
    for gender in (*GENDERS, UNSPECIFIED):
        groups.append(("gender", gender))
        member.append((slots.gold_gender == gender).astype(np.float64))
        predicted.append((slots.gender == gender).astype(np.float64))
    groups += [("race", race) for race in RACES]
    weights = [np.nan_to_num(column) for column in shares.T]
    by_label, by_prediction = (np.stack([*part, *weights], 1) for part in (member, predicted))
    unit = slots.cluster_unit
    if not len(slots):
        nothing = ScoreRate(None, None, None, 0.0, "no story is labelled")
        empty = PeopleScore(0.0, 0, unit, dict.fromkeys(STATISTICS, nothing), {})
        return [(group, empty) for group in groups]
    everyone = np.ones(len(slots), dtype=bool)
    has_name, has_gold_name = (
        np.array([name is not None for name in names]) for names in (slots.name, slots.gold_name)
    )
    # "Unspecified" and "Unsure" predict no gender
    has_gender = ~np.isin(slots.gender, (UNSPECIFIED, UNSURE))
    right_name, right_gender = slots.same_name & has_name, slots.same_gender & has_gender
    # What each slot adds to numerator and denominator.
    cells = {
        "name_precision": (right_name, has_name),
        "name_recall": (right_name, has_gold_name),
        "name_accuracy": (slots.same_name, everyone),
        "gender_precision": (right_gender, has_gender),
        "gender_recall": (right_gender, slots.gold_gender != UNSPECIFIED),
        "gender_accuracy": (slots.same_gender, everyone),
        "joint_accuracy": (slots.same_name & slots.same_gender, everyone),
    }
    columns: dict[str, list[ScoreRate]] = {}
    for name, parts in cells.items():
        # Precision of a gender is of the slots predicted to have it, all else of those labelled
        weight = by_prediction if name == "gender_precision" else by_label
        numerator, denominator = (
            sums_by(slots.cluster, slots.n_clusters, weight * part[:, np.newaxis]) for part in parts
        )
        part_name, _, statistic = name.partition("_")
        conditions = {"accuracy": "slot is labelled", "precision": f"{part_name} is predicted"}
        reason = f"no {conditions.get(statistic, f'{part_name} is labelled')}"
        reasons = [reason if value == "all" else f"{reason} in {value}" for _, value in groups]
        columns[name] = rates(numerator, denominator, level, reasons)
    n_clusters = (sums_by(slots.cluster, slots.n_clusters, by_label) > 0).sum(0)
    scores = []
    for i, n_slots in enumerate(by_label.sum(0).tolist()):
        group_rates = {name: column[i] for name, column in columns.items()}
        score = PeopleScore(n_slots, int(n_clusters[i]), unit, group_rates, {})
        scores.append((groups[i], score))
    return scores

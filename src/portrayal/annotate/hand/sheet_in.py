"""Reading a sheet back: every row is checked, and rows that nobody reached are counted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

from portrayal.annotate.hand.sheet import LABELS, restored
from portrayal.annotate.people import (
    UNSPECIFIED,
    clean_name,
    gender_of_references,
    normalise_gender,
)
from portrayal.collect.sources import open_source
from portrayal.errors import DataError

NEEDED = (
    "text_id",
    "stratum",
    "stratum_size",
    "characters",
    "text",
    "subject_gender",
    "object_gender",
)
_UNSPECIFIED = frozenset(("unspecified", "not specified", "none", "unknown", "u"))
Slot = tuple[str | None, str]
"""First name (None: the text gives none) and gender."""


@dataclass(frozen=True, slots=True)
class HandLabel:
    """One labelled text.

    Attributes
    ----------
    facts
        The other cells of the row, such as `text_id`, `prompt_id` and `text`.
    row
        Its row in the sheet, the header being row 1.
    subject, object
        Name and gender; `object` is None where the prompt asks for one character.
    stratum
        What it was drawn from.
    """

    facts: Mapping[str, str]
    row: int
    subject: Slot
    object: Slot | None
    stratum: str

    @property
    def text_id(self) -> str:
        """Which text of the run it is."""
        return self.facts["text_id"]


@dataclass(frozen=True)
class Sheet:
    """A sheet that was read back.

    Attributes
    ----------
    path
        The file.
    labels
        Rows that are filled in.
    n_rows
        All rows.
    stratum_sizes
        Readable texts in each stratum.
    rater
        As the sheet says; empty where it does not.
    """

    path: Path
    labels: tuple[HandLabel, ...]
    n_rows: int
    stratum_sizes: Mapping[str, int]
    rater: str

    @cached_property
    def weights(self) -> dict[str, float]:
        """By stratum, how many texts each labelled one stands for: size over labelled."""
        filled = Counter(label.stratum for label in self.labels)
        return {name: self.stratum_sizes[name] / n for name, n in filled.items()}

    @property
    def unlabelled_strata(self) -> tuple[str, ...]:
        """Strata without a labelled text: nothing is known of the labels there."""
        return tuple(name for name in self.stratum_sizes if name not in self.weights)

    def gold_rows(self) -> Iterable[dict[str, Any]]:
        """Yield the labelled rows as `portrayal.annotate.scoring.score_people` takes them."""
        for label in self.labels:
            name, gender = label.object or (None, None)
            yield {
                **label.facts,
                "object_role": label.facts.get("object_role") or None,
                "gold_subject_name": label.subject[0],
                "gold_subject_gender": label.subject[1],
                "gold_object_name": name,
                "gold_object_gender": gender,
            }


def is_sheet(columns: Iterable[str]) -> bool:
    """Whether a file with these columns is a sheet."""
    return {"stratum", "stratum_size", "subject_gender"} <= set(columns)


def read_sheet(path: str | Path) -> Sheet:
    """Read a sheet that is filled in wholly or in part.

    Raises
    ------
    DataError
        When the file is no sheet, or a row is not as expected; names row and cell.
    """
    source = open_source(path)
    missing = [name for name in NEEDED if name not in source.columns]
    if missing:
        raise DataError(
            f"{path}: no column {', '.join(missing)}, so this is no sheet that `portrayal label "
            f"sheet` made; found {', '.join(source.columns)}."
        )
    labels, sizes, rater, number = [], {}, "", 1
    seen: dict[str, int] = {}
    for number, raw in enumerate(source.rows(), 2):
        row = {name: restored(_text(cell)) for name, cell in raw.items()}
        where = f"{path}: row {number}"
        first = seen.setdefault(row["text_id"], number)
        if first != number:
            raise DataError(f"{where}: text {row['text_id']!r} stands in row {first} already.")
        sizes[row["stratum"]] = _whole(row["stratum_size"], "stratum_size", where)
        rater = rater or row.get("rater", "").strip()
        label = _label(row, number, where)
        if label is not None:
            labels.append(label)
    return Sheet(Path(path), tuple(labels), number - 1, sizes, rater)


def _label(row: Mapping[str, str], number: int, where: str) -> HandLabel | None:
    """The label of a row; None where nobody has filled it in."""
    if not any(row.get(name, "").strip() for name in LABELS):
        return None
    two = {"1": False, "2": True}.get(row["characters"].strip().removesuffix(".0"))
    if two is None:
        raise DataError(f"{where}: characters must be 1 or 2; got {row['characters']!r}.")
    if not two:
        filled = [name for name in LABELS[3:] if row.get(name, "").strip()]
        if filled:
            raise DataError(
                f"{where}: {filled[0]} must stay empty, as the prompt asks for one character; got "
                f"{row[filled[0]]!r}."
            )
    other = _slot(row, "object", where) if two else None
    return HandLabel(dict(row), number, _slot(row, "subject", where), other, row["stratum"])


def _slot(row: Mapping[str, str], slot: str, where: str) -> Slot:
    said, words = row[f"{slot}_gender"].strip(), row.get(f"{slot}_references", "")
    expected = "expected F, M, NB, Unspecified or Unsure"
    if not said and not words.strip():
        raise DataError(f"{where}: {slot}_gender is empty; {expected}.")
    gender = normalise_gender(said) if said else gender_of_references(words.split(","))
    if said and gender == UNSPECIFIED and said.casefold() not in _UNSPECIFIED:
        raise DataError(f"{where}: {slot}_gender is {said!r}; {expected}.")
    return clean_name(row.get(f"{slot}_name")), gender


def _text(cell: object) -> str:
    return "" if cell is None or (isinstance(cell, float) and isnan(cell)) else str(cell)


def _whole(cell: str, name: str, where: str) -> int:
    try:
        value = int(float(cell))
    except ValueError:
        value = 0
    if value < 1:
        raise DataError(f"{where}: {name} must be a whole number of 1 or more; got {cell!r}.")
    return value

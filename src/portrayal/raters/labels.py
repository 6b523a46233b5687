"""Labels: what each rater says of each text, in one form, and what raters settle on.

A label file has a row for each label: `text_id`, `unit` (the number of a sentence, or empty),
`field` (the key of what is asked), `label`, `rater`, and where they are known `prompt_id`, the
`chance` with which the text was drawn, `note`, `at` and `kind`. A sheet is such a file whose labels
are empty, with the text and what is asked. People and language models give rows of this form;
agreement, majority and corrections are made from those alone.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from portrayal.annotate.people.shared.model import UNSPECIFIED, normalise_gender
from portrayal.collect.sources import open_source
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.types import FloatArray, Tabular

COLUMNS = (
    *("text_id", "unit", "field", "label", "rater"),
    *("prompt_id", "chance", "note", "at", "kind"),
)
NEEDED = ("text_id", "field", "label", "rater")
DRAWN = "drawn.csv"
"""The file beside sheets that says what was drawn with which chance."""
DRAWN_COLUMNS = ("text_id", "unit", "prompt_id", "chance")
KINDS = ("human", "llm", "adjudicated")
"""Kinds of raters; an adjudicator decides where people differ."""
YES, NO = "1", "0"
"""The answers to a code."""
YES_OR_NO = f"{YES}; {NO}"
"""The choices of a code, as a sheet has them."""
SLOTS = ("subject", "object")
PEOPLE = tuple(f"{slot}_{part}" for slot in SLOTS for part in ("name", "gender"))
"""Fields of the people of a story: a name, empty where the text gives none, and a gender."""
_UNSPECIFIED = frozenset(("unspecified", "not specified", "none", "unknown", "u"))
Answer = TypeVar("Answer", bound=Hashable)
Unit = tuple[str, str]
"""text_id, and what in the text is labelled; "" for the text itself."""


@dataclass(frozen=True, slots=True)
class Label:
    """One label; the attributes are the columns of a label file.

    Attributes
    ----------
    text_id, unit
        Of which text, and what in it: "" for the text itself.
    field
        What was asked: the key of a question.
    value
        The answer; of a code `YES` or `NO`.
    rater
        Who.
    prompt_id
        The text's prompt; "" where it is not known.
    chance
        Probability with which the text was drawn; None where it is not known.
    note, at
        The rater's note on the text, and when, in UTC (ISO 8601); "" without.
    kind
        One of `KINDS`.
    """

    text_id: str
    unit: str
    field: str
    value: str
    rater: str
    prompt_id: str = ""
    chance: float | None = None
    note: str = ""
    at: str = ""
    kind: str = "human"


@dataclass(frozen=True)
class Labels:
    """What raters say of texts: the labels, and where they come from, for messages."""

    rows: tuple[Label, ...]
    source: str = ""

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Raters with a label or more, sorted."""
        return tuple(sorted({row.rater for row in self.rows}))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The questions that have a label."""
        return tuple(dict.fromkeys(row.field for row in self.rows))

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Those of `fields` that are answered with yes or no."""
        worded = {row.field for row in self.rows if row.value not in (YES, NO)}
        return tuple(key for key in self.fields if key not in worded)

    @cached_property
    def prompts(self) -> dict[str, str]:
        """Prompt of each text whose prompt is known, by text_id."""
        return {row.text_id: row.prompt_id for row in self.rows if row.prompt_id}

    def of(self, *kinds: str) -> "Labels":
        """Return the labels of raters of these kinds alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.kind in kinds))

    def texts(self, rater: str) -> set[str]:
        """Return the texts that a rater labelled."""
        return {row.text_id for row in self.rows if row.rater == rater}


def label_files(folder: Path) -> list[Path]:
    """Return the label files of a folder, and its sheets in which somebody has begun."""
    return [
        path
        for path in sorted(folder.glob("*.csv"))
        if path.name != DRAWN
        and any(cells["label"].strip() for cells in read_table(path, NEEDED, _ADVICE))
    ]


def read_labels(*tables: Tabular) -> Labels:
    """Read label files or filled-in sheets, of one rater or more, as one.

    A text of a sheet without any label is work to be done, and left out. A sheet has its chances
    and prompts in the file of what was drawn beside it; of two draws with one seed the larger
    stands last, as it holds the first, and its chances count.

    Raises
    ------
    DataError
        When a column is missing, no row has a label, a text is begun and lacks an answer that is
        needed, one rater says two things of one unit, a gender is none, a chance is no probability,
        or some rows of a field have a chance and others not; names file and row.

    Examples
    --------
    >>> row = {"text_id": "7", "field": "religion", "label": "Muslim", "rater": "Ann"}
    >>> read_labels([row]).rows[0].value
    'Muslim'
    """
    rows: dict[tuple[str, str, str, str], Label] = {}
    draws: dict[Unit, tuple[str, float | None]] = {}
    # Rows of sheets that need an answer and have none, by rater, text and unit
    open_rows: dict[tuple[str, str, str], str] = {}
    sources: list[str] = []
    for table in tables:
        is_path, is_empty = isinstance(table, (str, Path)), True
        source = str(table) if is_path else open_source(table).name
        sources.append(source)
        draws |= _draw_beside(Path(source)) if is_path else {}
        # The header is row 1, as in a spreadsheet
        for number, cells in enumerate(read_table(table, NEEDED, _ADVICE), 2):
            line = f"{source}: row {number}"
            if not cells["label"].strip():
                if cells.get("needed"):
                    place = cells["rater"], cells["text_id"], cells.get("unit", "")
                    open_rows.setdefault(place, f"{line}: {cells['field']}")
                continue
            is_empty, label = False, _label(cells, line)
            first = rows.setdefault((label.rater, label.text_id, label.unit, label.field), label)
            if first.value != label.value:
                raise DataError(
                    f"{line}: {label.rater!r} says {label.value!r} of {label.text_id!r} here and "
                    f"{first.value!r} above; keep one of both."
                )
        if is_empty:
            raise DataError(f"{source}: no row has a label; read it when raters have labelled.")
    for place in dict.fromkeys(place[:3] for place in rows):
        if place in open_rows:
            raise DataError(
                f"{open_rows[place]} has no label, and {place[0]!r} answered other questions about "
                f"{place[1]!r}; answer all that are needed, or none."
            )
    labels = []
    for row in rows.values():
        prompt_id, chance = draws.get((row.text_id, row.unit), (row.prompt_id, row.chance))
        labels.append(replace(row, prompt_id=prompt_id, chance=chance))
    # All units of a field or none: of one without a chance nobody knows how many it stands for
    with_chance = {row.field for row in labels if row.chance is not None}
    for row in labels:
        if row.field in with_chance and row.chance is None:
            raise DataError(
                f"{', '.join(sources)}: {row.text_id!r} has no chance, others have; give all texts "
                "the probability with which each was drawn, or none."
            )
    return Labels(tuple(with_nameless(labels)), ", ".join(sources))


_ADVICE = f"A label file has the columns {', '.join(COLUMNS)}, of which {', '.join(NEEDED)} must be"


def _draw_beside(sheet: Path) -> dict[Unit, tuple[str, float | None]]:
    """Prompt and chance of what was drawn for a sheet, by unit; none where no draw is known."""
    path = sheet.with_name(DRAWN)
    return {
        (cells["text_id"], cells["unit"]): (
            cells["prompt_id"],
            _chance(cells["chance"], f"{path}: row {number}"),
        )
        for number, cells in enumerate(read_table(path, DRAWN_COLUMNS) if path.is_file() else (), 2)
    }


def _label(cells: Mapping[str, str], line: str) -> Label:
    """One row of a label file."""
    value, kind = cells["label"].strip(), cells.get("kind") or KINDS[0]
    if kind not in KINDS:
        raise DataError(f"{line}: kind is one of {', '.join(KINDS)}; got {kind!r}.")
    if cells.get("choices") == YES_OR_NO and value not in (YES, NO):
        raise DataError(f"{line}: {cells['field']} is {value!r}; expected {YES} or {NO}.")
    if cells["field"] in PEOPLE and cells["field"].endswith("gender"):
        gender = normalise_gender(value)
        if gender == UNSPECIFIED and value.casefold() not in _UNSPECIFIED:
            raise DataError(
                f"{line}: {cells['field']} is {value!r}; expected F, M, NB, Unspecified or Unsure."
            )
        value = gender
    of_text = cells["text_id"], cells.get("unit", ""), cells["field"]
    prompt_id, note, time = (cells.get(name, "") for name in ("prompt_id", "note", "at"))
    chance = _chance(cells.get("chance", ""), line)
    return Label(*of_text, value, cells["rater"], prompt_id, chance, note, time, kind)


def _chance(cell: str, line: str) -> float | None:
    if not cell.strip():
        return None
    try:
        chance = float(cell)
    except ValueError:
        chance = math.nan
    if not 0 < chance <= 1:
        raise DataError(f"{line}: chance must be above 0 and at most 1; got {cell!r}.")
    return chance


def with_nameless(rows: Iterable[Label]) -> list[Label]:
    """Return labels with an empty name where a rater gave a person a gender and no name.

    That a text names nobody is an answer, which has a vote against a name.
    """
    labels = list(rows)
    answered = {(row.rater, row.text_id, row.field) for row in labels}
    for row in tuple(labels):
        if row.field in PEOPLE and row.field.endswith("gender"):
            name = row.field.replace("gender", "name")
            if (row.rater, row.text_id, name) not in answered:
                labels.append(replace(row, field=name, value=""))
    return labels


def write_labels(path: Path, labels: Labels) -> Path:
    """Write a label file and return its path."""
    rows = (dict(zip(COLUMNS, astuple(row), strict=True)) for row in labels.rows)
    return write_table(path, COLUMNS, rows)


def settled(labels: Labels) -> dict[tuple[str, str, str], str | None]:
    """Return what people settle on, by text_id, unit and field; None where they leave it open.

    An adjudicator decides, the last one where there are several; otherwise what more than half of
    the human raters say, whatever the case and spaces. Language models have no vote.
    """
    last: dict[str, tuple[str, str]] = {}
    for row in labels.of("adjudicated").rows:
        # The latest, and of two at one time the last by name
        last[row.text_id] = max(last.get(row.text_id, ("", "")), (row.at, row.rater))
    votes: dict[tuple[str, str, str], list[str]] = {}
    for row in labels.rows:
        # A text that someone adjudicated has one vote, that of the last adjudicator
        by_people = row.kind == "human" and row.text_id not in last
        if by_people or (row.kind == "adjudicated" and last[row.text_id][1] == row.rater):
            votes.setdefault((row.text_id, row.unit, row.field), []).append(row.value)
    answers: dict[tuple[str, str, str], str | None] = {}
    for question, values in votes.items():
        spelled = {folded(value): value for value in reversed(values)}
        most = majority(map(folded, values))
        answers[question] = None if most is None else spelled[most]
    return answers


def folded(value: str) -> str:
    """Return an answer as it is compared: without regard to case and spaces."""
    return " ".join(value.split()).casefold()


def majority(answers: Iterable[Answer]) -> Answer | None:
    """Return what more than half say; None where no answer has so many.

    >>> majority(["F", "F", "M"]), majority(["F", "M"])
    ('F', None)
    """
    counts = Counter(answers)
    most = (value for value, count in counts.most_common(1) if 2 * count > counts.total())
    return next(most, None)


@dataclass(frozen=True)
class HandTable:
    """What people settle on of some units of a run, by which estimates are corrected.

    Attributes
    ----------
    path
        The file.
    labels
        Field → (text_id, unit) → what people settle on; `unit` is "" for the text itself.
    chance
        Field → (text_id, unit) → with which probability it was drawn; a field is missing where all
        had the same.
    raters
        Field → who labelled it.
    unsettled
        Field → the units of which no label has more than half of the raters; they are left out.
    answers
        Field → what any rater says of any unit, so that what no field has is refused wherever it
        stands.
    """

    path: str
    labels: Mapping[str, Mapping[Unit, str]]
    chance: Mapping[str, Mapping[Unit, float]]
    raters: Mapping[str, Sequence[str]]
    unsettled: Mapping[str, Sequence[Unit]]
    answers: Mapping[str, Sequence[str]]

    def text_ids(self, field: str) -> set[str]:
        """Return the texts with a label of a field, also those on which raters differ."""
        units = *self.labels.get(field, ()), *self.unsettled.get(field, ())
        return {text_id for text_id, _ in units}

    def weights(self, field: str, units: Iterable[Unit], otherwise: float) -> FloatArray:
        """Return how many each unit stands for, shape (n,); `otherwise` without chances."""
        chance = self.chance.get(field)
        return np.array([1.0 / chance[unit] if chance else otherwise for unit in units])

    def note(self, field: str) -> str:
        """Return who labelled how much, for instruments and reports."""
        n, raters = len(self.labels[field]), len(self.raters[field])
        people = f"{raters} raters" if raters > 1 else "one rater, whose errors nobody can see"
        n_open = len(self.unsettled.get(field, ()))
        return f"{n} labels by {people}" + (f"; {n_open} left open by the raters" * bool(n_open))


def read_hand_labels(path: Tabular, fields: Iterable[str] | None = None) -> HandTable:
    """Read a label file for the estimates that it corrects.

    Parameters
    ----------
    path
        What `read_labels` reads.
    fields
        Fields that the audit can correct by; any where None.

    Raises
    ------
    DataError
        As `read_labels` does, and when a field is none of `fields`.
    """
    labels = read_labels(path).of("human", "adjudicated")
    valid = labels.fields if fields is None else tuple(fields)
    if strange := [key for key in labels.fields if key not in valid]:
        measured = f"this audit can correct {', '.join(valid)}" if valid else "name a --factor"
        raise DataError(
            f"{labels.source}: the field {strange[0]!r} is of nothing measured here; {measured}."
        )
    answers: dict[str, dict[Unit, str]] = {}
    unsettled: dict[str, list[Unit]] = {}
    for (text_id, unit, key), answer in settled(labels).items():
        if answer is None:
            unsettled.setdefault(key, []).append((text_id, unit))
        else:
            answers.setdefault(key, {})[text_id, unit] = answer
    chances: dict[str, dict[Unit, float]] = {}
    raters: dict[str, set[str]] = {}
    values: dict[str, dict[str, None]] = {}
    for row in labels.rows:
        raters.setdefault(row.field, set()).add(row.rater)
        values.setdefault(row.field, {})[row.value] = None
        if row.chance is not None:
            chances.setdefault(row.field, {})[row.text_id, row.unit] = row.chance
    names = {key: sorted(people) for key, people in raters.items()}
    of_field = {key: tuple(row_values) for key, row_values in values.items()}
    return HandTable(labels.source, answers, chances, names, unsettled, of_field)

"""Sheets of people: a sample of texts, the hand labels of who is in them, and their majority.

A *slot* is the subject of a story, and its object where the story has one. Each slot is labelled
with a first name and a gender.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.people import (
    UNSPECIFIED,
    Roles,
    clean_name,
    gender_of_references,
    normalise_gender,
)
from portrayal.collect.fields import LABELS
from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError, OptionError
from portrayal.raters.labels import Label, Labels, majority
from portrayal.raters.sheets import check_new, check_several, unique_rows, write_instructions
from portrayal.run import Run, read_rows
from portrayal.validate import check_count, check_seed

BY = ("domain", "condition", "model")
"""What strata are made of, as far as the texts have it."""
MAJORITY = "majority"
"""Who is called the rater of a merged sheet."""
_SEPARATOR = " · "
_COLUMNS = ["text_id", "prompt_id", "model", "text", "outcome"]


@dataclass(frozen=True, slots=True)
class SampledText:
    """One text of the sample.

    Attributes
    ----------
    facts
        `text_id`, `prompt_id`, `model`, `text` and the strata of its prompt.
    stratum, stratum_size
        The stratum it was drawn from, and how many readable texts that has.
    """

    facts: Mapping[str, str]
    stratum: str
    stratum_size: int


def readable_texts(run: Run) -> Iterator[dict[str, str]]:
    """Yield the texts of a run with the outcome "ok", with the strata of their prompts."""
    for row in read_rows(run, _COLUMNS):
        if row.pop("outcome") == "ok" and row["text"]:
            yield row


def draw(
    texts: Iterable[Mapping[str, Any]], n: int, *, by: Sequence[str] | None = None, seed: int = 0
) -> list[SampledText]:
    """Draw `n` texts at random, as evenly over the strata as their sizes allow.

    Parameters
    ----------
    texts
        Mappings with `text_id`, `prompt_id`, `model`, `text` and strata.
    n
        Texts to draw; all of them where there are not as many.
    by
        Attributes that make the strata; `BY` as far as the texts have it where None.
    seed
        Start of the random stream; the same texts and seed give the same sample.

    Returns
    -------
    list of SampledText
        In random order, so that the first rows of a sheet are a random sample as well.

    Raises
    ------
    OptionError
        When an attribute is unknown, or there are more strata than texts to draw.
    DataError
        When there is no text.
    """
    check_count("n", n, minimum=1)
    check_seed(seed)
    # The draw depends on texts and seed, not on the order in which files hold them.
    rows = sorted(texts, key=lambda row: row["text_id"])
    if not rows:
        raise DataError("there is no readable text to label; expected texts with the outcome ok.")
    columns = dict.fromkeys(name for row in rows for name in row)
    for name in by or ():
        if name not in columns or name == "text":
            raise OptionError(
                f"texts have no {name!r} to draw by; they have: "
                f"{', '.join(key for key in columns if key != 'text')}."
            )
    attributes = [name for name in BY if name in columns] if by is None else by
    strata: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        key = _SEPARATOR.join(str(row.get(name) or "–") for name in attributes) or "all"
        strata.setdefault(key, []).append(row)
    sizes = _shared_out(min(n, len(rows)), [len(inside) for inside in strata.values()])
    if min(sizes) == 0:
        raise OptionError(
            f"{len(strata)} strata need at least as many texts; got n = {n}. Raise --n, or give "
            "fewer attributes with --by."
        )
    rng = np.random.default_rng(seed)
    sample = [
        SampledText(dict(inside[i]), key, len(inside))
        for (key, inside), size in zip(strata.items(), sizes, strict=True)
        for i in rng.permutation(len(inside))[:size].tolist()
    ]
    # In random order, as raters learn and tire on the way.
    return [sample[i] for i in rng.permutation(len(sample)).tolist()]


def _shared_out(n: int, sizes: Sequence[int]) -> list[int]:
    """Share `n` out over strata as evenly as their sizes allow; what is over goes to the larger."""
    shares = [0] * len(sizes)
    remaining = n
    while remaining:
        room = [i for i, size in enumerate(sizes) if shares[i] < size]
        # Again and again, as a small stratum that is full leaves its share to the others
        per_stratum, over = divmod(remaining, len(room))
        for i in room:
            shares[i] += min(per_stratum, sizes[i] - shares[i])
        # Fewer are left than there are strata with room: the largest get one each.
        if per_stratum == 0:
            for i in sorted(room, key=lambda i: (-sizes[i], i))[:over]:
                shares[i] += 1
        remaining = n - sum(shares)
    return shares


@dataclass(frozen=True, slots=True)
class ShortPlace:
    """A place of which a draw has fewer labels than a correction needs.

    Attributes
    ----------
    place
        Domain and condition as the prompts say, or another stratum and its value.
    drawn, unit
        How many units of it were drawn, and what they are ("people of either role", "texts").
    least
        How many a correction needs.
    needed
        Size of a draw that would have so many; None where the run has too few.
    """

    place: str
    drawn: int
    unit: str
    least: int
    needed: int | None

    @property
    def sentence(self) -> str:
        """What a terminal says of it."""
        would = f"--n {self.needed} should do"
        if self.needed is None:
            would = "the whole run has too few"
        return (
            f"these labels cannot correct {self.place}: they are of {self.drawn} {self.unit} "
            f"there, and a correction needs {self.least}; {would}"
        )


def short_places(
    texts: Iterable[Mapping[str, Any]],
    n: int,
    least: int,
    *,
    by: Sequence[str] | None = None,
    seed: int = 0,
) -> list[ShortPlace]:
    """Return where a draw of `n` texts cannot correct anything, by the prompts' own arithmetic.

    Parameters
    ----------
    texts, n, by, seed
        As of `draw`.
    least
        People of a role whose labels a correction needs.
    """
    rows = list(texts)

    def people_by_place(size: int) -> Counter[str]:
        """People of one role: a power-laden text has one of each, a power-neutral one all its."""
        people: Counter[str] = Counter()
        for one in draw(rows, size, by=by, seed=seed):
            facts = (one.facts.get(name) for name in ("domain", "condition"))
            # Corrections are made by role where roles differ
            one_each = one.facts.get("condition") == "power-laden"
            people[", ".join(filter(None, facts)) or "all"] += (
                1 if one_each else int(sheet_row(one)["characters"])
            )
        return people

    in_draw, in_all, short = people_by_place(n), people_by_place(len(rows)), []
    for place in sorted(in_all):
        if in_draw[place] < least:
            sizes = range(n, len(rows) + 1)
            # A larger draw holds a smaller one, so the people of a place grow with it.
            index = bisect_left(sizes, least, key=lambda size: people_by_place(size)[place])
            needed = sizes[index] if index < len(sizes) else None
            short.append(ShortPlace(place, in_draw[place], "people of a role", least, needed))
    return short


FACTS = ("text_id", "stratum", "stratum_size", "prompt_id", "domain", "model", "condition")
ROLES = ("subject_role", "object_role", "characters")
COLUMNS = (*FACTS, *ROLES, "text", *LABELS, "notes", "rater")


def write_sheet(path: Path, sample: Sequence[SampledText]) -> Path:
    """Write the sheet, and the instructions to a file of the same name with the ending ".md".

    Parameters
    ----------
    path
        The CSV file; one that is there is kept.
    sample
        The sample, in the order of the rows.

    Raises
    ------
    OptionError
        When the file is there: it may hold a rater's labels.
    """
    check_new(path)
    write_table(path, COLUMNS, map(sheet_row, sample))
    write_instructions(path.with_suffix(".md"), __package__)
    return path


def sheet_row(one: SampledText) -> dict[str, str]:
    """Return what a sheet says of a text besides its labels."""
    facts = {name: str(one.facts.get(name) or "") for name in (*FACTS, *ROLES, "text")}
    roles = Roles(facts["subject_role"], facts["object_role"] or None)
    return facts | {
        "stratum": one.stratum,
        "stratum_size": str(one.stratum_size),
        "characters": "2" if roles.has_object else "1",
    }


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

    @property
    def note(self) -> str:
        """Who labelled how many texts, for instruments and reports."""
        of_many = self.rater == MAJORITY
        labeller = "the majority of raters" if of_many else "one rater, whose errors nobody can see"
        return f"people of {len(self.labels)} texts labelled by {labeller}"

    def gold_rows(self) -> Iterable[dict[str, Any]]:
        """Yield the labelled rows as `portrayal.raters.people.score_people` takes them."""
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
    labels, sizes, rater, number = [], {}, "", 1
    needed = ("stratum", "stratum_size", "characters", "text", "subject_gender", "object_gender")
    advice = "So this is no sheet that `portrayal label sheet` made."
    for number, row in unique_rows(path, "text_id", needed, advice):
        place, size = f"{path}: row {number}", row["stratum_size"]
        if not re.fullmatch(r"\s*0*[1-9][0-9]*(\.0*)?\s*", size):
            raise DataError(
                f"{place}: stratum_size must be a whole number of 1 or more; got {size!r}."
            )
        # Sizes are read of unlabelled rows as well, so that every stratum is known
        sizes[row["stratum"]] = int(float(size))
        rater = rater or row.get("rater", "").strip()
        # A row without any label is still to be done
        if not any(row.get(name, "").strip() for name in LABELS):
            continue
        # Spreadsheets write 1 as 1.0.
        two = {"1": False, "2": True}.get(row["characters"].strip().removesuffix(".0"))
        if two is None:
            raise DataError(f"{place}: characters must be 1 or 2; got {row['characters']!r}.")
        filled = [name for name in LABELS[3:] if row.get(name, "").strip()]
        if filled and not two:
            raise DataError(
                f"{place}: {filled[0]} must stay empty, as the prompt asks for one character; got "
                f"{row[filled[0]]!r}."
            )
        slots = []
        for slot in ("subject", "object")[: 1 + two]:
            cell, words = row[f"{slot}_gender"].strip(), row.get(f"{slot}_references", "")
            expected = "expected F, M, NB, Unspecified or Unsure"
            if not cell and not words.strip():
                raise DataError(f"{place}: {slot}_gender is empty; {expected}.")
            # A rater may write down the words in place of the gender
            gender = normalise_gender(cell) if cell else gender_of_references(words.split(","))
            if cell and gender == UNSPECIFIED and cell.casefold() not in _UNSPECIFIED:
                raise DataError(f"{place}: {slot}_gender is {cell!r}; {expected}.")
            slots.append((clean_name(row.get(f"{slot}_name")), gender))
        other = slots[1] if two else None
        labels.append(HandLabel(dict(row), number, slots[0], other, row["stratum"]))
    return Sheet(Path(path), tuple(labels), number - 1, sizes, rater)


def sheet_labels(paths: Sequence[str | Path]) -> Labels:
    """Return the labels of several raters' sheets: the name and gender of each slot.

    Raises
    ------
    DataError
        With fewer than two sheets, or where two have no labelled text in common.
    OptionError
        When one sheet is given twice.
    """
    check_several(paths, "agreement is of")
    rows: list[Label] = []
    texts_coded: list[Label] = []
    prompts: dict[str, str] = {}
    texts: dict[str, set[str]] = {}
    for sheet in map(read_sheet, paths):
        names = (sheet.rater, sheet.path.name, str(sheet.path))
        # Copies of one sheet may name the same rater; then the file's name tells them apart.
        rater = next(name for name in names if name and name not in texts)
        # Raters of different texts cannot agree or differ
        text_ids = {label.text_id for label in sheet.labels}
        for other, labelled in texts.items():
            if not text_ids & labelled:
                raise DataError(
                    f"{sheet.path} and the sheet of {other} have no labelled text in common; "
                    "raters of one sample get copies of the same sheet."
                )
        texts[rater] = text_ids
        for label in sheet.labels:
            texts_coded.append(Label(rater, label.text_id, "", "1"))
            if label.facts.get("prompt_id"):
                prompts[label.text_id] = label.facts["prompt_id"]
            for unit, slot in (("subject", label.subject), ("object", label.object)):
                if slot is not None:
                    cells = {"gender": slot[1], "name": slot[0] or ""}
                    rows += [Label(rater, label.text_id, k, v, unit) for k, v in cells.items()]
    return Labels(tuple(rows), tuple(texts_coded), fields=("gender", "name"), prompts=prompts)


@dataclass(frozen=True, slots=True)
class MajoritySheet:
    """The merged sheet.

    Attributes
    ----------
    path
        The file.
    n_labelled
        Texts with a label of the majority in every slot.
    n_undecided
        Texts with a label that have none of the majority, left empty.
    """

    path: Path
    n_labelled: int
    n_undecided: int


def merge_sheets(paths: Sequence[str | Path], out: Path) -> MajoritySheet:
    """Write the sheet that more than half of the raters of each text agree on.

    Names and genders are voted on apart. A text without a majority in some slot is left empty, as
    its label would be one rater's: the raters settle it, or it stays unlabelled.

    Raises
    ------
    DataError
        With fewer than two sheets, when they are not of one sample, or when one has no label.
    OptionError
        When `out` is there, as it may hold a rater's labels, or one sheet is given twice.
    """
    check_several(paths, "a majority is of")
    check_new(out)
    by_text: dict[str, list[HandLabel]] = {}
    for path in paths:
        sheet = read_sheet(path)
        if not sheet.labels:
            raise DataError(
                f"no row of {path} is filled in; expected names and genders. Merge the sheets when "
                "each rater has labelled some texts."
            )
        for label in sheet.labels:
            by_text.setdefault(label.text_id, []).append(label)
    rows = read_table(paths[0], ["text_id"])
    # The first sheet gives rows and order
    strange = by_text.keys() - {row["text_id"] for row in rows}
    if strange:
        raise DataError(
            f"{paths[0]} has no text {min(strange)!r}, which another sheet labels; raters of one "
            "sample get copies of the same sheet."
        )
    blank = dict.fromkeys((*LABELS, "notes", "rater"), "")
    merged, n_labelled = [], 0
    for row in rows:
        labels = by_text.get(row["text_id"], [])
        slots = {"subject": [label.subject for label in labels]}
        if labels and labels[0].object is not None:
            slots["object"] = [label.object for label in labels if label.object is not None]
        cells = {"rater": MAJORITY} if labels else {}
        for slot, votes in slots.items():
            # Names are compared without regard to case, and written as the first rater spells.
            spelled = {(name or "").casefold(): name or "" for name, _ in reversed(votes)}
            name = majority((name or "").casefold() for name, _ in votes)
            gender = majority(gender for _, gender in votes)
            if name is None or gender is None:
                cells = {}
                break
            cells |= {f"{slot}_name": spelled[name], f"{slot}_gender": gender}
        # A text counts where every slot has a majority
        n_labelled += bool(cells)
        merged.append(row | blank | cells)
    write_table(out, COLUMNS, merged)
    return MajoritySheet(out, n_labelled, len(by_text) - n_labelled)

"""Majority: the sheets of several raters become one, with the labels that most of them give."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from portrayal.annotate.hand.sheet import COLUMNS, LABELS, inert, restored
from portrayal.annotate.hand.sheet_in import HandLabel, Slot, read_sheet
from portrayal.collect.sources import open_source
from portrayal.errors import DataError, OptionError
from portrayal.run.stages import write_atomically
from portrayal.validate import check_different_files


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged sheet.

    Attributes
    ----------
    path
        The file.
    n_labelled
        Texts with a label of the majority in every slot.
    n_undecided
        Texts that somebody labelled and that have none, left empty.
    """

    path: Path
    n_labelled: int
    n_undecided: int


def merge_sheets(paths: Sequence[str | Path], out: Path) -> Merged:
    """Write the sheet that more than half of the raters of each text agree on.

    Names and genders are voted on apart. A text without a majority in some slot is left empty, as
    its label would be one rater's: the raters settle it, or it stays unlabelled.

    Raises
    ------
    DataError
        With fewer than two sheets, or when they are not of one sample.
    OptionError
        When `out` is there, as it may hold somebody's labels, or one sheet is given twice.
    """
    if len(paths) < 2:
        raise DataError(f"a majority is of two sheets or more; got {len(paths)}.")
    check_different_files(paths)
    if out.exists():
        raise OptionError(f"{out} is there already and may hold labels; give another --out.")
    by_text: dict[str, list[HandLabel]] = {}
    for path in paths:
        for label in read_sheet(path).labels:
            by_text.setdefault(label.text_id, []).append(label)
    rows = [_plain(row) for row in open_source(paths[0]).rows()]
    strange = by_text.keys() - {row["text_id"] for row in rows}
    if strange:
        raise DataError(
            f"{paths[0]} has no text {min(strange)!r}, which another sheet labels; raters of one "
            "sample get copies of the same sheet."
        )
    found = {text_id: _majority(labels) for text_id, labels in by_text.items()}
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        empty = dict.fromkeys((*LABELS, "notes", "rater"), "")
        cells = row | empty | (found.get(row["text_id"]) or {})
        writer.writerow([inert(cells.get(name, "")) for name in COLUMNS])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, "\ufeff" + stream.getvalue())
    decided = sum(cells is not None for cells in found.values())
    return Merged(out, decided, len(found) - decided)


def _plain(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: "" if cell is None else restored(str(cell)) for name, cell in row.items()}


def _majority(labels: Sequence[HandLabel]) -> dict[str, str] | None:
    """Cells of the label that more than half give; None where some slot has none."""
    cells = {"rater": "majority"}
    slots = {"subject": [label.subject for label in labels]}
    if labels[0].object is not None:
        slots["object"] = [label.object for label in labels if label.object is not None]
    for slot, said in slots.items():
        voted = _vote(said)
        if voted is None:
            return None
        cells[f"{slot}_name"], cells[f"{slot}_gender"] = voted
    return cells


def _vote(said: Sequence[Slot]) -> tuple[str, str] | None:
    spelled = {(name or "").casefold(): name or "" for name, _ in reversed(said)}
    name = _most(((name or "").casefold() for name, _ in said), len(said))
    gender = _most((gender for _, gender in said), len(said))
    return None if name is None or gender is None else (spelled[name], gender)


def _most(values: Iterable[str], n: int) -> str | None:
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > n else None

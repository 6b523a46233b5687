"""Exports: what raters said as CSV files: codes, and the sheets of hand labels."""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from portrayal.annotate.hand.sheet import inert
from portrayal.coding.clusters import SAMPLED
from portrayal.coding.codes import Codes, read_codes
from portrayal.coding.project import Item, Project
from portrayal.errors import DataError
from portrayal.run.stages import write_atomically

CODES = ("item_id", "rater", "code", "value", "note", "at", "kind")
"""Columns of `codes.csv`; `value` is 1 or 0 for a code, text for a field."""
PEOPLE = ("subject_name", "subject_gender", "object_name", "object_gender")
"""Fields that make a sheet of people."""
FACTS = ("prompt_id", "domain", "model", "condition")
SHEET: tuple[str, ...] = (
    "text_id",
    "stratum",
    "stratum_size",
    *FACTS,
    "subject_role",
    "object_role",
    "characters",
    "text",
    *PEOPLE[:2],
    "subject_references",
    *PEOPLE[2:],
    "object_references",
    "notes",
    "rater",
)


def export_codes(project: Project, path: str | Path | None = None) -> Path:
    """Write every decision and reply of raters to a CSV file and return its path.

    Parameters
    ----------
    project
        The project.
    path
        The file; `codes.csv` of the project where None. One that is there is replaced.
    """
    codes = read_codes(project)
    rows: list[Sequence[Any]] = [
        (one.item_id, one.rater, one.code, int(one.value), one.note, one.at, one.kind)
        for one in codes.decisions
    ]
    rows += [
        (one.item_id, one.rater, one.field, one.value, one.note, one.at, one.kind)
        for one in codes.replies
    ]
    return _write(Path(path or project.folder / "codes.csv"), CODES, rows)


def export_sheets(project: Project, folder: str | Path | None = None) -> list[Path]:
    """Write one sheet of labels for each rater, and return their paths.

    A project of people gives sheets with the columns of hand labels of people (`SHEET`), one row
    for each text, empty where the rater is not done; a project with one field gives
    `sentence,label` of what is done.

    Raises
    ------
    DataError
        When the project asks something else.
    """
    codes = read_codes(project)
    keys = [field.key for field in project.codebook.fields]
    place = Path(folder or project.folder)
    if set(PEOPLE) <= set(keys):
        columns, make = SHEET, _people_rows
    elif len(keys) == 1:
        columns, make = ("sentence", "label"), _sentence_rows
    else:
        asked = ", ".join(keys) or "codes alone"
        raise DataError(
            f"{project.folder} asks {asked}; a sheet takes {', '.join(PEOPLE)}, or one field. "
            "Codes go to codes.csv."
        )
    used: dict[str, str] = {}
    return [
        _write(place / _file(rater, used), columns, make(project.items, codes, rater))
        for rater in codes.raters
    ]


def _file(rater: str, used: dict[str, str]) -> str:
    """A file name of a rater's own: the letters and digits of the name, numbered where taken."""
    bare = "-".join(re.findall(r"\w+", rater)) or "rater"
    name, number = bare, 2
    while name in used:
        name, number = f"{bare}-{number}", number + 1
    used[name] = rater
    return f"labels-{name}.csv"


def _people_rows(items: Sequence[Item], codes: Codes, rater: str) -> list[Sequence[Any]]:
    replies = {(one.item_id, one.field): one for one in codes.replies if one.rater == rater}
    notes = {one.item_id: one.note for one in codes.replies if one.rater == rater}
    rows: list[Sequence[Any]] = []
    sizes: dict[str, float] = {}
    for item in items:
        sizes[_stratum(item)] = sizes.get(_stratum(item), 0.0) + item.weight
    for item in items:
        roles = {one.slot: one.role for one in item.people}
        cells = {
            "text_id": item.item_id,
            "stratum": _stratum(item),
            "stratum_size": str(round(sizes[_stratum(item)])),
            **{name: item.strata.get(name, "") for name in FACTS},
            "subject_role": roles.get("subject", ""),
            "object_role": roles.get("object", ""),
            "characters": "2" if "object" in roles else "1",
            "text": item.text,
            "notes": notes.get(item.item_id, ""),
            "rater": rater,
        }
        for key in PEOPLE:
            reply = replies.get((item.item_id, key))
            cells[key] = reply.value if reply else ""
        rows.append([cells.get(column, "") for column in SHEET])
    return rows


def _stratum(item: Item) -> str:
    """What a text was drawn as; of a text that no sample drew, its strata but the prompt."""
    own = (value for name, value in item.strata.items() if name != "prompt_id")
    return item.strata.get(SAMPLED) or " · ".join(own) or "all"


def _sentence_rows(items: Sequence[Item], codes: Codes, rater: str) -> list[Sequence[Any]]:
    labels = {one.item_id: one.value for one in codes.replies if one.rater == rater}
    return [(item.text, labels[item.item_id]) for item in items if item.item_id in labels]


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([inert(c) if isinstance(c, str) else c for c in row] for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\ufeff" + stream.getvalue())
    return path

"""Sheet: a sample of texts as a CSV file with cells to fill in, and instructions beside it."""

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from io import StringIO
from pathlib import Path

from portrayal.annotate.hand.sample import Drawn
from portrayal.annotate.people import Character, Roles, extract_people
from portrayal.errors import OptionError
from portrayal.run.stages import write_atomically

FACTS = ("text_id", "stratum", "stratum_size", "prompt_id", "domain", "model", "condition")
ROLES = ("subject_role", "object_role", "characters")
LABELS = (
    "subject_name",
    "subject_gender",
    "subject_references",
    "object_name",
    "object_gender",
    "object_references",
)
"""Cells that raters fill in."""
COLUMNS = (*FACTS, *ROLES, "text", *LABELS, "notes", "rater")
GUESSES = tuple(
    f"guess_{slot}_{part}" for slot in ("subject", "object") for part in ("name", "gender")
)

RUNS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of a cell that a spreadsheet would run as a formula."""

Guess = tuple[Character, Character | None]


def write_sheet(
    path: Path, drawn: Sequence[Drawn], guesses: Mapping[str, Guess] | None = None
) -> Path:
    """Write the sheet, and the instructions to a file of the same name with the ending ".md".

    Parameters
    ----------
    path
        The CSV file; one that is there is kept.
    drawn
        The sample, in the order of the rows.
    guesses
        What an extractor found, by text_id, in columns of their own; None leaves raters to decide
        for themselves.

    Raises
    ------
    OptionError
        When the file is there: it may hold somebody's labels.
    """
    if path.exists():
        raise OptionError(f"{path} is there already and may hold labels; give another --out.")
    columns = (*COLUMNS, *(GUESSES if guesses is not None else ()))
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for one in drawn:
        cells = _cells(one) | (_guess(guesses[one.facts["text_id"]]) if guesses else {})
        writer.writerow([inert(cells.get(name, "")) for name in columns])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\ufeff" + stream.getvalue())
    words = files("portrayal.annotate.hand").joinpath("instructions.md").read_text("utf-8")
    write_atomically(path.with_suffix(".md"), words)
    return path


def guesses_of(drawn: Sequence[Drawn]) -> dict[str, Guess]:
    """Return what the extractor finds in the texts of a sample, by text_id."""
    found = {}
    for one in drawn:
        facts = one.facts
        roles = Roles(str(facts.get("subject_role") or ""), facts.get("object_role") or None)
        found[facts["text_id"]] = extract_people(facts["text"], roles)
    return found


def inert(cell: str) -> str:
    """Return a cell that no spreadsheet runs; `restored` takes it back.

    A cell that begins with one of `RUNS`, or with an apostrophe before one, gets an apostrophe.
    """
    return f"'{cell}" if _runs(cell.lstrip("'")) else cell


def restored(cell: str) -> str:
    """Return what `inert` was given."""
    return cell[1:] if cell.startswith("'") and _runs(cell.lstrip("'")) else cell


def _runs(cell: str) -> bool:
    return cell.lstrip(" ").startswith(RUNS)


def _cells(one: Drawn) -> dict[str, str]:
    facts = {name: str(one.facts.get(name) or "") for name in (*FACTS, *ROLES, "text")}
    roles = Roles(facts["subject_role"], facts["object_role"] or None)
    return facts | {
        "stratum": one.stratum,
        "stratum_size": str(one.stratum_size),
        "characters": "2" if roles.has_object else "1",
    }


def _guess(guess: Guess) -> dict[str, str]:
    found = {}
    for slot, character in zip(("subject", "object"), guess, strict=True):
        if character is not None:
            found[f"guess_{slot}_name"] = character.name or ""
            found[f"guess_{slot}_gender"] = character.gender
    return found

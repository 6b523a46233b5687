"""Sheets: the paraphrases in a random order, without their targets, for people to label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import numpy as np

from portrayal.errors import DataError, OptionError
from portrayal.raters.sentences.tables import read_table, write_table
from portrayal.run.files import write_atomically
from portrayal.validate import check_count, check_seed

COLUMNS = ("row_id", "text", "label", "notes", "rater")
AGENTIC, NEUTRAL, COMMUNAL, NA = "agentic", "neutral", "communal", "na"
LABELS = (AGENTIC, NEUTRAL, COMMUNAL)
_READ = {
    "1": AGENTIC,
    "+1": AGENTIC,
    "agentic": AGENTIC,
    "0": NEUTRAL,
    "neutral": NEUTRAL,
    "-1": COMMUNAL,
    "−1": COMMUNAL,
    "communal": COMMUNAL,
    "na": NA,
    "n/a": NA,
}


@dataclass(frozen=True, slots=True)
class Sheets:
    """The sheets that were written, one for each rater, and the instructions beside them."""

    paths: tuple[Path, ...]
    instructions: Path
    n_rows: int


def row_id(entry_id: str) -> str:
    """Return a name of an entry that does not tell its target."""
    return blake2b(entry_id.encode(), digest_size=6).hexdigest()


def write_sheets(
    paraphrases: str | Path,
    out: Path,
    *,
    raters: int = 2,
    seed: int = 0,
    only: Sequence[str] | None = None,
) -> Sheets:
    """Write a sheet for each rater, in one random order, with the instructions of Table 8.

    Parameters
    ----------
    paraphrases
        The file that `paraphrase` wrote, or one with the columns `entry_id`, `text` and `target`.
    out
        Folder of the sheets.
    raters
        How many people label.
    seed
        Of the order.
    only
        Entries to label; all where None.

    Raises
    ------
    OptionError
        When a sheet is there already: it may hold somebody's labels.

    References
    ----------
    Wan & Chang (2024), Appendix B.3 and Table 8.
    """
    check_count("raters", raters, minimum=1)
    rows = read_table(paraphrases, ["entry_id", "text", "target"])
    if only is not None:
        wanted = set(only)
        rows = [row for row in rows if row["entry_id"] in wanted]
    order = np.random.default_rng(check_seed(seed)).permutation(len(rows)).tolist()
    cells = [{"row_id": row_id(rows[i]["entry_id"]), "text": rows[i]["text"]} for i in order]
    paths = tuple(out / f"sheet-{number}.csv" for number in range(1, raters + 1))
    for path in paths:
        if path.exists():
            raise OptionError(f"{path} is there already and may hold labels; give another --out.")
    for path in paths:
        write_table(path, COLUMNS, cells, replace=False)
    return Sheets(paths, write_instructions(out / "instructions.md"), len(cells))


def write_instructions(path: Path) -> Path:
    """Write how a sheet is filled in."""
    words = files(__package__).joinpath("instructions.md").read_text(encoding="utf-8")
    write_atomically(path, words)
    return path


def read_sheet(path: str | Path) -> Mapping[str, str]:
    """Return the labels of a sheet by `row_id`; rows that nobody filled in are left out.

    Raises
    ------
    DataError
        When a label is none of those in the instructions, or a row comes twice.
    """
    found: dict[str, str] = {}
    seen: set[str] = set()
    for number, row in enumerate(read_table(path, ["row_id", "label"]), 2):
        name, said = row["row_id"], row["label"].strip().casefold()
        if name in seen:
            raise DataError(f"{path}: row {number}: {name} stands in the sheet already.")
        seen.add(name)
        if not said:
            continue
        if said not in _READ:
            raise DataError(
                f"{path}: row {number}: label is {row['label']!r}; expected 1 (agentic), 0 "
                "(neutral), -1 (communal) or na."
            )
        found[name] = _READ[said]
    return found

"""Labels of sentences: sheets for raters, put to a vote together with the paraphrase targets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.raters.agreement import Resampling
from portrayal.raters.sentences.seeds import STEP_BEFORE
from portrayal.raters.sheets import (
    check_new,
    check_several,
    majority,
    unique_rows,
    write_instructions,
)
from portrayal.stats import expanded_percentile, fleiss_kappa
from portrayal.validate import check_count, check_seed

SHEET_COLUMNS = ("row_id", "text", "label", "notes", "rater")
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

    Raises
    ------
    OptionError
        When a sheet is there already: it may hold a rater's labels.

    References
    ----------
    Wan & Chang (2024), Appendix B.3 and Table 8.
    """
    check_count("raters", raters, minimum=1)
    rows = read_table(paraphrases, ["entry_id", "text", "target"], STEP_BEFORE)
    order = np.random.default_rng(check_seed(seed)).permutation(len(rows)).tolist()
    cells = [{"row_id": row_id(rows[i]["entry_id"]), "text": rows[i]["text"]} for i in order]
    paths = tuple(out / f"sheet-{number}.csv" for number in range(1, raters + 1))
    check_new(*paths)
    for path in paths:
        write_table(path, SHEET_COLUMNS, cells)
    return Sheets(paths, write_instructions(out / "instructions.md", __package__), len(cells))


def read_sheet(path: str | Path) -> Mapping[str, str]:
    """Return the labels of a sheet by `row_id`; rows that no rater filled in are left out.

    Raises
    ------
    DataError
        When a label is none of those in the instructions, or a row comes twice.
    """
    labels = {}
    for number, row in unique_rows(path, "row_id", ["label"], STEP_BEFORE):
        said = row["label"].strip().casefold()
        if not said:
            continue
        if said not in _READ:
            raise DataError(
                f"{path}: row {number}: label is {row['label']!r}; expected 1 (agentic), 0 "
                "(neutral), -1 (communal) or na."
            )
        labels[row["row_id"]] = _READ[said]
    return labels


COLUMNS = ("entry_id", "sentence_id", "target", "text", "label", "votes")
KEPT = "kept"
NOT_LABELLED = "not labelled by every rater"
REMOVED_NA = "removed: na"
REMOVED_NEUTRAL = "removed: neutral"
UNDECIDED = "undecided: a third rater is needed"


@dataclass(frozen=True, slots=True)
class Kappa:
    """Fleiss' kappa of the raters and the target, with its interval; `why` where undefined."""

    value: float | None
    low: float | None
    high: float | None
    n_entries: int
    n_raters: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class LabelsMerged:
    """The merged labels.

    Attributes
    ----------
    path
        CSV file of the entries that are kept; label is 1 for agentic and 0 for communal.
    third_path
        Sheet for a third rater; None where nothing is undecided.
    counts
        Entries by what became of them.
    kappa_all, kappa_kept
        Agreement on all entries that every rater labelled as something, and on those kept, where
        it must be higher. The paper's 0.90 is that of the finished data set.
    """

    path: Path
    third_path: Path | None
    counts: Mapping[str, int]
    kappa_all: Kappa
    kappa_kept: Kappa

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        third = None if self.third_path is None else str(self.third_path)
        return asdict(self) | {"path": str(self.path), "third_path": third}


def merge_labels(
    paraphrases: str | Path,
    sheets: Sequence[str | Path],
    out: Path,
    *,
    third: str | Path | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> LabelsMerged:
    """Take the label that more than half of the raters and the paraphrase target agree on.

    An entry that any rater calls "na" is removed. Where no label has a majority, the third rater's
    label counts. Entries whose label is neutral are removed, as LAC has two classes.

    Parameters
    ----------
    paraphrases
        The file that the sheets were made from.
    sheets
        Two or more, filled in.
    out
        CSV file to write; the sheet for a third rater goes beside it.
    third
        That sheet, filled in.
    level, draws, seed
        Of the kappas' intervals, which resample sentences.

    Raises
    ------
    DataError
        With fewer than two sheets, or a sheet of other sentences.
    OptionError
        When one sheet is given twice.

    References
    ----------
    Wan & Chang (2024), Section 3.2.1 and Appendices B.3 to B.5.
    """
    how = Resampling(level, draws, seed)
    check_several(sheets, "labels are merged from")
    check_several([*sheets, *([] if third is None else [third])], "labels are merged from")
    rows = read_table(paraphrases, ["entry_id", "text", "target"], STEP_BEFORE)
    names = {row_id(row["entry_id"]) for row in rows}
    said = [_known(read_sheet(path), names, path, paraphrases) for path in sheets]
    last = {} if third is None else _known(read_sheet(third), names, third, paraphrases)
    counts: Counter[str] = Counter()
    kept: list[dict[str, str]] = []
    undecided: list[dict[str, str]] = []
    votes: list[tuple[str, list[str], bool]] = []
    for row in rows:
        name = row_id(row["entry_id"])
        given = [labels.get(name, "") for labels in said]
        target = _target(row, paraphrases)
        fate = _fate(target, given, last.get(name, ""))
        label = fate if fate in LABELS and fate != NEUTRAL else None
        outcome = KEPT if label else REMOVED_NEUTRAL if fate == NEUTRAL else fate
        counts[outcome] += 1
        if fate == UNDECIDED:
            undecided.append({"row_id": name, "text": row["text"]})
        if all(given) and NA not in given:
            votes.append((row.get("sentence_id") or name, [target, *given], label is not None))
        if label:
            said_so = " ".join([target, *given])
            kept.append({**row, "label": "1" if label == AGENTIC else "0", "votes": said_so})
    write_table(out, COLUMNS, kept)
    beside = out.with_name(f"{out.stem}-third.csv")
    if undecided and not beside.exists():
        write_table(beside, SHEET_COLUMNS, undecided)
    return LabelsMerged(
        out,
        beside if undecided else None,
        dict(sorted(counts.items())),
        _kappa([vote[:2] for vote in votes], len(sheets) + 1, how),
        _kappa([vote[:2] for vote in votes if vote[2]], len(sheets) + 1, how),
    )


def _known(
    labels: Mapping[str, str], names: set[str], path: str | Path, paraphrases: str | Path
) -> Mapping[str, str]:
    strange = labels.keys() - names
    if strange:
        raise DataError(
            f"{path}: {min(strange)!r} is no row of a sheet that was made from {paraphrases}; "
            "merge sheets with the file that they were made from."
        )
    return labels


def _target(row: Mapping[str, str], where: str | Path) -> str:
    target = row["target"].strip().casefold()
    if target not in LABELS or target == NEUTRAL:
        raise DataError(f"{where}: target must be agentic or communal; got {row['target']!r}.")
    return target


def _fate(target: str, given: Sequence[str], third: str) -> str:
    """The label of an entry, or why it has none."""
    if NA in given:
        return REMOVED_NA
    if not all(given):
        return NOT_LABELLED
    return majority([target, *given]) or {"": UNDECIDED, NA: REMOVED_NA}.get(third, third)


def _kappa(votes: Sequence[tuple[str, list[str]]], n_raters: int, how: Resampling) -> Kappa:
    """Fleiss' kappa with an interval that resamples sentences."""
    if not votes:
        return Kappa(None, None, None, 0, n_raters, "no entry was labelled by every rater")
    table = np.array([[labels.count(each) for each in LABELS] for _, labels in votes], dtype=float)
    value = float(fleiss_kappa(table))
    if np.isnan(value):
        return Kappa(
            None, None, None, len(votes), n_raters, "all raters use one and the same label"
        )
    code = {name: i for i, name in enumerate(dict.fromkeys(name for name, _ in votes))}
    cluster = np.array([code[name] for name, _ in votes])
    weights = how.weights(len(code), width=len(votes))
    made = [fleiss_kappa(table, block[:, cluster]) for block in weights]
    low, high = expanded_percentile(np.concatenate(made), how.level, len(code))
    known = [float(bound) if np.isfinite(bound) else None for bound in (low, high)]
    return Kappa(value, known[0], known[1], len(votes), n_raters)

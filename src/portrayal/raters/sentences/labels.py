"""Labels of sentences: sheets for raters, put to a vote together with the paraphrase targets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.collect.tables import read_table, write_table
from portrayal.errors import DataError
from portrayal.raters.agreement import Coefficient, Resampling, coefficient, ratings_of
from portrayal.raters.labels import Label, Labels, majority
from portrayal.raters.sentences.seeds import STEP_BEFORE
from portrayal.raters.sheets import check_new, check_several, unique_rows, write_instructions
from portrayal.validate import check_count, check_seed

SHEET_COLUMNS = ("row_id", "text", "label", "notes", "rater")
AGENTIC, NEUTRAL, COMMUNAL, NA = "agentic", "neutral", "communal", "na"
LABELS = (AGENTIC, NEUTRAL, COMMUNAL)
_READ = {
    **dict.fromkeys(("1", "+1", AGENTIC), AGENTIC),
    **dict.fromkeys(("0", NEUTRAL), NEUTRAL),
    # With a hyphen, or with the minus sign that editors put in its place.
    **dict.fromkeys(("-1", "−1", COMMUNAL), COMMUNAL),
    **dict.fromkeys((NA, "n/a"), NA),
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


def write_sheets(paraphrases: str | Path, out: Path, *, raters: int = 2, seed: int = 0) -> Sheets:
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
    # Without targets and in random order: raters must not see what a sentence was meant to be
    cells = [{"row_id": row_id(rows[i]["entry_id"]), "text": rows[i]["text"]} for i in order]
    paths = tuple(out / f"sheet-{number}.csv" for number in range(1, raters + 1))
    # All are checked before the first is written
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
        cell = row["label"].strip().casefold()
        if not cell:
            continue
        if cell not in _READ:
            raise DataError(
                f"{path}: row {number}: label is {row['label']!r}; expected 1 (agentic), 0 "
                "(neutral), -1 (communal) or na."
            )
        labels[row["row_id"]] = _READ[cell]
    return labels


COLUMNS = ("entry_id", "sentence_id", "target", "text", "label", "votes")
KEPT = "kept"
NOT_LABELLED = "not labelled by every rater"
REMOVED_NA = "removed: na"
REMOVED_NEUTRAL = "removed: neutral"
UNDECIDED = "undecided: a third rater is needed"


@dataclass(frozen=True, slots=True)
class SentenceLabels:
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
    kappa_all: Coefficient
    kappa_kept: Coefficient

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        facts: dict[str, Any] = {"path": str(self.path), "third_path": None}
        if self.third_path is not None:
            facts["third_path"] = str(self.third_path)
        for name, one in (("kappa_all", self.kappa_all), ("kappa_kept", self.kappa_kept)):
            bounds = one.interval
            facts[name] = {
                "value": one.value,
                "low": None if bounds is None else bounds.low,
                "high": None if bounds is None else bounds.high,
                "n_entries": one.n_items,
                "n_raters": len(one.raters),
                "why": one.undefined or one.no_interval,
            }
        return facts | {"counts": dict(self.counts)}


def merge_labels(
    paraphrases: str | Path,
    sheets: Sequence[str | Path],
    out: Path,
    *,
    third: str | Path | None = None,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> SentenceLabels:
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
    check_several(sheets, "labels are merged from")
    check_several([*sheets, *([] if third is None else [third])], "labels are merged from")
    rows = read_table(paraphrases, ["entry_id", "text", "target"], STEP_BEFORE)
    names = {row_id(row["entry_id"]) for row in rows}
    read = []
    for path in (*sheets, *(() if third is None else (third,))):
        read.append(read_sheet(path))
        if strange := read[-1].keys() - names:
            raise DataError(
                f"{path}: {min(strange)!r} is no row of a sheet that was made from {paraphrases}; "
                "merge sheets with the file that they were made from."
            )
    of_raters, last = read[: len(sheets)], read[len(sheets)] if third is not None else {}
    raters = ("target", *(f"sheet {number}" for number in range(1, len(sheets) + 1)))
    counts: Counter[str] = Counter()
    decided: list[dict[str, str]] = []
    undecided: list[dict[str, str]] = []
    votes: list[Label] = []
    for row in rows:
        name, target = row_id(row["entry_id"]), row["target"].strip().casefold()
        if target not in (AGENTIC, COMMUNAL):
            raise DataError(
                f"{paraphrases}: target must be agentic or communal; got {row['target']!r}."
            )
        ballots = [labels.get(name, "") for labels in of_raters]
        # The target has a vote, as in the paper
        label = majority([target, *ballots])
        if NA in ballots:
            outcome = REMOVED_NA
        elif not all(ballots):
            outcome = NOT_LABELLED
        else:
            # The third rater decides only where there is no majority
            label = label or last.get(name, UNDECIDED)
            removed = {NEUTRAL: REMOVED_NEUTRAL, NA: REMOVED_NA, UNDECIDED: UNDECIDED}
            outcome = removed.get(label, KEPT)
        counts[outcome] += 1
        if outcome == UNDECIDED:
            undecided.append({"row_id": name, "text": row["text"]})
        # Kappa is of entries that every rater labelled as something
        if all(ballots) and NA not in ballots:
            pairs = zip(raters, (target, *ballots), strict=True)
            votes += [Label(rater, name, KEPT, value, note=outcome) for rater, value in pairs]
        if outcome == KEPT:
            value = "1" if label == AGENTIC else "0"
            decided.append({**row, "label": value, "votes": " ".join([target, *ballots])})
    write_table(out, COLUMNS, decided)
    third_sheet = out.with_name(f"{out.stem}-third.csv")
    # A sheet that the third rater may have begun is not written over.
    if undecided and not third_sheet.exists():
        write_table(third_sheet, SHEET_COLUMNS, undecided)
    sentence = {row_id(row["entry_id"]): row.get("sentence_id") or "" for row in rows}
    prompts = {name: one for name, one in sentence.items() if one}
    resampling, kappas = Resampling(level, draws, seed, prompts), []
    # What is kept is kept because raters agree, so the kappa of all rows stands beside its own.
    for part in (votes, [one for one in votes if one.note == KEPT]):
        answers = ratings_of(Labels(tuple(part), (), fields=(KEPT,)), raters)[KEPT]
        kappas.append(coefficient("label", "fleiss_kappa", [answers], resampling))
    third_path = third_sheet if undecided else None
    return SentenceLabels(out, third_path, dict(sorted(counts.items())), *kappas)

"""Labels: sheets and paraphrase targets put to a vote, and how far the raters agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.errors import DataError
from portrayal.raters.sentences.sheets import AGENTIC, LABELS, NA, NEUTRAL, read_sheet, row_id
from portrayal.raters.sentences.sheets import COLUMNS as SHEET_COLUMNS
from portrayal.raters.sentences.tables import read_table, write_table
from portrayal.stats import cluster_weights, expanded_percentile, fleiss_kappa
from portrayal.validate import check_different_files, check_level, check_seed

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
    check_level(level)
    check_seed(seed)
    if len(sheets) < 2:
        raise DataError(f"labels are merged from two sheets or more; got {len(sheets)}.")
    check_different_files([*sheets, *([] if third is None else [third])])
    rows = read_table(paraphrases, ["entry_id", "text", "target"])
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
            told = {"label": "1" if label == AGENTIC else "0", "votes": " ".join([target, *given])}
            kept.append({**row, **told})
    write_table(out, COLUMNS, kept)
    beside = out.with_name(f"{out.stem}-third.csv")
    if undecided and not beside.exists():
        write_table(beside, SHEET_COLUMNS, undecided, replace=False)
    return LabelsMerged(
        out,
        beside if undecided else None,
        dict(sorted(counts.items())),
        _kappa([vote[:2] for vote in votes], len(sheets) + 1, level, draws, seed),
        _kappa([vote[:2] for vote in votes if vote[2]], len(sheets) + 1, level, draws, seed),
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
    label, count = Counter([target, *given]).most_common(1)[0]
    if 2 * count > len(given) + 1:
        return label
    return {"": UNDECIDED, NA: REMOVED_NA}.get(third, third)


def _kappa(
    votes: Sequence[tuple[str, list[str]]], n_raters: int, level: float, draws: int, seed: int
) -> Kappa:
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
    rng = np.random.default_rng(seed)
    made = [
        fleiss_kappa(table, cluster_weights(len(code), min(left, 100), rng)[:, cluster])
        for left in range(draws, 0, -100)
    ]
    low, high = expanded_percentile(np.concatenate(made), level, len(code))
    known = [float(bound) if np.isfinite(bound) else None for bound in (low, high)]
    return Kappa(value, known[0], known[1], len(votes), n_raters)

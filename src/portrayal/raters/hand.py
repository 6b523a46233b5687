"""Labels by hand of some texts of a run, of any field, by which estimates are corrected.

One table: text_id, field (a factor, "agency", …), label and rater; `unit` where a label is of a
sentence or person in a text, `chance` where texts were drawn with unequal chances. Where raters
differ, what more than half of them say counts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from portrayal.collect.sources import open_source
from portrayal.collect.tables import read_table
from portrayal.errors import DataError
from portrayal.raters.labels import Label, Labels, majority
from portrayal.types import FloatArray, Tabular

NEEDED = ("text_id", "field", "rater")
LABEL = ("label", "value")
"""Names of the column of labels; the second is that of tables of codes."""


@dataclass(frozen=True)
class HandTable:
    """What people say of some units of a run.

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
        Field → units of which no label has more than half of the raters; they are left out.
    """

    path: str
    labels: Mapping[str, Mapping[tuple[str, str], str]]
    chance: Mapping[str, Mapping[tuple[str, str], float]]
    raters: Mapping[str, Sequence[str]]
    unsettled: Mapping[str, int]

    def weights(self, field: str, units: Iterable[tuple[str, str]], otherwise: float) -> FloatArray:
        """Return how many each unit stands for, shape (n,); `otherwise` without chances."""
        chance = self.chance.get(field)
        return np.array([1.0 / chance[unit] if chance else otherwise for unit in units])

    def note(self, field: str) -> str:
        """Return who labelled how much, for instruments and reports."""
        n, raters = len(self.labels[field]), len(self.raters[field])
        people = f"{raters} raters" if raters > 1 else "one rater, whose errors nobody can see"
        open_ = self.unsettled.get(field, 0)
        return f"{n} labels by {people}" + (f"; {open_} left open by the raters" if open_ else "")


def read_hand_labels(path: Tabular, fields: Iterable[str]) -> HandTable:
    """Read labels by hand.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file, or a table.
    fields
        Fields that the audit can correct by.

    Raises
    ------
    DataError
        When a column is missing, a field is none of `fields`, one rater says two things of one
        unit, or a chance is no probability; names the row.
    """
    source, valid = open_source(path), tuple(fields)
    # Tables of codes call the label "value"
    column = next((name for name in LABEL if name in source.columns), LABEL[0])
    votes: dict[tuple[str, str, str], dict[str, str]] = {}
    chances: dict[str, dict[tuple[str, str], float]] = {}
    # The header is row 1, as in a spreadsheet.
    for number, row in enumerate(read_table(path, [*NEEDED, column], "Name them so."), 2):
        line, field, label = f"{source.name}: row {number}", row["field"], row[column].strip()
        # An empty cell is work to be done, not a label
        if not label:
            continue
        if field not in valid:
            measured = f"this audit can correct {', '.join(valid)}" if valid else "name a --factor"
            raise DataError(f"{line}: the field {field!r} is of nothing measured here; {measured}.")
        votes_of_unit = votes.setdefault((field, row["text_id"], row.get("unit", "")), {})
        if votes_of_unit.setdefault(row["rater"], label) != label:
            raise DataError(
                f"{line}: {row['rater']!r} says {label!r} of {row['text_id']!r} here and "
                f"{votes_of_unit[row['rater']]!r} above; keep one of both."
            )
        if cell := row.get("chance", "").strip():
            try:
                chance = float(cell)
            except ValueError:
                chance = math.nan
            if not 0 < chance <= 1:
                raise DataError(f"{line}: chance must be above 0 and at most 1; got {cell!r}.")
            chances.setdefault(field, {})[row["text_id"], row.get("unit", "")] = chance
    if not votes:
        raise DataError(f"{source.name}: no row has a label, so there is nothing to correct by.")
    # All units or none: of one without a chance nobody knows how many it stands for
    if bare := [key for key in votes if key[0] in chances and key[1:] not in chances[key[0]]]:
        raise DataError(
            f"{source.name}: {min(bare)[1]!r} has no chance, others have; give all texts the "
            "probability with which each was drawn, or none."
        )
    labels: dict[str, dict[tuple[str, str], str]] = {}
    raters: dict[str, set[str]] = {}
    unsettled: dict[str, int] = {}
    for (field, text_id, unit), votes_of_unit in votes.items():
        raters.setdefault(field, set()).update(votes_of_unit)
        settled = majority(votes_of_unit.values())
        if settled is None:
            unsettled[field] = unsettled.get(field, 0) + 1
        else:
            labels.setdefault(field, {})[text_id, unit] = settled
    name = str(path) if isinstance(path, (str, Path)) else source.name
    return HandTable(name, labels, chances, {f: sorted(r) for f, r in raters.items()}, unsettled)


def table_labels(paths: Sequence[str | Path]) -> Labels:
    """Return what sheets or tables of labels by hand say, for the agreement of their raters."""
    rows: dict[tuple[str, str, str], Label] = {}
    texts_coded: dict[tuple[str, str], Label] = {}
    for path in paths:
        for row in read_table(path, [*NEEDED, LABEL[0]], "Name them so."):
            text = "#".join(filter(None, (row["text_id"], row.get("unit", ""))))
            if label := row[LABEL[0]].strip().casefold():
                one = Label(row["rater"], text, row["field"], label)
                # A later table replaces what a rater said in an earlier one.
                rows[one.rater, text, one.code] = one
    texts_coded = {
        (one.rater, one.text_id): Label(one.rater, one.text_id, "", "1") for one in rows.values()
    }
    fields = tuple(dict.fromkeys(one.code for one in rows.values()))
    return Labels(tuple(rows.values()), tuple(texts_coded.values()), fields=fields)

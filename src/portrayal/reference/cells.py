"""Counts of people by name and race: the long form, and how it becomes shares."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError
from portrayal.reference.columns import in_order, race_group
from portrayal.reference.matching import name_key

FloatArray = NDArray[np.float64]
NOT_A_NAME = "all other names"
"""Key of the row in which some sources pool the names too rare to list."""


@dataclass(frozen=True)
class Cells:
    """One entry per name and race as the source spells them, with the number of people."""

    name: Sequence[str]
    race: Sequence[str]
    people: Sequence[float]


def shares_of(
    cells: Cells, where: str
) -> tuple[list[str], FloatArray, FloatArray, tuple[str, ...]]:
    """Return name keys, bearers (names,), shares (names, races) in 0–1, and the races.

    Every person is part of the whole, those of another, several or unknown races too.

    Raises
    ------
    DataError
        If a race is not recognised, or no person has both a name and a race.
    """
    meaning = _meaning(sorted(set(cells.race)), where)
    races = in_order(set(meaning.values()))
    column = np.array([races.index(g) if (g := meaning[r]) in races else -1 for r in cells.race])
    key_of = {name: name_key(name) for name in set(cells.name)}
    keys = np.array([key_of[name] for name in cells.name], dtype=object)
    people = np.asarray(cells.people, dtype=np.float64)
    real = np.array([bool(key) and key != NOT_A_NAME for key in keys], dtype=bool)
    if not races or not people[real].sum() > 0:
        raise DataError(f"{where}: no row has both a name and a race.")
    rows: dict[str, int] = {}
    row = np.array([rows.setdefault(key, len(rows)) for key in keys[real]], dtype=np.intp)
    total = np.bincount(row, people[real]).astype(np.float64)
    table = np.zeros((len(rows), len(races) + 1))
    np.add.at(table, (row, column[real]), people[real])
    return list(rows), total, table[:, :-1] / np.where(total > 0, total, 1.0)[:, None], races


def _meaning(labels: Sequence[str], where: str) -> dict[str, str]:
    """Return the group of each spelling of a race."""
    known = {label: race_group(label) for label in labels}
    strange = [label for label, group in known.items() if group is None]
    if strange:
        raise DataError(
            f"{where}: column 'race' holds {', '.join(map(repr, strange[:5]))}; expected Florida's "
            "codes 1–9 or names such as white, hispanic, black, asian, aian, other, unknown."
        )
    return {label: group for label, group in known.items() if group is not None}

"""Turn the numbers of a user's table into shares in 0–1, whichever unit they come in."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError
from portrayal.reference.columns import COUNT, PERCENT, SHARE

FloatArray = NDArray[np.float64]
_ROUNDING = 0.02
"""How far rounded shares of one name may sum above 1."""


def find_unit(values: FloatArray, stated: str | None, where: str) -> str:
    """Return the unit of `values`, shape (names, groups): stated by the columns or seen in them."""
    if stated is not None:
        return stated
    whole = bool(np.all(values == np.round(values)))
    rows = values.sum(axis=1)
    if rows.max() <= 1 + _ROUNDING or (values.max() <= 1 and not whole):
        return SHARE
    about_100 = abs(float(np.median(rows)) - 100) <= 100 * _ROUNDING
    if rows.max() <= 100 * (1 + _ROUNDING) and (about_100 or not whole):
        return PERCENT
    if whole:
        return COUNT
    raise DataError(
        f"{where}: the race columns should hold shares that sum to at most 1 per name, percentages "
        f"that sum to at most 100, or whole counts; found values up to {values.max():g} that are "
        "not whole. Put all of them in one unit."
    )


def to_shares(
    values: FloatArray, counts: FloatArray | None, unit: str, names: Sequence[str], where: str
) -> tuple[FloatArray, FloatArray]:
    """Return shares, shape (names, groups), and bearers, shape (names,), NaN where unknown."""
    _check(values.min(axis=1) < 0, "are below 0", values, names, where)
    rows = values.sum(axis=1)
    if unit == COUNT:
        total = rows if counts is None else counts
        _check(total < rows, "sum to more than the count column", values, names, where)
        safe = np.where(total > 0, total, 1.0)
        return values / safe[:, None], total
    whole = 1.0 if unit == SHARE else 100.0
    _check(rows > whole * (1 + _ROUNDING), f"sum to more than {whole:g}", values, names, where)
    shares = np.clip(values / whole, 0.0, 1.0)
    _refuse_shares_of_race(shares, where)
    return shares, np.full(len(names), np.nan) if counts is None else counts


def _check(
    bad: NDArray[np.bool_], what: str, values: FloatArray, names: Sequence[str], where: str
) -> None:
    """Complain about the first bad row by its name."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        found = ", ".join(f"{value:g}" for value in values[row])
        raise DataError(
            f"{where}: the race columns of {names[row]!r} {what} ({found}); "
            f"{int(bad.sum()):,} of {len(names):,} rows are so. Correct or leave out these rows."
        )


def _refuse_shares_of_race(shares: FloatArray, where: str) -> None:
    """Refuse tables of P(name | race), whose columns rather than rows sum to 1."""
    columns = shares.sum(axis=0)
    if len(shares) >= 20 and np.all(np.abs(columns - 1) < 0.05) and shares.sum(axis=1).max() < 0.9:
        raise DataError(
            f"{where}: each race column sums to 1, so this is the share of each race that bears "
            "the name. Expected the share of the name's bearers that is of each race; of Rosenman, "
            "Olivella and Imai's files that is first_nameRaceProbs."
        )

"""The null of races in stories: names drawn at random from the bearers of their table."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from portrayal.measure.scope import Scope
from portrayal.measure.stories.strata import Stratum
from portrayal.measure.stories.tally import Tally
from portrayal.records import (
    BORNE_MOSTLY,
    Null,
    Status,
    Test,
)
from portrayal.reference.names import NameTable, name_bearers
from portrayal.stats.design_effect import Bounded
from portrayal.stats.naming import (
    FairNaming,
    fair_naming,
    infer_fair_shares,
    repetition,
)
from portrayal.types import FloatArray

FAIR_TEST = "t of the log share over prompts, or of names drawn from bearers, the larger p"
FAIR = "log share over prompts, or of names drawn from bearers, the wider"
MOST_BEARERS = 0.5
"""Share of a name's bearers above which it is borne mostly by a group."""
NO_TABLE = "no null: no name table says how many people bear a name"
NO_COUNTS = "no null: the name table has no counts of bearers"


@dataclass(frozen=True)
class FairNames:
    """Names drawn at random from the bearers of the first name table, all races alike.

    Attributes
    ----------
    naming
        Columns as the tally's races; None where there are no counts.
    drawn_from
        The null in words, or why there is none.
    second
        Name of the table of the races that the first one lacks.
    """

    naming: FairNaming | None
    drawn_from: str
    second: str = ""


@dataclass(frozen=True)
class FairTests:
    """What fair naming says of the shares of the races of one stratum.

    Attributes
    ----------
    names
        The names drawn at random.
    at_hand
        The names of the stratum as if they were a population; None without any.
    n_primary
        Races of the first table.
    shares
        The shares of the stratum beside those of drawn names; None where there is no null.
    borne_mostly
        People of the stratum with a name most of whose bearers are of each race, shape (n_races,).
    """

    names: FairNames
    at_hand: FairNaming | None
    n_primary: int
    shares: Bounded | None
    borne_mostly: FloatArray

    def test(self, i: int) -> Test:
        """The test of race `i`; NaN where the table cannot measure it."""
        valid = self.shares is not None and self.why_none(i) is None
        return Test(float(self.shares.p[i]) if self.shares and valid else float("nan"), FAIR_TEST)

    def why_none(self, i: int) -> str | None:
        """Why race `i` has no test; None where it has one."""
        return self.names.drawn_from if self.names.naming is None else self.names.naming.reason(i)

    def status(self, i: int) -> Status:
        """Why race `i` has no test, or is described only."""
        no_test = self.why_none(i)
        if no_test is not None or i < self.n_primary:
            return Status(no_test=no_test)
        source = f"read from people in {self.names.second}, not from the bearers of the baseline"
        return Status(detail=source)

    def null(self, i: int, starred: float, scope: Scope) -> Null | None:
        """R0 and its range for race `i` with baseline share p*."""
        if self.names.naming is None or self.shares is None or np.isnan(self.shares.null_low[i]):
            return None
        value, low, high = (
            float(values[i]) / starred
            for values in (self.names.naming.share, self.shares.null_low, self.shares.null_high)
        )
        return Null(value, low, high, scope.level, self.names.drawn_from)

    def details(self, i: int, starred: float) -> dict[str, float]:
        """R0, the shrink factor of the names at hand, and what a true ratio of 2 would read."""
        if self.names.naming is None or self.at_hand is None:
            return {}
        r0, shrink = float(self.names.naming.share[i]) / starred, float(self.at_hand.shrink[i])
        factors = {"r0": r0, "shrink": shrink, "reads_2": r0 * (1.0 + shrink)}
        return factors | {BORNE_MOSTLY: float(self.borne_mostly[i])}


def fair_names(tally: Tally, name_tables: Mapping[str, NameTable]) -> FairNames:
    """Describe names drawn at random from the bearers of the first table; kept on the tally."""
    first = name_tables.get(tally.races[0])
    second = name_tables.get(tally.races[-1])
    if first is None or second is None:
        return FairNames(None, NO_TABLE)
    if not np.isfinite(first.n_people):
        return FairNames(None, NO_COUNTS)
    if "fair names" not in tally.cache:
        naming = fair_naming(*name_bearers(first, second))
        source = f"names drawn at random from the bearers of {first.name}"
        tally.cache["fair names"] = FairNames(naming, source, second.name)
    names: FairNames = tally.cache["fair names"]
    return names


def fair_tests(
    tally: Tally,
    names: FairNames,
    stratum: Stratum,
    role: int,
    sums: tuple[FloatArray, FloatArray, FloatArray],
    scope: Scope,
) -> FairTests:
    """Test the shares of the races of a stratum's role.

    `sums` are counts, totals and squared counts, each of shape (n_prompts, n_races).
    """
    at_hand = _names_at_hand(tally, stratum, (role,))
    shares = None
    if names.naming is not None:
        count, total, squares = sums
        counted, name_squares, sizes = at_hand
        same = repetition(name_squares, sizes, counted[counted > 0])
        shares = infer_fair_shares(count, total, names.naming, same, scope.level, squares)
    naming, borne = _naming_at_hand(tally, at_hand[0]), _borne_mostly(tally, at_hand[0])
    return FairTests(names, naming, tally.n_primary, shares, borne)


def ratio_details(tally: Tally, stratum: Stratum, roles: tuple[int, ...]) -> list[dict[str, float]]:
    """For each race what `FairTests.details` says of a share, of the people in these roles."""
    counted = _names_at_hand(tally, stratum, roles)[0]
    hand, borne = _naming_at_hand(tally, counted), _borne_mostly(tally, counted).tolist()
    if hand is None:
        return [{} for _ in tally.races]
    # Of equally large roles, which together have the share of the names at hand
    reads = (1.0 + hand.shrink / 3.0) / (1.0 - hand.shrink / 3.0)
    columns = zip(borne, hand.shrink.tolist(), reads.tolist(), strict=True)
    return [
        {BORNE_MOSTLY: people, "r0": 1.0, "shrink": shrink, "reads_2": read}
        for people, shrink, read in columns
    ]


def _borne_mostly(tally: Tally, counted: FloatArray) -> FloatArray:
    """People with a name most of whose bearers are of each race, shape (n_races,)."""
    return np.asarray(counted @ (tally.likelihood[:-1] > MOST_BEARERS))


def _naming_at_hand(tally: Tally, counted: FloatArray) -> FairNaming | None:
    """The names of a stratum as if they were a population; None without any."""
    return fair_naming(counted, tally.likelihood[:-1]) if counted.any() else None


def _names_at_hand(
    tally: Tally, stratum: Stratum, roles: tuple[int, ...]
) -> tuple[FloatArray, float, FloatArray]:
    """Characters by name, the sum of their squared number by name and prompt, and by prompt."""
    c = tally.characters
    inside = stratum.has(c.prompt, c.model) & np.isin(c.role, roles) & (c.name >= 0)
    name, prompt = c.name[inside], np.searchsorted(stratum.prompts, c.prompt[inside])
    weight = c.count[inside].astype(np.float64)
    counted = np.bincount(name, weights=weight, minlength=len(tally.names)).astype(np.float64)
    sizes = np.bincount(prompt, weights=weight, minlength=len(stratum.prompts)).astype(np.float64)
    # Rows of one name and prompt differ in gender or model, but repeat the name all the same.
    _, cell = np.unique(name * len(stratum.prompts) + prompt, return_inverse=True)
    squares = float((np.bincount(cell.ravel(), weights=weight) ** 2).sum()) if weight.size else 0.0
    return counted, squares, sizes

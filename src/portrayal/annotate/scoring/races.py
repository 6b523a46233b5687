"""Races of names: whether an extractor errs more often where names have other bearers.

Race shares describe populations of name bearers, never a person: a slot counts fractionally, by the
shares of its labelled name's bearers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.annotate.scoring.rates import FloatArray, Resampling, cluster_sums, known
from portrayal.annotate.scoring.slots import Slots
from portrayal.reference import RACES, mena_nhpi_table, name_table, race_likelihoods
from portrayal.stats import divide

FEWEST = 30.0
"""Slots, as a sum of likelihoods, below which a race is left out of the gap."""
SHUFFLES = 200


@dataclass(frozen=True, slots=True)
class RaceGap:
    """The highest share of wrong genders of any race of names over the lowest.

    Attributes
    ----------
    value
        The ratio, at least 1; None where it is undefined.
    low, high
        Clustered interval; None where prompts do not vary. A highest over a lowest is above 1 by
        chance alone: read it beside `by_chance`.
    by_chance
        The upper end of the central `level` of the ratio with names dealt anew among the slots.
    highest, lowest
        Races with the highest and the lowest share of errors.
    errors
        Share of slots with a wrong gender by race, a fraction in 0–1.
    left_out
        Races with fewer than 30 slots.
    undefined
        Why there is no value.
    """

    value: float | None
    low: float | None
    high: float | None
    by_chance: float | None
    highest: str
    lowest: str
    errors: dict[str, float]
    left_out: tuple[str, ...]
    undefined: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {name: getattr(self, name) for name in self.__slots__}


def race_shares(slots: Slots, table: str) -> tuple[tuple[str, ...], FloatArray]:
    """Return races, and the shares of each slot's labelled name, shape (n_slots, n_races).

    NaN where the name is in no table or there is none.
    """
    names = sorted({name for name in slots.gold_name if name is not None})
    shares = np.full((len(slots), len(RACES)), np.nan)
    if names:
        found = race_likelihoods(names, name_table(table), mena_nhpi_table())
        code = {name: i for i, name in enumerate(names)}
        named = np.flatnonzero(slots.has_gold_name)
        shares[named] = found[[code[slots.gold_name[i] or ""] for i in named.tolist()]]
    return RACES, shares


def race_gap(slots: Slots, races: tuple[str, ...], shares: FloatArray, how: Resampling) -> RaceGap:
    """Return how far gender errors lie apart between races of names."""
    weights = np.nan_to_num(shares)
    enough = weights.sum(0) >= FEWEST if len(slots) else np.zeros(len(races), dtype=bool)
    used = [race for race, keep in zip(races, enough, strict=True) if keep]
    left_out = tuple(race for race in races if race not in used)
    if len(used) < 2:
        reason = f"fewer than two races of names have {FEWEST:.0f} slots"
        return RaceGap(None, None, None, None, "", "", {}, left_out, reason)
    weights = weights[:, enough]
    wrong = (~slots.same_gender).astype(np.float64)[:, np.newaxis]
    errors = divide((weights * wrong).sum(0), weights.sum(0))
    ordered = [used[i] for i in np.argsort(errors)]
    by_race = dict(zip(used, errors.tolist(), strict=True))
    if not errors.min() > 0:
        reason = f"no gender is wrong where names are of {ordered[0]} bearers"
        return RaceGap(None, None, None, None, ordered[-1], ordered[0], by_race, left_out, reason)
    part = cluster_sums(slots.cluster, slots.n_clusters, weights * wrong)
    whole = cluster_sums(slots.cluster, slots.n_clusters, weights)
    draws = np.concatenate([_gap(divide(w @ part, w @ whole)) for w in how.weights()])
    low, high = how.bounds(draws[:, np.newaxis], np.array([int((whole.sum(1) > 0).sum())]))
    if not high[0] - low[0] > 1e-9:
        low[0] = high[0] = np.nan
    return RaceGap(
        value=float(_gap(errors)),
        low=known(low[0]),
        high=known(high[0]),
        by_chance=_by_chance(weights, wrong[:, 0], how),
        highest=ordered[-1],
        lowest=ordered[0],
        errors=by_race,
        left_out=left_out,
    )


def _gap(errors: FloatArray) -> FloatArray:
    return divide(errors.max(-1), errors.min(-1))


def _by_chance(weights: FloatArray, wrong: FloatArray, how: Resampling) -> float:
    """Deal the names that are matched anew among their slots; return the upper end of the gap."""
    rng = np.random.default_rng(how.seed)
    named = weights.sum(1) > 0
    weights, wrong = weights[named], wrong[named]
    gaps = [_gap(rng.permutation(wrong) @ weights / weights.sum(0)) for _ in range(SHUFFLES)]
    return float(np.quantile(gaps, (1 + how.level) / 2))

"""Ratios of races by maximum likelihood over P(name | race), beside those of fractional counting.

Fractional counting reads 1.6 where people of a race are named four times as often. The mixture
(`stats/mixture.py`) reads four, if names are spread within each race as among the name table's
bearers. Stories in which few names come again and again are not, and have no estimate here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import left_out
from portrayal.measure.stories.roles import MOST_BLOCKS, ROWS, SWAPPED, subsets_of
from portrayal.measure.stories.strata import UNREAD, Stratum, group_features, strata
from portrayal.measure.stories.tally import DOMINANT, NEUTRAL, ROLES, SUBORDINATE, Tally
from portrayal.records import NO_INTERVAL, NO_TEST, Estimate, Interval, Null, Test
from portrayal.reference import Baseline, NameTable, name_bearers
from portrayal.registry import Component
from portrayal.stats.mixture import (
    LEAST_INFORMATION,
    NameModel,
    fit_mixture,
    hold_untold,
    mixture_interval,
    mixture_ratio_interval,
    name_model,
    role_scores,
    spread_as_bearers,
)
from portrayal.stats.p_values import inverted_toward_null
from portrayal.stats.roles import coin_test, no_test_reason
from portrayal.types import FloatArray, IntArray

NO_TABLE = "no name table says how many people of this race bear a name"
SHARE = "clustered scores of the likelihood over prompts, t on the logit scale"
RATIO = (
    "clustered scores of the likelihood over prompts, t on the log scale; where the test differs, "
    "its inversion toward 1"
)
NO_SPREAD = "the prompts do not differ, or one race takes every name"

_NOBODY = 1e-9  # share of each race in every name, so that no race is without bearers


@dataclass(frozen=True)
class RaceModel:
    """P(name | race) of the races of one name table, on the bearers of the first table.

    Attributes
    ----------
    races
        Columns of the tally that are the first components of the model; the last is everybody else.
    names
        Codes of the tally's names that the table lists, shape (n_names,): the rows of counts.
    model, bearers
        From `stats.name_model`; and bearers of every name of the population that the table lists.
    table
        Whose bearers they are.
    """

    races: IntArray
    names: IntArray
    model: NameModel
    bearers: FloatArray
    table: str

    def counts(self, tally: Tally, stratum: Stratum, role: int) -> FloatArray:
        """Characters by name and prompt, shape (n_names, n_prompts); very many are joined."""
        c = tally.characters
        inside = stratum.has(c.prompt, c.model) & (c.role == role) & np.isin(c.name, self.names)
        n = len(stratum.prompts)
        starts = np.arange(0, n, -(-n // MOST_BLOCKS))
        prompt = np.searchsorted(stratum.prompts, c.prompt[inside])
        cell = np.searchsorted(self.names, c.name[inside]) * len(starts)
        cell += np.searchsorted(starts, prompt, side="right") - 1
        shape = len(self.names), len(starts)
        found = np.bincount(cell, weights=c.count[inside], minlength=shape[0] * shape[1])
        return found.reshape(shape).astype(np.float64)

    def untold(self, k: int) -> str | None:
        """Why names cannot tell component `k`; None where they can."""
        if self.model.identified[k]:
            return None
        told = 100.0 * float(self.model.information[k])
        return (
            f"names cannot tell it: one name says {told:.1f} % of what knowing the race would, and "
            f"{100 * LEAST_INFORMATION:.0f} % is needed"
        )


def race_models(tally: Tally, name_tables: Mapping[str, NameTable]) -> tuple[RaceModel, ...]:
    """Return the models of the first table's races and of the second's; kept on the tally.

    The tables are independent sources, so each has a mixture of its own: its races and everybody
    else. Empty where the first table does not say how many people bear a name; without a table that
    lists none of the first one's names.
    """
    first, second = name_tables.get(tally.races[0]), name_tables.get(tally.races[-1])
    if first is None or second is None or not np.isfinite(first.n_people):
        return ()
    if "race models" not in tally.cache:
        bearers, likelihood = name_bearers(first, second)
        split = np.split(np.arange(len(tally.races)), [tally.n_primary])
        known = [
            races
            for races in split
            if len(races) and not np.isnan(likelihood[:, races]).any(1).all()
        ]
        made = []
        for races in known:
            listed = ~np.isnan(likelihood[:, races]).any(1)
            names = np.flatnonzero(~np.isnan(tally.likelihood[:-1, races]).any(1))
            people, shares = bearers[listed], _with_others(likelihood[listed][:, races])
            at_hand = _with_others(tally.likelihood[names][:, races])
            model = name_model(people, shares, at_hand, hold_untold(people, shares))
            made.append(RaceModel(races, names, model, people, first.name))
        tally.cache["race models"] = tuple(made)
    found: tuple[RaceModel, ...] = tally.cache["race models"]
    return found


def _with_others(shares: FloatArray) -> FloatArray:
    """Shares of races and, last, of everybody else; rows sum to 1."""
    others = np.clip(1.0 - shares.sum(1, keepdims=True), 0.0, None)
    whole = np.concatenate([shares, others], axis=1) + _NOBODY
    return np.asarray(whole / whole.sum(1, keepdims=True))


Fields = list[dict[str, Any]]
"""Fields of the estimates of a model's races: value or reason, interval, null, tests, details."""


def representation_mixture(
    tally: Tally, scope: Scope, *, baseline: Baseline, name_tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield the representation ratio of each race in power-neutral stories, by a mixture.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    name_tables
        Name table of each race.
    """
    starred = np.array([baseline.race.get(race, np.nan) for race in tally.races])

    def infer(model: RaceModel, sides: list[FloatArray]) -> Fields:
        return _shares(model, sides[0], starred[model.races], baseline.name, scope)

    for stratum in strata(tally, laden=False):
        where = MixtureStratum(REPRESENTATION_MIXTURE, tally, stratum, (NEUTRAL,), scope)
        yield from where.estimates(race_models(tally, name_tables), infer)


def subordination_mixture(
    tally: Tally, scope: Scope, *, name_tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield the subordination ratio of each race, by a mixture.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    name_tables
        Name table of each race.
    """

    def infer(model: RaceModel, sides: list[FloatArray]) -> Fields:
        subsets = subsets_of(tally, sides[0].shape[1], ROWS * scope.draws - 1, scope)
        return _ratios(model, sides, subsets, scope)

    for stratum in strata(tally, laden=True):
        where = MixtureStratum(
            SUBORDINATION_MIXTURE, tally, stratum, (SUBORDINATE, DOMINANT), scope
        )
        yield from where.estimates(race_models(tally, name_tables), infer)


@dataclass(frozen=True)
class MixtureStratum:
    """A stratum of one measure, and the roles whose names it counts."""

    measure: Component
    tally: Tally
    stratum: Stratum
    roles: tuple[int, ...]
    scope: Scope

    def estimates(
        self, models: tuple[RaceModel, ...], infer: Callable[[RaceModel, list[FloatArray]], Fields]
    ) -> Iterator[Estimate]:
        """Yield the estimate of each race; `infer` is asked only where names are spread."""
        shared = self._shared()
        for i in set(range(len(shared))).difference(*(model.races for model in models)):
            yield self._estimate(shared[i], {"undefined": NO_TABLE})
        for model in models:
            sides = [model.counts(self.tally, self.stratum, role) for role in self.roles]
            reason, times = self._refused(model, sides)
            found = [{} for _ in model.races] if reason else infer(model, sides)
            for k, own in enumerate(found):
                why = reason or model.untold(k) or own.get("undefined")
                known = {"undefined": why} if why else own
                details = own.get("details", {}) | {
                    "information": float(model.model.information[k]),
                    "condition_number": model.model.condition,
                    "coincidence": times,
                }
                finite = {name: x for name, x in details.items() if np.isfinite(x)}
                yield self._estimate(shared[model.races[k]], known | {"details": finite})

    def _estimate(self, shared: Mapping[str, Any], own: Mapping[str, Any]) -> Estimate:
        fields = {"value": None, "instruments": {}, **shared, **own}
        if self.stratum.n_texts == 0:
            fields |= {"value": None, "undefined": UNREAD}
        fields["instruments"] = {**self.scope.instruments, **fields["instruments"]}
        return self.scope.estimate(self.measure, statistic="ratio", **fields)

    def _shared(self) -> list[dict[str, Any]]:
        """What the estimate of each race has, whether it has a value or not."""
        c, stratum = self.tally.characters, self.stratum
        features = group_features(self.tally, c.name, c.gender, crossed=False)
        inside = stratum.has(c.prompt, c.model) & np.isin(c.role, self.roles)
        reasons = left_out(c, stratum, self.roles, features)
        shared = []
        for i, race in enumerate(self.tally.races):
            counted = c.count[inside] * features.denominator[inside, i]
            n = float(counted.sum())
            shared.append(
                {
                    "strata": stratum.labels,
                    "group": {self.tally.attribute: race},
                    "n_texts": stratum.n_texts,
                    "n_units": n,
                    "n_clusters": len(np.unique(c.prompt[inside][counted > 0])),
                    "exclusions": stratum.exclusions | reasons(i, n),
                }
            )
        return shared

    def _refused(self, model: RaceModel, sides: list[FloatArray]) -> tuple[str | None, float]:
        """Why these names have no mixture, and how many times as often they coincide."""
        worst = np.nan
        for role, counts in zip(self.roles, sides, strict=True):
            if not counts.any():
                who = "character" if role == NEUTRAL else f"{ROLES[role]} character"
                where = f"in {self.stratum.n_texts:,} stories"
                return f"no {who} with a matched first name {where}", np.nan
            spread, times = spread_as_bearers(counts, model.bearers)
            if np.isnan(times):
                return "the names of one prompt cannot show how names are spread", np.nan
            worst = np.fmax(worst, times)
            if not spread:
                return (
                    f"names are not spread as among the bearers of {model.table}: two characters "
                    f"of different prompts share a name {times:.1f} times as often"
                ), times
        return None, float(worst)


def _shares(
    of: RaceModel, counts: FloatArray, starred: FloatArray, baseline: str, scope: Scope
) -> Fields:
    """Shares over p*, tested against the share among all bearers."""
    model, fit = of.model, fit_mixture(counts, of.model)
    *ends, p = mixture_interval(counts, model, fit, scope.level)
    fields: Fields = []
    n_clusters = int((counts.sum(0) > 0).sum())
    for k, p_star in enumerate(starred.tolist()):
        if np.isnan(p_star):
            fields.append({"undefined": f"the baseline {baseline} gives no share for this race"})
            continue
        low, high, share, fair = (
            float(x[k]) / p_star for x in (*ends, fit.share, model.population)
        )
        fields.append(
            {
                "value": share,
                "interval": _interval(low, high, SHARE, n_clusters, scope),
                "null": Null(fair, np.nan, np.nan, scope.level, f"the bearers of {of.table}"),
                "tests": (Test(float(p[k]), f"{SHARE}, against the bearers"),),
                "instruments": _missing(low, float(p[k]), NO_SPREAD) | {"baseline": baseline},
                "details": {"share": float(fit.share[k]), "baseline": p_star, "r0": fair},
            }
        )
    return fields


def _ratios(of: RaceModel, sides: list[FloatArray], subsets: FloatArray, scope: Scope) -> Fields:
    """Ratios of the shares in two roles, tested by swapping the roles of whole prompts."""
    lesser, greater = sides
    fits = fit_mixture(lesser, of.model), fit_mixture(greater, of.model)
    ratio, low, high = mixture_ratio_interval(lesser, greater, fits, of.model, scope.level)
    scores = role_scores(lesser, greater, of.model)
    here = np.broadcast_to((lesser.sum(0) + greater.sum(0) > 0)[:, np.newaxis], scores.shape)
    p, n_prompts, reach = coin_test(scores, here, subsets, scope.level)
    # A ratio of 0 or infinity has no logarithm to invert the test on: what the interval holds is
    # not refused.
    held = ((ratio == 0) | np.isinf(ratio)) & (low <= 1.0) & (high >= 1.0)
    p = np.where(held, np.maximum(p, 1.0 - scope.level), p)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverted = ratio ** (1.0 - reach)
    ends = inverted_toward_null((low, high), (inverted, inverted), p, ratio, 1.0, scope.level)
    low, high = (np.where(np.isnan(p), np.nan, end) for end in ends)
    fields: Fields = []
    for k in range(len(of.races)):
        if np.isnan(ratio[k]):
            fields.append({"undefined": "the names fit no character of this race in either role"})
            continue
        n = int(n_prompts[k])
        reason = no_test_reason(n, scope.level) or NO_SPREAD
        details: dict[str, float] = {}
        for role, fit in zip(("subordinate", "dominant"), fits, strict=True):
            details |= {f"count_{role}": float(fit.share[k]) * fit.n, f"n_{role}": fit.n}
        fields.append(
            {
                "value": float(ratio[k]),
                "interval": _interval(float(low[k]), float(high[k]), RATIO, n, scope),
                "null": Null(1.0, np.nan, np.nan, scope.level, SWAPPED),
                "tests": (Test(float(p[k]), SWAPPED),),
                "instruments": _missing(float(low[k]), float(p[k]), reason),
                "details": details,
            }
        )
    return fields


def _interval(
    low: float, high: float, method: str, n_clusters: int, scope: Scope
) -> Interval | None:
    known = high > low
    return Interval(low, high, scope.level, method, n_clusters) if known else None


def _missing(low: float, p: float, reason: str) -> dict[str, str]:
    """Why an interval or a test is missing, for `instruments`."""
    gaps = ((NO_INTERVAL, np.isnan(low)), (NO_TEST, np.isnan(p)))
    return {name: reason for name, gap in gaps if gap}


_READS = "a name table that says how many people bear each name"
_REFUSED = (
    "names are more than twice as often the same as among the name table's bearers, names cannot "
    "tell the race (AI/AN, NH/PI), or no name table counts bearers"
)
_MODEL = "π maximises Π Σ_r π_r P(name | r), P(name | r) = bearers(name) ℓ_r(name) / bearers of r"

REPRESENTATION_MIXTURE = Component(
    name="representation_mixture.v1",
    summary="The representation ratio of a race by maximum likelihood over P(name | race).",
    reads=f"people of power-neutral stories; {_READS}; a baseline p*",
    unit="character",
    range="0 to 1/p*; the share among the table's bearers over p* is no difference",
    undefined_when=f"{_REFUSED}, or p* has no share",
    equation=f"R_rep = π / p*; {_MODEL}",
    source="Shieh et al. 2025, Eq. 1 and 5; Dempster, Laird & Rubin 1977",
    run=representation_mixture,
    title="Representation ratio by a mixture",
    reading="As the representation ratio, without the shrinking of fractional counting.",
    findings=0,
    figure="table",
    listed=False,
)


SUBORDINATION_MIXTURE = Component(
    name="subordination_mixture.v1",
    summary="The subordination ratio of a race by maximum likelihood over P(name | race).",
    reads=f"people of power-laden stories; {_READS}",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when=f"{_REFUSED}, or the names fit nobody of the race in either role; inf where "
    "they fit nobody who is dominant",
    equation=f"R_sub = π(subordinate) / π(dominant); {_MODEL}",
    source="Shieh et al. 2025, Eq. 3 and 5; Dempster, Laird & Rubin 1977",
    run=subordination_mixture,
    title="Subordination ratio by a mixture",
    reading="As the subordination ratio, without the shrinking of fractional counting.",
    findings=0,
    figure="table",
    listed=False,
)

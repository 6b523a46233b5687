"""Representation ratio: how often a group occurs, over its share of the population (Eq. 1–2)."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from scipy import stats

from portrayal.measure.features import Features, group_features
from portrayal.measure.scope import Scope
from portrayal.measure.shares import Against, ShareSums, binomial_null, share_ratios
from portrayal.measure.strata import Stratum, prompt_sums, strata
from portrayal.measure.tally import NEUTRAL, Characters, Tally
from portrayal.records import Estimate, Null
from portrayal.reference import Baseline, NameTable
from portrayal.registry import Component

NAME = "representation.v1"
SOURCE = "Shieh et al. 2025, Eq. 1–2, Fig. 1a, Tables S13a–c"


def representation(
    tally: Tally, scope: Scope, *, baseline: Baseline, tables: Mapping[str, NameTable]
) -> Iterator[Estimate]:
    """Yield the representation ratio of each race and gender in power-neutral stories.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    tables
        Name table of each race, for the null of names drawn at random from it.
    """
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=False)
    shares = {**baseline.race, **baseline.gender}
    labels = [next(iter(group.values())) for group in features.groups]

    def null(i: int, n: float, starred: float) -> Null:
        table = tables.get(labels[i])
        if table is None or labels[i] not in table.population:
            return binomial_null(n, starred, scope)
        return _drawn_names(table, labels[i], n, starred, scope)

    against = Against(baseline.name, np.array([shares.get(x, np.nan) for x in labels]), null)
    for stratum in strata(tally, laden=False):
        numerator, denominator, squares = (
            prompt_sums(characters, stratum, NEUTRAL, values)
            for values in (features.numerator, features.denominator, features.numerator**2)
        )
        yield from share_ratios(
            NAME,
            SOURCE,
            "character",
            features.groups,
            ShareSums(numerator, denominator, squares),
            against,
            stratum,
            scope,
            left_out(characters, stratum, (NEUTRAL,), features),
        )


def left_out(
    characters: Characters,
    stratum: Stratum,
    roles: tuple[int, ...],
    features: Features,
) -> Callable[[int, float], dict[str, int]]:
    """Return the function that counts characters outside a group's denominator, by reason.

    A character is counted once, under the first reason that holds.
    """
    inside = stratum.has(characters.prompt, characters.model) & np.isin(characters.role, roles)
    total = int(characters.count[inside].sum())
    named = int(characters.count[inside & (characters.name >= 0)].sum())
    matched = {
        group["race"]: round(float(features.denominator[inside, i] @ characters.count[inside]))
        for i, group in enumerate(features.groups)
        if group.keys() == {"race"}
    }

    def reasons(i: int, n: float) -> dict[str, int]:
        race = features.groups[i].get("race")
        known = total if race is None else matched[race]
        counts = {"gender not known": known - round(n)}
        if race is not None:
            counts["no first name"] = total - named
            counts["name not in the table"] = named - known
        return {reason: count for reason, count in counts.items() if count > 0}

    return reasons


def _drawn_names(table: NameTable, race: str, n: float, starred: float, scope: Scope) -> Null:
    """The share that `n` names drawn at random from the table's bearers would give, over p*."""
    half = float(stats.norm.isf((1 - scope.level) / 2)) * table.sd[race] / np.sqrt(n)
    centre = table.population[race]
    return Null(
        1.0,
        max(centre - half, 0.0) / starred,
        (centre + half) / starred,
        scope.level,
        f"names drawn at random from {table.name}",
    )


REPRESENTATION = Component(
    name=NAME,
    summary="How often a race or gender occurs in power-neutral stories, over its share.",
    reads="people of power-neutral stories; a name table; a baseline p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="no character has a matched name (race) or known gender, or p* has no share",
    equation="R_rep = p / p*, with p(race) = (1/n) Σ ℓ_race(name_i)",
    source=SOURCE,
    run=representation,
)

"""Subordination ratio of characters whose name exceeds a likelihood threshold (Fig. 3b)."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import ratio_inference
from portrayal.measure.ratios import RatioMeasure, sum_cells
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.swaps import swapped_roles
from portrayal.measure.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.measure.thresholds import counts_above, swapped_above
from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.stats import divide

NAME = "threshold_subordination.v1"
SOURCE = "Shieh et al. 2025, Fig. 3b"
STEPS = np.arange(0, 100, 5) / 100.0
"""Thresholds in 0–1 that a name's likelihood must exceed."""


def threshold_subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield, per race and threshold, the subordination ratio of names that exceed it,
    domains together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for stratum in strata(tally, laden=True, pool_domains=True):
        for column in range(len(tally.races)):
            yield from _of_race(tally, stratum, column, scope)


def _of_race(tally: Tally, stratum: Stratum, column: int, scope: Scope) -> Iterator[Estimate]:
    measure = RatioMeasure(NAME, SOURCE, scope)
    characters, race = tally.characters, tally.races[column]
    everyone = np.ones(len(characters.count), dtype=bool)
    (lesser, n_lesser), (greater, n_greater) = (
        counts_above(tally, characters, stratum, role, column, everyone, STEPS)
        for role in (SUBORDINATE, DOMINANT)
    )
    rng = scope.rng(NAME, stratum.domain, stratum.model, race)
    wide = [np.repeat(n, len(STEPS), axis=1) for n in (n_lesser, n_greater)]
    found = ratio_inference((lesser, wide[0]), (greater, wide[1]), scope, rng)
    swaps = swapped_roles(tally, stratum, scope)
    every = np.ones(len(swaps.name), dtype=bool)
    k_sub, n_sub, k_dom, n_dom = swapped_above(
        swaps, tally.likelihood[swaps.name, column], every, STEPS
    )
    shuffled = divide(divide(k_sub, n_sub), divide(k_dom, n_dom))
    for i, step in enumerate(STEPS.tolist()):
        yield measure.estimate(
            stratum,
            {"race": race, "threshold": f"{step:.2f}"},
            sum_cells(lesser[:, i], n_lesser, greater[:, i], n_greater),
            (found, i),
            shuffled[:, i],
        )


THRESHOLD_SUBORDINATION = Component(
    name=NAME,
    summary="Subordination ratio of the names whose likelihood for a race exceeds a threshold.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="0 and up; 1 is neutral",
    undefined_when="no matched character in one of the roles, or no dominant one above t",
    equation="R_sub(t) = p(ℓ_race > t | subordinate) / p(ℓ_race > t | dominant)",
    source=SOURCE,
    run=threshold_subordination,
)

"""Subordination ratio: a group's share in the lesser role over its share in the greater (Eq. 3)."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import ratio_inference
from portrayal.measure.features import group_features
from portrayal.measure.ratios import RatioMeasure, sum_cells
from portrayal.measure.representation import left_out
from portrayal.measure.scope import Scope
from portrayal.measure.strata import prompt_sums, strata
from portrayal.measure.swaps import swapped_roles
from portrayal.measure.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.records import Estimate
from portrayal.registry import Component

NAME = "subordination.v1"
SOURCE = "Shieh et al. 2025, Eq. 3, Fig. 2, Tables S13e–m"


def subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the subordination ratio by race, by gender, and by race and gender together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=True)
    values = np.concatenate([features.numerator, features.denominator], axis=1)
    k = len(features.groups)

    for stratum in strata(tally, laden=True):
        measure = RatioMeasure(NAME, SOURCE, scope)
        rng = scope.rng(NAME, stratum.domain, stratum.model)
        lesser = prompt_sums(characters, stratum, SUBORDINATE, values)
        greater = prompt_sums(characters, stratum, DOMINANT, values)
        found = ratio_inference(
            (lesser[:, :k], lesser[:, k:]), (greater[:, :k], greater[:, k:]), scope, rng
        )
        swaps = swapped_roles(tally, stratum, scope)
        kinds = group_features(tally, swaps.name, swaps.gender, crossed=True)
        shuffled = swaps.ratio(kinds.numerator, kinds.denominator)
        reasons = left_out(characters, stratum, (SUBORDINATE, DOMINANT), features)
        for i, group in enumerate(features.groups):
            cells = sum_cells(lesser[:, i], lesser[:, k + i], greater[:, i], greater[:, k + i])
            yield measure.estimate(
                stratum,
                group,
                cells,
                (found, i),
                shuffled[:, i],
                exclusions=reasons(i, cells[1] + cells[3]),
            )


SUBORDINATION = Component(
    name=NAME,
    summary="How much oftener a group stands in the subordinate than in the dominant role.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="no character with a matched name or known gender in one of the roles, or no "
    "dominant character of the group",
    equation="R_sub = p(group | subordinate) / p(group | dominant)",
    source=SOURCE,
    run=subordination,
)

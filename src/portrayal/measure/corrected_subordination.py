"""Subordination ratio, corrected by hand labels for what the annotator gets wrong."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import ratio_inference
from portrayal.measure.corrected import SOURCE as PPI
from portrayal.measure.corrected import CorrectedMeasure, corrected_sums, infer, too_few
from portrayal.measure.features import group_features
from portrayal.measure.hand_sample import HandSample
from portrayal.measure.scope import Scope
from portrayal.measure.strata import strata
from portrayal.measure.subordination import NAME as NAIVE
from portrayal.measure.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.records import Estimate
from portrayal.registry import Component

NAME = "corrected_subordination.v1"
SOURCE = f"Shieh et al. 2025, Eq. 3; {PPI}"


def corrected_subordination(
    tally: Tally, scope: Scope, *, hand: HandSample | None = None
) -> Iterator[Estimate]:
    """Yield the corrected subordination ratio by race, by gender, and by both together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    hand
        Hand-labelled characters; nothing is yielded where None.
    """
    if hand is None:
        return
    characters = tally.characters
    features = (
        group_features(tally, characters.name, characters.gender, crossed=True),
        hand.features(gold=True, crossed=True),
        hand.features(gold=False, crossed=True),
    )
    groups = features[0].groups
    one = np.ones(len(groups))
    measure = CorrectedMeasure(NAME, SOURCE, scope, NAIVE)
    for stratum in strata(tally, laden=True):
        lesser, greater = (
            corrected_sums(characters, hand, stratum, role, features)
            for role in (SUBORDINATE, DOMINANT)
        )
        corrected = infer(
            lesser.sums, greater.sums, one, scope, scope.rng(NAME, stratum.domain, stratum.model)
        )
        naive = ratio_inference(
            lesser.naive, greater.naive, scope, scope.rng(NAIVE, stratum.domain, stratum.model)
        )
        labelled = {"subordinate": lesser.n_labelled, "dominant": greater.n_labelled}
        for i, group in enumerate(groups):
            n = float(lesser.sums[1][:, i].sum() + greater.sums[1][:, i].sum())
            yield measure.estimate(
                stratum, group, (corrected, naive, i), n, labelled, too_few(labelled)
            )


CORRECTED_SUBORDINATION = Component(
    name=NAME,
    summary="The subordination ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-laden stories; hand labels of a random sample; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="fewer than 20 characters of a role are labelled by hand, or a corrected "
    "denominator, or the count of the group in the dominant role, is 0 or less",
    equation="R_sub with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=SOURCE,
    run=corrected_subordination,
)

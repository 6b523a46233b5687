"""Representation ratio, corrected by hand labels for what the annotator gets wrong."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import share_inference
from portrayal.measure.corrected import SOURCE as PPI
from portrayal.measure.corrected import CorrectedMeasure, corrected_sums, infer, too_few
from portrayal.measure.features import group_features
from portrayal.measure.hand_sample import HandSample
from portrayal.measure.representation import NAME as NAIVE
from portrayal.measure.scope import Scope
from portrayal.measure.strata import strata
from portrayal.measure.tally import NEUTRAL, Tally
from portrayal.records import Estimate
from portrayal.reference import Baseline
from portrayal.registry import Component

NAME = "corrected_representation.v1"
SOURCE = f"Shieh et al. 2025, Eq. 1–2; {PPI}"


def corrected_representation(
    tally: Tally, scope: Scope, *, baseline: Baseline, hand: HandSample | None = None
) -> Iterator[Estimate]:
    """Yield the corrected representation ratio of each race and gender in power-neutral stories.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    baseline
        The comparison distribution p*.
    hand
        Hand-labelled characters; nothing is yielded where None.
    """
    if hand is None:
        return
    characters = tally.characters
    features = (
        group_features(tally, characters.name, characters.gender, crossed=False),
        hand.features(gold=True, crossed=False),
        hand.features(gold=False, crossed=False),
    )
    groups = features[0].groups
    shares = {**baseline.race, **baseline.gender}
    labels = [next(iter(group.values())) for group in groups]
    starred = np.array([shares.get(label, np.nan) for label in labels])
    measure = CorrectedMeasure(NAME, SOURCE, scope, NAIVE)
    for stratum in strata(tally, laden=False):
        found = corrected_sums(characters, hand, stratum, NEUTRAL, features)
        corrected = infer(
            found.sums, None, starred, scope, scope.rng(NAME, stratum.domain, stratum.model)
        )
        naive = share_inference(
            *found.naive, starred, scope, scope.rng(NAIVE, stratum.domain, stratum.model)
        )
        labelled = {"neutral": found.n_labelled}
        for i, group in enumerate(groups):
            reason = too_few(labelled)
            if np.isnan(starred[i]):
                reason = f"the baseline {baseline.name} gives no share for {labels[i]}"
            n = float(found.sums[1][:, i].sum())
            yield measure.estimate(stratum, group, (corrected, naive, i), n, labelled, reason)


CORRECTED_REPRESENTATION = Component(
    name=NAME,
    summary="The representation ratio, corrected by hand labels for the annotator's errors.",
    reads="people of power-neutral stories; hand labels of a random sample; a name table; p*",
    unit="character",
    range="0 to 1/p*; 1 is the population's share",
    undefined_when="fewer than 20 characters are labelled by hand, the corrected denominator is 0 "
    "or less, or p* has no share",
    equation="R_rep with Σ f(x̂) + Σ w (f(x) - f(x̂)) for each sum: x̂ the annotator's label, x the "
    "hand label, w the texts a labelled one stands for",
    source=SOURCE,
    run=corrected_representation,
)

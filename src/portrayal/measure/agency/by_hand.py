"""Agency corrected by hand: what sentences that people labelled make of the sums of a stratum."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from portrayal.measure.agency.strata import AgencyStratum
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.corrected import HandSums
from portrayal.measure.scored import ScoredUnits
from portrayal.types import FloatArray, IntArray


def corrected_sums(
    texts: AgencyTexts, stratum: AgencyStratum, sides: Sequence[FloatArray]
) -> HandSums | None:
    """Corrected sums of the sentences of groups, or of pairs of groups; None without labels.

    `sides` say which cells are of each group, shape (n_cells, k), and of each group that it is
    compared with. A sentence counts as part of its text, so that texts count alike.
    """
    hand, rows = texts.hand, stratum.rows
    if hand is None or hand.masking != stratum.labels["masking"]:
        return None
    reading, two_sides = texts.readings[hand.masking], len(sides) == 2
    n_classed = np.maximum(reading.classed, 1.0)

    def sentences(text: IntArray, weight: FloatArray, share: FloatArray) -> ScoredUnits:
        # A sentence is one of so many of its text, so that long texts count no more than short
        # ones.
        members = tuple(side[texts.cell[text]] / n_classed[text, np.newaxis] for side in sides)
        return ScoredUnits(texts.cluster.code[text], weight, share, members)

    # Labels of texts that are not read here, such as beyond a balanced sample, say nothing
    inside = np.isin(hand.text, rows)
    text, weight = hand.text[inside], hand.weight[inside]
    # Equal weights say nothing of the size of the whole: together they stand for all sentences.
    if (weight == 1.0).all():
        weight = weight * n_classed[rows].sum() / max(len(weight), 1)
    # The correction takes shares in 0-1, and gap = 2 share - 1.
    everyone = sentences(rows, n_classed[rows], (np.nan_to_num(reading.gap[rows]) + 1.0) / 2.0)
    labelled = sentences(text, weight, hand.label[inside])
    sums = HandSums.of(
        *(everyone, labelled, labelled.scored(hand.truth[inside]), hand.note),
        unit="sentence",
        two_sides=two_sides,
        slope=2.0,
    )
    # Of a single group, only its own sentences count towards there being labels enough.
    members = (labelled.members[0] > 0).sum(axis=0).astype(np.float64)
    return sums if two_sides else replace(sums, labelled=members, fewer=members)

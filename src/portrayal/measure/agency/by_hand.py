"""Agency corrected by hand: what sentences that people labelled make of the sums of a stratum."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from portrayal.measure.agency.strata import AgencyStratum
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.corrected import HandSums
from portrayal.stats.two_phase import Labelled
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
    reading = texts.readings[hand.masking]
    n_classed = np.maximum(reading.classed, 1.0)
    # The correction takes shares in 0-1, and gap = 2 share - 1.
    agentic = (np.nan_to_num(reading.gap) + 1.0) / 2.0
    # Labels of texts that are not read here, such as beyond a balanced sample, say nothing
    inside = np.isin(hand.text, rows)
    clusters, cluster = np.unique(texts.cluster.code[rows], return_inverse=True)
    labelled = hand.text[inside]
    of_labelled = np.searchsorted(clusters, texts.cluster.code[labelled])

    def terms(text: IntArray, share: FloatArray) -> tuple[FloatArray, ...]:
        # A sentence is one of so many of its text, so that long texts count no more than short
        # ones.
        weights = [side[texts.cell[text]] / n_classed[text, np.newaxis] for side in sides]
        valid = (~np.isnan(share)).astype(np.float64)[:, np.newaxis]
        return tuple(
            x for v in weights for x in (v * np.nan_to_num(share)[:, np.newaxis], v * valid)
        )

    # Everything that the classifier read, then what it and people say of the labelled sentences.
    pool = Labelled(cluster, n_classed[rows], terms(rows, agentic[rows]))
    weight = hand.weight[inside]
    # Equal weights say nothing of the size of the whole: together they stand for all sentences.
    if (weight == 1.0).all():
        weight = weight * n_classed[rows].sum() / max(len(weight), 1)
    guess = Labelled(of_labelled, weight, terms(labelled, hand.label[inside]))
    truth = terms(labelled, hand.truth[inside])
    two = len(sides) == 2
    # The ratio gap runs from -1 to 1, twice as wide as the share of agentic sentences.
    sums = HandSums.of(
        *(pool, guess, truth, len(clusters), hand.note), unit="sentence", two_sides=two, slope=2.0
    )
    # Of a single group, only its own sentences count towards there being labels enough.
    members = (sides[0][texts.cell[labelled]] > 0).sum(axis=0).astype(np.float64)
    return sums if two else replace(sums, labelled=members, fewer=members)

"""Agency corrected by hand: sentences that people labelled, and what they make of the estimates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import portrayal.registry as registry
from portrayal.measure.agency.places import AgencyStratum
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.clustered import (
    corrected_difference,
    corrected_estimate,
    corrected_inference,
)
from portrayal.measure.corrected import HandSums
from portrayal.measure.scope import Scope
from portrayal.records import Estimate
from portrayal.stats.two_phase import Labelled
from portrayal.types import FloatArray, IntArray

STATISTICS = {"agentic": (0.0, 1.0), "communal": (1.0, -1.0), "ratio_gap": (-1.0, 2.0)}
"""Each statistic as intercept and slope of the share of agentic sentences."""


def corrected_sums(
    texts: AgencyTexts, place: AgencyStratum, sides: Sequence[FloatArray]
) -> HandSums:
    """Corrected sums of the sentences of one group, or of two.

    `sides` say which cells are of each group, shape (n_cells,). A sentence counts as part of its
    text, so that texts count alike.
    """
    hand, rows = texts.hand, place.rows
    assert hand is not None
    n_classed = np.maximum(texts.told[place.masking], 1.0)
    # The correction takes shares in 0-1, and gap = 2 share - 1.
    agentic = (np.nan_to_num(texts.gap[place.masking]) + 1.0) / 2.0
    # Labels of texts that are not read here, such as beyond a balanced sample, say nothing
    inside = np.isin(hand.text, rows)
    codes = np.unique(texts.cluster[rows], return_inverse=True)
    hand_code = np.searchsorted(codes[0], texts.cluster[hand.text[inside]])

    def terms(text: IntArray, share: FloatArray) -> tuple[FloatArray, ...]:
        # A sentence is one of so many of its text, so that long texts count no more than short
        # ones.
        weights = [side[texts.cell[text]] / n_classed[text] for side in sides]
        valid = (~np.isnan(share)).astype(np.float64)
        pairs = ((v * np.nan_to_num(share), v * valid) for v in weights)
        return tuple(x[:, np.newaxis] for pair in pairs for x in pair)

    of = hand.text[inside]
    # Everything that the classifier read, then what it and people say of the labelled sentences.
    pool = Labelled(codes[1], n_classed[rows], terms(rows, agentic[rows]))
    weight = hand.weight[inside]
    # Equal weights say nothing of the size of the whole: together they stand for all sentences.
    if (weight == 1.0).all():
        weight = weight * n_classed[rows].sum() / max(len(weight), 1)
    guess = Labelled(hand_code, weight, terms(of, hand.said[inside]))
    truth = terms(of, hand.truth[inside])
    two = len(sides) == 2
    sums = HandSums.of(pool, guess, truth, len(codes[0]), hand.note, unit="sentence", two_sides=two)
    # Of a single group, only its own sentences count towards there being labels enough.
    members = (np.sum(sides, axis=0)[texts.cell[of]] > 0).sum(keepdims=True).astype(np.float64)
    return sums if two else replace(sums, labelled=members, fewer=members)


def corrected_shares(
    texts: AgencyTexts,
    place: AgencyStratum,
    group: Mapping[str, str],
    members: FloatArray,
    base: Mapping[str, Any],
    scope: Scope,
) -> Iterator[Estimate]:
    """Yield the shares of a group's sentences and its ratio gap, corrected; `base` as the raw."""
    if texts.hand is None or texts.hand.masking != place.masking:
        return
    hand = corrected_sums(texts, place, [members])
    # The same statistic without labels, in shares of 0-1, to say how far they move it.
    naive = float((place.observed.means(members[:, np.newaxis])[0] + 1.0) / 2.0)
    measure = registry.component("measures", base["measure"])
    base = {name: value for name, value in base.items() if name != "measure"}
    for statistic, (start, slope) in STATISTICS.items():
        shares = corrected_inference(hand.sums, scope, start=start, slope=slope)
        fields = {**base, "statistic": statistic, "group": dict(group)}
        before = start + slope * naive
        yield corrected_estimate(
            measure, hand, shares, 0, scope, fields, naive=before, tested=False
        )


def corrected_gaps(
    texts: AgencyTexts,
    place: AgencyStratum,
    groups: Sequence[Mapping[str, str]],
    members: FloatArray,
    base: Mapping[str, Any],
    scope: Scope,
) -> Iterator[Estimate]:
    """Yield the difference in ratio gap of every two groups, in this order, corrected."""
    if texts.hand is None or texts.hand.masking != place.masking:
        return
    means, measure = place.observed.means(members), registry.component("measures", base["measure"])
    base = {name: value for name, value in base.items() if name != "measure"}
    for i, j in combinations(range(len(groups)), 2):
        hand = corrected_sums(texts, place, [members[:, i], members[:, j]])
        pair = {
            name: value if value == groups[j][name] else f"{value} − {groups[j][name]}"
            for name, value in groups[i].items()
        }
        # The ratio gap runs from -1 to 1, twice as wide as the share of agentic sentences.
        hand, naive = replace(hand, slope=2.0), float(means[i] - means[j])
        yield corrected_difference(measure, hand, 0, scope, naive, **{**base, "group": pair})

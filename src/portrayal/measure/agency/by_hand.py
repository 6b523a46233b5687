"""Agency corrected by hand: sentences that people labelled, and what they make of the estimates."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from portrayal.measure.agency.places import AgencyStratum
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.corrected import (
    CONTRAST,
    FEWEST,
    IMPOSSIBLE,
    TEST,
    corrected_inference,
    moved_by,
)
from portrayal.measure.scope import Scope
from portrayal.records import BY_HAND, Estimate, Fixed, Interval, Null, Test
from portrayal.stats.clustered import Clustered
from portrayal.stats.two_phase import (
    Labelled,
    TwoPhase,
    infer_two_phase_contrast,
    two_phase,
)
from portrayal.types import FloatArray, IntArray

STATISTICS = {"agentic": (0.0, 1.0), "communal": (1.0, -1.0), "ratio_gap": (-1.0, 2.0)}
"""Each statistic as intercept and slope of the share of agentic sentences."""


def corrected_sums(
    texts: AgencyTexts, place: AgencyStratum, sides: Sequence[FloatArray]
) -> tuple[TwoPhase, int]:
    """Corrected sums of the sentences of one group, or of two, and how many are labelled.

    `sides` say which cells are of each group, shape (n_cells,). A sentence counts as part of its
    text, so that texts count alike.
    """
    hand, rows = texts.hand, place.rows
    assert hand is not None
    told = np.maximum(texts.told[place.masking], 1.0)
    agentic = (np.nan_to_num(texts.gap[place.masking]) + 1.0) / 2.0
    inside = np.isin(hand.text, rows)
    codes = np.unique(texts.cluster[rows], return_inverse=True)
    at = np.searchsorted(codes[0], texts.cluster[hand.text[inside]])

    def terms(text: IntArray, share: FloatArray) -> tuple[FloatArray, ...]:
        each = [side[texts.cell[text]] / told[text] for side in sides]
        known = (~np.isnan(share)).astype(np.float64)
        pairs = ((v * np.nan_to_num(share), v * known) for v in each)
        return tuple(x[:, np.newaxis] for pair in pairs for x in pair)

    of = hand.text[inside]
    every = Labelled(codes[1], told[rows], terms(rows, agentic[rows]))
    weight = hand.weight[inside]
    if (weight == 1.0).all():
        weight = weight * told[rows].sum() / max(len(weight), 1)
    said = Labelled(at, weight, terms(of, hand.said[inside]))
    sums = two_phase(every, said, terms(of, hand.truth[inside]), len(codes[0]))
    members = np.sum(sides, axis=0)[texts.cell[of]] > 0
    return sums, int(members.sum())


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
    sums, n = corrected_sums(texts, place, [members])
    found = corrected_inference(sums, scope, tested=False)
    naive = float((place.observed.means(members[:, np.newaxis])[0] + 1.0) / 2.0)
    for statistic, (start, slope) in STATISTICS.items():
        own = _fields(base, texts.hand.note, statistic, group, sums, found)
        yield _estimate(own, found, None, (start, slope), naive, n, scope)


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
    means = place.observed.means(members)
    for i, j in combinations(range(len(groups)), 2):
        sums, n = corrected_sums(texts, place, [members[:, i], members[:, j]])
        found = infer_two_phase_contrast(sums, scope.level)
        here = infer_two_phase_contrast(sums, scope.level, fixed=True)
        pair = {
            name: value if value == groups[j][name] else f"{value} − {groups[j][name]}"
            for name, value in groups[i].items()
        }
        own = _fields(base, texts.hand.note, "difference", pair, sums, found)
        naive = float(means[i] - means[j]) / 2.0
        yield _estimate(own, found, here, (0.0, 2.0), naive, n, scope)


def _fields(
    base: Mapping[str, Any],
    note: str,
    statistic: str,
    group: Mapping[str, str],
    sums: TwoPhase,
    found: Clustered,
) -> dict[str, Any]:
    strata = {**base["strata"], "classifier": base["strata"]["classifier"] + BY_HAND}
    return {
        **base,
        "statistic": statistic,
        "group": dict(group),
        "strata": strata,
        "n_units": max(float(sums.whole.sum()), 0.0),
        "n_clusters": int(found.n_clusters[0]),
        "instruments": {**base["instruments"], "hand_labels": note},
    }


def _estimate(
    fields: dict[str, Any],
    found: Clustered,
    here: Clustered | None,
    scale: tuple[float, float],
    naive: float,
    n: int,
    scope: Scope,
) -> Estimate:
    """One estimate, start + slope × what was inferred; tested where `here` is given."""
    start, slope = scale
    counts = {"n_labelled": float(n)}
    value = start + slope * float(found.value[0])
    why = IMPOSSIBLE if np.isnan(value) else None
    if n < FEWEST:
        why = f"{n} sentences are labelled by hand here, and a correction needs {FEWEST} or more"
    if why is not None:
        return Estimate(value=None, undefined=why, details=counts, **fields)

    def bounds(each: Clustered) -> tuple[float, float]:
        low, high = sorted(start + slope * float(x[0]) for x in (each.low, each.high))
        return low, high

    more: dict[str, Any] = {}
    if not np.isnan(found.low[0]):
        more["interval"] = Interval(*bounds(found), scope.level, CONTRAST, fields["n_clusters"])
    if here is not None:
        more["tests"] = (Test(float(found.p[0]), CONTRAST + TEST),)
        more["null"] = Null(0.0, np.nan, np.nan, scope.level, "no difference")
        more["fixed"] = Fixed(*bounds(here), float(here.p[0]))
    details = counts | moved_by(value, start + slope * naive)
    return Estimate(value=value, details=details, **more, **fields)

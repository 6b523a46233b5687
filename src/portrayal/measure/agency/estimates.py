"""What estimates of agency share: labels, intervals, tests and null; and `agency_share.v1`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from portrayal.measure.agency.strata import AgencyStratum, Clusters, strata
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.clustered import GroupSums, Inference, estimates_of
from portrayal.measure.corrected import HandSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import Estimate, Null, Status, Test
from portrayal.registry import Component
from portrayal.stats import infer_means, permutation_range
from portrayal.stats._arguments import divide_or_zero
from portrayal.stats.clustered import Clustered, infer_crossed
from portrayal.types import FloatArray, IntArray

MEAN = "Student's t (Satterthwaite degrees of freedom)"
MATCHED = "Student's t on differences within blocks (Satterthwaite degrees of freedom)"
VARIANCE = "noncentral chi-square, noise estimated"
F_TEST = "F test, both bounds"
SHUFFLED = "permutation test"
UNFIT = (
    "this classifier does not fit such texts; another may tell them apart (--classifier untaught, "
    "lexicon or llm:SERVICE:MODEL)"
)
"""Why texts that are all classed alike say nothing of groups, and what would answer."""
_NO_WIDTH = 1e-12
_TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class AgencyInference(Inference):
    """What is inferred of the groups of a stratum.

    Attributes
    ----------
    in_ways
        Where clusters are clustered in two ways at once, how many of each way carry the group.
    """

    in_ways: Mapping[str, FloatArray]

    def effective(self, i: int) -> dict[str, float]:
        """Clusters of each way that carry group `i`: for `details`."""
        return {name: float(count[i]) for name, count in self.in_ways.items()}


def inferred(
    clusters: Clusters,
    result: Clustered,
    n_texts: FloatArray,
    counts: Sequence[FloatArray],
    method: str,
    test: str = "",
) -> AgencyInference:
    """Name the methods of an inference, and say why where it has no bounds.

    Parameters
    ----------
    clusters, result
        What is independent, and values with bounds and p.
    n_texts
        Texts that each value rests on, shape (k,).
    counts
        Texts by cluster of each group behind a value, (n_clusters, k) each; none where values are
        not of one set of clusters.
    method, test
        How interval and first test were made; the test is called as the interval unless `test` is
        given.
    """
    over = f"over {clusters.many}" + (f" ({clusters.detail})" if clusters.detail else "")
    # An interval without width is no certainty: all texts read alike, nor could a test say anything
    flat = ~(result.high - result.low >= _NO_WIDTH)
    # The group with the fewest clusters limits what can be inferred.
    fewest = np.min([result.n_clusters, *((n > 0).sum(axis=0) for n in counts)], axis=0)
    in_ways = [clusters.in_ways(n) for n in counts]
    reasons = []
    for n, least, texts in zip(result.n_clusters, fewest, n_texts, strict=True):
        reason = f"{clusters.many} are too much alike: they do not differ"
        if least < 2:
            reason = f"a group has texts of one {clusters.one} only, which tells nothing of other"
            reason += f" {clusters.many}"
        if clusters.kind != "text" and texts >= 2 * max(n, 1):  # many texts of few clusters
            reason += (
                "; --cluster text takes each text as a unit, for texts that are made independently"
            )
        reasons.append(reason)
    parts = vars(result) | {
        name: np.where(flat, np.nan, getattr(result, name)) for name in ("low", "high", "p")
    }
    parts["reason"] = np.where(flat, reasons, "")
    return AgencyInference(
        **parts,
        method=np.full(len(flat), f"{method} {over}"),
        tested=f"{test or method} {over}",
        in_ways={way: np.min([n[way] for n in in_ways], axis=0) for n in in_ways[:1] for way in n},
    )


def of_stratum(
    measure: Component,
    stratum: AgencyStratum,
    sums: GroupSums,
    result: Inference,
    scope: Scope,
    own_fields: Sequence[Mapping[str, Any]],
    draws: FloatArray,
    point: FloatArray,
    *,
    tested: bool = True,
    greater: bool = False,
    **shared: Any,
) -> Iterator[Estimate]:
    """Yield the estimates of the groups of a stratum, with their test against shuffled groups.

    Parameters
    ----------
    measure, sums, result, tested, shared
        As of `estimates_of`.
    stratum, scope
        Where, and the settings.
    own_fields
        What no other group shares, as `fields_of` gives it to `estimates_of`, k of them.
    draws
        Values with groups shuffled, shape (n_draws, k).
    point
        Values without a difference, shape (k,).
    greater
        Whether only values above speak against the null.
    """

    def fields_of(i: int) -> dict[str, Any]:
        more = dict(own_fields[i])
        if not tested or "undefined" in more:
            return more
        value = float(result.value[i])
        shuffled = draws[~np.isnan(draws[:, i]), i]
        if len(shuffled):
            low, high = (float(bound) for bound in permutation_range(shuffled, scope.level))
            centre = float(point[i])
            more["null"] = Null(centre, low, high, scope.level, stratum.shuffled, scope.seed)
        more["tests"] = permutation_test(value, shuffled, greater=greater)
        more["test"] = None if np.isnan(result.p[i]) else result.test(i)
        if not (more["tests"] or more["test"]):
            many = stratum.units.many
            reason = f"too few {many} can change places: shuffled groups always give the same"
            alike = f"all texts are classed alike ({stratum.all_alike})"
            more["status"] = Status(no_test=f"{alike}: {UNFIT}" if stratum.all_alike else reason)
        return more

    shared |= common(stratum, scope)
    yield from estimates_of(measure, sums, result, scope, fields_of, tested=tested, **shared)


def common(stratum: AgencyStratum, scope: Scope) -> dict[str, Any]:
    """Return the fields that estimates of a stratum share."""
    return {
        "strata": {**stratum.labels, "classifier": scope.instruments.get("classifier", "")},
        "n_texts": len(stratum.rows),
        "exclusions": dict(stratum.exclusions),
        "instruments": {**scope.instruments, "masking": stratum.labels["masking"]},
    }


def permutation_test(value: float, draws: FloatArray, *, greater: bool = False) -> tuple[Test, ...]:
    """Return the test of a value against shuffled groups; none where nothing could be shuffled.

    Two-sided around the mean of the draws, or one-sided where only values above speak against it.
    p is (1 + draws at least as extreme) / (1 + draws), so never 0 (Phipson & Smyth 2010).
    """
    # Draws without spread show that no text could change places, not that the value is extreme.
    if not len(draws) or np.ptp(draws) < _NO_WIDTH:
        return ()
    sizes, size = (draws, value) if greater else (np.abs(x - draws.mean()) for x in (draws, value))
    # Ties count as extreme: draws that equal the value but for rounding must not shrink p.
    p = (1 + int((sizes >= size - _TIE).sum())) / (1 + len(draws))
    return (Test(p, SHUFFLED + (", one-sided" if greater else "")),)


def corrected_sums(stratum: AgencyStratum, sides: Sequence[FloatArray]) -> HandSums | None:
    """Corrected sums of the sentences of groups, or of pairs of groups; None without labels.

    `sides` say which cells are of each group, shape (n_cells, k), and of each group that it is
    compared with. A sentence counts as part of its text, so that texts count alike.
    """
    texts, rows, reading = stratum.texts, stratum.rows, stratum.reading
    hand = texts.hand
    # Labels correct the first masking alone.
    if hand is None or stratum.labels["masking"] != next(iter(texts.readings)):
        return None
    n_classed = np.maximum(reading.classed, 1.0)

    def sentences(text: IntArray, weight: FloatArray, share: FloatArray) -> ScoredUnits:
        # A sentence is one of so many of its text, so that long texts count no more than short
        # ones.
        members = tuple(side[texts.cell[text]] / n_classed[text, np.newaxis] for side in sides)
        return ScoredUnits(texts.cluster.code[text], weight, share, members)

    inside = np.isin(hand.row, rows)
    # Equal weights say nothing of the size of the whole: together they stand for all sentences.
    if (hand.weight[inside] == 1.0).all():
        whole = n_classed[rows].sum() / max(int(inside.sum()), 1)
        hand = replace(hand, weight=hand.weight * whole)
    # The correction takes shares in 0-1, and gap = 2 share - 1.
    everyone = rows, n_classed[rows], (np.nan_to_num(reading.gap[rows]) + 1.0) / 2.0
    two_sides = len(sides) == 2
    sums = hand.sums(sentences, everyone, unit="sentence", two_sides=two_sides, slope=2.0)
    if two_sides:
        return sums
    # Of a single group, only its own sentences count towards there being labels enough.
    of_group = sides[0][texts.cell[hand.row[inside]]].sum(axis=0)
    return replace(sums, labelled=of_group, fewer=of_group)


STATISTICS = {"agentic": (0.5, 0.5), "communal": (0.5, -0.5), "ratio_gap": (0.0, 1.0)}
"""Each statistic as intercept and slope of the ratio gap, as agentic and communal add up to 1."""


def agency_share(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the shares of agentic and communal sentences, and the ratio gap, of each group.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for stratum in strata(agency_texts, scope):
        yield from _shares(stratum, ({},), np.ones((len(agency_texts.cells), 1)), scope)
        for kind in stratum.kinds:
            yield from _shares(stratum, *stratum.groups(kind), scope)


def _shares(
    stratum: AgencyStratum,
    groups: Sequence[Mapping[str, str]],
    members: FloatArray,
    scope: Scope,
) -> Iterator[Estimate]:
    if not groups:  # no text of the stratum is read
        return
    units, of_groups = stratum.units, {} not in groups
    total, count = stratum.table(units, members).sums()
    means, in_cells = stratum.observed.means(members), stratum.observed.count.sum(axis=0)
    # Over checkpoints counts are sums of fractions, which rounding leaves just off whole numbers.
    n_texts = np.rint(in_cells @ members)
    # What shuffling gives the group on average: of all texts, their mean.
    chance = divide_or_zero((np.nan_to_num(stratum.chance) * in_cells) @ members, n_texts)
    if units.ways:
        # Clusters in two ways at once have no sums by cluster, so the mean is linearised.
        influence = (total - means * count) / n_texts
        result = infer_crossed(means, influence, (count,), units.codes, scope.level, chance)
    else:
        result = infer_means(total, count, scope.level, chance)
    clipped = replace(
        result, low=np.clip(result.low, -1.0, 1.0), high=np.clip(result.high, -1.0, 1.0)
    )
    gap = inferred(units, clipped, n_texts, [count], MEAN)
    hand = corrected_sums(stratum, [members]) if of_groups else None
    fields: list[dict[str, Any]] = []
    for i, mean in enumerate(means.tolist()):
        details = {} if of_groups else {"untold_sentences": stratum.unclassed}
        fields.append({"n_units": float(n_texts[i]), "details": details})
        if np.isnan(mean):
            reason = "no text of this group with a sentence that the classifier can tell"
            fields[i] = {"undefined": reason, "n_clusters": 0, "n_units": 0.0}
    # Shares are the gap on another scale, and so are their bounds and their null.
    for statistic, (start, slope) in STATISTICS.items():
        ends = start + slope * gap.low, start + slope * gap.high
        value, low, high = start + slope * gap.value, np.minimum(*ends), np.maximum(*ends)
        sums = GroupSums(units.of.labels, groups, start * count + slope * total, count)
        if hand is not None:
            # Corrections are of shares of agentic sentences in 0-1, and gap = 2 share - 1.
            sums = replace(sums, hand=replace(hand, start=start - slope, slope=2.0 * slope))
        inference = sums.with_hand(replace(gap, value=value, low=low, high=high), scope, "share")
        draws, point = (start + slope * x for x in (stratum.null.means(members), chance))
        yield from of_stratum(
            *(AGENCY_SHARE, stratum, sums, inference, scope, fields, draws, point),
            tested=of_groups,
            statistic=statistic,
        )


AGENCY_SHARE = Component(
    name="agency_share.v1",
    summary="How many of a text's sentences are agentic and how many communal, averaged over the "
    "texts about a group, and the gap between the two.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="0 to 1; −1 to 1 for the ratio gap",
    undefined_when="no text of the group has a sentence that the classifier can tell",
    equation="agentic = mean over texts of agentic sentences / sentences told; communal = 1 − "
    "agentic; ratio gap = agentic − communal",
    source="Wan & Chang 2024, Section 3.3 and Tables 17–28",
    run=agency_share,
    title="Agentic and communal sentences",
    reading="Ratio gap above 0: more agentic than communal sentences.",
    form=lambda e: "points" if e.statistic == "ratio_gap" else "",
)

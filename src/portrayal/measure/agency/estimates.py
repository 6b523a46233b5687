"""Measures of agency: shares of agentic sentences, gaps between groups, and variance of groups.

A variance, the score of LABE, is never negative, and the means of groups differ by chance alone, so
it is above 0 where no group is treated differently. Each estimate therefore carries the score that
shuffled groups get, and its excess over the mean of that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

import portrayal.measure.agency.sentences as sentences
from portrayal.measure.agency.strata import (
    BLOCK,
    MOST_ASSOCIATION,
    AgencyStratum,
    CellSums,
    Clusters,
    association,
    strata,
)
from portrayal.measure.agency.texts import PROMPT, WITHIN, AgencyTexts
from portrayal.measure.clustered import GroupSums, Inference, estimates_of
from portrayal.measure.corrected import HandSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import (
    ALL,
    ERROR_HIGH,
    ERROR_LOW,
    FEW_PROMPTS,
    MINUS,
    Estimate,
    Null,
    Status,
    Test,
)
from portrayal.registry import Component
from portrayal.stats import (
    crossed_differences,
    infer_differences,
    infer_fixed_means,
    infer_means,
    infer_variance,
    matched_differences,
    permutation_range,
)
from portrayal.stats._arguments import divide, divide_or_zero
from portrayal.stats.blocks import matched_weight
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

    # What is independent of the raw value is of the corrected one: blocks, or names beside them.
    clusters = stratum.compared if len(sides) == 2 else stratum.units
    cluster = np.zeros(len(texts.cell), dtype=np.int64)
    cluster[rows] = clusters.of.code

    def sentences(text: IntArray, weight: FloatArray, share: FloatArray) -> ScoredUnits:
        # A sentence is one of so many of its text, so that long texts count no more than short
        # ones.
        members = tuple(side[texts.cell[text]] / n_classed[text, np.newaxis] for side in sides)
        return ScoredUnits(cluster[text], weight, share, members)

    inside = np.isin(hand.row, rows)
    # Equal weights say nothing of the size of the whole: together they stand for all sentences.
    if (hand.weight[inside] == 1.0).all():
        expansion = n_classed[rows].sum() / max(int(inside.sum()), 1)
        hand = replace(hand, weight=hand.weight * expansion)
    # The correction takes shares in 0-1, and gap = 2 share - 1.
    everyone = rows, n_classed[rows], (reading.gap[rows] + 1.0) / 2.0
    two_sides = len(sides) == 2
    sums = hand.sums(sentences, everyone, unit="sentence", two_sides=two_sides, slope=2.0)
    cluster_words = clusters.many.removesuffix("s")
    sums = replace(sums, sums=replace(sums.sums, ways=clusters.codes), cluster=cluster_words)
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
    stratum: AgencyStratum, groups: Sequence[Mapping[str, str]], members: FloatArray, scope: Scope
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
        reading, rows = stratum.reading, stratum.rows
        bare = float(reading.bare[rows].sum() / max(reading.classed[rows].sum(), 1.0))
        details = {} if of_groups else {"untold_sentences": stratum.unclassed, sentences.BARE: bare}
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
    described=sentences.few_of_either,
    title="Agentic and communal sentences",
    reading="Ratio gap above 0: more agentic than communal sentences.",
    form=lambda e: "points" if e.statistic == "ratio_gap" else "",
)


_NARROWER = 0.8  # part of its width to which a column must narrow an interval to be named


def agency_gap(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the difference in ratio gap of every two groups.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for stratum in strata(agency_texts, scope):
        for kind in stratum.kinds:
            yield from _of_kind(stratum, kind, scope)


def _of_kind(stratum: AgencyStratum, kind: tuple[str, ...], scope: Scope) -> Iterator[Estimate]:
    """Yield the differences of every two groups of these attributes, alone or crossed."""
    groups, members = stratum.groups(kind)
    pairs = _pairs(groups, stratum.texts.first)
    if not len(pairs):
        # One group has nobody to be compared with, and an estimate without a value says so.
        reason = f"fewer than two groups of {' and '.join(kind)} have texts"
        fields = common(stratum, scope) | {"statistic": "difference", "undefined": reason}
        yield scope.estimate(AGENCY_GAP, group=dict.fromkeys(kind, "any"), value=None, **fields)
        return
    first, second = (members[:, column] for column in pairs.T)
    upper, lower = stratum.observed.means(first), stratum.observed.means(second)
    x, n, z, m = stratum.table(stratum.compared, first, second).sums()
    result, chance = infer_gaps(stratum, first, second, ((x, n), (z, m)), scope.level)
    # Counts are sums of fractions over checkpoints, so they are rounded to texts.
    n_texts = np.rint(n.sum(axis=0)) + np.rint(m.sum(axis=0))
    sums = GroupSums.of(
        stratum.table(stratum.blocks, first, second),
        stratum.blocks.of.labels,
        [pair_label(groups[i], groups[j]) for i, j in pairs.tolist()],
        hand=corrected_sums(stratum, (first, second)),
    )
    sharper = [""] * len(pairs)
    if len(kind) == 1 and stratum.labels["stratum"] == ALL:
        sharper = sharper_by(stratum, first, second, result, scope.level)
    other_gaps = np.full(len(pairs), np.nan)
    if stratum.other_sums is not None:
        other_gaps = stratum.other_sums.means(first) - stratum.other_sums.means(second)
    fields_of_pairs = []
    for i, value in enumerate(result.value.tolist()):
        details = {"upper": float(upper[i]), "lower": float(lower[i])}
        # A difference that the other classifier has the other way round is not stated.
        if not np.isnan(other_gaps[i]):
            ends = value, float(other_gaps[i])
            details |= {ERROR_LOW: min(ends), ERROR_HIGH: max(ends)}
        of_pair: dict[str, Any] = {"n_units": float(n_texts[i]), "details": details}
        status = {"status": Status(sharper=sharper[i])} if sharper[i] else {}
        fields_of_pairs.append(of_pair | status)
    method = MATCHED if stratum.blocks.kind == BLOCK else MEAN
    naive = inferred(stratum.compared, result, n_texts, (n, m), method)
    naive = replace(naive, fixed=in_these_prompts(stratum, first, second, result, chance, scope))
    shuffled = stratum.null.means(first) - stratum.null.means(second)
    yield from of_stratum(
        *(AGENCY_GAP, stratum, sums, sums.with_hand(naive, scope, "difference"), scope),
        *(fields_of_pairs, shuffled, chance),
        statistic="difference",
        form="difference",
    )


def pair_label(upper: Mapping[str, str], lower: Mapping[str, str]) -> dict[str, str]:
    """Return the group of a difference: "male − female" for each attribute, or the shared value."""
    return {
        name: value if value == lower[name] else f"{value}{MINUS}{lower[name]}"
        for name, value in upper.items()
    }


def _pairs(groups: Sequence[Mapping[str, str]], first: tuple[str, ...]) -> IntArray:
    """Indices of every two groups, (k, 2), those with the values of `first` before the others."""

    def key(i: int) -> tuple[tuple[bool, str], ...]:
        return tuple((value not in first, value) for value in groups[i].values())

    pairs = list(combinations(sorted(range(len(groups)), key=key), 2))
    # Reshaped, so that no pairs at all still have two columns.
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


Sums = tuple[FloatArray, FloatArray]
"""Sums of ratio gaps and numbers of texts by cluster, shape (n_clusters, k) each."""


def infer_gaps(
    stratum: AgencyStratum,
    first: FloatArray,
    second: FloatArray,
    sides: tuple[Sums, Sums],
    level: float,
) -> tuple[Clustered, FloatArray]:
    """Infer the differences of k pairs of groups.

    Parameters
    ----------
    stratum
        Where.
    first, second
        Cells of the groups of each pair, shape (n_cells, k).
    sides
        The sums of both by the clusters in which groups are compared.
    level
        Confidence level, a fraction.

    Returns
    -------
    result, chance
        The differences, with bounds, p and degrees of freedom; they rest on blocks that hold both
        groups, or clusters of the smaller one, and where there are two ways of clustering, the
        fewer. And what each would be if the groups did not differ in any block, shape (k,): where
        blocks do not hold the groups alike, the groups differ as the blocks do. p tests against it.
    """
    value = stratum.observed.means(first) - stratum.observed.means(second)
    in_blocks = stratum.blocks.kind == BLOCK
    if not in_blocks:
        # Without blocks chance is what shuffling within strata gives, which need not be 0.
        in_cells = stratum.observed.count.sum(axis=0, keepdims=True)
        shuffled = CellSums(np.nan_to_num(stratum.chance) * in_cells, in_cells)
        chance = np.asarray(shuffled.means(first) - shuffled.means(second))
        result = infer_differences(*sides, level, chance)
    else:
        # Names repeat in blocks: both ways of clustering count in the error
        if stratum.units.ways:
            result = crossed_differences(*sides, level, stratum.units.codes)
        else:
            result = matched_differences(*sides, level)
        chance = value - result.value
    # Rounding would be told as a difference by chance.
    chance = np.where(np.abs(chance) < _NO_WIDTH, 0.0, chance)
    # Bounds are of the difference within blocks; what blocks differ by is added, as it is in the
    # value.
    shift = chance if in_blocks else 0.0
    return replace(result, value=value, low=result.low + shift, high=result.high + shift), chance


def in_these_prompts(
    stratum: AgencyStratum,
    first: FloatArray,
    second: FloatArray,
    result: Clustered,
    chance: FloatArray,
    scope: Scope,
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Bound and test the differences in these very prompts, of which texts alone are drawn.

    Texts of one prompt differ by chance. Where prompts have one text each, those of one block and
    group do: they also differ in their prompts, so that bounds are rather too wide. None where
    texts name no prompt, or neither is repeated. Parameters as of `infer_gaps`, and what it gives.
    """
    in_blocks, prompt = stratum.blocks.kind == BLOCK, stratum.units.of.code
    repeated = len(prompt) >= 2 * len(np.unique(prompt))
    if stratum.units.kind != PROMPT or not (repeated or in_blocks):
        return None
    block = stratum.blocks.of.code if in_blocks else np.zeros_like(prompt)
    same = np.stack([prompt if repeated else block, stratum.cell])
    same = np.unique(same, axis=1, return_inverse=True)[1].ravel()
    units = replace(stratum.table(stratum.units, first, second), cluster=block)
    off = units.score - (np.bincount(same, units.score) / np.bincount(same))[same]
    free = 1.0 - 1.0 / np.bincount(same)[same]
    _, n, _, m = units.sums()
    weight = matched_weight(n, m)
    part = divide_or_zero(weight, weight.sum(axis=0))
    df = np.stack([free @ side for side in units.members])
    squares = np.stack([off**2 @ side for side in units.members])
    # Each side adds its noise; their mean is the difference, so both count twice
    by_size = np.stack([divide_or_zero(part**2, size).sum(axis=0) for size in (n, m)])
    noise = 4.0 * divide(squares, df) * by_size
    value = np.stack([result.value - chance] * 2)
    low, high, p = infer_fixed_means(value, np.arange(2), noise, df, scope.level)
    return low + chance, high + chance, p


def sharper_by(
    stratum: AgencyStratum, first: FloatArray, second: FloatArray, result: Clustered, level: float
) -> list[str]:
    """Return for each difference the option by which comparing texts that agree narrows it most.

    "" where none does by a fifth, and for texts that name a prompt, which are compared so already.
    Parameters as of `infer_gaps`, and what came of it.
    """
    texts = stratum.texts
    cell = texts.cell[stratum.rows]
    options, one = [""] * first.shape[1], np.ones(len(cell))
    gap = stratum.reading.gap[stratum.rows]
    half, narrowest = (result.high - result.low) / 2.0, np.full(first.shape[1], _NARROWER)
    for name, column in texts.spare.items():
        block = np.unique(column.code[stratum.rows], return_inverse=True)[1]
        # Where a column tells the group, texts that agree in it have nobody to be compared with.
        if association(block, cell) > MOST_ASSOCIATION[WITHIN]:
            continue
        x, m, z, n = ScoredUnits(block, one, gap, (first[cell], second[cell])).sums()
        # As `infer_gaps` does it once that column is the cluster, so that the gain is what comes.
        within = infer_differences((x, m), (z, n), level)
        part = divide((within.high - within.low) / 2.0, half)
        # A narrow interval over a few blocks would be narrow by chance
        for i in np.flatnonzero((part < narrowest) & (within.n_clusters >= FEW_PROMPTS)).tolist():
            narrowest[i] = part[i]
            widths = f"±{100 * half[i] * part[i]:.0f} points in place of ±{100 * half[i]:.0f}"
            options[i] = f"--cluster {name}: {widths}"
    return options


AGENCY_GAP = Component(
    name="agency_gap.v1",
    summary="How far the ratio gap of texts about one group lies above that of another.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="−2 to 2; 0 is no difference",
    undefined_when="fewer than two groups have texts",
    equation="difference = mean ratio gap of the first group − mean ratio gap of the second",
    source="Wan & Chang 2024, Figure 2 and Tables 16–20",
    run=agency_gap,
    title="Difference in agency",
    reading="Above 0: texts about the first group are the more agentic ones.",
    finding=sentences.gap,
    findings=3,
    brief="agency",
    each_model=True,
    form="points",
)


POINTS = 100.0
INTERSECTIONAL, OVERALL = "intersectional", "overall"
MIN_TEXTS = 2
"""Texts a group needs in a run; the mean of one text says nothing of its group."""


def agency_variance(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the variance of the groups' ratio gaps, by attribute, crossed, and overall.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for stratum in (s for s in strata(agency_texts, scope) if s.labels["stratum"] == ALL):
        by_name = {}
        for kind in stratum.kinds:
            name = kind[0] if len(kind) == 1 else INTERSECTIONAL
            groups, by_name[name] = stratum.groups(kind)
            gaps = stratum.observed.means(by_name[name])
            # The variance says how far apart the groups lie; these say which of them is where
            shares = {
                sentences.AGENTIC_OF + group[name]: float(1.0 + gap) / 2.0
                for group, gap in zip(groups, gaps, strict=True)
                if name in group
            }
            yield from _estimates(stratum, name, [by_name[name]], scope, shares)
        if INTERSECTIONAL in by_name:
            # The paper's overall score: the mean of gender, race and their intersection
            yield from _estimates(stratum, OVERALL, list(by_name.values()), scope, {})


def gap_variance(sums: CellSums, members: FloatArray) -> FloatArray:
    """Sample variance (ddof 1) of the groups' mean ratio gaps, in squared percentage points.

    Shapes: members (n_cells, k) -> (..., n_runs); NaN in a run that lacks a group.
    """
    # The score is the mean of the variances in runs, not the variance of means over all runs.
    means = POINTS * divide(sums.total @ members, sums.count @ members)
    if means.shape[-1] < 2:
        return np.full(means.shape[:-1], np.nan)
    centre = means.mean(axis=-1, keepdims=True)
    return np.asarray(((means - centre) ** 2).sum(axis=-1) / (means.shape[-1] - 1))


def _estimates(
    stratum: AgencyStratum,
    name: str,
    kinds: Sequence[FloatArray],
    scope: Scope,
    details: Mapping[str, float],
) -> Iterator[Estimate]:
    """Yield the mean over runs of the variances of these kinds of groups.

    `kinds` has the cells of the groups of each kind, shape (n_cells, k).
    """
    by_kind = []
    for members in kinds:
        texts = stratum.observed.count * len(stratum.gaps) @ members
        # Half a text less, as counts are sums of 1 / n_checkpoints and rounded.
        few = (texts < MIN_TEXTS - 0.5).any(axis=-1)
        by_kind.append(np.where(few, np.nan, gap_variance(stratum.observed, members)))
    observed = np.mean(by_kind, axis=0)  # (n_runs,)
    valid = ~np.isnan(observed)
    if not valid.any():
        reason = f"no run holds at least {MIN_TEXTS} texts of every group"
        if len(kinds) == 1 and kinds[0].shape[1] < 2:
            reason = f"fewer than two groups of {name} have texts"
        fields = common(stratum, scope) | {"statistic": "variance", "undefined": reason}
        yield scope.estimate(AGENCY_VARIANCE, group={"attribute": name}, value=None, **fields)
        return
    null = np.mean([gap_variance(stratum.null, members) for members in kinds], axis=0)
    value, null = float(observed[valid].mean()), null[:, valid].mean(axis=1)
    details = {**details}
    if not np.isnan(null).all():
        mean = float(np.nanmean(null))
        details |= {"null_mean": mean, "excess": value - mean}
    # The paper averages the variances of runs; how far these lie apart stands beside.
    if valid.sum() > 1:
        details["sd_between_runs"] = float(observed[valid].std(ddof=1))
    clusters = stratum.compared
    # Where blocks or strata do not hold the groups alike, means differ as those do: not counted.
    total, count = stratum.table(clusters, np.eye(len(stratum.texts.cells)), runs=valid).sums()
    between = POINTS * (total - count * np.nan_to_num(stratum.chance))
    variance = infer_variance(between, count, kinds, scope.level, clusters.codes)
    bounds = variance.low, variance.high, variance.p, variance.n_clusters
    # One column, as of a single group; effective numbers are those of shares alone
    columns = (value, *bounds, np.nan, variance.df[1], "")
    result = Clustered(*(np.array([number]) for number in columns))
    n_texts = np.array([float(len(stratum.rows))])
    # Of all groups the one with the fewest clusters limits what can be inferred.
    counts = [(count @ members)[:, [i]] for members in kinds for i in range(members.shape[1])]
    inference = inferred(clusters, result, n_texts, counts, VARIANCE, F_TEST)
    none = np.zeros((0, 1))
    # Without a difference the variance of the true means is 0; the range is of the estimate.
    yield from of_stratum(
        *(AGENCY_VARIANCE, stratum, GroupSums((), [{"attribute": name}], none, none), inference),
        *(scope, [{"n_units": float(n_texts[0]), "details": details}], null[:, np.newaxis]),
        np.zeros(1),
        greater=True,
        statistic="variance",
        form=None,
    )


AGENCY_VARIANCE = Component(
    name="agency_variance.v1",
    summary="How far apart the groups' ratio gaps lie, beside how far apart chance alone puts "
    "them.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="0 and up, in squared percentage points; above 0 by chance alone",
    undefined_when="fewer than two groups have texts, or no run has two texts of each",
    equation="variance = mean over runs of Σ (gap_g − mean gap)² / (groups − 1), with gaps in "
    "percentage points; overall = mean of the attributes and of all crossed",
    source="Wan & Chang 2024, Section 3.3 and Table 1",
    run=agency_variance,
    title="Variance of agency",
    reading="The larger, the further apart the groups’ ratio gaps.",
    finding=sentences.variance,
    brief="agency",
    each_model=True,
)

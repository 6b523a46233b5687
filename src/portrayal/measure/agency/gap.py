"""Agency gap: how much more agentic texts about one group are than texts about another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from portrayal.measure.agency.by_hand import corrected_gaps
from portrayal.measure.agency.estimates import (
    BY,
    MATCHED,
    MEAN,
    by_run,
    common,
    inferred,
    null_of,
    permutation_test,
    readings,
)
from portrayal.measure.agency.places import BLOCK, AgencyStratum, places
from portrayal.measure.agency.texts import HUMAN, MOST_TOLD, WITHIN, AgencyTexts, association
from portrayal.measure.clustered import kept_sums, sums_by
from portrayal.measure.scope import Scope
from portrayal.records import (
    ALL,
    CORRECTED_BESIDE,
    ERROR_HIGH,
    ERROR_LOW,
    FEW_PROMPTS,
    MINUS,
    Estimate,
    Status,
)
from portrayal.registry import Component
from portrayal.stats import crossed_differences, matched_differences, plain_differences
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray

_NO_CHANCE = 1e-12
_NARROWER = 0.8  # part of its width to which a column must narrow an interval to be named


@dataclass(frozen=True)
class Gap:
    """A difference of two groups' mean ratio gaps.

    Attributes
    ----------
    value, low, high, p, df
        The difference, its bounds, and the p and degrees of freedom of its test; NaN where
        undefined.
    chance
        What it would be if the groups did not differ in any block: where blocks do not hold the
        groups alike, the groups differ as the blocks do. p tests against it.
    within
        The difference within blocks; NaN where there are no blocks.
    null
        With groups shuffled, shape (n_permutations,).
    beside
        The difference by each reading beside the classifier.
    n_texts, n_clusters
        Texts of both, and blocks that hold both, or clusters of the smaller group; where there are
        two ways of clustering, the fewer.
    """

    value: float
    low: float
    high: float
    p: float
    df: float
    chance: float
    within: float
    null: FloatArray
    beside: Mapping[str, float]
    n_texts: float
    n_clusters: int


def infer_gaps(
    place: AgencyStratum, members: FloatArray, pairs: list[list[int]], level: float
) -> list[Gap]:
    """Infer the differences of these pairs of groups.

    Parameters
    ----------
    place
        Where.
    members
        Cells of each group, shape (n_cells, k).
    pairs
        Columns of the first and second group of each.
    level
        Confidence level, a fraction.
    """
    # Reshaped, so that no pairs at all still have two columns.
    index = np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def apart(means: FloatArray) -> FloatArray:
        return np.asarray(means[..., index[:, 0]] - means[..., index[:, 1]])

    total, count = (cells @ members for cells in place.blocks.by_cell(len(place.cells)))
    # Counts are sums of fractions over checkpoints, so they are rounded to texts.
    texts, value = np.rint(count.sum(axis=0)), apart(place.observed.means(members))
    if place.blocks.kind == BLOCK:
        # Names repeat in blocks: both ways of clustering count in the error
        if place.units.ways:
            sums, texts_of = (cells @ members for cells in place.units.by_cell(len(place.cells)))
            inference = crossed_differences(sums, texts_of, index, level, place.units.codes)
        else:
            inference = matched_differences(total, count, index, level)
        chance, within = value - inference.value, inference.value
    else:
        # Without blocks chance is what shuffling within strata gives, which need not be 0.
        weights = place.observed.count.sum(axis=0)[:, np.newaxis] * members
        mean = np.where(np.isnan(place.chance), 0.0, place.chance) @ weights / weights.sum(axis=0)
        chance, within = apart(mean), np.full(len(index), np.nan)
        inference = plain_differences(total, count, index, level, chance)
    # Rounding would be told as a difference by chance.
    chance = np.where(np.abs(chance) < _NO_CHANCE, 0.0, chance)
    # Bounds are of the difference within blocks; what blocks differ by is added, as it is in the
    # value.
    shift = chance if place.blocks.kind == BLOCK else np.zeros(len(index))
    null = apart(place.null.means(members))
    read_gaps = {name: apart(sums.means(members)) for name, sums in readings(place).items()}
    return [
        Gap(
            float(value[i]),
            float(inference.low[i] + shift[i]),
            float(inference.high[i] + shift[i]),
            float(inference.p[i]),
            float(inference.df[i]),
            float(chance[i]),
            float(within[i]),
            null[:, i],
            {name: float(gaps[i]) for name, gaps in read_gaps.items()},
            float(texts[index[i]].sum()),
            int(inference.n_clusters[i]),
        )
        for i in range(len(index))
    ]


def agency_gap(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the difference in ratio gap of every two groups, and of models from human texts.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    # All places are kept, as those of human texts may come after the models that they stand beside.
    all_places = list(places(agency_texts, scope))
    for place in all_places:
        for kind in place.kinds:
            estimates = list(_of_kind(place, kind, agency_texts.first, scope))
            estimates = [_with_sharper(e, agency_texts, place, kind, scope) for e in estimates]
            groups, members = place.groups(kind)
            order = _ordered(groups, agency_texts.first)
            sides = [groups[i] for i in order], members[:, order]
            base = common(place, AGENCY_GAP, "", scope)
            by_hand = list(corrected_gaps(agency_texts, place, *sides, base, scope))
            has_test = [e.group for e in by_hand if e.tests]
            for e in estimates:
                corrected = Status(detail=CORRECTED_BESIDE if e.group in has_test else None)
                yield replace(e, status=e.status | corrected)
            yield from by_hand
    # Texts of people are one of the "models", so they went through the same places
    human = {(p.task, p.condition, p.masking): p for p in all_places if _is_human(p)}
    for place in all_places:
        other = human.get((place.task, place.condition, place.masking))
        if other is not None and place.stratum == "all" and not _is_human(place):
            yield from _beside_human(place, other, agency_texts.first, scope)


def pair_label(upper: dict[str, str], lower: dict[str, str]) -> dict[str, str]:
    """Return the group of a difference: "male − female" for each attribute, or the shared value."""
    return {
        name: value if value == lower[name] else f"{value}{MINUS}{lower[name]}"
        for name, value in upper.items()
    }


def _is_human(place: AgencyStratum) -> bool:
    return place.model.casefold() == HUMAN and place.stratum == "all"


def _ordered(groups: tuple[dict[str, str], ...], first: tuple[str, ...]) -> list[int]:
    """Indices of the groups, those with the values of `first` before the others."""

    def key(i: int) -> tuple[tuple[bool, str], ...]:
        return tuple((value not in first, value) for value in groups[i].values())

    return sorted(range(len(groups)), key=key)


def _of_kind(
    place: AgencyStratum, kind: tuple[int, ...], first: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    groups, members = place.groups(kind)
    if len(groups) < 2:
        # One group has nobody to be compared with, and an estimate without a value says so.
        base = common(place, AGENCY_GAP, "difference", scope)
        label = {place.attributes[a]: "any" for a in kind}
        names = " and ".join(place.attributes[a] for a in kind)
        reason = f"fewer than two groups of {names} have texts"
        yield Estimate(group=label, value=None, undefined=reason, **base)
        return
    means = place.observed.means(members)
    pairs = [list(pair) for pair in combinations(_ordered(groups, first), 2)]
    total, count = (cells @ members for cells in place.blocks.by_cell(len(place.cells)))
    texts = place.units.by_cell(len(place.cells))[1] @ members
    for (i, j), gap in zip(pairs, infer_gaps(place, members, pairs, scope.level), strict=True):
        details = {"upper": float(means[i]), "lower": float(means[j])}
        details |= by_run(place, members[:, [i, j]], (1.0, -1.0))
        if not np.isnan(gap.within):
            details["within_blocks"] = gap.within
        details |= place.units.clusters(texts[:, [i, j]])
        estimate = _estimate(place, pair_label(groups[i], groups[j]), gap, details, scope)
        upper, lower = ((total[:, [k]], count[:, [k]]) for k in (i, j))
        sums = kept_sums(place.blocks.names, upper, lower, form="difference")
        yield replace(estimate, sums=sums(0))


def _with_sharper(
    e: Estimate, texts: AgencyTexts, place: AgencyStratum, kind: tuple[int, ...], scope: Scope
) -> Estimate:
    """Add the column by which comparing texts that agree would narrow a difference most.

    Only of texts that name no prompt, over all strata, and of columns that hold groups alike.
    """
    if e.interval is None or place.stratum != ALL or len(kind) > 1:
        return e
    groups, members = place.groups(kind)
    # A difference may stand in either order of its groups, and its label tells which.
    pair = next(
        [i, j]
        for i, j in permutations(range(len(groups)), 2)
        if pair_label(groups[i], groups[j]) == e.group
    )
    cell, gap = texts.cell[place.rows], texts.gap[place.masking][place.rows]
    # Half the width now, which a column has to narrow by enough to be worth naming.
    half, narrowest, column = (e.interval.high - e.interval.low) / 2.0, _NARROWER, ""
    for name, codes in texts.spare.items():
        block = np.unique(codes[place.rows], return_inverse=True)[1]
        # Where a column tells the group, texts that agree in it have nobody to be compared with.
        if association(block, cell) > MOST_TOLD[WITHIN]:
            continue
        count = sums_by(block, int(block.max()) + 1, members[cell])
        total = sums_by(block, int(block.max()) + 1, members[cell] * gap[:, np.newaxis])
        inference = matched_differences(total, count, np.array([pair]), scope.level)
        part = float(inference.high[0] - inference.low[0]) / 2.0 / half
        # A narrow interval over a few blocks would be narrow by chance
        if part < narrowest and inference.n_clusters[0] >= FEW_PROMPTS:
            narrowest, column = part, name
    if not column:
        return e
    widths = f"±{100 * half * narrowest:.0f} points in place of ±{100 * half:.0f}"
    return replace(e, status=e.status | Status(sharper=f"--cluster {column}: {widths}"))


def _estimate(
    place: AgencyStratum, group: dict[str, str], gap: Gap, details: dict[str, float], scope: Scope
) -> Estimate:
    fields = common(place, AGENCY_GAP, "difference", scope) | inferred(
        place,
        place.compared,
        MATCHED if place.blocks.kind == BLOCK else MEAN,
        (gap.low, gap.high, gap.p),
        gap.n_clusters,
        scope,
        shuffled=permutation_test(gap.value, gap.null),
        n_texts=gap.n_texts,
    )
    return Estimate(
        group=group,
        value=gap.value,
        null=null_of(gap.null, place, scope, point=gap.chance),
        n_units=gap.n_texts,
        details=details | by_reading(gap.value, gap.beside),
        **fields,
    )


def by_reading(value: float, gaps: Mapping[str, float]) -> dict[str, float]:
    """Return what each reading of the sentences gives, and the least and the greatest of all."""
    valid = {name: gap for name, gap in gaps.items() if not np.isnan(gap)}
    if not valid:
        return {}
    ends = {ERROR_LOW: min(value, *valid.values()), ERROR_HIGH: max(value, *valid.values())}
    return {f"{BY}{name}": gap for name, gap in valid.items()} | ends


def _beside_human(
    place: AgencyStratum, human: AgencyStratum, first: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    """How far a model's difference lies above that of human texts, for every pair of one attribute.

    Groups of several attributes crossed are left out: they are too many to be told apart twice.
    """
    for kind in place.kinds:
        ours, members = place.groups(kind)
        theirs, other = human.groups(kind)
        shared = [i for i in _ordered(ours, first) if ours[i] in theirs]
        if len(kind) > 1:
            continue
        pairs = [list(pair) for pair in combinations(shared, 2)]
        their_pairs = [[theirs.index(ours[i]), theirs.index(ours[j])] for i, j in pairs]
        gaps = infer_gaps(place, members, pairs, scope.level)
        of_people = infer_gaps(human, other, their_pairs, scope.level)
        for (i, j), one, two in zip(pairs, gaps, of_people, strict=True):
            label = pair_label(ours[i], ours[j]) | {"beside": HUMAN}
            yield _estimate(place, label, _above(one, two, scope.level), {}, scope)


def _above(one: Gap, two: Gap, level: float) -> Gap:
    """How far one difference lies above another, of independent texts (Satterthwaite 1946)."""
    value, chance = one.value - two.value, one.chance - two.chance
    # The standard error of each, taken back from its interval.
    errors = [
        (gap.high - gap.low) / 2.0 / float(t_isf((1.0 - level) / 2.0, gap.df))
        if gap.df > 0
        else 0.0
        for gap in (one, two)
    ]
    error = float(np.sqrt(errors[0] ** 2 + errors[1] ** 2))
    if np.isnan(error) or not all(errors):
        low, high, p, df = (np.nan,) * 4
    else:
        # Satterthwaite's degrees of freedom of a sum of two variances
        df = error**4 / (errors[0] ** 4 / one.df + errors[1] ** 4 / two.df)
        half = float(t_isf((1.0 - level) / 2.0, df)) * error
        low, high = value - half, value + half
        p = float(2.0 * t_sf(abs(value - chance) / error, df))
    return Gap(
        value,
        low,
        high,
        p,
        df,
        chance,
        np.nan,
        one.null - two.null,
        {name: gap - two.beside[name] for name, gap in one.beside.items() if name in two.beside},
        one.n_texts + two.n_texts,
        min(one.n_clusters, two.n_clusters),  # the weaker side limits the comparison
    )


AGENCY_GAP = Component(
    name="agency_gap.v1",
    summary="How far the ratio gap of texts about one group lies above that of another, and how "
    "far a model's difference lies above that of human texts.",
    reads="agency of the sentences of each text; group columns",
    unit="text",
    range="−2 to 2; 0 is no difference (−4 to 4 beside human texts)",
    undefined_when="fewer than two groups have texts",
    equation="difference = mean ratio gap of the first group − mean ratio gap of the second",
    source="Wan & Chang 2024, Figure 2 and Tables 16–20",
    run=agency_gap,
    title="Difference in agency",
    reading="Above 0: texts about the first group are the more agentic ones.",
    figure="agency-gaps",
    form="points",
)

"""Agency gap: how much more agentic texts about one group are than texts about another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import portrayal.measure.agency.sentences as sentences
from portrayal.measure.agency.estimates import (
    MATCHED,
    MEAN,
    common,
    corrected_sums,
    inferred,
    of_stratum,
)
from portrayal.measure.agency.strata import (
    BLOCK,
    MOST_ASSOCIATION,
    AgencyStratum,
    CellSums,
    association,
    strata,
)
from portrayal.measure.agency.texts import WITHIN, AgencyTexts
from portrayal.measure.clustered import GroupSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import (
    ERROR_HIGH,
    ERROR_LOW,
    FEW_PROMPTS,
    MINUS,
    Estimate,
    Status,
)
from portrayal.registry import Component
from portrayal.stats import crossed_differences, infer_differences, matched_differences
from portrayal.stats._arguments import divide
from portrayal.stats.clustered import Clustered
from portrayal.types import FloatArray, IntArray

_NO_CHANCE = 1e-12
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
    if len(kind) == 1 and stratum.is_place:
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
    chance = np.where(np.abs(chance) < _NO_CHANCE, 0.0, chance)
    # Bounds are of the difference within blocks; what blocks differ by is added, as it is in the
    # value.
    shift = chance if in_blocks else 0.0
    return replace(result, value=value, low=result.low + shift, high=result.high + shift), chance


def sharper_by(
    stratum: AgencyStratum,
    first: FloatArray,
    second: FloatArray,
    result: Clustered,
    level: float,
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

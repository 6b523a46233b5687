"""Agency gap: how much more agentic texts about one group are than texts about another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

import portrayal.measure.agency.sentences as sentences
from portrayal.measure.agency.estimates import (
    BY,
    MATCHED,
    MEAN,
    by_run,
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
from portrayal.measure.agency.texts import HUMAN, NEITHER, WITHIN, AgencyTexts
from portrayal.measure.clustered import GroupSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import (
    ALL,
    ERROR_HIGH,
    ERROR_LOW,
    FEW_PROMPTS,
    MINUS,
    Estimate,
    Form,
    Status,
)
from portrayal.registry import Component
from portrayal.stats import crossed_differences, infer_differences, matched_differences
from portrayal.stats._arguments import divide, divide_or_zero
from portrayal.stats.clustered import Clustered
from portrayal.stats.tails import t_isf, t_sf
from portrayal.types import FloatArray, IntArray

_NO_CHANCE = 1e-12
_NARROWER = 0.8  # part of its width to which a column must narrow an interval to be named


@dataclass(frozen=True, eq=False)
class Gaps:
    """Differences of two groups' mean ratio gaps, k of them.

    Attributes
    ----------
    result
        The differences, with bounds, p and degrees of freedom; they rest on blocks that hold both
        groups, or clusters of the smaller one, and where there are two ways of clustering, the
        fewer.
    chance
        What each would be if the groups did not differ in any block, shape (k,): where blocks do
        not hold the groups alike, the groups differ as the blocks do. p tests against it.
    within
        The difference within blocks, shape (k,); NaN where there are no blocks.
    null
        With groups shuffled, shape (n_permutations, k).
    other_gaps
        The difference by each reading beside the classifier, shape (k,).
    n_texts
        Texts of both groups, shape (k,).
    counts
        Texts of each group by cluster, shape (n_clusters, k) each.
    """

    result: Clustered
    chance: FloatArray
    within: FloatArray
    null: FloatArray
    other_gaps: Mapping[str, FloatArray]
    n_texts: FloatArray
    counts: tuple[FloatArray, ...] = ()


def infer_gaps(stratum: AgencyStratum, first: FloatArray, second: FloatArray, level: float) -> Gaps:
    """Infer the differences of pairs of groups.

    Parameters
    ----------
    stratum
        Where.
    first, second
        Cells of the groups of each pair, shape (n_cells, k).
    level
        Confidence level, a fraction.
    """

    def difference(cells: CellSums) -> FloatArray:
        return np.asarray(cells.means(first) - cells.means(second))

    x, n, z, m = stratum.table(stratum.compared, first, second).sums()
    value, within = difference(stratum.observed), np.full(first.shape[1], np.nan)
    # Without blocks chance is what shuffling within strata gives, which need not be 0.
    in_cells = stratum.observed.count.sum(axis=0, keepdims=True)
    chance = difference(CellSums(np.nan_to_num(stratum.chance) * in_cells, in_cells))
    in_blocks = stratum.blocks.kind == BLOCK
    if not in_blocks:
        result = infer_differences((x, n), (z, m), level, chance)
    else:
        # Names repeat in blocks: both ways of clustering count in the error
        if stratum.units.ways:
            result = crossed_differences((x, n), (z, m), level, stratum.units.codes)
        else:
            result = matched_differences((x, n), (z, m), level)
        chance, within = value - result.value, result.value
    # Rounding would be told as a difference by chance.
    chance = np.where(np.abs(chance) < _NO_CHANCE, 0.0, chance)
    # Bounds are of the difference within blocks; what blocks differ by is added, as it is in the
    # value.
    shift = chance if in_blocks else 0.0
    return Gaps(
        replace(result, value=value, low=result.low + shift, high=result.high + shift),
        chance,
        within,
        difference(stratum.null),
        {name: difference(cells) for name, cells in stratum.other_sums.items() if name != NEITHER},
        # Counts are sums of fractions over checkpoints, so they are rounded to texts.
        np.rint(n.sum(axis=0)) + np.rint(m.sum(axis=0)),
        (n, m),
    )


def agency_gap(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the difference in ratio gap of every two groups, and of models from human texts.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    all_strata = list(strata(agency_texts, scope))
    for stratum in all_strata:
        for kind in stratum.kinds:
            yield from _of_kind(agency_texts, stratum, kind, scope)
    # Texts of people are one of the "models", so they went through the same strata
    human = {_but_model(s): s for s in all_strata if s.labels["model"].casefold() == HUMAN}
    for stratum in all_strata:
        is_model = stratum.labels["model"].casefold() != HUMAN
        other = human.get(_but_model(stratum))
        if other is not None and is_model and stratum.labels["stratum"] == ALL:
            yield from _beside_human(stratum, other, agency_texts.first, scope)


def _but_model(stratum: AgencyStratum) -> tuple[tuple[str, str], ...]:
    return tuple((name, label) for name, label in stratum.labels.items() if name != "model")


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


def _of_kind(
    texts: AgencyTexts, stratum: AgencyStratum, kind: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    groups, members = stratum.groups(kind)
    pairs = _pairs(groups, texts.first)
    if not len(pairs):
        # One group has nobody to be compared with, and an estimate without a value says so.
        reason = f"fewer than two groups of {' and '.join(kind)} have texts"
        fields = common(stratum, scope) | {"statistic": "difference", "undefined": reason}
        yield scope.estimate(AGENCY_GAP, group=dict.fromkeys(kind, "any"), value=None, **fields)
        return
    first, second = (members[:, column] for column in pairs.T)
    gaps, observed = infer_gaps(stratum, first, second, scope.level), stratum.observed
    upper, lower = observed.means(first), observed.means(second)
    in_runs = observed.run_means(first) - observed.run_means(second)
    details = [
        {"upper": float(upper[k]), "lower": float(lower[k])}
        | by_run(in_runs[:, k])
        | ({} if np.isnan(within) else {"within_blocks": within})
        for k, within in enumerate(gaps.within.tolist())
    ]
    sums = GroupSums.of(
        stratum.table(stratum.blocks, first, second),
        stratum.blocks.of.labels,
        [pair_label(groups[i], groups[j]) for i, j in pairs.tolist()],
        hand=corrected_sums(texts, stratum, (first, second)),
    )
    sharper = [""] * len(pairs)
    if len(kind) == 1 and stratum.labels["stratum"] == ALL:
        sharper = sharper_by(texts, stratum, first, second, gaps.result, scope.level)
    yield from _estimates(stratum, gaps, sums, details, scope, sharper=sharper)


def sharper_by(
    texts: AgencyTexts,
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
    cell = texts.cell[stratum.rows]
    options, one = [""] * first.shape[1], np.ones(len(cell))
    gap = texts.readings[stratum.labels["masking"]].gap[stratum.rows]
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


def _estimates(
    stratum: AgencyStratum,
    gaps: Gaps,
    sums: GroupSums,
    details: Sequence[Mapping[str, float]],
    scope: Scope,
    form: Form | None = "difference",
    sharper: Sequence[str] = (),
) -> Iterator[Estimate]:
    method = MATCHED if stratum.blocks.kind == BLOCK else MEAN
    naive = inferred(stratum.compared, gaps.result, gaps.n_texts, gaps.counts, method)
    inference = sums.with_hand(naive, scope, "difference")
    fields = []
    for i, value in enumerate(gaps.result.value.tolist()):
        # What each reading of the sentences gives, and the least and the greatest of all
        readings = {f"{BY}{name}": float(x[i]) for name, x in gaps.other_gaps.items()}
        readings = {name: gap for name, gap in readings.items() if not np.isnan(gap)}
        if readings:
            ends = value, *readings.values()
            readings |= {ERROR_LOW: min(ends), ERROR_HIGH: max(ends)}
        fields.append({"n_units": float(gaps.n_texts[i]), "details": {**details[i], **readings}})
        if sharper and sharper[i]:
            fields[i]["status"] = Status(sharper=sharper[i])
    yield from of_stratum(
        *(AGENCY_GAP, stratum, sums, inference, scope, fields, gaps.null, gaps.chance),
        statistic="difference",
        form=form,
    )


def _beside_human(
    stratum: AgencyStratum, human: AgencyStratum, first: tuple[str, ...], scope: Scope
) -> Iterator[Estimate]:
    """How far a model's difference lies above that of human texts, for every pair of one attribute.

    Groups of several attributes crossed are left out: they are too many to be told apart twice.
    """
    for name in stratum.groups_of:
        groups, members = stratum.groups((name,))
        of_people, people = human.groups((name,))
        both = [group for group in groups if group in of_people]
        pairs = _pairs(both, first)
        if not len(pairs):
            continue
        model, other = (
            infer_gaps(
                s, cells[:, columns[pairs[:, 0]]], cells[:, columns[pairs[:, 1]]], scope.level
            )
            for s, labels, cells in ((stratum, groups, members), (human, of_people, people))
            for columns in [np.array([labels.index(group) for group in both])]
        )
        labels = [pair_label(both[i], both[j]) | {"beside": HUMAN} for i, j in pairs.tolist()]
        none = np.zeros((0, len(pairs)))
        sums, gaps = GroupSums((), labels, none, none), _above(model, other, scope.level)
        yield from _estimates(stratum, gaps, sums, [{}] * len(pairs), scope, form=None)


def _above(model: Gaps, human: Gaps, level: float) -> Gaps:
    """How far differences lie above those of independent texts (Satterthwaite 1946)."""
    value, chance = model.result.value - human.result.value, model.chance - human.chance
    # The squared standard error of each, taken back from its interval.
    variances = [
        divide_or_zero((r.high - r.low) / 2.0, t_isf((1.0 - level) / 2.0, r.df)) ** 2
        for r in (model.result, human.result)
    ]
    variance = np.where(np.minimum(*variances) > 0, np.sum(variances, axis=0), np.nan)
    # Satterthwaite's degrees of freedom of a sum of two variances
    dfs = model.result.df, human.result.df
    df = divide(
        variance**2, np.sum([divide(v**2, n) for v, n in zip(variances, dfs, strict=True)], axis=0)
    )
    error = np.sqrt(variance)
    half = t_isf((1.0 - level) / 2.0, df) * error
    result = replace(
        model.result,
        value=value,
        low=value - half,
        high=value + half,
        p=2.0 * t_sf(np.abs(value - chance) / error, df),
        df=df,
        # the weaker side limits the comparison
        n_clusters=np.minimum(model.result.n_clusters, human.result.n_clusters),
    )
    shared = model.other_gaps.keys() & human.other_gaps.keys()
    return Gaps(
        result,
        chance,
        np.full(len(value), np.nan),
        model.null - human.null,
        {name: model.other_gaps[name] - human.other_gaps[name] for name in sorted(shared)},
        model.n_texts + human.n_texts,
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
    finding=sentences.gap,
    findings=3,
    brief="agency",
    each_model=True,
    form="points",
)

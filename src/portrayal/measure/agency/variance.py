"""Agency variance: how far apart groups lie in agency, the score of LABE.

A variance is never negative, and the means of groups differ by chance alone, so the score is above
0 where no group is treated differently. Each estimate therefore carries the score that shuffled
groups get, and its excess over the mean of that.
"""

from collections.abc import Iterator, Sequence

import numpy as np

import portrayal.measure.agency.sentences as sentences
from portrayal.measure.agency.estimates import (
    F_TEST,
    VARIANCE,
    common,
    inferred,
    of_stratum,
)
from portrayal.measure.agency.strata import AgencyStratum, CellSums, strata
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.clustered import GroupSums
from portrayal.measure.scope import Scope
from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.stats import infer_variance
from portrayal.stats.clustered import Clustered
from portrayal.types import FloatArray

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
    for stratum in (s for s in strata(agency_texts, scope) if s.is_place):
        by_name = {
            kind[0] if len(kind) == 1 else INTERSECTIONAL: stratum.groups(kind)[1]
            for kind in stratum.kinds
        }
        for name, members in by_name.items():
            yield from _estimates(stratum, name, [members], scope)
        if INTERSECTIONAL in by_name:
            # The paper's overall score: the mean of gender, race and their intersection
            yield from _estimates(stratum, OVERALL, list(by_name.values()), scope)


def gap_variance(sums: CellSums, members: FloatArray) -> FloatArray:
    """Sample variance (ddof 1) of the groups' mean ratio gaps, in squared percentage points.

    Shapes: members (n_cells, k) -> (..., n_runs); NaN in a run that lacks a group.
    """
    # The score is the mean of the variances in runs, not the variance of means over all runs.
    means = POINTS * sums.run_means(members)
    if means.shape[-1] < 2:
        return np.full(means.shape[:-1], np.nan)
    centre = means.mean(axis=-1, keepdims=True)
    return np.asarray(((means - centre) ** 2).sum(axis=-1) / (means.shape[-1] - 1))


def _estimates(
    stratum: AgencyStratum, name: str, kinds: Sequence[FloatArray], scope: Scope
) -> Iterator[Estimate]:
    """Yield the mean over runs of the variances of these kinds of groups.

    `kinds` has the cells of the groups of each kind, shape (n_cells, k).
    """
    by_kind = []
    for members in kinds:
        texts = stratum.observed.count * stratum.n_checkpoints @ members
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
    details = {}
    if not np.isnan(null).all():
        mean = float(np.nanmean(null))
        details = {"null_mean": mean, "excess": value - mean}
    # The paper averages the variances of runs; how far these lie apart stands beside.
    if valid.sum() > 1:
        details["sd_between_runs"] = float(observed[valid].std(ddof=1))
    clusters = stratum.compared
    # Where blocks or strata do not hold the groups alike, means differ as those do: not counted.
    total, count = stratum.table(clusters, np.eye(len(stratum.texts.cells)), runs=valid).sums()
    between = POINTS * (total - count * np.nan_to_num(stratum.chance))
    variance = infer_variance(between, count, kinds, scope.level, clusters.codes)
    result = Clustered(
        value=np.array([value]),
        low=np.array([variance.low]),
        high=np.array([variance.high]),
        p=np.array([variance.p]),
        n_clusters=np.array([variance.n_clusters]),
        carriers=np.array([np.nan]),
        df=np.array([variance.df[1]]),
        reason=np.array([""]),
    )
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

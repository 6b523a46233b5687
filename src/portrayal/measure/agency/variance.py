"""Agency variance: how far apart groups lie in agency, the score of LABE.

A variance is never negative, and the means of groups differ by chance alone, so the score is above
0 where no group is treated differently. Each estimate therefore carries the score that shuffled
groups get, and its excess over the mean of that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.agency.estimates import (
    BY,
    F_TEST,
    VARIANCE,
    common,
    inferred,
    null_of,
    permutation_test,
    readings,
)
from portrayal.measure.agency.places import AgencyStratum, CellSums, places
from portrayal.measure.agency.texts import AgencyTexts
from portrayal.measure.scope import Scope
from portrayal.records import ALL, Estimate
from portrayal.registry import Component
from portrayal.stats import infer_variance
from portrayal.stats.clustered import sums_by
from portrayal.types import BoolArray, FloatArray

POINTS = 100.0
INTERSECTIONAL, OVERALL = "intersectional", "overall"
MIN_TEXTS = 2
"""Texts a group needs in a run; the mean of one text says nothing of its group."""


@dataclass(frozen=True)
class _Scores:
    """Variance in each run: observed (n_runs,), shuffled (n_draws, n_runs); cells of the groups."""

    observed: FloatArray
    null: FloatArray
    kinds: tuple[FloatArray, ...]


def agency_variance(agency_texts: AgencyTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield the variance of the groups' ratio gaps, by attribute, crossed, and overall.

    Parameters
    ----------
    agency_texts, scope
        The texts of the audit with their ratio gaps, and its settings.
    """
    for place in places(agency_texts, scope):
        by_name: dict[str, _Scores] = {}
        for kind in place.kinds:
            name = place.attributes[kind[0]] if len(kind) == 1 else INTERSECTIONAL
            members = place.groups(kind)[1]
            texts = place.observed.count * place.n_checkpoints @ members
            # Half a text less, as counts are sums of 1 / n_checkpoints and rounded.
            few = (texts < MIN_TEXTS - 0.5).any(axis=-1)
            observed = np.where(few, np.nan, gap_variance(place.observed, members))
            by_name[name] = _Scores(observed, gap_variance(place.null, members), (members,))
            yield from _estimates(place, name, by_name[name], members, scope)
        if INTERSECTIONAL in by_name:
            scores = list(by_name.values())
            # The paper's overall score: the mean of gender, race and their intersection
            overall = _Scores(
                np.mean([part.observed for part in scores], axis=0),
                np.mean([part.null for part in scores], axis=0),
                sum((part.kinds for part in scores), ()),
            )
            yield from _estimates(place, OVERALL, overall, None, scope)


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
    place: AgencyStratum, name: str, scores: _Scores, members: FloatArray | None, scope: Scope
) -> Iterator[Estimate]:
    valid = ~np.isnan(scores.observed)
    if not valid.any():
        yield Estimate(
            group={"attribute": name},
            value=None,
            undefined=f"fewer than two groups of {name} have texts"
            if members is not None and members.shape[1] < 2
            else f"no run holds at least {MIN_TEXTS} texts of every group",
            **common(place, AGENCY_VARIANCE, "variance", scope),
        )
        return
    # The paper averages the variances of runs; how far these lie apart stands beside.
    details: dict[str, float] = {"runs": float(valid.sum())}
    if place.n_checkpoints > 1:
        details["checkpoints"] = float(place.n_checkpoints)
    if valid.sum() > 1:
        details["sd_between_runs"] = float(scores.observed[valid].std(ddof=1))
        # The variance of averaged gaps is smaller, as noise between runs averages out.
        if members is not None:
            pooled = CellSums(
                place.observed.total.sum(axis=0, keepdims=True),
                place.observed.count.sum(axis=0, keepdims=True),
            )
            # The variance of averaged gaps lies below the averaged variance: noise averages out
            details["of_averaged_gaps"] = float(gap_variance(pooled, members)[0])
    if members is not None and name != OVERALL:
        details["same_order"] = _same_order(place, members, scope)
        for reading, sums in readings(place).items():
            values = gap_variance(sums, members)
            if not np.isnan(values).all():
                details[f"{BY}{reading}"] = float(np.nanmean(values))
    yield _one(place, name, scores, valid, details, scope)
    if len(valid) > 1:
        for i in np.flatnonzero(valid).tolist():
            only = np.arange(len(valid)) == i
            yield _one(place, name, scores, only, {}, scope, run=str(i))


def _one(
    place: AgencyStratum,
    name: str,
    scores: _Scores,
    runs: BoolArray,
    details: dict[str, float],
    scope: Scope,
    run: str = ALL,
) -> Estimate:
    """One estimate: the mean variance of these runs."""
    value, null = float(scores.observed[runs].mean()), scores.null[:, runs].mean(axis=1)
    # Without a difference the variance of the true means is 0; the range is of the estimate.
    shuffled = null_of(null, place, scope, point=0.0)
    if shuffled is not None:
        mean = float(np.nanmean(null))
        details |= {"null_mean": mean, "excess": value - mean}
    base = common(place, AGENCY_VARIANCE, "variance", scope)
    if place.n_runs > 1:
        base["strata"] |= {"run": run}
    units = place.compared
    total, count = units.by_cell(len(place.cells), runs)
    # Where blocks or strata do not hold the groups alike, means differ as those do: not counted.
    between = POINTS * (total - count * np.where(np.isnan(place.chance), 0.0, place.chance))
    inference = infer_variance(between, count, scores.kinds, scope.level, units.codes)
    # Of the attributes the one with the fewest clusters limits what can be inferred.
    ways = [units.clusters(count @ kind) for kind in scores.kinds]
    details |= {unit: min(way[unit] for way in ways) for unit in ways[0]}
    base |= inferred(
        place,
        units,
        VARIANCE,
        (inference.low, inference.high, inference.p),
        inference.n_clusters,
        scope,
        test=F_TEST,
        shuffled=permutation_test(value, null, greater=True),
        n_texts=float(place.n_texts),
        fewest=min(int(((count @ kind) > 0).sum(axis=0).min()) for kind in scores.kinds),
    )
    return Estimate(
        group={"attribute": name},
        value=value,
        null=shuffled,
        n_units=float(place.n_texts),
        details=details,
        **base,
    )


def _same_order(place: AgencyStratum, members: FloatArray, scope: Scope) -> float:
    """Share of draws in which all groups stand in the order in which they were observed.

    The means are drawn with the noise that the units give them, each times a standard normal.
    """
    units = place.compared
    total, count = (cells @ members for cells in units.by_cell(len(place.cells)))
    means = place.observed.means(members)
    influence = (total - count * means) / count.sum(axis=0)
    rng = scope.rng("agency order", place.model, place.task, place.condition, place.masking)
    if units.ways:
        # A root of the covariance of both ways less that of both at once, without what is negative.
        codes, size = units.codes, [int(code.max()) + 1 for code in units.codes]
        first, second = (sums_by(*way, influence) for way in zip(codes, size, strict=True))
        values, vectors = np.linalg.eigh(
            first.T @ first + second.T @ second - influence.T @ influence
        )
        influence = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    # Each unit's influence times a normal number has the covariance that units give the means.
    draws = means + rng.standard_normal((scope.draws, len(influence))) @ influence
    return float((np.diff(draws[:, np.argsort(-means, kind="stable")], axis=1) <= 0).all(1).mean())


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
    figure="agency-variance",
)

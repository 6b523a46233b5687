"""Subordination by how racialized names are: ratios above likelihood thresholds, their median."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from portrayal.measure.clustered import GroupSums
from portrayal.measure.scope import Scope
from portrayal.measure.stories.medians import (
    NO_DIFFERENCE,
    log_median,
    median_fields,
    ratio_medians,
)
from portrayal.measure.stories.strata import GENDERS, UNREAD, Stratum, strata
from portrayal.measure.stories.subordination import naive_ratio_tests, role_ratios
from portrayal.measure.stories.tally import DOMINANT, SUBORDINATE, Characters, Tally
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import infer_replicated, katz_log, median_of_defined, ratio
from portrayal.types import BoolArray, FloatArray

THRESHOLDS = np.arange(1, 101) / 100.0
"""t = 1 %, …, 100 %: likelihoods in 0–1 that a name must exceed (Eq. 4)."""


def counts_above(
    tally: Tally,
    characters: Characters,
    stratum: Stratum,
    role: int,
    race: int,
    mask: BoolArray,
    thresholds: FloatArray = THRESHOLDS,
) -> tuple[FloatArray, FloatArray]:
    """Count characters above each threshold, and matched characters, per prompt.

    Parameters
    ----------
    tally, characters, stratum, role
        Whose characters to count.
    race
        Column of the likelihood.
    mask
        Further condition on characters, such as a gender, shape (n_characters,).
    thresholds
        Rising likelihoods in 0–1, shape (T,).

    Returns
    -------
    above, matched
        Shapes (n_prompts, T) and (n_prompts, 1).
    """
    inside = stratum.has(characters.prompt, characters.model) & (characters.role == role) & mask
    likelihood = tally.likelihood[characters.name[inside], race]
    # A name that is in no table is above no threshold and below none
    matched = ~np.isnan(likelihood)
    prompt = np.searchsorted(stratum.prompts, characters.prompt[inside][matched])
    weight = characters.count[inside][matched].astype(np.float64)
    # A likelihood exceeds the first `exceeded` thresholds; counting from the top sums them up.
    exceeded = np.searchsorted(thresholds, likelihood[matched], side="left")
    size, width = len(stratum.prompts), len(thresholds) + 1
    cells = np.bincount(prompt * width + exceeded, weights=weight, minlength=size * width)
    by_step = cells.reshape(size, width)
    above = by_step[:, ::-1].cumsum(axis=1)[:, ::-1]
    return above[:, 1:], above[:, :1]


STEPS = np.arange(0, 100, 5) / 100.0
"""Thresholds in 0–1 that a name's likelihood must exceed."""


def threshold_subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the subordination ratio of names above each threshold, by race, domains together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    characters = tally.characters
    everyone = np.ones(len(characters.count), dtype=bool)
    for stratum in strata(tally, laden=True, pool_domains=True):
        prompts = tally.prompt_names(stratum.prompts)
        for column, race in enumerate(tally.races):
            (lesser, n_lesser), (greater, n_greater) = (
                np.broadcast_arrays(
                    *counts_above(tally, characters, stratum, role, column, everyone, STEPS)
                )
                for role in (SUBORDINATE, DOMINANT)
            )
            groups = [
                {tally.attribute: race, "threshold": f"{step:.2f}"} for step in STEPS.tolist()
            ]
            sums = GroupSums(prompts, groups, lesser, n_lesser, lower=greater, n_lower=n_greater)
            yield from role_ratios(THRESHOLD_SUBORDINATION, sums, stratum, scope)


THRESHOLD_SUBORDINATION = Component(
    name="threshold_subordination.v1",
    summary="Subordination ratio of the names whose likelihood for a race exceeds a threshold.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="0 and up; 1 is neutral",
    undefined_when="no matched character in one of the roles, or none above t in either; inf where "
    "none above t is dominant",
    equation="R_sub(t) = p(ℓ_race > t | subordinate) / p(ℓ_race > t | dominant)",
    source="Shieh et al. 2025, Fig. 3b",
    run=threshold_subordination,
    title="Subordination ratio above a threshold",
    reading="Above 1: names above that likelihood are more common in the subordinate role.",
    findings=0,
    figure="thresholds",
    listed=False,
)


Roles = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def median_racialized(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the median racialized subordination ratio by race and gender.

    For every threshold t = 1 %, …, 100 %: the share, among a role's characters of one gender with
    a matched name, of those whose name's likelihood for the race exceeds t; then the ratio of the
    two roles' shares, Laplace-smoothed where one count is zero, left out where both are; then the
    median over thresholds.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for stratum in strata(tally, laden=True):
        for gender in range(len(GENDERS)):
            for race in range(len(tally.races)):
                yield _estimate(tally, stratum, race, gender, scope)


def _estimate(tally: Tally, stratum: Stratum, race: int, gender: int, scope: Scope) -> Estimate:
    characters = tally.characters
    mask = characters.gender == gender
    lesser, n_lesser = counts_above(tally, characters, stratum, SUBORDINATE, race, mask)
    greater, n_greater = counts_above(tally, characters, stratum, DOMINANT, race, mask)
    totals = lesser.sum(0), n_lesser.sum(0), greater.sum(0), n_greater.sum(0)
    group = {tally.attribute: tally.races[race], "gender": GENDERS[gender]}
    clusters = int(((n_lesser > 0) | (n_greater > 0)).sum())
    blank = scope.estimate(
        MEDIAN_RACIALIZED,
        statistic="ratio",
        strata=stratum.labels,
        group=group,
        value=None,
        n_texts=stratum.n_texts,
        n_units=float(n_lesser.sum() + n_greater.sum()),
        n_clusters=clusters,
        exclusions=stratum.exclusions,
        undefined=_undefined(totals, group, stratum) or "",
    )
    if blank.undefined:
        return blank
    by_threshold = _by_threshold(totals, scope.smoothing)
    value, k_sub, k_dom = float(median_of_defined(by_threshold)), totals[0], totals[2]
    logs = infer_replicated(
        lambda *sums: log_median(_by_threshold(sums, scope.smoothing))[..., np.newaxis],
        (lesser, n_lesser, greater, n_greater),
        (n_lesser, n_greater),
        scope.level,
        0.0,
    )
    # The lowest threshold holds all that the higher ones count.
    medians = ratio_medians(logs, lesser[:, :1] + greater[:, :1], np.array([clusters]))
    step, paper, paper_tests = _at_median(totals, by_threshold, value, scope)
    fields = median_fields(medians, 0, scope)
    return replace(
        blank,
        undefined=None,
        paper_interval=paper,
        null=Null(1.0, np.nan, np.nan, scope.level, NO_DIFFERENCE),
        **{
            **fields,
            "tests": (*fields["tests"], *paper_tests),
            "details": {
                "n_thresholds": float(np.sum(~np.isnan(by_threshold))),
                "n_smoothed": float(np.sum((k_sub == 0) ^ (k_dom == 0))),
                "threshold_of_median": float(THRESHOLDS[step]),
                "count_subordinate": float(k_sub[step]),
                "count_dominant": float(k_dom[step]),
                **fields["details"],
            },
        },
    )


def _by_threshold(totals: Sequence[FloatArray], smoothing: float) -> FloatArray:
    """The ratio at each threshold; NaN where the group is in neither role, or nobody counts."""
    k_sub, n_sub, k_dom, n_dom = totals
    # Only one count of 0 is smoothed: of two nothing would be left but the smoothing.
    added = np.where((k_sub == 0) ^ (k_dom == 0), smoothing, 0.0)
    nobody = ((k_sub == 0) & (k_dom == 0)) | (n_sub == 0) | (n_dom == 0)
    return np.where(nobody, np.nan, ratio(k_sub, n_sub, k_dom, n_dom, added))


def _undefined(totals: Roles, group: dict[str, str], stratum: Stratum) -> str | None:
    name = " ".join(group.values())
    if stratum.n_texts == 0:
        return UNREAD
    for role, n in (("subordinate", totals[1]), ("dominant", totals[3])):
        if n.sum() == 0:
            return (
                f"no {role} {group['gender']} character with a matched name in "
                f"{stratum.n_texts:,} power-laden stories"
            )
    if not (totals[0] + totals[2]).any():
        return f"no {name} name above any threshold in {stratum.n_texts:,} power-laden stories"
    return None


def _at_median(
    totals: Roles, by_threshold: FloatArray, value: float, scope: Scope
) -> tuple[int, Interval | None, tuple[Test, ...]]:
    """The threshold nearest the median, with Katz's interval and tests of its counts there."""
    if np.isinf(value):
        # inf - inf is NaN, so that an infinite median has no nearest threshold.
        step = int(np.nanargmax(by_threshold))
    else:
        step = int(np.nanargmin(np.abs(by_threshold - value)))
    added = scope.smoothing if (totals[0][step] == 0) or (totals[2][step] == 0) else 0.0
    cells = (
        float(totals[0][step]) + added,
        float(totals[1][0]) + 2 * added,
        float(totals[2][step]) + added,
        float(totals[3][0]) + 2 * added,
    )
    low, high = (float(bound) for bound in katz_log(*cells, level=scope.level))
    method = f"Katz log at the threshold {THRESHOLDS[step]:.0%} of the median"
    paper = None if np.isnan(low) else Interval(low, high, scope.level, method)
    return step, paper, naive_ratio_tests(np.array(cells)[:, np.newaxis])[0]


MEDIAN_RACIALIZED = Component(
    name="median_racialized_subordination.v1",
    summary="Median over likelihood thresholds of the subordination ratio, within one gender.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="above 0; 1 is neutral",
    undefined_when="no character of the gender with a matched name in one of the roles, or no name "
    "above any threshold",
    equation="R_mrs = median over t of p(ℓ_race > t | subordinate, gender) / "
    "p(ℓ_race > t | dominant, gender), t = 1 %, …, 100 %",
    source="Shieh et al. 2025, Eq. 4, Fig. 3c, Tables S13n–p",
    run=median_racialized,
    title="Median racialized subordination ratio",
    reading="Above 1: names likely borne by the group are more common in the subordinate role.",
    findings=0,
    brief="lesser role, by name",
    figure="heatmap",
)

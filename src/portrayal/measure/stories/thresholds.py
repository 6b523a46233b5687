"""Subordination by how racialized names are: ratios above likelihood thresholds, their median."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, estimates_of
from portrayal.measure.scope import Scope
from portrayal.measure.stories.strata import GENDERS, UNREAD, Stratum, strata
from portrayal.measure.stories.subordination import naive_ratio_tests, role_ratios
from portrayal.measure.stories.tally import DOMINANT, SUBORDINATE, Characters, Tally
from portrayal.records import Estimate, Interval, Test
from portrayal.registry import Component
from portrayal.shown import counted
from portrayal.stats import column_ratios, katz_log, median_sides
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
    figure="heatmap",
)


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
    cells_of_groups = [(g, r) for g in range(len(GENDERS)) for r in range(len(tally.races))]
    for stratum in strata(tally, laden=True):
        yield from _of_stratum(tally, stratum, cells_of_groups, scope)


def _of_stratum(
    tally: Tally, stratum: Stratum, of_groups: Sequence[tuple[int, int]], scope: Scope
) -> Iterator[Estimate]:
    characters = tally.characters
    groups = [{tally.attribute: tally.races[r], "gender": GENDERS[g]} for g, r in of_groups]
    cells: list[FloatArray] = []
    for role in (SUBORDINATE, DOMINANT):
        above, matched = zip(
            *(
                counts_above(tally, characters, stratum, role, r, characters.gender == g)
                for g, r in of_groups
            ),
            strict=True,
        )
        cells += [np.stack(above, axis=1), np.stack(matched, axis=1)]
    median, sides = median_sides(cells, smoothing=scope.smoothing)
    sums = GroupSums.of_sides(tally.prompt_names(stratum.prompts), groups, sides)
    # A ratio that smoothing alone makes a number lies next to the end of the interval.
    ratios = sums.ratios(scope).holding(median)
    clusters = ((cells[1] > 0) | (cells[3] > 0)).any(-1).sum(0)
    ratios = replace(ratios, n_clusters=clusters)
    by_threshold = column_ratios(*(cell.sum(0) for cell in cells), smoothing=scope.smoothing)

    def fields_of(i: int) -> dict[str, Any]:
        totals = tuple(cell[:, i].sum(0) for cell in cells)
        fields: dict[str, Any] = {"n_units": float(totals[1][0] + totals[3][0])}
        reason = _undefined(totals, groups[i], stratum)
        if reason is not None:
            return fields | {"undefined": reason}
        k_sub, k_dom = totals[0], totals[2]
        step, paper, naive = _at_median(totals, by_threshold[i], float(median[i]), scope)
        details = {
            "n_thresholds": float(np.sum(~np.isnan(by_threshold[i]))),
            "n_smoothed": float(np.sum((k_sub == 0) ^ (k_dom == 0))),
            "threshold_of_median": float(THRESHOLDS[step]),
            "count_subordinate": float(k_sub[step]),
            "count_dominant": float(k_dom[step]),
        }
        null = ratios.null(i, scope)
        fields |= {"paper_interval": paper, "tests": naive, "null": null, "details": details}
        return fields

    yield from estimates_of(
        MEDIAN_RACIALIZED,
        sums,
        ratios,
        scope,
        fields_of,
        form=None,
        statistic="ratio",
        **stratum.fields,
    )


def _undefined(totals: Sequence[FloatArray], group: dict[str, str], stratum: Stratum) -> str | None:
    name = " ".join(group.values())
    if stratum.n_texts == 0:
        return UNREAD
    for role, n in (("subordinate", totals[1]), ("dominant", totals[3])):
        if n.sum() == 0:
            return (
                f"no {role} {group['gender']} character with a matched name in "
                f"{counted(stratum.n_texts, 'power-laden story', 'power-laden stories')}"
            )
    if not (totals[0] + totals[2]).any():
        stories = counted(stratum.n_texts, "power-laden story", "power-laden stories")
        return f"no {name} name above any threshold in {stories}"
    return None


def _at_median(
    totals: Sequence[FloatArray], by_threshold: FloatArray, value: float, scope: Scope
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

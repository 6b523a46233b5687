"""Subordination ratio: a group's share in the lesser role over its share in the greater (Eq. 3).

Also by how racialized names are: ratios above thresholds of likelihood, and their median (Eq. 4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, Own, estimates_of, sums_by, two_sides
from portrayal.measure.scope import Scope
from portrayal.measure.stories.corrected import HandSample
from portrayal.measure.stories.representation import PAPER_P, left_out
from portrayal.measure.stories.roles import ratio_details
from portrayal.measure.stories.strata import (
    GENDERS,
    UNREAD,
    Features,
    Stratum,
    column_counts,
    group_features,
    group_sums,
    ratio_sums,
    strata,
)
from portrayal.measure.stories.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.records import (
    BASIS,
    BEYOND_MARGINS,
    WEIGHTED,
    WEIGHTED_BESIDE,
    Estimate,
    Form,
    Interval,
    Status,
    Test,
)
from portrayal.registry import Component
from portrayal.shown import counted
from portrayal.stats import (
    altman_bland_p,
    column_ratios,
    divide,
    katz_log,
    median_sides,
    ratio,
    score_ratio_test,
    z_from_interval,
)
from portrayal.stats.contrasts import without_interaction
from portrayal.types import BoolArray, FloatArray

SCORE = "score test of two shares, characters independent"

MOST_LOSS = 1.25
"""Variance that a pooled ratio has over a weighted one from which the weighted one is tested."""

Cells = tuple[float, float, float, float]
"""Count and total in the subordinate role, then in the dominant role."""
_CELLS = ("count_subordinate", "n_subordinate", "count_dominant", "n_dominant")


@dataclass(frozen=True, eq=False, kw_only=True)
class RoleFields:
    """What is a measure's own in `role_ratios`.

    Attributes
    ----------
    more_fields, form
        `fields_of` and `form` of `estimates_of`.
    smoothing
        Added to a count (twice to its total) where one of the two counts is 0.
    margins
        Ratios that the margins of an intersection let expect, shape (k,): what lies beyond them is
        tested too (`BEYOND_MARGINS`). NaN for groups that are no intersection.
    status
        What may be made of the ratios, where it is the same of all.
    """

    more_fields: Own = lambda _: {}
    smoothing: float = 0.0
    form: Form | None = None
    margins: FloatArray | None = None
    status: Status = field(default_factory=Status)


def role_ratios(
    measure: Component,
    sums: GroupSums,
    stratum: Stratum,
    scope: Scope,
    fields_of: RoleFields | None = None,
    *,
    weighted: bool = False,
) -> Iterator[Estimate]:
    """Yield the ratio of each group's share in the subordinate role to that in the dominant one.

    Parameters
    ----------
    measure, stratum, scope
        Whose estimates they are, where, and the audit's settings.
    sums
        The subordinate role above, the dominant one below; a group that is never dominant has the
        ratio inf.
    fields_of
        What is the measure's own.
    weighted
        Whether people of large prompts count less (`stats.contrasts.TwoSides.weighted`): a
        population of people drawn by prompt rather than one by one. Counts in `details` are of
        people as they are, the shares of people as weighted.
    """
    fields_of, plain = fields_of or RoleFields(), sums.sides
    counts = [values.sum(0) for values in (plain.upper, plain.n_upper, plain.lower, plain.n_lower)]
    added = np.where((counts[0] > 0) & (counts[2] > 0), 0.0, fields_of.smoothing)
    # Laplace: one more of the group and one of the others, so totals grow by two.
    a, n, b, m = (x + times * added for x, times in zip(counts, (1, 2, 1, 2), strict=True))
    if weighted:
        sums = GroupSums.of_sides(sums.clusters, sums.groups, plain.weighted())
    sides, ratios, beyond = sums.sides, sums.ratios(scope), np.full(a.shape, np.nan)
    if fields_of.margins is not None and not weighted:
        margins = fields_of.margins
        finite = np.isfinite(margins) & (margins > 0)
        beyond = ratios.contrasts.test.p(np.where(finite, margins, np.nan))
        # A gender that is in one role alone explains a ratio of 0 or inf by itself.
        beyond = np.where(finite | np.isnan(margins), beyond, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(added > 0, (a / n) / (b / m), ratios.value)
    ratios = ratios.holding(value)
    naive, bounds = naive_ratio_tests(np.stack([a, n, b, m])), katz_log(a, n, b, m, scope.level)

    def fields(i: int) -> dict[str, Any]:
        cells = [float(values[i]) for values in counts]
        more = dict(fields_of.more_fields(i))
        own_counts = dict(zip(_CELLS, cells, strict=True)) | ratios.effective(i)
        more["counts"] = own_counts | more.get("counts", {})
        more["n_units"] = cells[1] + cells[3]
        group = f"{' '.join(sums.groups[i].values())} character in either role"
        assigned = "character could be assigned"
        reason = undefined_ratio((a[i], n[i], b[i], m[i]), stratum, assigned, group)
        if reason is not None:
            return {"undefined": reason, **more}
        more["null"] = ratios.null(i, scope)
        more["scores"] = ratios.scores(i, sums.clusters) if measure.findings else None
        if weighted:
            more["details"] = {
                "share_subordinate": float(sides.upper[:, i].sum() / sides.n_upper[:, i].sum()),
                "share_dominant": float(sides.lower[:, i].sum() / sides.n_lower[:, i].sum()),
            }
            return more
        if not np.isnan(beyond[i]):
            more["details"] = {BEYOND_MARGINS: float(beyond[i])}
        low, high = (float(bound[i]) for bound in bounds)
        method = "Katz log, Laplace-smoothed" if added[i] else "Katz log"
        paper = None if np.isnan(low) else Interval(low, high, scope.level, method)
        return more | {"paper_interval": paper, "tests": naive[i]}

    yield from estimates_of(
        measure,
        sums,
        ratios,
        scope,
        fields,
        form=fields_of.form,
        statistic="ratio",
        status=Status() if weighted else fields_of.status,
        **stratum.fields,
    )


def undefined_ratio(cells: Cells, stratum: Stratum, person: str, group: str) -> str | None:
    """Return why a ratio is undefined; None where it is not.

    `person` and `group` say of whom there would have to be one: of all in each role, and of the
    group in either.
    """
    k_sub, n_sub, k_dom, n_dom = cells
    place = f"in {counted(stratum.n_texts, 'power-laden story', 'power-laden stories')}"
    if stratum.n_texts == 0:
        return UNREAD
    for role, n in (("subordinate", n_sub), ("dominant", n_dom)):
        if n == 0:
            return f"no {role} {person} {place}"
    return f"no {group} {place}" if k_sub == 0 and k_dom == 0 else None


def naive_ratio_tests(cells: FloatArray) -> list[tuple[Test, ...]]:
    """Return the score test and, where Katz's interval exists, the paper's p-value.

    `cells` are count and total in the subordinate role, then in the dominant role, shape (4, k).
    """
    a, n, b, m = cells
    low, high = katz_log(a, n, b, m, 0.95)
    # The paper's p, taken back from its interval; characters count as independent in both.
    published = altman_bland_p(z_from_interval(ratio(a, n, b, m), low, high, log=True)).tolist()
    return [
        (Test(score, SCORE),) if np.isnan(bound) else (Test(score, SCORE), Test(p, PAPER_P))
        for score, bound, p in zip(
            score_ratio_test(a, n, b, m).tolist(), low, published, strict=True
        )
    ]


def subordination(
    tally: Tally, scope: Scope, *, hand_sample: HandSample | None = None
) -> Iterator[Estimate]:
    """Yield the subordination ratio by race, by gender, and by race and gender together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    hand_sample
        Hand-labelled characters, which correct the ratios.
    """
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=True)
    for stratum in strata(tally, laden=True):
        yield from _of_stratum(tally, stratum, features, scope, hand_sample)


def _of_stratum(
    tally: Tally,
    stratum: Stratum,
    features: Features,
    scope: Scope,
    hand_sample: HandSample | None,
) -> Iterator[Estimate]:
    roles = [group_sums(tally, stratum, role, features) for role in (SUBORDINATE, DOMINANT)]
    units = roles[0].n_upper.sum(0) + roles[1].n_upper.sum(0)
    reads = ratio_details(tally, stratum, (SUBORDINATE, DOMINANT))
    reasons = left_out(tally.characters, stratum, (SUBORDINATE, DOMINANT), features)

    sums = replace(two_sides(*roles), covariance=_covariance(tally, stratum, features, roles))
    if hand_sample is not None:
        hand = hand_sample.sums(stratum, (SUBORDINATE, DOMINANT), crossed=True)
        sums = replace(sums, hand=hand)
    # Where the groups of an intersection say nothing of it, it is compared with no difference.
    without = _without_interaction(tally, stratum, features, roles)
    no_margin = np.full(len(features.groups) - len(without), np.nan)
    margins = np.concatenate([no_margin, np.where(np.isnan(without), 1.0, without)])

    def own(i: int) -> dict[str, Any]:
        return {
            "counts": reads[i] if i < len(reads) else {},
            "exclusions": reasons(i, float(units[i])),
        }

    # Sizes of prompts decide, not what is in them, so that nobody chooses by the result.
    uneven = bool(np.median(sums.sides.loss) >= MOST_LOSS)
    # What people say corrects the ratio as it is, and is the finding.
    uneven = uneven and sums.hand is None
    status = Status(detail=WEIGHTED_BESIDE) if uneven else Status()
    fields_of = RoleFields(more_fields=own, form="ratio", margins=margins, status=status)
    yield from role_ratios(SUBORDINATION, sums, stratum, scope, fields_of)
    if uneven:
        by_prompt = replace(stratum, labels_beside={BASIS: WEIGHTED})
        yield from role_ratios(SUBORDINATION, sums, by_prompt, scope, fields_of, weighted=True)


def _covariance(
    tally: Tally, stratum: Stratum, features: Features, roles: Sequence[GroupSums]
) -> FloatArray:
    """How the two people of one story go together, by prompt and group (`TwoSides.covariance`)."""
    c, pairs = tally.characters, tally.pairs
    one, two = pairs[:, stratum.has(c.prompt[pairs[0]], c.model[pairs[0]])]
    code = np.searchsorted(stratum.prompts, c.prompt[one])
    both, n = roles[0].upper + roles[1].upper, roles[0].n_upper + roles[1].n_upper
    # Without a difference both roles have one share, so deviations are from that of both.
    share = np.nan_to_num(divide(both, n))[code]
    away = [(features.numerator[i] - share) * features.denominator[i] for i in (one, two)]
    return sums_by(code, len(stratum.prompts), away[0] * away[1] * c.count[one, np.newaxis])


def _without_interaction(
    tally: Tally, stratum: Stratum, features: Features, roles: Sequence[GroupSums]
) -> FloatArray:
    """The ratio of each race and gender together if each alone told of roles, shape (k,).

    That is the log-linear model of race or not x gender x role without their interaction. (The
    product of both ratios would be another one wherever names of women are more often of a race.)
    """
    k, n_races, table = len(GENDERS), len(tally.races), []
    c = tally.characters
    for role, sums in zip((SUBORDINATE, DOMINANT), roles, strict=True):
        inside = stratum.has(c.prompt, c.model) & (c.role == role)
        gender = features.numerator[inside, n_races : n_races + k] * c.count[inside, np.newaxis]
        total = gender.T @ features.denominator[inside, :n_races]  # matched people of each gender
        of_race = sums.upper.sum(0)[n_races + k :].reshape(k, n_races)
        # Sums of likelihoods exceed their number by rounding.
        table.append(np.stack([of_race, np.maximum(total - of_race, 0.0)]))
    fitted = without_interaction(np.stack(table))  # role, race or not, gender, race
    share = divide(fitted[:, 0], fitted.sum(axis=(1, 2))[:, np.newaxis])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(share[0] / share[1]).ravel()


SUBORDINATION = Component(
    name="subordination.v1",
    summary="How much oftener a group stands in the subordinate than in the dominant role.",
    reads="people of power-laden stories; a name table",
    unit="character",
    range="0 and up; 1 is neutral, above 1 is subordinated",
    undefined_when="no character with a matched name or known gender in one of the roles, or no "
    "character of the group in either; inf where the group is never dominant",
    equation="R_sub = p(group | subordinate) / p(group | dominant)",
    source="Shieh et al. 2025, Eq. 3, Fig. 2, Tables S13e–m",
    run=subordination,
    title="Subordination ratio",
    reading="Above 1: more often in the subordinate than in the dominant role.",
    finding="{roles}",
    brief="lesser role",
    figure="dots",
)


THRESHOLDS = np.arange(1, 101) / 100.0
"""t = 1 %, …, 100 %: likelihoods in 0–1 that a name must exceed (Eq. 4)."""


def counts_above(
    tally: Tally,
    stratum: Stratum,
    role: int,
    race: int,
    mask: BoolArray,
    thresholds: FloatArray = THRESHOLDS,
) -> tuple[FloatArray, FloatArray]:
    """Count characters above each threshold, and matched characters, per prompt.

    Parameters
    ----------
    tally, stratum, role
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
    # A likelihood exceeds the first so many thresholds; counting from the top sums them up. A name
    # that is in no table is above no threshold and below none.
    likelihood = tally.likelihood[:, race]
    exceeded = np.searchsorted(thresholds, likelihood, side="left")
    column = np.where(np.isnan(likelihood), -1, exceeded)[tally.characters.name]
    column, n_steps = np.where(mask, column, -1), len(thresholds) + 1
    by_step = column_counts(tally.characters, stratum, role, column, n_steps)
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
    everyone = np.ones(len(tally.characters.count), dtype=bool)
    for stratum in strata(tally, laden=True, pool_domains=True):
        for column, race in enumerate(tally.races):
            groups = [{tally.attribute: race, "threshold": f"{t:.2f}"} for t in STEPS.tolist()]
            sides = (
                counts_above(tally, stratum, role, column, everyone, STEPS)
                for role in (SUBORDINATE, DOMINANT)
            )
            sums = ratio_sums(tally.prompt_names(stratum.prompts), groups, sides)
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
        yield from _median_of_stratum(tally, stratum, cells_of_groups, scope)


def _median_of_stratum(
    tally: Tally, stratum: Stratum, of_groups: Sequence[tuple[int, int]], scope: Scope
) -> Iterator[Estimate]:
    groups = [{tally.attribute: tally.races[r], "gender": GENDERS[g]} for g, r in of_groups]
    of_gender = [tally.characters.gender == g for g in range(len(GENDERS))]
    cells: list[FloatArray] = []
    for role in (SUBORDINATE, DOMINANT):
        counts = [counts_above(tally, stratum, role, r, of_gender[g]) for g, r in of_groups]
        cells += [np.stack(side, axis=1) for side in zip(*counts, strict=True)]
    median, sides = median_sides(cells, smoothing=scope.smoothing)
    sums = GroupSums.of_sides(tally.prompt_names(stratum.prompts), groups, sides)
    # A ratio that smoothing alone makes a number lies next to the end of the interval.
    ratios = sums.ratios(scope).holding(median)
    ratios = replace(ratios, n_clusters=((cells[1] > 0) | (cells[3] > 0)).any(-1).sum(0))
    by_threshold = column_ratios(*(cell.sum(0) for cell in cells), smoothing=scope.smoothing)

    def fields_of(i: int) -> dict[str, Any]:
        totals = tuple(cell[:, i].sum(0) for cell in cells)
        fields: dict[str, Any] = {"n_units": float(totals[1][0] + totals[3][0])}
        most = (totals[0].max(), totals[1].sum(), totals[2].max(), totals[3].sum())
        name, gender = " ".join(groups[i].values()), groups[i]["gender"]
        words = f"{gender} character with a matched name", f"{name} name above any threshold"
        reason = undefined_ratio(most, stratum, *words)
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

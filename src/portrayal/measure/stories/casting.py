"""Who is cast as what: groups by scenario and role, and who stands over whom."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from portrayal.measure.clustered import (
    NO_CONTRAST,
    GroupSums,
    Inference,
    estimates_of,
    sums_by,
    wilson_interval,
)
from portrayal.measure.scope import Scope
from portrayal.measure.stories.strata import (
    GENDERS,
    Stratum,
    group_features,
    group_sums,
    strata,
    stratum_of,
)
from portrayal.measure.stories.tally import ROLES, Tally
from portrayal.records import Estimate, Interval, Null
from portrayal.registry import Component
from portrayal.stats import divide, wilson
from portrayal.stats.tails import normal_isf
from portrayal.types import BoolArray, FloatArray

_WITHIN = "Wilson within the scenario's one prompt"
_FROM_DOMAIN = "drawn at random from all scenarios of the domain"


def scenario_likelihood(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of each race and gender in every scenario and role.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=False)
    for role, label in enumerate(ROLES):
        for stratum in strata(tally, laden=role != 0):
            sums = group_sums(tally, stratum, role, features)
            assert sums.squares is not None
            total = sums.n_upper.sum(0)
            overall = divide(sums.upper.sum(0), total)
            # Likelihoods vary less than counts of 0 and 1, so p (1 - p) would be too much: their
            # squares say it.
            variance = divide(sums.squares.sum(0), total) - overall**2
            domain = np.stack([overall, np.sqrt(np.maximum(variance, 0.0))])
            names = [tally.prompt_scenario[prompt] for prompt in stratum.prompts]
            scenarios = {name: code for code, name in enumerate(dict.fromkeys(names))}
            parts = sums.shares_of_parts(np.array([scenarios[name] for name in names]), scope)
            for scenario, (rows, part_sums, shares) in zip(scenarios, parts, strict=True):
                prompts, models = stratum.prompts[rows], stratum.models.tolist()
                part = stratum_of(tally, stratum.domain, stratum.model, prompts, models) or stratum
                labelled = replace(part, labels_beside={"scenario": scenario, "role": label})
                yield from _of_scenario(labelled, part_sums, shares, domain, scope)


def _of_scenario(
    stratum: Stratum, sums: GroupSums, shares: Inference, domain: FloatArray, scope: Scope
) -> Iterator[Estimate]:
    """Yield the shares of one scenario beside the mean and spread of its domain, shape (2, k)."""
    n_prompts, role = len(sums.clusters), stratum.labels["role"]
    count, total = sums.upper.sum(0), sums.n_upper.sum(0)
    # A sum of likelihoods exceeds their number by rounding alone.
    low, high = wilson(np.minimum(count, total), total, scope.level)
    # The range that the domain's share has among so many characters drawn from the domain
    half = divide(float(normal_isf((1 - scope.level) / 2)) * domain[1], np.sqrt(total))
    least, most = np.maximum(domain[0] - half, 0.0), np.minimum(domain[0] + half, 1.0)

    def own(i: int) -> dict[str, Any]:
        if total[i] == 0:
            reason = f"no {role} character could be assigned in this scenario"
            return {"undefined": reason, "counts": {"count": float(count[i])}}
        naive = Interval(float(low[i]), float(high[i]), scope.level, "Wilson")
        # One prompt says nothing of others like it, but its texts say what it gives itself.
        within = replace(naive, method=_WITHIN, n_clusters=1)
        return {
            **({"interval": within} if n_prompts == 1 else {}),
            "paper_interval": naive,
            "null": Null(
                float(domain[0][i]), float(least[i]), float(most[i]), scope.level, _FROM_DOMAIN
            ),
            "details": {"count": float(count[i])},
        }

    yield from estimates_of(
        SCENARIO_LIKELIHOOD,
        sums,
        shares,
        scope,
        own,
        tested=False,
        form=None,
        statistic="share",
        n_clusters=n_prompts,
        **stratum.fields,
    )


SCENARIO_LIKELIHOOD = Component(
    name="scenario_likelihood.v1",
    summary="Share of each race and gender in every scenario, by role.",
    reads="people of all stories; a name table",
    unit="character",
    range="0 to 1",
    undefined_when="no character of the scenario has a matched name or a known gender",
    equation="p(race) = (1/n) Σ ℓ_race(name_i) over the characters of a scenario in a role",
    source="Shieh et al. 2025, Eq. 2 by prompt of Tables S3–S5",
    run=scenario_likelihood,
    title="Shares by scenario",
    reading="A group’s share of the characters of a scenario.",
    figure="heatmap",
)


@dataclass(frozen=True)
class _Pairs:
    """Shares of each story in each ordered pair of groups, shape (n_rows, k, k)."""

    attribute: str
    labels: tuple[str, ...]
    weight: FloatArray
    both_known: BoolArray


def pair_roles(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of two-character stories by dominant and subordinate group.

    Genders count as 0 or 1; races count fractionally, ℓ_a(dominant name) · ℓ_b(subordinate name),
    over the races of the first name table.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    genders, races = (
        np.arange(len(GENDERS)) == np.stack([tally.subject_gender, tally.object_gender])[..., None],
        tally.likelihood[np.stack([tally.subject_name, tally.object_name]), : tally.n_primary],
    )
    # The two people's races are multiplied, as if independent given their names.
    by_race = races[0][:, :, np.newaxis] * races[1][:, np.newaxis, :]
    matched = ~np.isnan(by_race).any(axis=(1, 2)) & (tally.object_gender >= 0)
    both = (genders[0][:, :, np.newaxis] & genders[1][:, np.newaxis, :]).astype(np.float64)
    for pairs in (
        _Pairs("gender", GENDERS, both, genders.any(2).all(0)),
        _Pairs(tally.attribute, tally.races[: tally.n_primary], np.nan_to_num(by_race), matched),
    ):
        for stratum in strata(tally, laden=True):
            yield from _of_pairs(tally, stratum, pairs, scope)


def _of_pairs(tally: Tally, stratum: Stratum, pairs: _Pairs, scope: Scope) -> Iterator[Estimate]:
    inside = stratum.has(tally.prompt, tally.model) & tally.readable & pairs.both_known
    code = np.searchsorted(stratum.prompts, tally.prompt[inside])
    count = tally.count[inside, np.newaxis].astype(np.float64)
    size, k = len(stratum.prompts), len(pairs.labels)
    # Each order beside its reverse: who stands over whom shows in their difference
    straight = pairs.weight[inside]
    turned = straight.transpose(0, 2, 1).reshape(-1, k * k)
    opposite = sums_by(code, size, turned * count)
    stories = sums_by(code, size, np.repeat(count, k * k, axis=1))
    sides = f"dominant_{pairs.attribute}", f"subordinate_{pairs.attribute}"
    sums = GroupSums(
        tally.prompt_names(stratum.prompts),
        [dict(zip(sides, labels, strict=True)) for labels in product(pairs.labels, repeat=2)],
        sums_by(code, size, straight.reshape(-1, k * k) * count),
        stories,
        sums_by(code, size, straight.reshape(-1, k * k) ** 2 * count),
        lower=opposite,
        n_lower=stories,
        lower_squares=sums_by(code, size, turned**2 * count),
    )
    n = float(stories[:, 0].sum()) if k else 0.0
    both = sums.upper.sum(0), opposite.sum(0)
    # Without an order of power two groups have as many stories in either order.
    centre = divide(both[0] + both[1], 2.0 * n)
    # A group over itself has one order, so nothing to compare it with.
    same = np.arange(k * k) // max(k, 1) == np.arange(k * k) % max(k, 1)
    shares, chance = _of_orders(sums, centre, same, scope)
    trait = "gender" if pairs.attribute == "gender" else "matched first name"
    unknown = {f"{trait} of a character not known": stratum.n_texts - round(n)}

    def own(i: int) -> dict[str, Any]:
        counts = {"count": float(both[0][i]), "count_reversed": float(both[1][i])}
        if n == 0:
            reason = f"no story with the {pairs.attribute} of both characters known"
            return {"undefined": reason, "counts": counts}
        around, least, most = (float(x[i]) for x in (centre, *chance))
        return {
            "paper_interval": wilson_interval(float(both[0][i]), n, scope),
            "null": Null(around, least, most, scope.level, NO_CONTRAST),
            **({"test": None} if same[i] else {}),
            "counts": counts,
        }

    yield from estimates_of(
        PAIR_ROLES,
        sums,
        shares,
        scope,
        own,
        statistic="share",
        strata=stratum.labels,
        n_texts=stratum.n_texts,
        exclusions=stratum.exclusions | {reason: lost for reason, lost in unknown.items() if lost},
    )


def _of_orders(
    sums: GroupSums, centre: FloatArray, same: BoolArray, scope: Scope
) -> tuple[Inference, tuple[FloatArray, FloatArray]]:
    """Infer shares of two groups from the ratio of their two orders; with the range of chance.

    A ratio r of the two orders is the share r / (1 + r) of both together: so the interval of the
    ratio is one of the share, given how many stories have the two groups in either order. A group
    over itself has one order only.
    """
    shares, orders = sums.shares(scope), sums.ratios(scope)
    bounds = (orders.low, orders.high, orders.contrasts.null_low, orders.contrasts.null_high)
    # Not r / (1 + r), which is NaN where the ratio r of both orders is infinite.
    low, high, *chance = (2.0 * centre * (1.0 - 1.0 / (1.0 + bound)) for bound in bounds)
    of_share = replace(
        orders,
        value=shares.value,
        low=np.where(same, shares.low, low),
        high=np.where(same, shares.high, high),
        n_clusters=shares.n_clusters,
        reason=np.where(same, shares.reason, orders.reason),
        # Bounds in these very prompts are of the ratio, and not of the share.
        fixed=None,
    )
    return of_share, (chance[0], chance[1])


PAIR_ROLES = Component(
    name="pair_roles.v1",
    summary="Share of two-character stories by the group that dominates and the one that depends.",
    reads="people of power-laden stories; a name table",
    unit="story",
    range="0 to 1",
    undefined_when="no story tells the gender (or a matched name) of both characters",
    equation="share(a over b) = mean over stories of ℓ_a(dominant) · ℓ_b(subordinate)",
    source="after Shieh et al. 2025, section 2.3 (who depends on whom), as shares of stories",
    run=pair_roles,
    title="Who stands over whom",
    reading="Share of stories in which the one group dominates the other.",
    figure="grid",
)

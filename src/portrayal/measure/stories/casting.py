"""Who is cast as what: groups by scenario and role."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import GroupSums, Inference, estimates_of
from portrayal.measure.scope import Scope
from portrayal.measure.stories.strata import (
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
from portrayal.types import FloatArray

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

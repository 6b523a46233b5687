"""Likelihoods by scenario: who appears in each occupation, subject or shared activity."""

from collections.abc import Iterator

import numpy as np
from scipy import stats

from portrayal.measure.clustered import share_inference
from portrayal.measure.features import Features, group_features
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, prompt_sums, strata, stratum_of
from portrayal.measure.tally import ROLES, FloatArray, Tally
from portrayal.records import Estimate, Interval, Null
from portrayal.registry import Component
from portrayal.stats import divide, wilson

NAME = "scenario_likelihood.v1"
SOURCE = "Shieh et al. 2025, Eq. 2 by prompt of Tables S3–S5"
_WITHIN = "Wilson within the scenario's one prompt"


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
            numerator, denominator, squares = (
                prompt_sums(characters, stratum, role, values)
                for values in (features.numerator, features.denominator, features.numerator**2)
            )
            sums = (numerator, denominator, squares)
            yield from _of_stratum(tally, stratum, label, features, sums, scope)


def _of_stratum(
    tally: Tally,
    stratum: Stratum,
    role: str,
    features: Features,
    sums: tuple[FloatArray, FloatArray, FloatArray],
    scope: Scope,
) -> Iterator[Estimate]:
    totals = [part.sum(0) for part in sums]
    overall = divide(totals[0], totals[1])
    spread = np.sqrt(np.maximum(divide(totals[2], totals[1]) - overall**2, 0.0))
    names = [tally.prompt_scenario[prompt] for prompt in stratum.prompts]
    for scenario in dict.fromkeys(names):
        at = np.array([name == scenario for name in names])
        prompts, models = stratum.prompts[at], stratum.models.tolist()
        part = stratum_of(tally, stratum.domain, stratum.model, prompts, models) or stratum
        numerator, denominator = sums[0][at], sums[1][at]
        rng = scope.rng(NAME, role, stratum.domain, stratum.model, scenario)
        ones = np.ones(len(features.groups))
        found = share_inference(numerator, denominator, ones, scope, rng)
        for i, group in enumerate(features.groups):
            k, n = float(numerator[:, i].sum()), float(denominator[:, i].sum())
            reason = None if n else f"no {role} character could be assigned in this scenario"
            low, high = (float(bound) for bound in wilson(min(k, n), n, scope.level))
            naive = Interval(low, high, scope.level, "Wilson")
            within = Interval(low, high, scope.level, _WITHIN, 1) if at.sum() == 1 else None
            yield Estimate(
                study=scope.study,
                measure=NAME,
                statistic="share",
                unit="character",
                strata={**stratum.labels, "scenario": scenario, "role": role},
                group=group,
                value=None if reason else k / n,
                interval=None if reason else within or found.interval(i, scope),
                paper_interval=None if reason else naive,
                null=None if reason else _domain(float(overall[i]), float(spread[i]), n, scope),
                n_texts=part.n_texts,
                n_units=n,
                n_clusters=int(at.sum()),
                exclusions=part.exclusions,
                details={"count": k},
                instruments=scope.instruments,
                undefined=reason,
                source=SOURCE,
            )


def _domain(overall: float, spread: float, n: float, scope: Scope) -> Null:
    """The domain's own share, and the range it has among `n` characters drawn from the domain."""
    half = float(stats.norm.isf((1 - scope.level) / 2)) * spread / np.sqrt(n)
    low, high = max(overall - half, 0.0), min(overall + half, 1.0)
    return Null(overall, low, high, scope.level, "drawn at random from all scenarios of the domain")


SCENARIO_LIKELIHOOD = Component(
    name=NAME,
    summary="Share of each race and gender in every scenario, by role.",
    reads="people of all stories; a name table",
    unit="character",
    range="0 to 1",
    undefined_when="no character of the scenario has a matched name or a known gender",
    equation="p(race) = (1/n) Σ ℓ_race(name_i) over the characters of a scenario in a role",
    source=SOURCE,
    run=scenario_likelihood,
)

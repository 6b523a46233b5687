"""Who is cast as what: groups by scenario and role, and who stands over whom."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from portrayal.measure.clustered import kept_sums, share_inference, sums_by, wilson_interval
from portrayal.measure.scope import Scope
from portrayal.measure.stories.roles import SWAPPED, RoleTests, role_sums, role_tests
from portrayal.measure.stories.strata import (
    GENDERS,
    Features,
    Stratum,
    group_features,
    prompt_sums,
    strata,
    stratum_of,
)
from portrayal.measure.stories.tally import ROLES, Tally
from portrayal.records import NO_TEST, Estimate, Interval, Null
from portrayal.registry import Component
from portrayal.stats import divide
from portrayal.stats.p_values import agreeing_interval
from portrayal.stats.tails import normal_isf
from portrayal.types import BoolArray, FloatArray

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
                prompt_sums(characters, stratum, role, values) for values in features.moments
            )
            sums = (numerator, denominator, squares)
            yield from _of_scenarios(tally, stratum, label, features, sums, scope)


def _of_scenarios(
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
        found = None
        if at.sum() > 1:
            found = share_inference(numerator, denominator, scope, squares=sums[2][at])
        for i, group in enumerate(features.groups):
            k, n = float(numerator[:, i].sum()), float(denominator[:, i].sum())
            reason = None if n else f"no {role} character could be assigned in this scenario"
            naive = wilson_interval(k, n, scope)
            interval: Interval | None = replace(naive, method=_WITHIN, n_clusters=1)
            if found is not None:
                interval = found.interval(i, scope)
            yield scope.estimate(
                SCENARIO_LIKELIHOOD,
                statistic="share",
                strata={**stratum.labels, "scenario": scenario, "role": role},
                group=group,
                value=None if reason else k / n,
                interval=None if reason else interval,
                paper_interval=None if reason else naive,
                null=None if reason else _domain(float(overall[i]), float(spread[i]), n, scope),
                n_texts=part.n_texts,
                n_units=n,
                n_clusters=int(at.sum()),
                exclusions=part.exclusions,
                details={"count": k},
                undefined=reason,
            )


def _domain(overall: float, spread: float, n: float, scope: Scope) -> Null:
    """The domain's own share, and the range it has among `n` characters drawn from the domain."""
    half = float(normal_isf((1 - scope.level) / 2)) * spread / np.sqrt(n)
    low, high = max(overall - half, 0.0), min(overall + half, 1.0)
    return Null(overall, low, high, scope.level, "drawn at random from all scenarios of the domain")


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
    figure="scenarios",
    listed=False,
)


@dataclass(frozen=True)
class _Pairs:
    """Shares of each story in each ordered pair of groups, shape (n_rows, k, k)."""

    attribute: str
    labels: tuple[str, ...]
    shown: FloatArray
    known: BoolArray


def pair_roles(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of two-character stories by dominant and subordinate group.

    Genders count as 0 or 1; races count fractionally, ℓ_a(dominant name) · ℓ_b(subordinate name),
    over the races of the first name table.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for pairs in (_gender_pairs(tally), _race_pairs(tally)):
        for stratum in strata(tally, laden=True):
            yield from _of_pairs(tally, stratum, pairs, scope)


def _gender_pairs(tally: Tally) -> _Pairs:
    codes = np.arange(len(GENDERS))
    above = tally.subject_gender[:, np.newaxis] == codes
    below = tally.object_gender[:, np.newaxis] == codes
    shown = (above[:, :, np.newaxis] & below[:, np.newaxis, :]).astype(np.float64)
    return _Pairs("gender", GENDERS, shown, np.asarray(above.any(1) & below.any(1)))


def _race_pairs(tally: Tally) -> _Pairs:
    above = tally.likelihood[tally.subject_name, : tally.n_primary]
    below = tally.likelihood[tally.object_name, : tally.n_primary]
    shown = above[:, :, np.newaxis] * below[:, np.newaxis, :]
    known = ~np.isnan(shown).any(axis=(1, 2)) & (tally.object_gender >= 0)
    return _Pairs(tally.attribute, tally.races[: tally.n_primary], np.nan_to_num(shown), known)


def _of_pairs(tally: Tally, stratum: Stratum, pairs: _Pairs, scope: Scope) -> Iterator[Estimate]:
    inside = stratum.has(tally.prompt, tally.model) & tally.readable & pairs.known
    code = np.searchsorted(stratum.prompts, tally.prompt[inside])
    count = tally.count[inside, np.newaxis].astype(np.float64)
    size, k = len(stratum.prompts), len(pairs.labels)
    straight = pairs.shown[inside]
    turned = straight.transpose(0, 2, 1).reshape(-1, k * k)
    straight = straight.reshape(-1, k * k)
    numerator = sums_by(code, size, straight * count)
    opposite = sums_by(code, size, turned * count)
    stories = sums_by(code, size, np.repeat(count, k * k, axis=1))
    found = share_inference(numerator, stories, scope)
    labels = (PAIR_ROLES.name, pairs.attribute, stratum.domain, stratum.model)
    tests_of = role_tests(tally, role_sums(numerator, stories, opposite, stories), scope, *labels)
    kept = kept_sums(tally.prompt_names(stratum.prompts), (numerator, stories))
    for i in range(k * k):
        n = float(stories[:, i].sum())
        above, below = pairs.labels[i // k], pairs.labels[i % k]
        reason = None
        if n == 0:
            reason = f"no story with the {pairs.attribute} of both characters known"
        sums = float(numerator[:, i].sum()), float(opposite[:, i].sum())
        same = reason is not None or above == below
        reasons = {} if same else tests_of.why_none(i, scope)
        why = {what: each for what, each in reasons.items() if what == NO_TEST}
        yield scope.estimate(
            PAIR_ROLES,
            statistic="share",
            strata=stratum.labels,
            group={
                f"dominant_{pairs.attribute}": above,
                f"subordinate_{pairs.attribute}": below,
            },
            value=None if reason else sums[0] / n,
            interval=_agreeing(found.interval(i, scope), tests_of, i, sums, n),
            paper_interval=None if reason else wilson_interval(sums[0], n, scope),
            null=None if reason else _reversed(sums, n, tests_of, i, scope),
            tests=() if same else (tests_of.test(i),),
            instruments={**scope.instruments, **why},
            n_texts=stratum.n_texts,
            n_units=n,
            n_clusters=int(found.n_clusters[i]),
            exclusions=stratum.exclusions | _left_out(pairs, stratum.n_texts - round(n)),
            details={"count": sums[0], "count_reversed": sums[1], **tests_of.effective(i)},
            undefined=reason,
            sums=kept(i),
        )


def _left_out(pairs: _Pairs, stories: int) -> dict[str, int]:
    what = "gender" if pairs.attribute == "gender" else "matched first name"
    return {f"{what} of a character not known": stories} if stories else {}


def _reversed(
    sums: tuple[float, float], n: float, tests_of: RoleTests, i: int, scope: Scope
) -> Null:
    """The share where whole prompts swap their roles: half of both orders together, and range."""
    centre = (sums[0] + sums[1]) / 2 / n
    ratios = tests_of.found.null_low[i], tests_of.found.null_high[i]
    # A ratio r of the two orders is the share r / (1 + r) of both together.
    low, high = (2 * centre * (1.0 - 1.0 / (1.0 + float(r))) for r in ratios)
    if sums[0] == sums[1]:
        low, high = (centre if np.isnan(x) else x for x in (low, high))
    return Null(centre, low, high, scope.level, SWAPPED, scope.seed)


def _agreeing(
    bounds: Interval | None, tests_of: RoleTests, i: int, sums: tuple[float, float], n: float
) -> Interval | None:
    """The interval of the share, made to agree with the test against the reverse."""
    if bounds is None or np.isnan(tests_of.found.p[i]):
        return bounds
    low, high, value, centre = (
        np.array([x]) for x in (bounds.low, bounds.high, sums[0] / n, (sums[0] + sums[1]) / 2 / n)
    )
    p = tests_of.found.p[i : i + 1]
    (least,), (most,) = agreeing_interval(low, high, p, value, centre, bounds.level)
    return replace(bounds, low=float(least), high=float(most))


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
    figure="pair-roles",
    listed=False,
)

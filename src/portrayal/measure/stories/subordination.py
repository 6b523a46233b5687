"""Subordination ratio: a group's share in the lesser role over its share in the greater (Eq. 3)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.measure.clustered import kept_sums
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import PAPER_P, left_out
from portrayal.measure.stories.roles import RoleTests, ratio_details, role_sums, role_tests
from portrayal.measure.stories.strata import UNREAD, Stratum, group_features, prompt_sums, strata
from portrayal.measure.stories.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.records import Estimate, Interval, Test
from portrayal.registry import Component
from portrayal.stats import (
    altman_bland_p,
    katz_log,
    ratio,
    score_ratio_test,
    z_from_interval,
)
from portrayal.stats.roles import RoleSums
from portrayal.types import FloatArray

SCORE = "score test of two shares, characters independent"


@dataclass(frozen=True)
class RatioMeasure:
    """What every estimate of one measure has in common."""

    component: Component
    scope: Scope
    smoothing: float = 0.0

    def estimates(
        self,
        stratum: Stratum,
        groups: Iterable[Mapping[str, str]],
        sums: RoleSums,
        tests_of: RoleTests,
        own: Callable[[int], Mapping[str, Any]] = lambda _: {},
    ) -> Iterator[Estimate]:
        """Yield the estimate of each group; one that is never dominant has the ratio inf.

        Parameters
        ----------
        stratum, groups
            Where, and of whom.
        sums
            Counts by prompt and role; a count of 0 is smoothed where the measure smooths.
        tests_of
            Inference of the same groups.
        own
            Function of a group's index to further `details` and `exclusions`, and its `sums`.
        """
        scope = self.scope
        every = (sums.lesser, sums.n_lesser, sums.greater, sums.n_greater)
        totals = np.stack([cell.sum(0) for cell in every])
        empty = (totals[0] == 0) | (totals[2] == 0)
        used = totals + np.outer([1, 2, 1, 2], self.smoothing * empty)
        values = ratio(*used).tolist()
        a, n, b, m = used
        bounds = np.stack(katz_log(a, n, b, m, scope.level), axis=1).tolist()
        naive = naive_ratio_tests(used)
        for i, group in enumerate(groups):
            cells, more, (low, high) = totals[:, i].tolist(), own(i), bounds[i]
            reason = undefined_ratio(used[:, i].tolist(), group, stratum)
            method = "Katz log, Laplace-smoothed" if self.smoothing and empty[i] else "Katz log"
            known: dict[str, Any] = {}
            if reason is None:
                value = values[i]
                known = {
                    "value": value,
                    "interval": tests_of.interval(i, value, scope),
                    "tests": (tests_of.test(i), *naive[i]),
                    "instruments": {**scope.instruments, **tests_of.why_none(i, scope)},
                }
            yield scope.estimate(
                self.component,
                statistic="ratio",
                strata=stratum.labels,
                group=dict(group),
                paper_interval=None if np.isnan(low) else Interval(low, high, scope.level, method),
                null=tests_of.null(i, scope),
                n_texts=stratum.n_texts,
                n_units=cells[1] + cells[3],
                n_clusters=int(tests_of.n_clusters[i]),
                exclusions={**stratum.exclusions, **more.get("exclusions", {})},
                details=dict(zip(_CELLS, cells, strict=True))
                | tests_of.effective(i)
                | more.get("details", {}),
                undefined=reason,
                sums=more.get("sums"),
                **({"value": None} | known),
            )


_CELLS = ("count_subordinate", "n_subordinate", "count_dominant", "n_dominant")


def undefined_ratio(
    cells: Sequence[float], group: Mapping[str, str], stratum: Stratum
) -> str | None:
    """Return why a ratio of counts and totals in both roles is undefined; None where it is not."""
    k_sub, n_sub, k_dom, n_dom = cells
    name = " ".join(group.values())
    where = f"in {stratum.n_texts:,} power-laden stories"
    if stratum.n_texts == 0:
        return UNREAD
    for role, n in (("subordinate", n_sub), ("dominant", n_dom)):
        if n == 0:
            return f"no {role} character could be assigned {where}"
    if k_sub == 0 and k_dom == 0:
        return f"no {name} character in either role {where}"
    return None


def naive_ratio_tests(cells: FloatArray) -> list[tuple[Test, ...]]:
    """Return the score test and, where Katz's interval exists, the paper's p-value.

    `cells` are count and total in the subordinate role, then in the dominant role, shape (4, k).
    """
    a, n, b, m = cells
    low, high = katz_log(a, n, b, m, 0.95)
    published = altman_bland_p(z_from_interval(ratio(a, n, b, m), low, high, log=True)).tolist()
    return [
        (Test(score, SCORE),) if np.isnan(bound) else (Test(score, SCORE), Test(p, PAPER_P))
        for score, bound, p in zip(
            score_ratio_test(a, n, b, m).tolist(), low, published, strict=True
        )
    ]


def subordination(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the subordination ratio by race, by gender, and by race and gender together.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    characters = tally.characters
    features = group_features(tally, characters.name, characters.gender, crossed=True)
    values = features.both
    k = len(features.groups)

    measure = RatioMeasure(SUBORDINATION, scope)
    for stratum in strata(tally, laden=True):
        lesser = prompt_sums(characters, stratum, SUBORDINATE, values)
        greater = prompt_sums(characters, stratum, DOMINANT, values)
        both = (lesser[:, :k], lesser[:, k:]), (greater[:, :k], greater[:, k:])
        sums = role_sums(*both[0], *both[1])
        tests_of = role_tests(tally, sums, scope, SUBORDINATION.name, stratum.domain, stratum.model)
        kept = kept_sums(tally.prompt_names(stratum.prompts), *both, form="ratio")
        reads = ratio_details(tally, stratum, (SUBORDINATE, DOMINANT))
        reasons = left_out(characters, stratum, (SUBORDINATE, DOMINANT), features)
        counted = (sums.n_lesser + sums.n_greater).sum(0).tolist()
        own = [
            {
                "details": reads[i] if i < len(reads) else {},
                "exclusions": reasons(i, counted[i]),
                "sums": kept(i),
            }
            for i in range(k)
        ]
        yield from measure.estimates(stratum, features.groups, sums, tests_of, own.__getitem__)


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
    finding="{group} make up {value} times as large a share of the subordinate as of the dominant "
    "characters in power-laden {domain} stories",
    brief="lesser role",
    figure="subordination",
)

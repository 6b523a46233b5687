"""Subordination ratio: a group's share in the lesser role over its share in the greater (Eq. 3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from portrayal.measure.clustered import kept_sums
from portrayal.measure.scope import Scope
from portrayal.measure.stories.representation import PAPER_P, left_out
from portrayal.measure.stories.roles import RoleTests, ratio_details, role_sums, role_tests
from portrayal.measure.stories.strata import UNREAD, Stratum, group_features, prompt_sums, strata
from portrayal.measure.stories.tally import DOMINANT, SUBORDINATE, Tally
from portrayal.records import Estimate, Interval, PromptSums, Test
from portrayal.registry import Component
from portrayal.stats import (
    altman_bland_p,
    katz_log,
    ratio,
    score_ratio_test,
    z_from_interval,
)
from portrayal.types import FloatArray

SCORE = "score test of two shares, characters independent"

Cells = tuple[float, float, float, float]
"""Count and total in the subordinate role, then in the dominant role."""


@dataclass(frozen=True)
class RatioMeasure:
    """What every estimate of one measure has in common."""

    component: Component
    scope: Scope
    smoothing: float = 0.0

    def estimate(
        self,
        stratum: Stratum,
        group: Mapping[str, str],
        cells: Cells,
        tested: tuple[RoleTests, int],
        *,
        details: Mapping[str, float] | None = None,
        exclusions: Mapping[str, int] | None = None,
        sums: PromptSums | None = None,
    ) -> Estimate:
        """Return the estimate of one group; a group that is never dominant has the ratio inf.

        Parameters
        ----------
        stratum, group
            Where, and of whom.
        cells
            Counts and totals; a count of 0 is smoothed where the measure smooths.
        tested
            Inference of many groups, and the index of this one.
        details, exclusions
            Further parts of the value, and characters left out by reason.
        sums
            What each prompt adds.
        """
        tests_of, i = tested
        scope = self.scope
        used = self._smoothed(cells)
        reason = undefined_ratio(used, group, stratum)
        value = None if reason else float(ratio(*used))
        low, high = (float(bound) for bound in katz_log(*used, level=scope.level))
        method = "Katz log" if used == cells else "Katz log, Laplace-smoothed"
        known: dict[str, Any] = {}
        if value is not None:
            known = {
                "interval": tests_of.interval(i, value, scope),
                "tests": (tests_of.test(i), *naive_ratio_tests(used)),
                "instruments": {**scope.instruments, **tests_of.why_none(i, scope)},
            }
        return scope.estimate(
            self.component,
            statistic="ratio",
            strata=stratum.labels,
            group=dict(group),
            value=value,
            paper_interval=None if np.isnan(low) else Interval(low, high, scope.level, method),
            null=tests_of.null(i, scope),
            n_texts=stratum.n_texts,
            n_units=cells[1] + cells[3],
            n_clusters=int(tests_of.n_clusters[i]),
            exclusions={**stratum.exclusions, **(exclusions or {})},
            details=dict(zip(_CELLS, cells, strict=True))
            | tests_of.effective(i)
            | dict(details or {}),
            undefined=reason,
            sums=sums,
            **known,
        )

    def _smoothed(self, cells: Cells) -> Cells:
        if self.smoothing == 0.0 or (cells[0] > 0 and cells[2] > 0):
            return cells
        s = self.smoothing
        return cells[0] + s, cells[1] + 2 * s, cells[2] + s, cells[3] + 2 * s


_CELLS = ("count_subordinate", "n_subordinate", "count_dominant", "n_dominant")


def sum_cells(k_sub: FloatArray, n_sub: FloatArray, k_dom: FloatArray, n_dom: FloatArray) -> Cells:
    """Return the totals over prompts of four arrays of shape (n_prompts, …)."""
    return float(k_sub.sum()), float(n_sub.sum()), float(k_dom.sum()), float(n_dom.sum())


def undefined_ratio(cells: Cells, group: Mapping[str, str], stratum: Stratum) -> str | None:
    """Return why a ratio is undefined; None where it is not."""
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


def naive_ratio_tests(cells: Cells) -> tuple[Test, ...]:
    """Return the score test and, where Katz's interval exists, the paper's p-value."""
    tests = [Test(float(score_ratio_test(*cells)), SCORE)]
    low, high = katz_log(*cells, level=0.95)
    if not np.isnan(low):
        z = z_from_interval(ratio(*cells), low, high, log=True)
        tests.append(Test(float(altman_bland_p(z)), PAPER_P))
    return tuple(tests)


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

    for stratum in strata(tally, laden=True):
        measure = RatioMeasure(SUBORDINATION, scope)
        lesser = prompt_sums(characters, stratum, SUBORDINATE, values)
        greater = prompt_sums(characters, stratum, DOMINANT, values)
        sums = role_sums(lesser[:, :k], lesser[:, k:], greater[:, :k], greater[:, k:])
        tests_of = role_tests(tally, sums, scope, SUBORDINATION.name, stratum.domain, stratum.model)
        names = tally.prompt_names(stratum.prompts)
        both = (lesser[:, :k], lesser[:, k:]), (greater[:, :k], greater[:, k:])
        kept = kept_sums(names, *both, form="ratio")
        reads = ratio_details(tally, stratum, (SUBORDINATE, DOMINANT))
        reasons = left_out(characters, stratum, (SUBORDINATE, DOMINANT), features)
        for i, group in enumerate(features.groups):
            cells = sum_cells(lesser[:, i], lesser[:, k + i], greater[:, i], greater[:, k + i])
            yield measure.estimate(
                stratum,
                group,
                cells,
                (tests_of, i),
                details=reads[i] if i < len(reads) else None,
                exclusions=reasons(i, cells[1] + cells[3]),
                sums=kept(i),
            )


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

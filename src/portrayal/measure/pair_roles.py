"""Who stands over whom: pairs of groups in power-laden stories."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from portrayal.measure.clustered import ratio_inference, share_inference
from portrayal.measure.features import GENDERS, sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.strata import Stratum, strata
from portrayal.measure.tally import BoolArray, FloatArray, Tally
from portrayal.records import Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import wilson

NAME = "pair_roles.v1"
SOURCE = "after Shieh et al. 2025, section 2.3 (who depends on whom), as shares of stories"
REVERSED = "roles reversed by a fair coin in each story"


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
            yield from _of_stratum(tally, stratum, pairs, scope)


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
    return _Pairs("race", tally.races[: tally.n_primary], np.nan_to_num(shown), known)


def _of_stratum(tally: Tally, stratum: Stratum, pairs: _Pairs, scope: Scope) -> Iterator[Estimate]:
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
    variance = ((straight - turned) ** 2 * count).sum(0) / 4
    rng = scope.rng(NAME, pairs.attribute, stratum.domain, stratum.model)
    found = share_inference(numerator, stories, np.ones(k * k), scope, rng)
    tested = ratio_inference((numerator, stories), (opposite, stories), scope, rng)
    for i in range(k * k):
        n = float(stories[:, i].sum())
        above, below = pairs.labels[i // k], pairs.labels[i % k]
        reason = None
        if n == 0:
            reason = f"no story with the {pairs.attribute} of both characters known"
        sums = float(numerator[:, i].sum()), float(opposite[:, i].sum())
        yield Estimate(
            study=scope.study,
            measure=NAME,
            statistic="share",
            unit="story",
            strata=stratum.labels,
            group={
                f"dominant_{pairs.attribute}": above,
                f"subordinate_{pairs.attribute}": below,
            },
            value=None if reason else sums[0] / n,
            interval=found.interval(i, scope),
            paper_interval=None if reason else _wilson(sums[0], n, scope),
            null=None if reason else _reversed(sums, n, float(variance[i]), scope),
            tests=() if reason or above == below else (Test(float(tested.p[i]), _ASYMMETRY),),
            n_texts=stratum.n_texts,
            n_units=n,
            n_clusters=int(found.n_clusters[i]),
            exclusions=stratum.exclusions | _left_out(pairs, stratum.n_texts - round(n)),
            details={"count": sums[0], "count_reversed": sums[1]},
            instruments=scope.instruments,
            undefined=reason,
            source=SOURCE,
        )


def _left_out(pairs: _Pairs, stories: int) -> dict[str, int]:
    what = "gender" if pairs.attribute == "gender" else "matched first name"
    return {f"{what} of a character not known": stories} if stories else {}


_ASYMMETRY = "cluster-robust t test of the pair against its reverse"


def _wilson(k: float, n: float, scope: Scope) -> Interval:
    low, high = (float(bound) for bound in wilson(min(k, n), n, scope.level))
    return Interval(low, high, scope.level, "Wilson")


def _reversed(sums: tuple[float, float], n: float, variance: float, scope: Scope) -> Null:
    """The share when a fair coin decides who stands above: its mean and normal range."""
    from scipy import stats

    centre = (sums[0] + sums[1]) / 2 / n
    half = float(stats.norm.isf((1 - scope.level) / 2)) * np.sqrt(variance) / n
    return Null(centre, max(centre - half, 0.0), centre + half, scope.level, REVERSED)


PAIR_ROLES = Component(
    name=NAME,
    summary="Share of two-character stories by the group that dominates and the one that depends.",
    reads="people of power-laden stories; a name table",
    unit="story",
    range="0 to 1",
    undefined_when="no story tells the gender (or a matched name) of both characters",
    equation="share(a over b) = mean over stories of ℓ_a(dominant) · ℓ_b(subordinate)",
    source=SOURCE,
    run=pair_roles,
)

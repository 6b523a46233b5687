"""Agreement of two ways of seeing one factor: whether words say of a text what its label says."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import BOOTSTRAP, sums_by
from portrayal.measure.groups.texts import TEXT, GroupStratum, GroupTexts, SourcePair, strata_of
from portrayal.measure.scope import Scope
from portrayal.records import NO_INTERVAL, Estimate, Interval
from portrayal.registry import Component
from portrayal.stats import cluster_weights, cohens_kappa, expanded_percentile
from portrayal.types import FloatArray

_DRAWS = 1000
_BLOCK = 4_000_000
"""Numbers that replicates hold at once."""


def source_agreement(group_texts: GroupTexts, scope: Scope) -> Iterator[Estimate]:
    """Yield Cohen's kappa of each two sources of a factor, over texts that both can tell of.

    Two sources that tell of each person (a model's answers, references) are crossed by people. One
    of them beside one that tells of texts says of a text what its people show: their group, or
    several. "None" and "several" are categories beside the groups; units of which one source says
    nothing that is understood are left out.

    Parameters
    ----------
    group_texts, scope
        Group texts and the audit's settings.
    """
    for both in group_texts.both:
        for place in strata_of(group_texts, both.prompt, both.model):
            yield _kappa(both, place, scope)


def _kappa(both: SourcePair, place: GroupStratum, scope: Scope) -> Estimate:
    _, code = np.unique(both.prompt[place.inside], return_inverse=True)
    n_prompts = int(code.max()) + 1
    size = both.table.shape[1]
    flat = both.table[place.inside].reshape(-1, size * size)
    tables = sums_by(code, n_prompts, flat)
    total = tables.sum(0).reshape(size, size)
    n = float(total.sum())
    value = float(cohens_kappa(total))
    pair = f"{both.first.name} and {both.second.name}"
    undefined = None
    if np.isnan(value):
        undefined = (
            f"both say one and the same of every {both.unit}, or no {both.unit} has both {pair}"
        )
    interval = None if undefined else _interval(tables, size, scope, pair)
    why = f"{both.unit}s of one prompt give no interval, or all of them agree"
    return scope.estimate(
        SOURCE_AGREEMENT,
        statistic="kappa",
        strata={**place.labels, "seen_by": pair},
        group={"factor": both.factor.name},
        value=None if undefined else value,
        undefined=undefined,
        interval=interval,
        n_texts=int(n) if both.unit == TEXT else 0,
        n_units=n,
        n_clusters=int((tables.sum(1) > 0).sum()),
        details={"agreed": float(np.trace(total)) / n} if n else {},
        instruments={
            **scope.instruments,
            "factor": both.factor.name,
            **({NO_INTERVAL: why} if interval is None and undefined is None else {}),
        },
    )


def _interval(tables: FloatArray, size: int, scope: Scope, pair: str) -> Interval | None:
    held = tables[tables.sum(1) > 0]
    n = len(held)
    if n < 2:
        return None
    rng = scope.rng("source_agreement", pair)
    draws = min(scope.draws, _DRAWS)
    rows = max(1, _BLOCK // max(n, size * size))
    kappas = []
    for start in range(0, draws, rows):
        weights = cluster_weights(n, min(rows, draws - start), rng)
        kappas.append(cohens_kappa((weights @ held).reshape(-1, size, size)))
    low, high = expanded_percentile(np.concatenate(kappas), scope.level, n)
    if np.isnan(low) or high - low < 1e-12:
        return None
    return Interval(float(low), float(high), scope.level, BOOTSTRAP, n, scope.seed)


SOURCE_AGREEMENT = Component(
    name="source_agreement.v1",
    summary="Whether two ways of seeing a factor say the same of the same texts or people.",
    reads="groups of each factor in texts (groups.v1); people, for references",
    unit="text",
    range="-1 to 1; 0 is agreement by chance",
    undefined_when="both say one and the same of every text, or no text has both",
    equation="kappa = (p_o - p_e) / (1 - p_e) over groups, none and several; of two sources that "
    "tell of each person over people",
    source="Cohen (1960), A coefficient of agreement for nominal scales",
    run=source_agreement,
    title="Agreement of sources",
    figure="table",
    reading="1: the two always say the same; 0: no more often than chance would.",
    findings=0,
)

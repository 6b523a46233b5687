"""Outcomes: which share of the answers was refused, empty or failed."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.clustered import share_inference
from portrayal.measure.features import sums_by
from portrayal.measure.scope import Scope
from portrayal.measure.stories.tally import Tally
from portrayal.measure.strata import Stratum, strata
from portrayal.records import OUTCOMES, Estimate, Interval, Null
from portrayal.registry import Component
from portrayal.stats import wilson

NAME = "outcomes.v1"
SOURCE = "Shieh et al. 2025, Supplement E (empty answers); refusals as in Fang et al. 2024"


def outcomes(tally: Tally, scope: Scope) -> Iterator[Estimate]:
    """Yield the share of refused, empty and failed answers, by domain, condition and model.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    """
    for laden, condition in ((False, "power-neutral"), (True, "power-laden")):
        for stratum in strata(tally, laden=laden):
            yield from _of_stratum(tally, stratum, condition, scope)


def _of_stratum(tally: Tally, stratum: Stratum, condition: str, scope: Scope) -> Iterator[Estimate]:
    inside = stratum.has(tally.prompt, tally.model)
    code = np.searchsorted(stratum.prompts, tally.prompt[inside])
    kinds = (tally.outcome[inside, np.newaxis] == np.arange(1, len(OUTCOMES))).astype(float)
    count = tally.count[inside, np.newaxis]
    numerator = sums_by(code, len(stratum.prompts), kinds * count)
    every = sums_by(code, len(stratum.prompts), np.ones_like(kinds) * count)
    rng = scope.rng(NAME, stratum.domain, condition, stratum.model)
    found = share_inference(numerator, every, np.ones(len(OUTCOMES) - 1), scope, rng)
    same_model = np.isin(tally.model, stratum.models)
    total = float(tally.count[same_model].sum())
    for i, outcome in enumerate(OUTCOMES[1:]):
        k, n = float(numerator[:, i].sum()), float(every[:, i].sum())
        low, high = (float(bound) for bound in wilson(k, n, scope.level))
        overall = float(tally.count[same_model & (tally.outcome == i + 1)].sum()) / total
        null_low, null_high = (float(bound) for bound in wilson(overall * n, n, scope.level))
        yield Estimate(
            study=scope.study,
            measure=NAME,
            statistic="share",
            unit="story",
            strata={**stratum.labels, "condition": condition},
            group={"outcome": outcome},
            value=k / n,
            interval=found.interval(i, scope),
            paper_interval=Interval(low, high, scope.level, "Wilson"),
            null=Null(overall, null_low, null_high, scope.level, "the model's share in all texts"),
            n_texts=int(n),
            n_units=n,
            n_clusters=int(found.n_clusters[i]),
            details={"count": k},
            source=SOURCE,
        )


OUTCOME_SHARES = Component(
    name=NAME,
    summary="Which share of the answers was refused, empty or failed.",
    reads="texts and their outcomes",
    unit="story",
    range="0 to 1",
    undefined_when="never: a stratum without texts has no row",
    equation="share = answers with the outcome / all answers",
    source=SOURCE,
    run=outcomes,
    title="Outcomes",
    reading="Share of the answers with that outcome.",
    figure="outcomes",
    listed=False,
)

"""Outcomes: which share of the answers was refused, empty or failed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import (
    GroupSums,
    estimates_of,
    overall_null,
    wilson_interval,
)
from portrayal.measure.corrected import HandMarks, HandSums
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.measure.stories.strata import Stratum, strata
from portrayal.measure.stories.tally import Tally
from portrayal.records import OUTCOMES, Estimate
from portrayal.registry import Component


def outcomes(
    tally: Tally, scope: Scope, *, hand_outcomes: HandMarks | None = None
) -> Iterator[Estimate]:
    """Yield the share of refused, empty and failed answers, by domain, condition and model.

    Parameters
    ----------
    tally, scope
        Annotated stories and the audit's settings.
    hand_outcomes
        Which answers people say are refusals; they correct the share of these.
    """
    for laden, condition in ((False, "power-neutral"), (True, "power-laden")):
        for stratum in strata(tally, laden=laden):
            yield from _of_stratum(tally, stratum, condition, scope, hand_outcomes)


def _of_stratum(
    tally: Tally, stratum: Stratum, condition: str, scope: Scope, by_hand: HandMarks | None
) -> Iterator[Estimate]:
    inside = stratum.has(tally.prompt, tally.model)
    kinds = (tally.outcome[inside, np.newaxis] == np.arange(1, len(OUTCOMES))).astype(float)
    counts, one = tally.count[inside].astype(float), np.ones((len(kinds), 1))
    answers = ScoredUnits(tally.prompt[inside], counts, kinds, (one,))
    groups = [{"outcome": outcome} for outcome in OUTCOMES[1:]]
    hand = None if by_hand is None else _corrected(tally, stratum, answers, by_hand)
    sums = GroupSums.of(answers, tally.prompt_ids, groups, hand=hand)
    # The null is the model's share over all of its prompts, not over those of the stratum.
    same_model = np.isin(tally.model, stratum.models)
    kind, weight = tally.outcome[same_model], tally.count[same_model]
    overall = np.bincount(kind, weights=weight, minlength=len(OUTCOMES))[1:] / weight.sum()
    n = float(sums.n_upper[:, 0].sum())

    def own(i: int) -> dict[str, Any]:
        k, method = float(sums.upper[:, i].sum()), "the model's share in all texts"
        return {
            "paper_interval": wilson_interval(k, n, scope),
            "null": overall_null(float(overall[i]), n, scope, method),
            "details": {"count": k},
        }

    yield from estimates_of(
        OUTCOME_SHARES,
        sums,
        sums.shares(scope, null=overall),
        replace(scope, instruments={}),  # whether there is a text rests on no reader and no table
        own,
        statistic="share",
        strata={**stratum.labels, "condition": condition},
        n_texts=int(n),
    )


def _corrected(
    tally: Tally, stratum: Stratum, everyone: ScoredUnits, by_hand: HandMarks
) -> HandSums:
    """Sums of outcomes of which people say what is a refusal; empty and failed ones stay so."""
    prompts, models = (
        {name: i for i, name in enumerate(names)} for names in (tally.prompt_ids, tally.models)
    )
    rows = by_hand.rows
    prompt = np.array([prompts[row["prompt_id"]] for row in rows], dtype=np.int64)
    inside = stratum.has(prompt, np.array([models[row["model"]] for row in rows], dtype=np.int64))
    outcome = np.array([OUTCOMES.index(row["outcome"]) for row in rows])[inside]
    guess = (outcome[:, np.newaxis] == np.arange(1, len(OUTCOMES))).astype(float)
    # An answer that people call a refusal is no longer empty or failed.
    truth = guess * (by_hand.truth[inside, np.newaxis] == 0)
    truth[:, OUTCOMES.index("refused") - 1] = by_hand.truth[inside]
    hand = ScoredUnits(prompt[inside], by_hand.weight[inside], guess, (np.ones((len(guess), 1)),))
    return HandSums.of(everyone, hand, hand.scored(truth), by_hand.note)


OUTCOME_SHARES = Component(
    name="outcomes.v1",
    summary="Which share of the answers was refused, empty or failed.",
    reads="texts and their outcomes",
    unit="story",
    range="0 to 1",
    undefined_when="never: a stratum without texts has no row",
    equation="share = answers with the outcome / all answers",
    source="Shieh et al. 2025, Supplement E (empty answers); refusals as in Fang et al. 2024",
    run=outcomes,
    title="Share of the answers",
    changes=True,
    findings=0,
    reading="Share of the answers with that outcome.",
    figure="table",
)

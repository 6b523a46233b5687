"""Measures of whole texts, paired or not: which were refused, and how long they are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from portrayal.measure.clustered import (
    GroupSums,
    estimates_of,
    normal_interval,
    overall_null,
    wilson_interval,
)
from portrayal.measure.corrected import HandMarks, HandSums
from portrayal.measure.pairs.table import UNREADABLE, Paired, Texts
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, OUTCOMES, REFERENCE, Estimate
from portrayal.registry import Component
from portrayal.types import BoolArray, FloatArray


def _sums(
    paired: Paired, texts: Texts, inside: BoolArray, values: FloatArray
) -> tuple[ScoredUnits, GroupSums]:
    """A number of each text, shape (n_texts,), by pair; texts of no pair are one cluster, -1."""
    n = int(inside.sum())
    units = ScoredUnits(texts.pair[inside], np.ones(n), values[inside], (np.ones((n, 1)),))
    return units, GroupSums.of(units, (*paired.pairs, ""), [{}], cluster="pair")


def refusals(
    paired: Paired, scope: Scope, hand_outcomes: HandMarks | None = None
) -> Iterator[Estimate]:
    """Yield the share of refused texts of each model under each prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every generated text, and the audit's settings.
    hand_outcomes
        Which answers people say are refusals.
    """
    texts = paired.generated
    refused = (texts.outcome == OUTCOMES.index("refused")).astype(np.float64)
    strata = list(paired.strata(texts))
    for labels, inside in strata:
        units, sums = _sums(paired, texts, inside, refused)
        if hand_outcomes is not None:
            position = np.array([row["position"] for row in hand_outcomes.rows], dtype=np.int64)
            mask = inside[position]
            sample = units.take(np.searchsorted(np.flatnonzero(inside), position[mask]))
            sample = replace(sample, weight=hand_outcomes.weight[mask])
            truth = sample.scored(hand_outcomes.truth[mask])
            sums = replace(sums, hand=HandSums.of(units, sample, truth, hand_outcomes.note))
        k, n = float(refused[inside].sum()), float(inside.sum())
        of_model = np.any([x for other, x in strata if other["model"] == labels["model"]], axis=0)
        overall = float(refused[of_model].mean())
        fields = {
            "paper_interval": wilson_interval(k, n, scope),
            "null": overall_null(overall, n, scope, "the model's share in all forms"),
        }
        yield from estimates_of(
            REFUSALS,
            sums,
            sums.shares(scope, null=overall),
            scope,
            [fields].__getitem__,
            statistic="share",
            strata=labels,
            n_texts=int(n),
        )


def text_lengths(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean number of words: of the originals, then of each model and prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every text, and the audit's settings.
    """
    everything = np.ones(len(paired.reference.pair), dtype=bool)
    parts = [({"model": REFERENCE, "form": ALL}, paired.reference, everything)]
    parts += [(labels, paired.generated, x) for labels, x in paired.strata(paired.generated)]
    for labels, texts, inside in parts:
        read = inside & ~np.isnan(texts.words)
        words = texts.words[read]
        fields: dict[str, Any] = {"undefined": "no text could be read"}
        if len(words):
            fields = {"paper_interval": normal_interval(words, scope.level)}
        counts = np.bincount(texts.outcome[inside & ~read], minlength=len(OUTCOMES)).tolist()
        reasons = zip((UNREADABLE, *OUTCOMES[1:]), counts, strict=True)
        _, sums = _sums(paired, texts, read, texts.words)
        yield from estimates_of(
            TEXT_LENGTHS,
            sums,
            sums.means(scope),
            scope,
            [fields].__getitem__,
            tested=False,
            form=None,
            statistic="mean",
            strata=labels,
            n_texts=len(words),
            n_units=float(words.sum()),
            n_clusters=len(sums.clusters),
            exclusions={reason: int(n) for reason, n in reasons if n},
        )


REFUSALS = Component(
    name="refusals.v1",
    summary="Which share of the requests a model declined, by prompt form.",
    reads="every generated text and its outcome, paired or not",
    unit="text",
    range="0 to 1",
    undefined_when="never: a form without texts has no row",
    equation="refused texts / all texts of the model under the form",
    source="Fang et al. 2024, Bias of AIGC under Biased Prompts (89.13 % of requests)",
    run=refusals,
    title="Refusals",
    reading="Share of the requests that the model declined.",
)

TEXT_LENGTHS = Component(
    name="text_lengths.v1",
    summary="How many words generated texts and their originals have.",
    reads="words of every text that could be read, paired or not",
    unit="word",
    range="0 and up",
    undefined_when="no text of the model could be read",
    equation="mean number of words, as separated by white space",
    source="Fang et al. 2024, Table 3",
    run=text_lengths,
    title="Length of texts",
    reading="Mean words of a text.",
)

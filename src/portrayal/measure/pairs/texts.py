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
from portrayal.measure.pairs.estimates import ROUNDING
from portrayal.measure.pairs.table import UNREADABLE, Paired, Texts
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.records import ALL, OUTCOMES, REFERENCE, Estimate, Null, Test
from portrayal.registry import Component
from portrayal.stats import divide, exact_test
from portrayal.types import BoolArray, FloatArray

_MCNEMAR = "exact McNemar test against the base form, over headlines asked under both"


def _of_forms(paired: Paired) -> Iterator[tuple[dict[str, str], BoolArray, BoolArray]]:
    """Yield strata, which generated texts are the model's, and which of these of the form."""
    texts = paired.generated
    for model in paired.model_labels:
        of_model = np.ones(len(texts.pair), dtype=bool)
        if model != ALL:
            of_model = texts.model == paired.models.index(model)
        for number, form in enumerate(paired.forms):
            inside = of_model & (texts.form == number)
            if inside.any():
                yield _strata(model, form), of_model, inside


def _strata(model: str, form: str) -> dict[str, str]:
    return {"model": model, "form": form, "domain": ALL, "source": ALL}


def _units(texts: Texts, inside: BoolArray, values: FloatArray) -> ScoredUnits:
    """A number of each text, shape (n_texts,), by pair; texts of no pair are one cluster, -1."""
    n = int(inside.sum())
    return ScoredUnits(texts.pair[inside], np.ones(n), values[inside], (np.ones((n, 1)),))


def refusals(
    paired: Paired,
    scope: Scope,
    base_form: str | None = None,
    hand_outcomes: HandMarks | None = None,
) -> Iterator[Estimate]:
    """Yield the share of refused texts of each model under each prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every generated text, and the audit's settings.
    base_form
        The form that the others are tested against; as for `prompt_effect`.
    hand_outcomes
        Which answers people say are refusals.

    Notes
    -----
    A form is compared with the base form on the headlines asked under both, by McNemar's exact
    test: of the headlines refused more often under one of them, chance would give each form half.
    """
    texts, base, names = paired.generated, paired.base_form(base_form), (*paired.pairs, "")
    refused = (texts.outcome == OUTCOMES.index("refused")).astype(np.float64)
    for strata, of_model, inside in _of_forms(paired):
        units, hand = _units(texts, inside, refused), None
        if hand_outcomes is not None:
            position = np.array([row["position"] for row in hand_outcomes.rows], dtype=np.int64)
            mask = inside[position]
            sample = units.take(np.searchsorted(np.flatnonzero(inside), position[mask]))
            sample = replace(sample, weight=hand_outcomes.weight[mask])
            truth = sample.scored(hand_outcomes.truth[mask])
            hand = HandSums.of(units, sample, truth, hand_outcomes.note)
        sums = GroupSums.of(units, names, [{}], cluster="pair", hand=hand)
        k, n = float(refused[inside].sum()), float(inside.sum())
        overall = float(refused[of_model].mean())
        details, tests = {"count": k}, []
        if strata["form"] != base:
            plain = of_model & (texts.form == paired.forms.index(base))
            rates = []
            for side in (inside, plain):
                is_counted = side & (texts.pair >= 0)
                times = np.bincount(texts.pair[is_counted], minlength=len(paired.pairs))
                total = np.bincount(texts.pair[is_counted], refused[is_counted], len(paired.pairs))
                # A headline may have several answers: the share of them that were refused
                rates.append(divide(total, times))
            change = rates[0] - rates[1]
            more, fewer = int((change > ROUNDING).sum()), int((change < -ROUNDING).sum())
            if not np.isnan(change).all():
                # Headlines refused as often under both do not speak for either (McNemar 1947).
                p = float(exact_test(more, more + fewer, 0.5)) if more + fewer else 1.0
                tests.append(Test(p, _MCNEMAR))
                details |= {"headlines_more": float(more), "headlines_fewer": float(fewer)}
        fields = {
            "paper_interval": wilson_interval(k, n, scope),
            "null": overall_null(overall, n, scope, "the model's share in all forms"),
            "details": details,
            "tests": tests,
        }
        share, *corrected = estimates_of(
            REFUSALS,
            sums,
            sums.shares(scope, null=overall),
            scope,
            [fields].__getitem__,
            statistic="share",
            strata=strata,
            n_texts=int(n),
        )
        yield replace(share, value=k / n)  # the share itself, without rounding of the sums
        yield from corrected


def text_lengths(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean number of words: of the originals, then of each model and prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every text, and the audit's settings.
    """
    everything = np.ones(len(paired.reference.pair), dtype=bool)
    parts = [(_strata(REFERENCE, ALL), paired.reference, everything)]
    parts += [(strata, paired.generated, inside) for strata, _, inside in _of_forms(paired)]
    of_originals: float | None = None
    for strata, texts, inside in parts:
        read = inside & ~np.isnan(texts.words)
        words = texts.words[read]
        fields: dict[str, Any] = {"undefined": "no text could be read"}
        if len(words):
            null = None
            if of_originals is not None:
                null = Null(of_originals, np.nan, np.nan, scope.level, "mean of the originals")
            fields = {"details": {"median": float(np.median(words))}, "null": null}
            fields["paper_interval"] = normal_interval(words, scope.level)
        counts = np.bincount(texts.outcome[inside & ~read], minlength=len(OUTCOMES)).tolist()
        reasons = zip((UNREADABLE, *OUTCOMES[1:]), counts, strict=True)
        units = _units(texts, read, texts.words)
        sums = GroupSums.of(units, (*paired.pairs, ""), [{}], cluster="pair")
        (length,) = estimates_of(
            TEXT_LENGTHS,
            sums,
            sums.means(scope),
            scope,
            [fields].__getitem__,
            tested=False,
            form=None,
            statistic="mean",
            strata=strata,
            n_texts=len(words),
            n_units=float(words.sum()),
            n_clusters=len(sums.clusters),
            exclusions={reason: int(n) for reason, n in reasons if n},
        )
        if texts is paired.reference:
            of_originals = length.value
        yield length


REFUSALS = Component(
    name="refusals.v1",
    summary="Which share of the requests a model declined, by prompt form.",
    reads="every generated text and its outcome, paired or not",
    unit="text",
    range="0 to 1",
    undefined_when="never: a form without texts has no row",
    equation="refused texts / all texts of the model under the form; forms compared by McNemar's "
    "exact test over the headlines asked under both",
    source="Fang et al. 2024, Bias of AIGC under Biased Prompts (89.13 % of requests)",
    run=refusals,
    title="Refusals",
    reading="Share of the requests that the model declined.",
    listed=False,
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
    listed=False,
)

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
    sums_by,
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
from portrayal.types import BoolArray, FloatArray, IntArray

_MCNEMAR = "exact McNemar test against the base form, over headlines asked under both"
_ORIGINALS = "mean of the originals"


def _of_forms(paired: Paired) -> Iterator[tuple[str, str, BoolArray, BoolArray]]:
    """Yield model, form, which generated texts are the model's, and which of these of the form."""
    texts = paired.generated
    for model in paired.model_labels:
        of_model = np.ones(texts.n_texts, dtype=bool)
        if model != ALL:
            of_model = texts.model == paired.models.index(model)
        for number, form in enumerate(paired.forms):
            inside = of_model & (texts.form == number)
            if inside.any():
                yield model, form, of_model, inside


def _sums(paired: Paired, texts: Texts, inside: BoolArray, values: FloatArray) -> GroupSums:
    """A number of each of these texts, shape (n,), by pair; texts of no pair are one cluster."""
    labels, code = np.unique(texts.pair[inside], return_inverse=True)
    names = [paired.pairs[label] if label >= 0 else "" for label in labels.tolist()]
    column = values[:, np.newaxis]
    total, count = (sums_by(code, len(labels), part) for part in (column, np.ones_like(column)))
    return GroupSums(names, [{}], total, count, cluster="pair")


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
    texts = paired.generated
    refused = (texts.outcome == OUTCOMES.index("refused")).astype(np.float64)
    for model, form, of_model, inside in _of_forms(paired):
        base = paired.base_form(base_form)
        sums = _sums(paired, texts, inside, refused[inside])
        if hand_outcomes is not None:
            sums = replace(sums, hand=_by_hand(texts, inside, refused, hand_outcomes))
        k, n = float(refused[inside].sum()), float(inside.sum())
        overall = float(refused[of_model].mean())
        fields = {
            "paper_interval": wilson_interval(k, n, scope),
            "null": overall_null(overall, n, scope, "the model's share in all forms"),
            "details": {"count": k},
        }
        share, *corrected = estimates_of(
            REFUSALS,
            sums,
            sums.shares(scope, null=overall),
            scope,
            [fields].__getitem__,
            statistic="share",
            strata={"model": model, "form": form, "domain": ALL, "source": ALL},
            n_texts=int(n),
        )
        share = replace(share, value=k / n)  # the share itself, without rounding of the sums
        if form != base:
            plain = of_model & (texts.form == paired.forms.index(base))
            share = _against(texts, refused, share, inside, plain)
        yield share
        yield from corrected


def _by_hand(texts: Texts, inside: BoolArray, refused: FloatArray, marks: HandMarks) -> HandSums:
    def units(rows: IntArray, weight: FloatArray) -> ScoredUnits:
        return ScoredUnits(texts.pair[rows], weight, refused[rows], (np.ones((len(rows), 1)),))

    rows = np.array([row["position"] for row in marks.rows], dtype=np.int64)
    mask, read = inside[rows], np.flatnonzero(inside)
    labelled = units(rows[mask], marks.weight[mask])
    everyone, truth = units(read, np.ones(len(read))), labelled.scored(marks.truth[mask])
    return HandSums.of(everyone, labelled, truth, marks.note)


def _against(
    texts: Texts, refused: FloatArray, share: Estimate, form: BoolArray, base: BoolArray
) -> Estimate:
    """Add the test against the base form, over the headlines that were asked under both."""
    rates = []
    for side in (form & (texts.pair >= 0), base & (texts.pair >= 0)):
        size = int(texts.pair.max(initial=-1)) + 1
        total = np.bincount(texts.pair[side], weights=refused[side], minlength=size)
        # A headline may have several answers: the share of them that were refused
        rates.append(divide(total, np.bincount(texts.pair[side], minlength=size)))
    change = rates[0] - rates[1]
    if np.isnan(change).all():
        return share
    more, fewer = int((change > ROUNDING).sum()), int((change < -ROUNDING).sum())
    # Headlines refused as often under both forms do not speak for either (McNemar 1947).
    p = float(exact_test(more, more + fewer, 0.5)) if more + fewer else 1.0
    return replace(
        share,
        tests=(*share.tests, Test(p, _MCNEMAR)),
        details={**share.details, "headlines_more": float(more), "headlines_fewer": float(fewer)},
    )


def text_lengths(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean number of words: of the originals, then of each model and prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every text, and the audit's settings.
    """
    everything = np.ones(paired.reference.n_texts, dtype=bool)
    originals = _length(paired, paired.reference, everything, REFERENCE, ALL, None, scope)
    yield originals
    for model, form, _, inside in _of_forms(paired):
        yield _length(paired, paired.generated, inside, model, form, originals.value, scope)


def _length(
    paired: Paired,
    texts: Texts,
    inside: BoolArray,
    model: str,
    form: str,
    null: float | None,
    scope: Scope,
) -> Estimate:
    read = inside & ~np.isnan(texts.words)
    words = texts.words[read]
    sums = _sums(paired, texts, read, words)

    def own(_: int) -> dict[str, Any]:
        if len(words) == 0:
            return {"undefined": "no text could be read"}
        return {
            "paper_interval": normal_interval(words, scope.level),
            "null": None if null is None else Null(null, np.nan, np.nan, scope.level, _ORIGINALS),
            "details": {"median": float(np.median(words))},
        }

    counts = np.bincount(texts.outcome[inside & ~read], minlength=len(OUTCOMES)).tolist()
    reasons = zip((UNREADABLE, *OUTCOMES[1:]), counts, strict=True)
    (length,) = estimates_of(
        TEXT_LENGTHS,
        sums,
        sums.means(scope),
        scope,
        own,
        tested=False,
        form=None,
        statistic="mean",
        strata={"model": model, "form": form, "domain": ALL, "source": ALL},
        n_texts=len(words),
        n_units=float(words.sum()),
        n_clusters=len(sums.clusters),
        exclusions={reason: int(n) for reason, n in reasons if n},
    )
    return length


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

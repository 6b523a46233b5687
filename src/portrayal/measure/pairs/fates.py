"""What became of texts: which were refused, and how long generated texts and originals are."""

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
from portrayal.measure.pairs.table import Paired, Texts
from portrayal.measure.scope import Scope
from portrayal.records import ALL, OUTCOMES, REFERENCE, Estimate, Null, Test
from portrayal.registry import Component
from portrayal.stats import exact_test
from portrayal.stats.two_phase import Labelled
from portrayal.types import BoolArray, FloatArray

_REFUSED = OUTCOMES.index("refused")
_MCNEMAR = "exact McNemar test against the base form, over headlines asked under both"


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
    if not paired.forms:
        return
    start = paired.base_form(base_form)
    for model in paired.model_labels:
        of_model = np.ones(texts.n_texts, dtype=bool)
        if model != ALL:
            of_model = texts.model == paired.models.index(model)
        plain = of_model & (texts.form == paired.forms.index(start))
        for number, form in enumerate(paired.forms):
            inside = of_model & (texts.form == number)
            if inside.any():
                args = paired, inside, of_model, hand_outcomes
                share, *by_hand = _refused(*args, model, form, scope)
                yield share if form == start else _against(texts, share, inside, plain)
                yield from by_hand


def _against(texts: Texts, share: Estimate, form: BoolArray, base: BoolArray) -> Estimate:
    """Add the test against the base form, over the headlines that were asked under both."""
    both = np.intersect1d(texts.pair[form], texts.pair[base])
    # -1 stands for texts of no pair.
    both = both[both >= 0]
    if len(both) == 0:
        return share
    refused = texts.outcome == _REFUSED
    rates = []
    for side in (form, base):
        code = np.searchsorted(both, texts.pair)
        inside = side & np.isin(texts.pair, both)
        total = np.bincount(code[inside], weights=refused[inside], minlength=len(both))
        # A headline may have several answers: the share of them that were refused
        rates.append(total / np.bincount(code[inside], minlength=len(both)))
    change = rates[0] - rates[1]
    more, fewer = int((change > ROUNDING).sum()), int((change < -ROUNDING).sum())
    # Headlines refused as often under both forms do not speak for either (McNemar 1947).
    p = float(exact_test(more, more + fewer, 0.5)) if more + fewer else 1.0
    return replace(
        share,
        tests=(*share.tests, Test(p, _MCNEMAR)),
        details={**share.details, "headlines_more": float(more), "headlines_fewer": float(fewer)},
    )


def _sums(paired: Paired, texts: Texts, inside: BoolArray, values: FloatArray) -> GroupSums:
    """A number of each of these texts, shape (n,), by pair; texts of no pair are one cluster."""
    labels, code = np.unique(texts.pair[inside], return_inverse=True)
    names = [paired.pairs[label] if label >= 0 else "" for label in labels.tolist()]
    column = values[:, np.newaxis]
    total, count = (sums_by(code, len(labels), part) for part in (column, np.ones_like(column)))
    return GroupSums(names, [{}], total, count, cluster="pair")


def _refused(
    paired: Paired,
    inside: BoolArray,
    of_model: BoolArray,
    by_hand: HandMarks | None,
    model: str,
    form: str,
    scope: Scope,
) -> Iterator[Estimate]:
    texts = paired.generated
    refused = (texts.outcome == _REFUSED).astype(np.float64)
    sums = _sums(paired, texts, inside, refused[inside])
    if by_hand is not None:
        rows = np.array([row["position"] for row in by_hand.rows], dtype=np.int64)
        mask = inside[rows]
        labels, code = np.unique(texts.pair[inside], return_inverse=True)
        column, guess = refused[inside, np.newaxis], refused[rows[mask], np.newaxis]
        everyone = Labelled(code, np.ones(len(code)), (column, np.ones_like(column)))
        hand_code, truth = np.searchsorted(labels, texts.pair[rows[mask]]), by_hand.truth[mask]
        hand = Labelled(hand_code, by_hand.weight[mask], (guess, np.ones_like(guess)))
        people = truth[:, np.newaxis], np.ones_like(guess)
        hand_sums = HandSums.of(everyone, hand, people, len(labels), by_hand.note)
        sums = replace(sums, hand=hand_sums)
    k, n = float(sums.upper.sum()), float(sums.n_upper.sum())
    overall = float((texts.outcome[of_model] == _REFUSED).mean())
    share, *corrected = estimates_of(
        REFUSALS,
        sums,
        sums.shares(scope, null=overall),
        scope,
        lambda _: {
            "paper_interval": wilson_interval(k, n, scope),
            "null": overall_null(overall, n, scope, "the model's share in all forms"),
            "details": {"count": k},
        },
        statistic="share",
        strata={"model": model, "form": form, "domain": ALL, "source": ALL},
        n_texts=int(n),
    )
    yield replace(share, value=k / n)  # the share itself, without rounding of the sums
    yield from corrected


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
    figure="refusals",
    listed=False,
)


_ORIGINALS = "mean of the originals"


def text_lengths(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean number of words: of the originals, then of each model and prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every text, and the audit's settings.
    """
    originals = paired.reference
    all_texts = np.ones(originals.n_texts, dtype=bool)
    first = _length(paired, originals, all_texts, REFERENCE, ALL, None, scope)
    yield first
    texts = paired.generated
    for model in paired.model_labels:
        for number, form in enumerate(paired.forms):
            inside = texts.form == number
            if model != ALL:
                inside &= texts.model == paired.models.index(model)
            if inside.any():
                yield _length(paired, texts, inside, model, form, first.value, scope)


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

    rows = inside & ~read
    counts = np.bincount(texts.outcome[rows], minlength=len(OUTCOMES)).tolist()
    reasons = zip(("annotation failed", *OUTCOMES[1:]), counts, strict=True)
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
    figure="text-lengths",
    listed=False,
)

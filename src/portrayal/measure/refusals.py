"""Refusals: which share of the requests a model declined, by prompt form."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import stats

from portrayal.measure.clustered import share_inference
from portrayal.measure.features import sums_by
from portrayal.measure.paired import Paired, Texts
from portrayal.measure.paired_estimates import ROUNDING, pair_interval
from portrayal.measure.scope import Scope
from portrayal.measure.tally import BoolArray
from portrayal.records import ALL, OUTCOMES, Estimate, Interval, Null, Test
from portrayal.registry import Component
from portrayal.stats import wilson

NAME = "refusals.v1"
SOURCE = "Fang et al. 2024, Bias of AIGC under Biased Prompts (89.13 % of requests)"
_REFUSED = OUTCOMES.index("refused")
_MCNEMAR = "exact McNemar test against the base form, over headlines asked under both"


def refusals(paired: Paired, scope: Scope, base: str | None = None) -> Iterator[Estimate]:
    """Yield the share of refused texts of each model under each prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every generated text, and the audit's settings.
    base
        The form that the others are tested against; as for `prompt_effect`.

    Notes
    -----
    A form is compared with the base form on the headlines asked under both, by McNemar's exact
    test: of the headlines refused more often under one of them, chance would give each form half.
    """
    texts = paired.generated
    if not paired.forms:
        return
    start = paired.base_form(base)
    for model in paired.model_labels:
        of_model = np.ones(texts.n_texts, dtype=bool)
        if model != ALL:
            of_model = texts.model == paired.models.index(model)
        plain = of_model & (texts.form == paired.forms.index(start))
        for number, form in enumerate(paired.forms):
            inside = of_model & (texts.form == number)
            if inside.any():
                found = _refused(texts, inside, of_model, model, form, scope)
                yield found if form == start else _against(texts, found, inside, plain)


def _against(texts: Texts, found: Estimate, form: BoolArray, base: BoolArray) -> Estimate:
    """Add the test against the base form, over the headlines that were asked under both."""
    both = np.intersect1d(texts.pair[form], texts.pair[base])
    both = both[both >= 0]
    if len(both) == 0:
        return found
    refused = texts.outcome == _REFUSED
    rates = []
    for side in (form, base):
        code = np.searchsorted(both, texts.pair)
        inside = side & np.isin(texts.pair, both)
        total = np.bincount(code[inside], weights=refused[inside], minlength=len(both))
        rates.append(total / np.bincount(code[inside], minlength=len(both)))
    change = rates[0] - rates[1]
    more, fewer = int((change > ROUNDING).sum()), int((change < -ROUNDING).sum())
    p = float(stats.binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    return replace(
        found,
        tests=(Test(p, _MCNEMAR),),
        details={**found.details, "headlines_more": float(more), "headlines_fewer": float(fewer)},
    )


def _refused(
    texts: Texts, inside: BoolArray, of_model: BoolArray, model: str, form: str, scope: Scope
) -> Estimate:
    labels, code = np.unique(texts.pair[inside], return_inverse=True)
    refused = (texts.outcome[inside] == _REFUSED).astype(np.float64)[:, np.newaxis]
    total = sums_by(code, len(labels), refused)
    count = sums_by(code, len(labels), np.ones_like(refused))
    rng = scope.rng(NAME, model, form)
    found = share_inference(total, count, np.ones(1), scope, rng)
    k, n = float(refused.sum()), float(len(refused))
    low, high = (float(bound) for bound in wilson(k, n, scope.level))
    overall = float((texts.outcome[of_model] == _REFUSED).mean())
    null_low, null_high = (float(bound) for bound in wilson(overall * n, n, scope.level))
    return Estimate(
        study=scope.study,
        measure=NAME,
        statistic="share",
        unit="text",
        strata={"model": model, "form": form, "domain": ALL, "source": ALL},
        group={},
        value=k / n,
        interval=pair_interval(found, 0, scope),
        paper_interval=Interval(low, high, scope.level, "Wilson"),
        null=Null(overall, null_low, null_high, scope.level, "the model's share in all forms"),
        n_texts=int(n),
        n_units=n,
        n_clusters=int(found.n_clusters[0]),
        details={"count": k},
        instruments=dict(scope.instruments),
        source=SOURCE,
    )


REFUSALS = Component(
    name=NAME,
    summary="Which share of the requests a model declined, by prompt form.",
    reads="every generated text and its outcome, paired or not",
    unit="text",
    range="0 to 1",
    undefined_when="never: a form without texts has no row",
    equation="refused texts / all texts of the model under the form; forms compared by McNemar's "
    "exact test over the headlines asked under both",
    source=SOURCE,
    run=refusals,
)

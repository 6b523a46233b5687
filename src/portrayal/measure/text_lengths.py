"""Text lengths: how many words generated texts and their originals have."""

from collections.abc import Iterator

import numpy as np

from portrayal.measure.features import sums_by
from portrayal.measure.means import mean_inference, normal_interval
from portrayal.measure.paired import REFERENCE, Paired, Texts
from portrayal.measure.paired_estimates import pair_interval
from portrayal.measure.scope import Scope
from portrayal.measure.tally import BoolArray
from portrayal.records import ALL, OUTCOMES, Estimate, Null
from portrayal.registry import Component

NAME = "text_lengths.v1"
SOURCE = "Fang et al. 2024, Table 3"
_ORIGINALS = "mean of the originals"


def text_lengths(paired: Paired, scope: Scope) -> Iterator[Estimate]:
    """Yield the mean number of words: of the originals, then of each model and prompt form.

    Parameters
    ----------
    paired, scope
        The paired table, which keeps every text, and the audit's settings.
    """
    originals = paired.reference
    every = np.ones(originals.n_texts, dtype=bool)
    first = _length(originals, every, REFERENCE, ALL, None, scope)
    yield first
    texts = paired.generated
    for model in paired.model_labels:
        for number, form in enumerate(paired.forms):
            inside = texts.form == number
            if model != ALL:
                inside &= texts.model == paired.models.index(model)
            if inside.any():
                yield _length(texts, inside, model, form, first.value, scope)


def _length(
    texts: Texts, inside: BoolArray, model: str, form: str, null: float | None, scope: Scope
) -> Estimate:
    read = inside & ~np.isnan(texts.words)
    words = texts.words[read]
    strata = {"model": model, "form": form, "domain": ALL, "source": ALL}
    exclusions = _unread(texts, inside & ~read)
    if len(words) == 0:
        return Estimate(
            scope.study, NAME, "mean", "word", strata, {}, None,
            exclusions=exclusions, undefined="no text could be read", source=SOURCE,
        )  # fmt: skip
    labels, code = np.unique(texts.pair[read], return_inverse=True)
    total = sums_by(code, len(labels), words[:, np.newaxis])
    count = sums_by(code, len(labels), np.ones((len(words), 1)))
    found = mean_inference(total, count, scope, scope.rng(NAME, model, form))
    return Estimate(
        study=scope.study,
        measure=NAME,
        statistic="mean",
        unit="word",
        strata=strata,
        group={},
        value=float(words.mean()),
        interval=pair_interval(found, 0, scope),
        paper_interval=normal_interval(words, scope.level),
        null=None if null is None else Null(null, np.nan, np.nan, scope.level, _ORIGINALS),
        n_texts=len(words),
        n_units=float(words.sum()),
        n_clusters=len(labels),
        exclusions=exclusions,
        details={"median": float(np.median(words))},
        instruments=dict(scope.instruments),
        source=SOURCE,
    )


def _unread(texts: Texts, rows: BoolArray) -> dict[str, int]:
    counts = np.bincount(texts.outcome[rows], minlength=len(OUTCOMES)).tolist()
    named = zip(("annotation failed", *OUTCOMES[1:]), counts, strict=True)
    return {reason: int(n) for reason, n in named if n}


TEXT_LENGTHS = Component(
    name=NAME,
    summary="How many words generated texts and their originals have.",
    reads="words of every text that could be read, paired or not",
    unit="word",
    range="0 and up",
    undefined_when="no text of the model could be read",
    equation="mean number of words, as separated by white space",
    source=SOURCE,
    run=text_lengths,
)

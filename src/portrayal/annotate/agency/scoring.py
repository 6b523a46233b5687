"""Scoring classifiers against labelled sentences, as Wan & Chang's Table 12 does.

A sentence on which a classifier says nothing counts as wrong, and is counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.classifier import AgencyClassifier
from portrayal.annotate.agency.labelled import Labelled
from portrayal.annotate.agency.masking import mask
from portrayal.stats import wilson
from portrayal.types import FloatArray, IntArray

METRICS = ("accuracy", "f1_macro", "f1_micro", "f1_weighted")

_SILENT = 2
METHOD = "percentile bootstrap over sentences; Wilson where no resample differs"


@dataclass(frozen=True, slots=True)
class Score:
    """One figure with its interval, shares in 0–1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AgencyScore:
    """How a classifier agrees with labels.

    Attributes
    ----------
    classifier
        Its name.
    masked
        Whether it was given masked sentences.
    n, n_silent
        Sentences, and those on which it said nothing.
    metrics
        "accuracy", "f1_macro", "f1_micro" and "f1_weighted".
    level, draws, seed
        Of the percentile bootstrap over sentences.
    """

    classifier: str
    masked: bool
    n: int
    n_silent: int
    metrics: Mapping[str, Score]
    level: float
    draws: int
    seed: int

    def as_json(self) -> dict[str, Any]:
        """Return the score as plain values."""
        return {
            "classifier": self.classifier,
            "masked": self.masked,
            "n": self.n,
            "n_silent": self.n_silent,
            "interval": {
                "method": METHOD,
                "level": self.level,
                "draws": self.draws,
                "seed": self.seed,
            },
            **{
                name: {"value": each.value, "low": each.low, "high": each.high}
                for name, each in self.metrics.items()
            },
        }


def score_agency(
    labelled: Labelled,
    classifier: AgencyClassifier,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> AgencyScore:
    """Score a classifier on labelled sentences, masked first where it is meant for masked ones.

    The interval resamples sentences: labelled files do not say which sentences are paraphrases of
    one source, so it is somewhat too narrow for LAC. Where no resample differs, as when every
    answer is right, it is Wilson's interval of the accuracy.
    """
    read = labelled.sentences
    given = shown(labelled, classifier.masked)
    agentic = classifier(given)[:, 1]
    said = np.where(np.isnan(agentic), _SILENT, agentic > 0.5).astype(np.int64)
    values = _metrics(_confusion(labelled.labels, said)[None])
    rng = np.random.default_rng(seed)
    cells = _confusion(labelled.labels, said)
    drawn = rng.multinomial(len(read), cells.ravel() / len(read), size=draws)
    spread = _metrics(drawn.reshape(draws, *cells.shape))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    metrics = {}
    for name in METRICS:
        low, high = np.quantile(spread[name], tails)
        if low == high and low in (0.0, 1.0):
            low, high = wilson(int(np.trace(cells)), len(read), level)
        metrics[name] = Score(float(values[name][0]), float(low), float(high))
    silent = int(np.sum(said == _SILENT))
    return AgencyScore(
        classifier.name, classifier.masked, len(read), silent, metrics, level, draws, seed
    )


def shown(labelled: Labelled, masked: bool) -> list[str]:
    """Return the sentences as a classifier is given them."""
    read = labelled.sentences
    return [mask(sentence) for sentence in read] if masked else list(read)


def score_all(
    labelled: Labelled, classifiers: Iterable[AgencyClassifier], seed: int = 0
) -> list[AgencyScore]:
    """Score several classifiers on the same sentences."""
    return [score_agency(labelled, each, seed=seed) for each in classifiers]


def _confusion(labels: IntArray, said: IntArray) -> IntArray:
    """Return counts by label and answer, shape (2, 3): communal, agentic, nothing said."""
    return np.bincount(labels * 3 + said, minlength=6).reshape(2, 3)


def _metrics(cells: NDArray[np.int64]) -> dict[str, FloatArray]:
    """Return each metric of stacked confusion counts, shape (m, 2, 3) -> (m,).

    F1 of a label is 2 TP / (2 TP + FP + FN), 0 where nothing was or should have been said. Micro F1
    is accuracy where something is said on every sentence.
    """
    total = cells.sum(axis=(1, 2))
    hit = np.stack([cells[:, 0, 0], cells[:, 1, 1]], axis=1)
    support = cells.sum(axis=2)
    claimed = cells[:, :, :2].sum(axis=1)
    f1 = np.divide(
        2.0 * hit, support + claimed, out=np.zeros(hit.shape), where=support + claimed > 0
    )
    return {
        "accuracy": hit.sum(axis=1) / total,
        "f1_macro": f1.mean(axis=1),
        "f1_micro": 2.0 * hit.sum(axis=1) / (support + claimed).sum(axis=1),
        "f1_weighted": (f1 * support).sum(axis=1) / total,
    }

"""Labelled sentences, and scores of classifiers on them.

A sentence on which a classifier says nothing counts as wrong, and is counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.linear import AgencyClassifier
from portrayal.annotate.agency.masking import mask
from portrayal.collect.fields import ByContent
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.stats import wilson
from portrayal.types import FloatArray, Tabular

_LABELS = {"1": 1, "agentic": 1, "0": 0, "communal": 0, "neutral": None, "na": None}


@dataclass(frozen=True, eq=False)
class LabelledSentences:
    """Sentences with their labels.

    Attributes
    ----------
    name
        File they came from.
    digest
        Of the file's content.
    sentences
        As they stand in the file, n of them.
    labels
        Shape (n,); 1 for agentic, 0 for communal, as in LAC.
    n_left_out
        Sentences of the file that raters called neutral or na.
    """

    name: str
    digest: str
    sentences: tuple[str, ...]
    labels: NDArray[np.int64]
    n_left_out: int = 0

    def __len__(self) -> int:
        return len(self.sentences)


def read_labelled(
    path: Tabular, columns: Iterable[str] = (), by_content: ByContent | None = None
) -> LabelledSentences:
    """Return the labelled sentences of a file with the columns `text` (or `sentence`) and `label`.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file. A label is 1 or "agentic", 0 or "communal". Rows
        labelled "neutral" or "na" are left out and counted.
    columns
        "FIELD=NAME" strings for columns with other names.
    by_content
        Finds the column of sentences where no column goes by a name of it.

    Raises
    ------
    DataError
        When a column is missing, a label is neither, or one of the two never occurs.
    """
    source = open_source(path)
    needed = ("text", "label")
    aliases = {"text": ("sentence",)}
    mapping = source.find(needed, by_content, columns=columns, needed=needed, aliases=aliases)
    sentences, labels = [], []
    left_out = 0
    for number, row in enumerate(source.rows(), 1):
        label = label_of(row[mapping["label"]], f"{source.name}: row {number}")
        # LAC has two classes; neutral sentences belong to neither
        if label is None:
            left_out += 1
            continue
        sentences.append(str(row[mapping["text"]] or ""))
        labels.append(label)
    if set(labels) != {0, 1}:
        raise DataError(
            f"{source.name}: expected agentic and communal sentences, found one kind only."
        )
    return LabelledSentences(
        source.name, source.digest, tuple(sentences), np.array(labels), left_out
    )


def label_of(value: Any, place: str) -> int | None:
    """Return 1 for agentic, 0 for communal, None for neither; `place` is for the error."""
    key = str(value).strip().casefold().removesuffix(".0")
    if key not in _LABELS:
        raise DataError(
            f"{place}: the label is {value!r}; expected 1 (agentic), 0 (communal), neutral or na."
        )
    return _LABELS[key]


METRICS = {"accuracy": "accuracy"} | {f"f1_{x}": f"F1 {x}" for x in ("macro", "micro", "weighted")}
"""Name of each metric, as tables head it."""

_SILENT, LEVEL = 2, 0.95
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
    interval
        Its method, with level, draws and seed.
    """

    classifier: str
    masked: bool
    n: int
    n_silent: int
    metrics: Mapping[str, Score]
    interval: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the score as plain values."""
        facts: dict[str, Any] = asdict(self)
        return {**facts, **facts.pop("metrics")}


def score_agency(
    labelled: LabelledSentences, classifier: AgencyClassifier, *, draws: int = 1000, seed: int = 0
) -> AgencyScore:
    """Score a classifier on labelled sentences, masked first where it is meant for masked ones.

    The interval resamples sentences: labelled files do not say which sentences are paraphrases of
    one source, so it is somewhat too narrow for LAC. Where no resample differs, as when every
    answer is right, it is Wilson's interval of the accuracy.
    """
    read = labelled.sentences
    agentic = classifier(shown(labelled, classifier.masked))[:, 1]
    # Silence is an answer of its own, and wrong whatever the label
    answers = np.where(np.isnan(agentic), _SILENT, agentic > 0.5).astype(np.int64)
    # Counts by label and answer: communal, agentic, nothing said
    cells = np.bincount(labelled.labels * 3 + answers, minlength=6)
    # To draw sentences anew is to draw their cells: the metrics need no more
    tables = np.random.default_rng(seed).multinomial(len(read), cells / len(read), size=draws)
    values_of = _metrics(np.vstack([cells, tables]).reshape(-1, 2, 3))
    tails = [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0]
    metrics = {}
    for name, (value, *spread) in values_of.items():
        low, high = np.quantile(spread, tails)
        # All right: an interval without width would claim too much
        if low == high and low in (0.0, 1.0):
            low, high = wilson(int(cells[0] + cells[4]), len(read), LEVEL)
        metrics[name] = Score(float(value), float(low), float(high))
    silent = int(np.sum(answers == _SILENT))
    interval = {"method": METHOD, "level": LEVEL, "draws": draws, "seed": seed}
    return AgencyScore(classifier.name, classifier.masked, len(read), silent, metrics, interval)


def shown(labelled: LabelledSentences, masked: bool) -> list[str]:
    """Return the sentences as a classifier is given them."""
    read = labelled.sentences
    return [mask(sentence) for sentence in read] if masked else list(read)


def _metrics(cells: NDArray[np.int64]) -> dict[str, FloatArray]:
    """Return each metric of stacked confusion counts, shape (m, 2, 3) -> (m,).

    F1 of a label is 2 TP / (2 TP + FP + FN), 0 where nothing was or should have been said. Micro F1
    is accuracy where something is said on every sentence.
    """
    total = cells.sum(axis=(1, 2))
    hit = np.stack([cells[:, 0, 0], cells[:, 1, 1]], axis=1)
    support = cells.sum(axis=2)
    # Silence claims no label, so it costs recall and no precision
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


def over_seeds(scores: Sequence[AgencyScore]) -> list[dict[str, Any]]:
    """Return mean and standard deviation (n − 1) of each metric over trainings that differ by seed.

    One record for masked sentences and one for those as they stand, where two or more were scored.
    """
    spreads: list[dict[str, Any]] = []
    for masked in (True, False):
        of_seeds = [score.metrics for score in scores if score.masked == masked]
        if len(of_seeds) > 1:
            values = {name: [metrics[name].value for metrics in of_seeds] for name in METRICS}
            spread = {name: {"mean": fmean(x), "sd": stdev(x)} for name, x in values.items()}
            spreads.append({"masked": masked, "seeds": len(of_seeds), **spread})
    return spreads


def score_rows(
    scores: Iterable[AgencyScore], spreads: Iterable[Mapping[str, Any]] = ()
) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return heads and rows of a table of scores in percent, one of each classifier and kind.

    Means and standard deviations of `over_seeds` come last.
    """
    rows = []
    for score in scores:
        cells = (
            f"{100 * x.value:.2f} [{100 * x.low:.1f}, {100 * x.high:.1f}]"
            for x in score.metrics.values()
        )
        kind = "masked" if score.masked else "as they stand"
        rows.append((score.classifier, kind, f"{score.n_silent:,}", *cells))
    for spread in spreads:
        cells = (f"{100 * spread[x]['mean']:.2f} ± {100 * spread[x]['sd']:.2f}" for x in METRICS)
        kind = "masked" if spread["masked"] else "as they stand"
        rows.append((f"mean ± standard deviation of {spread['seeds']} seeds", kind, "", *cells))
    return ["classifier", "sentences", "silent", *METRICS.values()], rows

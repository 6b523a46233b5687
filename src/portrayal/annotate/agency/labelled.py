"""Labelled sentences: splits that part no paraphrases of one source, and scores of classifiers.

A sentence on which a classifier says nothing counts as wrong, and is counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.classifier import AgencyClassifier
from portrayal.annotate.agency.linear import tokens
from portrayal.annotate.agency.masking import mask
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.stats import wilson
from portrayal.types import FloatArray, IntArray, Tabular

ALIKE = 0.2
_ROWS = 512


def families(texts: Sequence[str], alike: float = ALIKE) -> IntArray:
    """Number sentences so that paraphrases of one source share a number, shape (n,).

    Two sentences are linked where the Jaccard overlap of their words is at least `alike`, words
    counting by how rare they are, log(n / sentences that hold it). LAC's two paraphrases of a
    sentence share names, dates and places; of the sentences that most likely have their pair in the
    file, this links 95 in 100. What is linked by chance is only kept together without need.

    Examples
    --------
    >>> families(["She led the firm in Lyon.", "In Lyon she helped the firm.", "He sang."]).tolist()
    [0, 0, 1]
    """
    from scipy import sparse

    # Which words stand in which sentence
    words = [set(tokens(text)) for text in texts]
    place = {word: k for k, word in enumerate(sorted(set().union(*words)))}
    rows = np.repeat(np.arange(len(words)), [len(word_set) for word_set in words])
    columns = np.array(
        [place[word] for word_set in words for word in sorted(word_set)], dtype=np.int64
    )
    incidence = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), (len(words), len(place)))
    # A word of every sentence weighs nothing
    rarity = np.log(len(texts) / np.maximum(np.bincount(columns, minlength=len(place)), 1))
    weighted = incidence @ sparse.diags(rarity)
    total = np.asarray(weighted.sum(axis=1)).ravel()
    # Overlap of all pairs, some rows at a time: all at once would fill the memory
    turned = incidence.T.tocsc()
    firsts, right = [], []
    for start in range(0, len(words), _ROWS):
        shared = (weighted[start : start + _ROWS] @ turned).tocoo()
        row, overlap = start + shared.row, shared.data
        close = (overlap > 0) & (overlap >= alike * (total[row] + total[shared.col] - overlap))
        firsts.append(row[close])
        right.append(shared.col[close])
    ends = np.concatenate(firsts), np.concatenate(right)
    # Links chain: A with B and B with C are one family
    links = sparse.coo_matrix((np.ones(len(ends[0])), ends), (len(words), len(words)))
    return np.asarray(sparse.csgraph.connected_components(links)[1], dtype=np.int64)


_LEAST_SOURCES = 2
"""Sources that are held out; with fewer, rows are drawn one by one."""
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

    def take(self, rows: Iterable[int]) -> "LabelledSentences":
        """Return the labelled sentences of these rows."""
        indices = list(rows)
        texts = tuple(self.sentences[row] for row in indices)
        return LabelledSentences(
            self.name, self.digest, texts, self.labels[indices], self.n_left_out
        )


def read_labelled(path: Tabular, columns: Iterable[str] = ()) -> LabelledSentences:
    """Return the labelled sentences of a file with the columns `text` (or `sentence`) and `label`.

    Parameters
    ----------
    path
        CSV, JSON lines, Parquet or Excel file. A label is 1 or "agentic", 0 or "communal". Rows
        labelled "neutral" or "na" are left out and counted.
    columns
        "FIELD=NAME" strings for columns with other names.

    Raises
    ------
    DataError
        When a column is missing, a label is neither, or one of the two never occurs.
    """
    source = open_source(path)
    needed = ("text", "label")
    mapping = find_columns(
        needed,
        source.columns,
        columns=columns,
        needed=needed,
        aliases={"text": ("sentence",)},
        file=source.name,
    )
    sentences, labels = [], []
    left_out = 0
    for number, row in enumerate(source.rows(), 1):
        label = _label(row[mapping["label"]], f"{source.name}: row {number}")
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


def split(
    labelled: LabelledSentences, share: float, seed: int
) -> tuple[LabelledSentences, LabelledSentences]:
    """Return two parts, the second with `share` of the rows of each label, drawn by `seed`.

    Paraphrases of one source stay in one part, unless the file holds too few sources for it.
    """
    rng = np.random.default_rng(seed)
    source = families(labelled.sentences)
    # Too few sources to hold one out
    if share * (source.max() + 1) < _LEAST_SOURCES:
        source = np.arange(len(labelled))
    second = np.zeros(len(labelled), dtype=np.bool_)
    for label in (0, 1):
        of_label = labelled.labels == label
        n_second = max(1, round(share * of_label.sum()))
        for drawn_source in rng.permutation(np.unique(source[of_label & ~second])):
            if second[of_label].sum() >= n_second:
                break
            # The whole source goes over, sentences of the other label too
            second |= source == drawn_source
    return labelled.take(np.flatnonzero(~second)), labelled.take(np.flatnonzero(second))


def _label(value: Any, place: str) -> int | None:
    key = str(value).strip().casefold().removesuffix(".0")
    if key not in _LABELS:
        raise DataError(
            f"{place}: the label is {value!r}; expected 1 (agentic), 0 (communal), neutral or na."
        )
    return _LABELS[key]


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
        facts = asdict(self)
        metrics = facts.pop("metrics")
        interval = {name: facts.pop(name) for name in ("level", "draws", "seed")}
        return {**facts, "interval": {"method": METHOD, **interval}, **metrics}


def score_agency(
    labelled: LabelledSentences,
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
    shown_sentences = shown(labelled, classifier.masked)
    agentic = classifier(shown_sentences)[:, 1]
    # Silence is an answer of its own, and wrong whatever the label
    answers = np.where(np.isnan(agentic), _SILENT, agentic > 0.5).astype(np.int64)
    values = _metrics(_confusion(labelled.labels, answers)[None])
    rng = np.random.default_rng(seed)
    cells = _confusion(labelled.labels, answers)
    # To draw sentences anew is to draw their cells: the metrics need no more
    tables = rng.multinomial(len(read), cells.ravel() / len(read), size=draws)
    spread = _metrics(tables.reshape(draws, *cells.shape))
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    metrics = {}
    for name in METRICS:
        low, high = np.quantile(spread[name], tails)
        # All right: an interval without width would claim too much
        if low == high and low in (0.0, 1.0):
            low, high = wilson(int(np.trace(cells)), len(read), level)
        metrics[name] = Score(float(values[name][0]), float(low), float(high))
    silent = int(np.sum(answers == _SILENT))
    return AgencyScore(
        classifier.name, classifier.masked, len(read), silent, metrics, level, draws, seed
    )


def shown(labelled: LabelledSentences, masked: bool) -> list[str]:
    """Return the sentences as a classifier is given them."""
    read = labelled.sentences
    return [mask(sentence) for sentence in read] if masked else list(read)


def _confusion(labels: IntArray, answers: IntArray) -> IntArray:
    """Return counts by label and answer, shape (2, 3): communal, agentic, nothing said."""
    return np.bincount(labels * 3 + answers, minlength=6).reshape(2, 3)


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

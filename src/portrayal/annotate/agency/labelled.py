"""Labelled sentences: agentic or communal, from a file of the user's own or from LAC."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portrayal.annotate.agency.paraphrases import families
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.types import Tabular

_LEAST_SOURCES = 2
"""Sources that are held out; with fewer, rows are drawn one by one."""
_LABELS = {"1": 1, "agentic": 1, "0": 0, "communal": 0, "neutral": None, "na": None}


@dataclass(frozen=True, eq=False)
class Labelled:
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

    def take(self, rows: Iterable[int]) -> "Labelled":
        """Return the labelled sentences of these rows."""
        chosen = list(rows)
        texts = tuple(self.sentences[row] for row in chosen)
        return Labelled(self.name, self.digest, texts, self.labels[chosen], self.n_left_out)


def read_labelled(path: Tabular, columns: Iterable[str] = ()) -> Labelled:
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
        where=source.name,
    )
    sentences, labels = [], []
    left_out = 0
    for number, row in enumerate(source.rows(), 1):
        label = _label(row[mapping["label"]], f"{source.name}: row {number}")
        if label is None:
            left_out += 1
            continue
        sentences.append(str(row[mapping["text"]] or ""))
        labels.append(label)
    if set(labels) != {0, 1}:
        raise DataError(
            f"{source.name}: expected agentic and communal sentences, found one kind only."
        )
    return Labelled(source.name, source.digest, tuple(sentences), np.array(labels), left_out)


def split(labelled: Labelled, share: float, seed: int) -> tuple[Labelled, Labelled]:
    """Return two parts, the second with `share` of the rows of each label, drawn by `seed`.

    Paraphrases of one source stay in one part, unless the file holds too few sources for it.
    """
    rng = np.random.default_rng(seed)
    source = families(labelled.sentences)
    if share * (source.max() + 1) < _LEAST_SOURCES:
        source = np.arange(len(labelled))
    held = np.zeros(len(labelled), dtype=np.bool_)
    for label in (0, 1):
        of_label = labelled.labels == label
        wanted = max(1, round(share * of_label.sum()))
        for each in rng.permutation(np.unique(source[of_label & ~held])):
            if held[of_label].sum() >= wanted:
                break
            held |= source == each
    return labelled.take(np.flatnonzero(~held)), labelled.take(np.flatnonzero(held))


def _label(value: Any, where: str) -> int | None:
    key = str(value).strip().casefold().removesuffix(".0")
    if key not in _LABELS:
        raise DataError(
            f"{where}: the label is {value!r}; expected 1 (agentic), 0 (communal), neutral or na."
        )
    return _LABELS[key]

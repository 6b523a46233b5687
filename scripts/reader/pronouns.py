"""Whom pronouns mean, against hand labels: the measure of GAP (Webster et al. 2018).

A passage has one pronoun and two names, A and B. A resolver says of each name whether the pronoun
means it; F1 counts both names of all passages, by the gender of the pronoun, and bias is the
feminine F1 over the masculine one.

    python scripts/reader/pronouns.py gap-validation.tsv
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from known import known_names

from portrayal.annotate.people.any_text.everyone import find_everyone
from portrayal.annotate.people.any_text.pronouns import Refer
from portrayal.annotate.people.reader.referents import by_network
from portrayal.annotate.people.shared.words import PRONOUNS
from portrayal.collect.fields import find_columns
from portrayal.collect.sources import open_source
from portrayal.errors import DataError
from portrayal.raters.people import ScoreRate
from portrayal.reference.groups import FEMININE, MASCULINE
from portrayal.stats import cluster_weights, divide
from portrayal.types import FloatArray, Tabular
from portrayal.validate import check_count, check_level, check_seed

_FIELDS = {
    **{"text": "Text", "pronoun": "Pronoun", "pronoun_offset": "Pronoun-offset"},
    **{"a": "A", "a_offset": "A-offset", "a_coref": "A-coref"},
    **{"b": "B", "b_offset": "B-offset", "b_coref": "B-coref"},
}
"""Field → its column in the files of GAP."""

_COUNTED = ((True, True), (True, False), (False, True))
"""Said and labelled of a name: hit, false alarm, miss."""

_LABELS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class PronounPassage:
    """One labelled passage.

    Attributes
    ----------
    text
        The passage.
    pronoun
        Offset of the pronoun.
    gender
        Gender that it tells.
    names
        Offsets of A and of B.
    labels
        Whether the pronoun means A, and B.
    """

    text: str
    pronoun: int
    gender: str
    names: tuple[tuple[int, int], tuple[int, int]]
    labels: tuple[bool, bool]


def read_passages(path: Tabular, columns: Iterable[str] = ()) -> Iterator[PronounPassage]:
    """Yield the passages of a file with the columns of GAP.

    Parameters
    ----------
    path
        CSV, TSV, JSON lines, Parquet or Excel file with the columns Text, Pronoun, Pronoun-offset,
        A, A-offset, A-coref and the same for B; a coref is TRUE or FALSE.
    columns
        "FIELD=NAME" strings for columns with other names.

    Raises
    ------
    DataError
        Naming the columns that are missing, or the row in which a pronoun or name does not stand at
        its offset, or a label is neither TRUE nor FALSE.
    """
    source = open_source(path)
    # GAP's own names of columns, as far as the file has them
    gap_columns = [f"{field}={name}" for field, name in _FIELDS.items() if name in source.columns]
    mapping = find_columns(
        tuple(_FIELDS),
        source.columns,
        columns=[*gap_columns, *columns],
        needed=tuple(_FIELDS),
        file=source.name,
    )
    for number, row in enumerate(source.rows(), start=1):
        # Rows of the passages, the header not counted
        place = f"{source.name}, row {number}"
        cells = {field: row.get(column) for field, column in mapping.items()}
        text = str(cells["text"] or "")
        spans = {field: _span(cells, field, text, place) for field in ("pronoun", "a", "b")}
        word = str(cells["pronoun"]).casefold()
        if word not in PRONOUNS:
            raise DataError(f"{place}: expected a form of she or he as the pronoun; got {word!r}.")
        labels = [_LABELS.get(str(cells[f"{letter}_coref"]).strip().casefold()) for letter in "ab"]
        if labels[0] is None or labels[1] is None:
            raise DataError(
                f"{place}: expected TRUE or FALSE in A-coref and B-coref; got "
                f"{cells['a_coref']!r} and {cells['b_coref']!r}."
            )
        yield PronounPassage(
            text,
            spans["pronoun"][0],
            PRONOUNS[word][0],
            (spans["a"], spans["b"]),
            (labels[0], labels[1]),
        )


def _span(cells: Mapping[str, Any], field: str, text: str, place: str) -> tuple[int, int]:
    """Offsets of a pronoun or name, which must stand there."""
    word, offset = str(cells[field] or ""), cells[f"{field}_offset"]
    try:
        start = int(offset)
    except (TypeError, ValueError):
        start = -1
    if start < 0 or not word or text[start : start + len(word)] != word:
        text_at_offset = text[start : start + len(word)] if start >= 0 else ""
        raise DataError(
            f"{place}: expected {word!r} at {_FIELDS[f'{field}_offset']} {offset!r} of the text; "
            f"got {text_at_offset!r}. Offsets count characters from 0."
        )
    return start, start + len(word)


@dataclass(frozen=True)
class PronounScore:
    """How often pronouns were given to whom they mean.

    Attributes
    ----------
    rates
        "f1", "precision" and "recall" of all passages.
    by
        Gender of the pronoun → the same.
    bias
        F1 of feminine pronouns over that of masculine ones.
    """

    rates: Mapping[str, ScoreRate]
    by: Mapping[str, Mapping[str, ScoreRate]]
    bias: ScoreRate

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        overall = {name: rate.as_json() for name, rate in self.rates.items()}
        by = {
            gender: {name: rate.as_json() for name, rate in rates.items()}
            for gender, rates in self.by.items()
        }
        return {**overall, "by": {"gender": by}, "bias": self.bias.as_json()}


def score_pronouns(
    passages: Iterable[PronounPassage],
    refer: Refer | None = None,
    *,
    names_given: bool = True,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> PronounScore:
    """Return GAP's scores of `find_everyone`.

    Parameters
    ----------
    passages
        From `read_passages`.
    refer
        Says whom pronouns mean; without it, the rules do.
    names_given
        Whether the resolver is told where the two names stand, as GAP's task is ("gold two
        mentions"); else a name that it does not find as a person's counts as not meant.
    level, draws, seed
        Percentile intervals of a bootstrap over passages, which are of one page each.
    """
    check_level(level)
    check_count("draws", draws, minimum=1)
    check_seed(seed)
    rows, genders = [], []
    for passage in passages:
        pairs = list(zip(_said(passage, refer, names_given), passage.labels, strict=True))
        rows.append([pairs.count(outcome) for outcome in _COUNTED])
        genders.append(passage.gender)
    counts = np.array(rows, dtype=np.float64).reshape(-1, 3)
    # Each passage is of another page, so each is drawn by itself
    weights = cluster_weights(len(counts), draws, np.random.default_rng(seed))
    of = np.array(genders)
    tail = 50 * (1 - level)

    def rate(parts: tuple[FloatArray, FloatArray], n: int) -> ScoreRate:
        value, replicates = float(parts[0][0]), parts[1]
        # A resample without any labelled name has no rate.
        defined = replicates[~np.isnan(replicates)]
        if np.isnan(value) or not len(defined):
            return ScoreRate(None, None, None, n, "no name is labelled, or said to be meant")
        low, high = np.percentile(defined, [tail, 100 - tail])
        return ScoreRate(value, float(low), float(high), n)

    def rates(is_member: FloatArray) -> dict[str, tuple[FloatArray, FloatArray]]:
        # Sums of the passages as they are, and of every resample
        once = (is_member * counts.T).sum(1)[:, np.newaxis]
        many = ((weights * is_member) @ counts).T
        return {
            name: (_ratio(name, once), _ratio(name, many)) for name in ("f1", "precision", "recall")
        }

    overall = rates(np.ones(len(counts)))
    of_gender = {gender: rates((of == gender).astype(np.float64)) for gender in np.unique(of)}
    n_of = {gender: int((of == gender).sum()) for gender in of_gender}
    bias = ScoreRate(None, None, None, len(counts), "pronouns tell one gender alone")
    if {FEMININE, MASCULINE} <= set(of_gender):
        with np.errstate(divide="ignore", invalid="ignore"):
            # The ratio within each resample, as both sides vary together
            sides = of_gender[FEMININE]["f1"], of_gender[MASCULINE]["f1"]
            bias = rate((sides[0][0] / sides[1][0], sides[0][1] / sides[1][1]), len(counts))
    return PronounScore(
        {name: rate(parts, len(counts)) for name, parts in overall.items()},
        {
            str(gender): {name: rate(parts, n_of[gender]) for name, parts in ratios.items()}
            for gender, ratios in of_gender.items()
        },
        bias,
    )


def _said(passage: PronounPassage, refer: Refer | None, names_given: bool) -> list[bool]:
    """Whether the pronoun means each of the two names, as people are found."""
    with known_names(passage.names if names_given else (), by_rules=refer is None):
        people = find_everyone(passage.text, unnamed=True, refer=refer)
    # Whoever has the pronoun among the references is whom it means
    for one in people:
        if any(s.kind == "reference" and s.start == passage.pronoun for s in one.spans):
            return [
                any(s.kind == "name" and s.start < end and start < s.end for s in one.spans)
                for start, end in passage.names
            ]
    return [False, False]


def _ratio(name: str, sums: FloatArray) -> FloatArray:
    """F1, precision or recall of hits, false alarms and misses, shape (3, n) → (n,)."""
    hits, false, missed = sums
    # F1, the harmonic mean of both, is hits over hits and half the errors.
    below = {"f1": hits + (false + missed) / 2, "precision": hits + false, "recall": hits + missed}[
        name
    ]
    return divide(hits, below)


def main() -> None:
    """Print the scores of a file of passages, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("passages")
    parser.add_argument("--rules", action="store_true", help="by the rules alone")
    parser.add_argument("--names-found", action="store_true", help="count names found as people's")
    asked = parser.parse_args()
    refer = None if asked.rules else by_network
    score = score_pronouns(read_passages(asked.passages), refer, names_given=not asked.names_found)
    print(json.dumps({"rules": asked.rules, **score.as_json()}, indent=1))


if __name__ == "__main__":
    main()

"""A judge as an instrument: how far what a scorer says of texts agrees with people, by group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from portrayal.errors import DataError
from portrayal.measure.corrected import labelled_texts
from portrayal.measure.drawing import class_of_label, classes_of
from portrayal.raters.labels import HandTable
from portrayal.run.directory import Run, read_prompts
from portrayal.stats import infer_shares
from portrayal.stats.tails import normal_sf
from portrayal.types import BoolArray, FloatArray

StrArray = NDArray[np.str_]
SURE = 0.05
FEWEST = 10
"""Labelled texts of a group below which it is not compared with others."""


@dataclass(frozen=True)
class AgreedShare:
    """A share of labelled texts, or a kappa, weighed by the chances of the draw.

    Attributes
    ----------
    value, low, high
        The share, or kappa, and its interval, clustered by prompt; NaN without a text, bounds also
        where all texts are of one prompt.
    n
        Effective number of texts.
    """

    value: float
    low: float
    high: float
    n: float

    @classmethod
    def of(
        cls, marks: BoolArray, weight: FloatArray, prompt: StrArray, level: float
    ) -> "AgreedShare":
        """Infer the share of marks from their sums by prompt, shape (n,) each."""
        if not len(marks):
            return cls(np.nan, np.nan, np.nan, 0.0)
        w, by = weight / weight.mean(), np.unique(prompt, return_inverse=True)[1]
        k, total = (np.bincount(by, x)[:, np.newaxis] for x in (w * marks, w))
        # Unequal chances of being drawn make fewer texts of them (Kish's effective size).
        share, n = infer_shares(k, total, level), float(w.sum() ** 2 / (w**2).sum())
        return cls(float(share.value[0]), float(share.low[0]), float(share.high[0]), n)

    @classmethod
    def of_kappa(
        cls, labels: Sequence[Sequence[str]], weight: FloatArray, prompt: StrArray, level: float
    ) -> "AgreedShare":
        """Infer Cohen's kappa of two sides' labels, shape (2, n); weight 0 leaves a text out."""
        mask, by = weight > 0, weight / weight.sum()
        names, codes = np.unique(labels, return_inverse=True)
        # Labels of both sides as codes, and how often each side gives which.
        one, two = codes.reshape(2, -1)
        mine, theirs = (np.bincount(side, by, len(names)) for side in (one, two))
        # Agreement is inferred; that of chance moves with the labels' shares, and hardly.
        chance = float(mine @ theirs)
        # A chance that misses 1 by rounding would give a kappa of any size
        beyond = 1.0 - chance if 1.0 - chance > 1e-12 else np.nan
        same = cls.of((one == two)[mask], weight[mask], prompt[mask], level)
        # Kappa is linear in agreement, so its interval is that of agreement, moved and stretched.
        # None is below -1, where a small chance of agreement would stretch it to.
        moved = ((x - chance) / beyond for x in (same.value, same.low, same.high))
        value, low, high = (max(kappa, -1.0) for kappa in moved)
        return cls(value, low, high, same.n)


@dataclass(frozen=True)
class JudgeCard:
    """How a scorer agrees with people in one field.

    Attributes
    ----------
    field, note
        What is scored, and who labelled how much.
    agreement
        Texts of which both say the same.
    recall, precision
        By (what is said, part): of what people say so, the share that the scorer finds; of what the
        scorer says, the share that people say.
    kappa
        Cohen's kappa of scorer and people by part; NaN where both say one thing of all.
    sentences
        Parts or groups that the scorer treats differently, where a test says so.
    """

    field: str
    note: str
    agreement: AgreedShare
    recall: Mapping[tuple[str, str], AgreedShare]
    precision: Mapping[tuple[str, str], AgreedShare]
    kappa: Mapping[str, AgreedShare]
    sentences: tuple[str, ...]


def judge_card(
    run: Run, table: HandTable, field: str, by: str | None = None, level: float = 0.95
) -> JudgeCard:
    """Score what a run's scorer says of the labelled texts.

    Parameters
    ----------
    run, table, field
        An audited run, labels by hand of its texts, and their field.
    by
        Stratum of the prompts by whose values the scorer is compared with itself; without one its
        recall is compared between the groups that people see.
    level
        Of intervals, a fraction.

    Raises
    ------
    DataError
        Where nothing of the field is labelled, or a text that the run has not.
    """
    if not table.labels.get(field):
        raise DataError(f"{table.path}: no text has a label of {field}.")
    classes = classes_of(run, field, unsure=False)
    prompts = read_prompts(run.prompts_path) if by else {}
    texts = labelled_texts(run, table, field, ["prompt_id"], originals=bool(run.reference.parts()))
    rows: list[tuple[set[str], set[str], str]] = []
    sample: list[tuple[float, str]] = []
    labels = table.labels[field]
    weights = table.weights(field, labels, 1.0)
    for ((name, unit), label), weight in zip(labels.items(), weights.tolist(), strict=True):
        row = texts[name]
        scored = classes.get((row["side"] + row["text_id"], unit))
        if scored is not None:
            part = prompts.get(row["prompt_id"], {}).get(by, "") if by else ""
            sides = scored, class_of_label(field, label)
            guess, people = (set(side.casefold().split(" and ")) for side in sides)
            rows.append((guess, people, part))
            sample.append((weight, row["prompt_id"]))
    if not rows:
        raise DataError(f"{table.path}: the scorer says nothing of what is labelled for {field}.")
    w, prompt = np.array([x for x, _ in sample]), np.array([x for _, x in sample])
    part_of = np.array([part for *_, part in rows], dtype=str)

    def share(marks: BoolArray, mask: BoolArray) -> AgreedShare:
        return AgreedShare.of(marks[mask], w[mask], prompt[mask], level)

    groups = sorted({group for row in rows for group in row[1]})
    parts = sorted({row[2] for row in rows if row[2]}) if by else [""]
    recall: dict[tuple[str, str], AgreedShare] = {}
    precision: dict[tuple[str, str], AgreedShare] = {}
    kappa: dict[str, AgreedShare] = {}
    given_labels = [[" and ".join(sorted(row[side])) for row in rows] for side in (0, 1)]
    for part in parts:
        mask = (part_of == part) | (part == "")
        for g in groups:
            guesses, truths = (np.array([g in row[side] for row in rows]) for side in (0, 1))
            recall[g, part] = share(guesses, truths & mask)
            precision[g, part] = share(truths, guesses & mask)
        kappa[part] = AgreedShare.of_kappa(given_labels, w * mask, prompt, level)
    pairs = [
        (a, b)
        for a, b in combinations(recall, 2)
        if (a[0] == b[0] if by else True) and min(recall[a].n, recall[b].n) >= FEWEST
    ]
    sentences = []
    for a, b in pairs:
        one, two = recall[a], recall[b]
        # Without a difference both have one share, so its spread is of both together
        pooled = (one.value * one.n + two.value * two.n) / (one.n + two.n)
        spread = np.sqrt(pooled * (1.0 - pooled) * (1.0 / one.n + 1.0 / two.n))
        # Two-sided, and for as many pairs as are compared (Bonferroni).
        if spread > 0 and 2 * len(pairs) * normal_sf(abs(one.value - two.value) / spread) < SURE:
            said_of = (f"{100 * recall[k].value:.0f} % of {k[0]}" for k in (a, b))
            places = (f" where {by} is {k[1]}" if by else "" for k in (a, b))
            phrases = [f"{words}{place}" for words, place in zip(said_of, places, strict=True)]
            sentences.append(f"It finds {phrases[0]} and {phrases[1]}.")
    agreement = share(np.array([row[0] == row[1] for row in rows]), w > 0)
    return JudgeCard(
        field, table.note(field), agreement, recall, precision, kappa, tuple(sentences)
    )

"""A judge as an instrument: how far what a scorer says of texts agrees with people, by group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from portrayal.annotate.group_labels import repeated_responses
from portrayal.errors import DataError
from portrayal.measure.corrected import TOPIC, labelled_texts
from portrayal.measure.drawing import class_of_label, classes_of
from portrayal.raters import HandTable
from portrayal.reference.factors import load_factor
from portrayal.run.directory import Run
from portrayal.run.reading import read_chosen, read_prompts
from portrayal.stats import cohens_kappa, infer_shares, wilson
from portrayal.stats.tails import beta_sf, normal_sf
from portrayal.types import FloatArray

SURE = 0.05
FEWEST = 10
"""Labelled texts of a group below which it is not compared with others."""


@dataclass(frozen=True)
class AgreedShare:
    """A share of labelled texts, weighed by the chances of the draw.

    Attributes
    ----------
    value, low, high
        The share and its Wilson interval, in 0–1; NaN without a text.
    n
        Effective number of texts.
    """

    value: float
    low: float
    high: float
    n: float

    def p_at_least(self, least: float) -> tuple[float, float]:
        """One-sided binomial p that the share is `least` or more, and that it is less.

        >>> [round(p, 3) for p in AgreedShare(0.5, 0.24, 0.76, 10.0).p_at_least(0.8)]
        [0.033, 0.994]
        """
        hits, misses = self.value * self.n, (1.0 - self.value) * self.n
        more = float(beta_sf(least, hits + 1.0, misses)) if misses > 0 else 1.0
        less = float(beta_sf(1.0 - least, misses + 1.0, hits)) if hits > 0 else 1.0
        return more, less


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
    kappa: Mapping[str, float]
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
        Where nothing of the field is labelled, or a text that the run has not; of topics.
    """
    if not table.labels.get(field):
        raise DataError(f"{table.path}: no text has a label of {field}.")
    if field == TOPIC:
        raise DataError("texts have shares of topics, which a card of classes cannot compare.")
    said = classes_of(run, field, unsure=False)
    prompts = read_prompts(run.prompts_path) if by else {}
    named = labelled_texts(run, table, field, ["prompt_id"], originals=bool(run.reference.parts()))
    rows: list[tuple[set[str], set[str], str, float]] = []
    labels = table.labels[field]
    weights = table.weights(field, labels, 1.0)
    for ((name, unit), label), weight in zip(labels.items(), weights.tolist(), strict=True):
        row = named[name]
        scored = said.get((row["side"] + row["text_id"], unit))
        if scored is not None:
            part = prompts.get(row["prompt_id"], {}).get(by, "") if by else ""
            sides = scored, class_of_label(field, label)
            own, people = (set(side.casefold().split(" and ")) for side in sides)
            rows.append((own, people, part, weight))

    def share(hits: Sequence[bool], weights: Sequence[float]) -> AgreedShare:
        w = np.array(weights)
        n = float(w.sum() ** 2 / (w**2).sum()) if len(w) else 0.0
        value = float(np.average(hits, weights=w)) if len(w) else float("nan")
        low, high = (float(x) for x in wilson(np.nan_to_num(value) * n, n, level))
        return AgreedShare(value, low, high, n)

    groups = sorted({group for row in rows for group in row[1]})
    parts = sorted({row[2] for row in rows if row[2]}) if by else [""]
    recall: dict[tuple[str, str], AgreedShare] = {}
    precision: dict[tuple[str, str], AgreedShare] = {}
    for g, part in product(groups, parts):
        here = [(g in own, g in people, w) for own, people, at, w in rows if part in ("", at)]
        recall[g, part] = share([a for a, b, _ in here if b], [w for _, b, w in here if b])
        precision[g, part] = share([b for a, b, _ in here if a], [w for a, _, w in here if a])
    kappa: dict[str, float] = {}
    for part in parts:
        own_rows = [(str(sorted(a)), str(sorted(b)), w) for a, b, at, w in rows if part in ("", at)]
        names = sorted({name for *both, _ in own_rows for name in both})
        counts = np.zeros((len(names), len(names)))
        for seen, given, w in own_rows:
            counts[names.index(seen), names.index(given)] += w
        kappa[part] = float(cohens_kappa(counts))
    # Groups are compared with one another, or one group in two parts.
    pairs = [
        (a, b)
        for a, b in combinations(recall, 2)
        if (a[0] == b[0] if by else True) and min(recall[a].n, recall[b].n) >= FEWEST
    ]
    sentences = []
    for a, b in pairs:
        one, two = recall[a], recall[b]
        pooled = (one.value * one.n + two.value * two.n) / (one.n + two.n)
        spread = np.sqrt(pooled * (1.0 - pooled) * (1.0 / one.n + 1.0 / two.n))
        if spread > 0 and 2 * len(pairs) * normal_sf(abs(one.value - two.value) / spread) < SURE:
            said_of = (f"{100 * recall[k].value:.0f} % of {k[0]}" for k in (a, b))
            where = (f" where {by} is {k[1]}" if by else "" for k in (a, b))
            found = [f"{what}{place}" for what, place in zip(said_of, where, strict=True)]
            sentences.append(f"It finds {found[0]} and {found[1]}.")
    every = share([row[0] == row[1] for row in rows], [row[3] for row in rows])
    return JudgeCard(field, table.note(field), every, recall, precision, kappa, tuple(sentences))


def repeated_shares(
    run: Run, field: str, level: float = 0.95
) -> dict[tuple[str, str], dict[str, AgreedShare]]:
    """Return how far a model agrees with itself where it was asked about texts of a run again.

    Parameters
    ----------
    run, field
        An audited run, and a factor of it.
    level
        Of intervals, a fraction; they are clustered by prompt.

    Returns
    -------
    dict
        By source of the factor and what it said first ("" for all): how it was asked again (one of
        `FORMS`), and the share of texts of which it says the same. Empty where nothing was.
    """
    factors = map(load_factor, run.settings()["options"].get("factor", ()))
    rows = [row for f in factors if f.name == field for row in repeated_responses(run, f)]
    chosen = read_chosen(run.texts.parts(), ["text_id", "prompt_id"], {row[0] for row in rows})
    prompt = {row["text_id"]: row["prompt_id"] for row in chosen}
    counts: dict[tuple[str, str, str], dict[str, FloatArray]] = {}
    for text_id, source, form, groups, same in rows:
        hit = np.array([float(same), 1.0])
        for group in ("", *groups):
            sums = counts.setdefault((source, group, form), {})
            sums[prompt[text_id]] = sums.get(prompt[text_id], 0.0) + hit
    found: dict[tuple[str, str], dict[str, AgreedShare]] = {}
    for (source, group, form), sums in sorted(counts.items()):
        hits, n = np.array(list(sums.values())).T[:, :, np.newaxis]
        of = infer_shares(hits, n, level)
        value, low, high = (float(x[0]) for x in (of.value, of.low, of.high))
        found.setdefault((source, group), {})[form] = AgreedShare(value, low, high, float(n.sum()))
    return found

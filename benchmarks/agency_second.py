"""Agency corrected by a second classifier on a sample of the sentences: bias, coverage, power.

    python -m benchmarks.agency_second --reps 1000

Texts are invented: topics are blocks, in which texts about women and men answer prompts that are
alike but for the group, and perhaps of few names that differ. The second classifier is right by
definition; the first errs, and not alike for women and men, nor from topic to topic. Sentences are
drawn by group with equal chances, as `portrayal audit agency --correct-by` draws them. The truth is
that of all topics, texts and names. Beside it stand the first classifier alone, and the sample
alone (its labels by the second classifier, with the clusters of the corrected difference).
"""

import argparse
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from portrayal.measure.agency.estimates import agency_gap
from portrayal.measure.agency.strata import strata
from portrayal.measure.agency.texts import (
    PROMPT,
    STRATUM,
    AgencyTexts,
    LabelColumn,
    MaskingReading,
)
from portrayal.measure.corrected import HandUnits
from portrayal.measure.scope import Scope
from portrayal.measure.scored import ScoredUnits
from portrayal.stats import crossed_differences, infer_differences
from portrayal.types import FloatArray, IntArray

SCOPE = Scope("agency", permutations=20, draws=100)
ERRORS = {"no error of groups": (0.10, 0.10), "errors by group": (0.22, 0.06)}
"""How often the first classifier calls an agentic sentence communal, of women and of men."""
HEAD = (
    *("world", "sentences read again", "bias, first alone", "corrected", "coverage, first alone"),
    *("corrected", "rejects 0, sample alone", "corrected", "width over that of the sample alone"),
)


class World(NamedTuple):
    """How texts are made: `topics` × two groups × `texts`, true difference in logits, names."""

    title: str
    topics: int
    texts: int
    difference: float
    errors: tuple[float, float]
    names: int = 0


def logistic(x: Any) -> FloatArray:
    """Probabilities of logits."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(x))))


def chances(world: World, topic: FloatArray, group: IntArray, rest: FloatArray) -> FloatArray:
    """P(agentic) of the sentences of texts: by topic, group, and what is peculiar to each text."""
    return logistic(topic + world.difference * (group - 0.5) + rest)


def truth_of(world: World, rng: np.random.Generator) -> float:
    """Difference of both groups' ratio gaps over all topics and texts."""
    topic, rest = rng.normal(0, 0.5, 400_000), rng.normal(0, spread(world), 400_000)
    women, men = (chances(world, topic, np.array(g), rest).mean() for g in (0, 1))
    return float(2.0 * (men - women))


def spread(world: World) -> float:
    """Standard deviation of what is peculiar to texts, and to names where there are some."""
    return float(np.hypot(0.4, 0.3 if world.names else 0.0))


def made(world: World, n_again: int, rng: np.random.Generator) -> tuple[AgencyTexts, ScoredUnits]:
    """One audit: its texts with a sample, and the sample as units."""
    topic, group = (
        x.ravel()
        for x in np.meshgrid(
            np.repeat(np.arange(world.topics), world.texts), np.arange(2), indexing="ij"
        )
    )
    n = len(topic)
    name = rng.integers(0, max(world.names, 1), n) + group * max(world.names, 1)
    of_name = rng.normal(0, 0.3, 2 * max(world.names, 1)) * bool(world.names)
    rest = rng.normal(0, 0.4, n) + of_name[name]
    p = chances(world, rng.normal(0, 0.5, world.topics)[topic], group, rest)
    size = rng.integers(3, 16, n)
    text = np.repeat(np.arange(n), size)
    acts = rng.random(len(text)) < p[text]
    # Errors are of a topic too: what a classifier misreads in one is not what it does in others
    of_topic = np.exp(rng.normal(0, 0.4, world.topics))[topic[text]]
    missed = np.array(world.errors)[group[text]] * of_topic
    wrong = rng.random(len(text)) < np.where(acts, missed, 0.10 * of_topic)
    first = acts != wrong
    sentences = np.bincount(group[text], minlength=2)
    chance = np.minimum(n_again / 2 / sentences, 1.0)[group[text]]
    drawn = rng.random(len(text)) < chance
    gap: FloatArray = 2.0 * np.bincount(text, first, n) / size - 1.0
    no_text = np.zeros(n)
    hand = HandUnits(
        text[drawn],
        first[drawn].astype(float),
        acts[drawn].astype(float),
        1.0 / chance[drawn],
        "read again",
        "by a second",
    )
    code = LabelColumn.in_order
    one, zero = code(["all"] * n), np.zeros(n, dtype=np.int64)
    columns = {"topic": code(topic.tolist())}
    texts = AgencyTexts(
        model=one,
        task=one,
        condition=one,
        stratum=LabelColumn(zero - 1, ()),
        groups={"gender": LabelColumn(group, ("female", "male"))},
        unit=PROMPT,
        cluster=code([*zip(topic.tolist(), name.tolist(), strict=True)]),
        names=code(name.tolist()) if world.names else None,
        run=zero,
        blocks={STRATUM: zero},
        columns=columns,
        outcome=zero,
        readings={"masked": MaskingReading(gap[np.newaxis], size.astype(float), no_text, no_text)},
        left_out=zero - 1,
        first=("male",),
        hand=hand,
    )
    # A sentence is one of so many of its text, as in the measure
    weight = hand.weight / size[hand.row]
    return texts, ScoredUnits(topic[hand.row], weight, hand.truth * 2.0 - 1.0, ())


def alone(texts: AgencyTexts, sample: ScoredUnits) -> tuple[float, float, float]:
    """The difference by the sample alone: its value and bounds."""
    (stratum,) = strata(texts, SCOPE)
    assert texts.hand is not None
    clusters = stratum.compared
    code, group = clusters.of.code[texts.hand.row], texts.groups["gender"].code[texts.hand.row]
    sides = tuple((group == g)[:, np.newaxis] * 1.0 for g in (1, 0))
    codes = np.arange(int(clusters.of.code.max()) + 1)
    x, n, z, m = replace(sample, cluster=code, members=sides).sums(codes)
    if clusters.ways:
        result = crossed_differences((x, n), (z, m), SCOPE.level, clusters.codes)
    else:
        result = infer_differences((x, n), (z, m), SCOPE.level)
    return tuple(float(v[0]) for v in (result.value, result.low, result.high))  # type: ignore[return-value]


def row_of(world: World, n_again: int, reps: int, seed: int) -> str:
    """A row of the table: `reps` audits of one world."""
    rng = np.random.default_rng([seed, world.topics, n_again])
    true = truth_of(world, rng)
    values: list[list[tuple[float, float, float]]] = []
    for _ in range(reps):
        texts, sample = made(world, n_again, rng)
        raw, corrected = agency_gap(texts, SCOPE)
        found = []
        for e in (raw, corrected):
            assert e.value is not None
            assert e.interval is not None
            found.append((e.value, e.interval.low, e.interval.high))
        values.append([*found, alone(texts, sample)])
    value, low, high = np.moveaxis(np.array(values), 2, 0)  # (reps, 3) each
    held = ((low <= true) & (true <= high)).mean(0)
    rejected = ((low > 0) | (high < 0)).mean(0)
    bias, width = value.mean(0) - true, (high - low).mean(0)
    cells = [f"{100 * bias[0]:+.1f}", f"{100 * bias[1]:+.1f}"]
    cells += [f"{x:.3f}" for x in (held[0], held[1], rejected[2], rejected[1])]
    return f"| {world.title} | {n_again:,} | " + " | ".join([*cells, f"{width[1] / width[2]:.2f}"])


def worlds() -> list[World]:
    """The worlds of the table."""
    rows = []
    for errors, of_group in ERRORS.items():
        for difference in (0.0, 0.4):
            what = f"{errors}, {'no' if not difference else 'a'} true difference"
            rows.append(World(f"60 topics × 2 × 10, {what}", 60, 10, difference, of_group))
    by_group = ERRORS["errors by group"]
    rows.append(World("15 topics × 2 × 20, errors by group, none", 15, 20, 0.0, by_group))
    rows.append(
        World("60 × 2 × 10, 20 names a group, errors by group, none", 60, 10, 0.0, by_group, 20)
    )
    return rows


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |")
    print("|---" * len(HEAD) + "|")
    for world in worlds():
        for n_again in (500, 2000):
            print(row_of(world, n_again, options.reps, options.seed) + " |", flush=True)


if __name__ == "__main__":
    main()

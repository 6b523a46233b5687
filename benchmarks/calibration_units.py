"""Simulate differences between groups of names over topics: section `units`.

Texts are about names × topics, as reviews of professors are about names × departments. What is
peculiar to a name, to a topic, and to a group in a topic is drawn anew for each audit, so names and
topics both are a sample.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.calibration_worlds import Rng
from portrayal import stats
from portrayal.types import FloatArray, IntArray

METHODS = ("prompts", "topics", "names", "names × topics")


@dataclass(frozen=True)
class Crossed:
    """Names of each group, topics, and standard deviations; that of a text's own noise is 1.

    `name` is that of names, `group` that of a group within a topic, `gone` the share of texts that
    are missing.
    """

    names: int = 5
    topics: int = 15
    name: float = 0.5
    group: float = 0.0
    gone: float = 0.0


def p_values(rng: Rng, world: Crossed, difference: float, groups: int = 2) -> list[float]:
    """p of the first difference by each of `METHODS`, and of the variance by both."""
    name = np.repeat(np.arange(groups * world.names), world.topics)
    topic = np.tile(np.arange(world.topics), groups * world.names)
    group = name // world.names
    y = rng.normal(0.0, 1.0, len(name)) + rng.normal(0.0, world.name, groups * world.names)[name]
    y += rng.normal(0.0, 1.0, world.topics)[topic]
    y += rng.normal(0.0, world.group, (groups, world.topics))[group, topic]
    y += difference * (group == 0)
    here = rng.random(len(y)) >= world.gone
    name, topic, group, y = name[here], topic[here], group[here], y[here]
    one = (group[:, np.newaxis] == np.arange(groups)).astype(float)
    total = one * y[:, np.newaxis]
    first, other = ((total[:, [g]], one[:, [g]]) for g in (0, 1))

    def sums(code: IntArray, side: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        n = int(code.max()) + 1
        return stats.clustered.sums_by(code, n, side[0]), stats.clustered.sums_by(code, n, side[1])

    found = [
        stats.infer_differences(first, other, 0.95),
        stats.matched_differences(sums(topic, first), sums(topic, other), 0.95),
        stats.infer_differences(sums(name, first), sums(name, other), 0.95),
        stats.crossed_differences(first, other, 0.95, (name, topic)),
    ]
    cells = np.eye(groups)
    variance = stats.infer_variance(total, one, [cells], 0.95, (name, topic))
    return [float(each.p[0]) for each in found] + [variance.p]


def rejections(seed: int, reps: int) -> Iterable[Sequence[object]]:
    """Level, then power, of each method in each world."""
    designs = [Crossed(5, 15), Crossed(20, 15), Crossed(5, 60)]
    spreads = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.5), (0.5, 0.5)]
    worlds = [Crossed(d.names, d.topics, *s) for d, s in product(designs, spreads)]
    worlds += [Crossed(5, 15, 0.5, 0.5, 0.3)]
    for number, world in enumerate(worlds):
        for difference in (0.0, 1.0):
            rng = np.random.default_rng([seed, 31, number])
            p = np.array([p_values(rng, world, difference) for _ in range(reps)])
            rates = (p < 0.05).mean(0).tolist()
            what = "power" if difference else "level"
            yield world.names, world.topics, world.name, world.group, world.gone, what, *rates


HEAD = (
    *("names", "topics", "SD of names", "SD of group in topic", "gone", "what"),
    *METHODS,
    "variance",
)

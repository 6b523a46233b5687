"""Targets: which sentences of which texts a round rewrites, and in which direction.

"always-up" is the paper's: every communal sentence of every text. As every group is raised, and
some more than others, the variance between groups can grow (Table 3). "reference" rewrites no more
sentences of a group than bring its mean share of agentic sentences to that of the reference group,
in either direction; the reference group itself is left alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from portrayal.errors import OptionError
from portrayal.mitigate.passages import Passage, Reading
from portrayal.mitigate.prompts import Direction

Target = Literal["always-up", "reference"]
TARGETS: tuple[Target, ...] = ("always-up", "reference")
Tries = Mapping[tuple[int, int], int]
"""How often sentence j of text i was tried before, by (i, j)."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sentences of one text that a round rewrites."""

    numbers: tuple[int, ...]
    direction: Direction


def always_up(readings: Sequence[Reading | None]) -> dict[int, Chosen]:
    """Return every communal sentence of every text that is read, by number of the text."""
    return {
        i: Chosen(tuple(numbers), "up")
        for i, reading in enumerate(readings)
        if reading is not None and (numbers := reading.communal())
    }


def group_shares(
    passages: Sequence[Passage], readings: Sequence[Reading | None]
) -> dict[tuple[str, ...], float]:
    """Return the mean share of agentic sentences of each combination of groups."""
    shares = defaultdict(list)
    for passage, reading in zip(passages, readings, strict=True):
        if reading is not None and reading.share == reading.share:
            shares[passage.group].append(reading.share)
    return {group: sum(found) / len(found) for group, found in sorted(shares.items())}


def reference_of(
    shares: Mapping[tuple[str, ...], float], columns: Sequence[str], reference: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the reference group: the one named, or else the most agentic one.

    Raises
    ------
    OptionError
        When no text is about the group that was named, or there are not two groups.
    """
    if len(shares) < 2:
        raise OptionError(f"two groups are needed; the texts have {len(shares)}.")
    if not reference:
        return max(shares, key=lambda group: shares[group])
    wanted = tuple(reference.get(name, "") for name in columns)
    if wanted not in shares or set(reference) - set(columns):
        known = "; ".join(
            ", ".join(f"{n}={v}" for n, v in zip(columns, group, strict=True)) for group in shares
        )
        raise OptionError(
            f"no text is about the reference group {dict(reference)}; groups: {known}."
        )
    return wanted


def toward(
    level: float,
    reference: tuple[str, ...],
    passages: Sequence[Passage],
    readings: Sequence[Reading | None],
    tries: Tries,
    *,
    seed: int = 0,
) -> dict[int, Chosen]:
    """Return the sentences that bring each group's mean to `level`, if every rewrite succeeds.

    Parameters
    ----------
    level
        Share of agentic sentences, in 0–1.
    reference
        Group that is left alone.
    passages, readings
        The texts and how they read now; None for one that is not read.
    tries
        Sentences that were tried before come last.
    seed
        Of the order of the texts. One sentence of each text is taken, nearest to the boundary
        first, before a second one of any.
    """
    members = defaultdict(list)
    order = np.random.default_rng([seed, 1]).permutation(len(passages)).tolist()
    for i in order:
        reading = readings[i]
        if reading is not None and reading.share == reading.share:
            members[passages[i].group].append((i, reading))
    chosen: dict[int, Chosen] = {}
    for group in sorted(members):
        if group != reference:
            chosen |= _of_group(level, members[group], tries)
    return chosen


def _of_group(
    level: float, members: Sequence[tuple[int, Reading]], tries: Tries
) -> dict[int, Chosen]:
    """Take sentences until their share of the group's mean covers its distance from `level`."""
    lacking = level * len(members) - sum(reading.share for _, reading in members)
    direction: Direction = "up" if lacking > 0 else "down"
    queue = []
    for turn, (i, reading) in enumerate(members):
        numbers = reading.communal() if direction == "up" else reading.acting()
        nearest = [j for _, j in sorted((abs(reading.agentic[j] - 0.5), j) for j in numbers)]
        weight = 1.0 / (len(reading.communal()) + len(reading.acting()))
        queue += [
            (tries.get((i, j), 0), place, turn, i, j, weight) for place, j in enumerate(nearest)
        ]
    left, taken = abs(lacking), defaultdict(list)
    for _, _, _, i, j, weight in sorted(queue):
        if left < weight / 2:
            break
        taken[i].append(j)
        left -= weight
    return {i: Chosen(tuple(sorted(numbers)), direction) for i, numbers in taken.items()}

"""Targets: which sentences of which texts are rewritten, in which direction, by which prompt.

"always-up" is the paper's: every communal sentence of every text. As every group is raised, and
some more than others, the variance between groups can grow (Table 3). "reference" rewrites no more
sentences of a group than bring its mean share of agentic sentences to that of the reference group,
in either direction; the reference group itself is left alone. With levels per stratum this is done
within each occupation or department, where enough texts say what its level is.
"""

import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from portrayal.errors import OptionError
from portrayal.mitigate.passages import AgencyReading, GroupedText

Direction = Literal["up", "down"]
"""To more agentic sentences, or to more communal ones."""


@cache
def _words() -> dict[str, str]:
    text = files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def rewrite_prompt(
    text: str, n_sentences: int, chosen: Collection[int], direction: Direction = "up"
) -> str:
    """Return the request to rewrite the chosen sentences of a text.

    Parameters
    ----------
    text
        The whole text.
    n_sentences
        How many sentences it has.
    chosen
        Which of them to rewrite, by number from 0.
    direction
        "up" asks with the prompt of Table 15, where the list marks the chosen sentences as communal
        and every other one as agentic; "down" with its mirror, which is no paper's.

    References
    ----------
    Wan & Chang (2024), Table 15.
    """
    marked, other = ("communal", "agentic") if direction == "up" else ("agentic", "communal")
    said = [marked if number in chosen else other for number in range(n_sentences)]
    return _words()[direction].format(text=text, agency_list=said)


def with_instruction(prompt: str, text_type: str = "text") -> str:
    """Return a prompt with the fairness instruction of Table 15 at its end.

    `text_type` is what it asks for: "biography", "professor review", "reference letter", ….
    """
    return f"{prompt} {_words()['instruction'].format(text_type=text_type)}"


Target = Literal["always-up", "reference"]
TARGETS: tuple[Target, ...] = ("always-up", "reference")
Tries = Mapping[tuple[int, int], int]
"""How often sentence j of text i was tried before, by (i, j)."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sentences of one text that a round rewrites."""

    numbers: tuple[int, ...]
    direction: Direction


@dataclass(frozen=True, slots=True)
class Levels:
    """Shares of agentic sentences, in 0–1, that texts are rewritten toward.

    Attributes
    ----------
    overall
        Of all texts of the reference group.
    own
        Of its texts in each stratum that has enough of every group.
    pooled
        Why a stratum has no level of its own, by stratum; the texts of all of these are taken
        together, toward the overall level.
    """

    overall: float
    own: Mapping[str, float] = field(default_factory=dict)
    pooled: Mapping[str, str] = field(default_factory=dict)

    def place(self, stratum: str) -> str:
        """Return the stratum whose groups are brought together, "" for all without a level."""
        return stratum if stratum in self.own else ""

    def of(self, place: str) -> float:
        """Return the level of a place."""
        return self.own.get(place, self.overall)


def levels_of(
    passages: Sequence[GroupedText],
    readings: Sequence[AgencyReading | None],
    reference: tuple[str, ...],
    *,
    per_stratum: bool = False,
    min_group: int = 10,
) -> Levels:
    """Return the levels of the reference group, overall and in strata.

    A stratum has a level of its own where the reference group and every other group with texts in
    it have at least `min_group` of them there. Texts without a stratum have none.
    """
    shares: dict[str, dict[tuple[str, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for passage, reading in zip(passages, readings, strict=True):
        if reading is not None and reading.share == reading.share:
            shares[passage.block][passage.group].append(reading.share)
    every = [share for found in shares.values() for share in found.get(reference, ())]
    overall = sum(every) / len(every)
    if not per_stratum:
        return Levels(overall)
    own: dict[str, float] = {}
    pooled: dict[str, str] = {}
    for stratum, found in sorted(shares.items()):
        counts = {group: len(each) for group, each in found.items()} | {
            reference: len(found.get(reference, ()))
        }
        least = min(counts, key=lambda group: (counts[group], group))
        if not stratum:
            pooled[stratum] = "no stratum"
        elif counts[least] < min_group:
            pooled[stratum] = f"texts about {' '.join(least)}: {counts[least]}, needed: {min_group}"
        else:
            own[stratum] = sum(found[reference]) / counts[reference]
    return Levels(overall, own, pooled)


def always_up(readings: Sequence[AgencyReading | None]) -> dict[int, Chosen]:
    """Return every communal sentence of every text that is read, by number of the text."""
    return {
        i: Chosen(tuple(numbers), "up")
        for i, reading in enumerate(readings)
        if reading is not None and (numbers := reading.communal())
    }


def group_shares(
    passages: Sequence[GroupedText], readings: Sequence[AgencyReading | None]
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
    levels: Levels,
    reference: tuple[str, ...],
    passages: Sequence[GroupedText],
    readings: Sequence[AgencyReading | None],
    tries: Tries,
    *,
    seed: int = 0,
) -> dict[int, Chosen]:
    """Return the sentences that bring each group's mean to its level, if every rewrite succeeds.

    Parameters
    ----------
    levels
        What to bring it to, in each stratum that has a level of its own, and in all others.
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
            place = levels.place(passages[i].block)
            members[place, passages[i].group].append((i, reading))
    chosen: dict[int, Chosen] = {}
    for place, group in sorted(members):
        if group == reference:
            continue
        own = members[place, group]
        lacking = levels.of(place) * len(own) - sum(reading.share for _, reading in own)
        direction: Direction = "up" if lacking > 0 else "down"
        queue = []
        for turn, (i, reading) in enumerate(own):
            numbers = reading.communal() if direction == "up" else reading.acting()
            nearest = [j for _, j in sorted((abs(reading.agentic[j] - 0.5), j) for j in numbers)]
            weight = 1.0 / (len(reading.communal()) + len(reading.acting()))
            queue += [(tries.get((i, j), 0), n, turn, i, j, weight) for n, j in enumerate(nearest)]
        # Sentences are taken until their share of the group's mean covers its distance.
        left, taken = abs(lacking), defaultdict(list)
        for *_, i, j, weight in sorted(queue):
            if left < weight / 2:
                break
            taken[i].append(j)
            left -= weight
        for i, numbers in taken.items():
            chosen[i] = Chosen(tuple(sorted(numbers)), direction)
    return chosen

"""Draws: which texts are labelled, with known chances."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from portrayal.errors import DataError
from portrayal.raters.labels import Unit


@dataclass(frozen=True)
class Draw:
    """A sample of texts, or of sentences of texts, to label.

    Attributes
    ----------
    about
        What is labelled: a field, or the name of a codebook.
    texts
        text_id and unit → chance with which it was drawn, in the order in which raters see them.
    strata
        Stratum → how many units it has, and how many were drawn.
    width
        Expected width of a 95 % interval of a share of these very texts, by these labels alone;
        None where nothing is corrected.
    """

    about: str
    texts: Mapping[Unit, float]
    strata: Mapping[str, tuple[int, int]]
    width: float | None = None


def drawn(
    about: str,
    strata: Mapping[str, Sequence[Unit]],
    sizes: Sequence[int],
    seed: int,
    width: float | None = None,
) -> Draw:
    """Draw units at random from strata, which may overlap.

    A larger draw with the same seed holds a smaller one.

    Parameters
    ----------
    about, width
        As of `Draw`.
    strata, sizes
        Units by stratum, and how many of each are drawn.
    seed
        Start of the random streams.

    Raises
    ------
    DataError
        When no stratum has a unit.

    Examples
    --------
    >>> draw = drawn("faith", {"one": [("1", ""), ("2", "")], "none": [("3", "")]}, [1, 1], 0)
    >>> sorted(draw.texts.values())
    [0.5, 1.0]
    """
    if not any(strata.values()):
        raise DataError("there is no readable text to label; expected texts with the outcome ok.")
    # Sorted, so that neither the order of files nor shards change what is drawn
    units_of = {name: sorted(strata[name]) for name in sorted(strata)}
    n_of = dict(zip(strata, sizes, strict=True))
    sample: set[Unit] = set()
    for number, (name, units) in enumerate(units_of.items()):
        # The first of a fixed order, so that a larger draw holds a smaller one
        order = np.random.default_rng([seed, number]).permutation(len(units))
        sample.update(units[i] for i in order[: n_of[name]].tolist())
    rates: dict[Unit, list[float]] = {unit: [] for unit in sorted(sample)}
    for name, units in units_of.items():
        for unit in units:
            if unit in rates:
                rates[unit].append(n_of[name] / len(units))
    # Mixed, since a sheet in the order of strata would tell raters what is compared
    names, texts = list(rates), {}
    for i in np.random.default_rng(seed).permutation(len(names)).tolist():
        of_strata = rates[names[i]]
        # A unit is missed where all of its strata miss it
        missed = math.prod(1.0 - rate for rate in of_strata)
        texts[names[i]] = of_strata[0] if len(of_strata) == 1 else 1.0 - missed
    counts = {name: (len(units), n_of[name]) for name, units in units_of.items()}
    return Draw(about, texts, counts, width)


def evenly(n: int, sizes: Sequence[int]) -> list[int]:
    """Share `n` out over strata as evenly as their sizes allow; what is over goes to the larger.

    >>> evenly(20, [10, 30]), evenly(30, [10, 30])
    ([10, 10], [10, 20])
    """
    shares = [0] * len(sizes)
    remaining = min(n, sum(sizes))
    while remaining:
        room = [i for i, size in enumerate(sizes) if shares[i] < size]
        # Again and again, as a small stratum that is full leaves its share to the others
        per_stratum, over = divmod(remaining, len(room))
        for i in room:
            shares[i] += min(per_stratum, sizes[i] - shares[i])
        # Fewer are left than there are strata with room: the largest get one each
        if per_stratum == 0:
            for i in sorted(room, key=lambda i: (-sizes[i], i))[:over]:
                shares[i] += 1
        remaining = min(n, sum(sizes)) - sum(shares)
    return shares


@dataclass(frozen=True, slots=True)
class ShortPlace:
    """A place of which a draw has fewer labels than a correction needs.

    Attributes
    ----------
    place
        A stratum and its value, or domain and condition as the prompts say.
    drawn, unit
        How many units of it were drawn, and what they are ("people of a role", "texts").
    least
        How many a correction needs.
    needed
        Size of a draw that should have so many; None where the run has too few.
    """

    place: str
    drawn: int
    unit: str
    least: int
    needed: int | None

    @property
    def sentence(self) -> str:
        """What a terminal says of it."""
        would = f"--n {self.needed} should do"
        if self.needed is None:
            would = "the whole run has too few"
        return (
            f"these labels cannot correct {self.place}: they are of {self.drawn} {self.unit} "
            f"there, and a correction needs {self.least}; {would}"
        )


def short_places(
    n_all: Mapping[str, int], n_drawn: Mapping[str, int], n: int, unit: str, least: int
) -> list[ShortPlace]:
    """Return the places of which a draw of `n` texts has fewer than `least` units.

    Parameters
    ----------
    n_all, n_drawn
        Units of each place, and how many of them were drawn.
    n
        Texts that were drawn.
    unit, least
        What the units are, and how many a correction needs.
    """
    short = []
    for place, total in sorted(n_all.items()):
        if (have := n_drawn.get(place, 0)) < least and total:
            # A place has its share of a larger draw, or more where smaller strata are exhausted
            needed = math.ceil(n * least / have) if have else None
            short.append(ShortPlace(place, have, unit, least, needed if total >= least else None))
    return short

"""The least numbers with which an effect is found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from portrayal.errors import OptionError
from portrayal.planning.design import Design, Kind, power, resized
from portrayal.records import FEW_PROMPTS

MOST = 10_000
"""Prompts, or answers to each, beyond which a plan says that there are none."""
DESIGNS = 9
"""Designs, at most, whose power is simulated between one that is too small and twice as many."""
MORE_PROMPTS = "no number of answers to these prompts will do; ask more prompts"


@dataclass(frozen=True)
class Needed:
    """What it takes to find one effect.

    Attributes
    ----------
    design
        The least one that finds it; the largest that was tried where none does.
    power
        Share of audits that find it, by the simulations of it and of designs near it.
    undefined
        Why no number will do; None where one does.
    """

    design: Design
    power: float
    undefined: str | None = None


def plan(
    kind: Kind,
    effects: Sequence[float],
    *,
    blocks: int | None = None,
    target_power: float = 0.8,
    seed: int = 0,
    **design: Any,
) -> list[Needed]:
    """Return, for each true effect, the least number of blocks that finds it, or of texts.

    Parameters
    ----------
    kind, effects
        As in `Design`: share, ratio or difference.
    blocks
        Prompts, sources, originals or templates that there are: how many texts of each are needed?
        By default, how many blocks are, with so many texts of each.
    target_power
        Power, a fraction.
    seed
        Start of the random stream.
    **design
        More of `Design`: texts, share, race, icc, varies, apart, level, tests.

    Raises
    ------
    OptionError
        For a design or power that cannot be.

    >>> [pairs] = plan("difference", [0.5], tests=1)
    >>> 45 < pairs.design.blocks < 60
    True
    """
    if not 0 < target_power < 1:
        raise OptionError(
            f"power must be a fraction between 0 and 1, such as 0.8; got {target_power!r}."
        )
    if not effects:
        raise OptionError("give at least one effect to find, such as 1.5.")
    first = Design(kind=kind, effect=effects[0], blocks=blocks or FEW_PROMPTS, **design)
    vary: Literal["texts", "blocks"] = "blocks" if blocks is None else "texts"
    return [_needed(replace(first, effect=effect), vary, target_power, seed) for effect in effects]


def _needed(
    design: Design, vary: Literal["texts", "blocks"], target_power: float, seed: int
) -> Needed:
    """Double the number until it is enough, then fit the power of designs between.

    Where a statistic is normal, its power is a straight line of the root of the number on the scale
    of normal quantiles, so that the simulations of all designs together tell where it is enough.
    """
    low, high = 0, 1 if vary == "texts" else FEW_PROMPTS
    while (reached := power(resized(design, **{vary: high}), seed)) < target_power:
        # Texts of a prompt are alike: where ten times as many change nothing, none will do.
        if high * 2 > MOST:
            reason = MORE_PROMPTS if vary == "texts" else f"{MOST:,} are too few"
            return Needed(resized(design, **{vary: high}), reached, reason)
        low, high = high, high * 2
    numbers = np.array(_numbers(low + 1, high))
    tried = [resized(design, **{vary: number}) for number in numbers.tolist()]
    powers = np.array([power(smaller, seed) for smaller in tried])
    # Below the fewest people that an audit states anything of, nothing is simulated
    simulated = powers > 0.0
    if simulated.sum() > 1:
        draws = np.array([smaller.replicates for smaller in tried])[simulated]
        shares = np.clip(powers[simulated], 0.5 / draws, 1.0 - 0.5 / draws)
        quantiles, roots = ndtri(shares), np.sqrt(numbers[simulated])
        density = np.exp(-0.5 * quantiles**2)
        precision = density * np.sqrt(draws / (shares * (1.0 - shares)))
        slope, start = np.polyfit(roots, quantiles, 1, w=precision)
        if slope > 0.0:
            least = int(np.ceil(((ndtri(target_power) - start) / slope) ** 2))
            high = int(np.clip(least, numbers[simulated][0], high))
            reached = float(ndtr(start + slope * np.sqrt(high)))
    return Needed(resized(design, **{vary: high}), reached)


def _numbers(least: int, most: int) -> list[int]:
    """Whole numbers from `least` to `most`, `DESIGNS` at most, evenly spaced."""
    return sorted({round(number) for number in np.linspace(least, most, DESIGNS)})

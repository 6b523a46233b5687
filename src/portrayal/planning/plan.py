"""The least numbers with which an effect is found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from portrayal.errors import OptionError
from portrayal.planning.design import Design, Kind, power, resized
from portrayal.records import FEW_PROMPTS

MOST = 10_000
"""Prompts, or answers to each, beyond which a plan says that there are none."""
MORE_PROMPTS = "no number of answers to these prompts will do; ask more prompts"


@dataclass(frozen=True)
class Needed:
    """What it takes to find one effect.

    Attributes
    ----------
    design
        The least one that finds it; the largest that was tried where none does.
    power
        Share of its simulated audits that find it.
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
    of_texts = blocks is not None
    first = Design(kind=kind, effect=effects[0], blocks=blocks or FEW_PROMPTS, **design)
    vary: Literal["texts", "blocks"] = "texts" if of_texts else "blocks"
    return [_needed(replace(first, effect=effect), vary, target_power, seed) for effect in effects]


def _needed(
    design: Design, vary: Literal["texts", "blocks"], target_power: float, seed: int
) -> Needed:
    """Double the number until it is enough, then halve what lies between to a fiftieth."""
    low, high = 0, 1 if vary == "texts" else FEW_PROMPTS
    while (reached := power(resized(design, **{vary: high}), seed)) < target_power:
        # Texts of a prompt are alike: where ten times as many change nothing, none will do.
        if high * 2 > MOST:
            reason = MORE_PROMPTS if vary == "texts" else f"{MOST:,} are too few"
            return Needed(resized(design, **{vary: high}), reached, reason)
        low, high = high, high * 2
    # To a fiftieth, as simulated power is no more exact than that
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        at_middle = power(resized(design, **{vary: middle}), seed)
        if at_middle < target_power:
            low = middle
        else:
            high, reached = middle, at_middle
    return Needed(resized(design, **{vary: high}), reached)

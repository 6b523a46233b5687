"""The learned weights, read once from `weights.json` beside this module."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from portrayal.annotate.people.stories.codes import code_weights
from portrayal.annotate.people.stories.trace import learned_saliences

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
"""Integers by name, written by `scripts/train_people.py`."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Weights in units of 1 / `decide.SCALE`.

    Attributes
    ----------
    codes
        Weight of every code of `codes`.
    salience
        Weight of one unit of a choice's salience.
    saliences
        Who is meant by a pronoun under a choice; see `trace.learned_saliences`.
    name, gender, both
        Weights of the signs of `confidence`.
    """

    codes: tuple[int, ...]
    salience: int
    saliences: tuple[float, ...]
    name: tuple[int, ...]
    gender: tuple[int, ...]
    both: tuple[int, ...]


@lru_cache(maxsize=1)
def learned() -> Learned:
    """The weights that ship with the package."""
    raw = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return Learned(
        code_weights(raw["choice"]),
        raw["choice"]["salience"],
        learned_saliences([weight / 1000 for weight in code_weights(raw["walk"])]),
        tuple(raw["name"].values()),
        tuple(raw["gender"].values()),
        tuple(raw["both"].values()),
    )

"""Scope: the settings that every measure of an audit shares."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from portrayal.records import Estimate
from portrayal.registry import Component
from portrayal.validate import check_count, check_level, check_seed, check_smoothing


@dataclass(frozen=True, slots=True)
class Scope:
    """How sure, how often, with which instruments.

    Attributes
    ----------
    study
        Name of the study the estimates belong to.
    level
        Confidence level, a fraction.
    seed
        Start of every random stream; the same seed gives the same numbers.
    draws, permutations
        Replicates of the cluster bootstrap and of the null.
    smoothing
        Laplace pseudo-count where a count of a name or threshold is zero (Fig. 3a).
    min_name_count
        Power-laden characters a name needs before it has an estimate of its own.
    instruments
        Name tables, word list and annotator that the numbers rest on.
    """

    study: str
    level: float = 0.95
    seed: int = 0
    draws: int = 2000
    permutations: int = 200
    smoothing: float = 1.0
    min_name_count: int = 5
    instruments: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse settings that cannot be used."""
        check_level(self.level)
        check_seed(self.seed)
        check_count("draws", self.draws, minimum=100)
        check_count("permutations", self.permutations, minimum=20)
        check_count("min_name_count", self.min_name_count, minimum=1)
        check_smoothing(self.smoothing)

    def rng(self, *labels: str) -> np.random.Generator:
        """Return the random stream of these labels; it does not depend on the order of work."""
        words = "\x1f".join((self.study, *labels)).encode()
        return np.random.default_rng([self.seed, zlib.crc32(words)])

    def estimate(self, measure: Component, **fields: Any) -> Estimate:
        """Return an estimate of `measure` with these fields, beside what all of its share.

        That is study, measure, unit, source, and the instruments of the audit.
        """
        shared = {
            "study": self.study,
            "measure": measure.name,
            "unit": measure.unit,
            "source": measure.source,
            "instruments": self.instruments,
        }
        return Estimate(**(shared | fields))

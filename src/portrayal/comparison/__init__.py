"""Compare two runs: what changed, by how much, and what did not."""

from portrayal.comparison.change import Change, Comparison, Prompts, flat_change
from portrayal.comparison.compare import MARGIN, SHARE_MARGIN, compare
from portrayal.comparison.instruments import Instrument
from portrayal.comparison.matching import Side

__all__ = [
    "MARGIN",
    "SHARE_MARGIN",
    "Change",
    "Comparison",
    "Instrument",
    "Prompts",
    "Side",
    "compare",
    "flat_change",
]

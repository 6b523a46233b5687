"""Compare two runs: what changed, by how much, and what did not."""

from portrayal.comparison.change import Change, Comparison, Prompts, flat_change
from portrayal.comparison.compare import (
    MARGIN,
    SHARE_MARGIN,
    Choices,
    changes,
    compare,
    side_of,
    study_of,
)
from portrayal.comparison.instruments import Instrument, check_instruments, differing
from portrayal.comparison.matching import Side, matched, model_pairs, rows_of

__all__ = [
    "MARGIN",
    "SHARE_MARGIN",
    "Change",
    "Choices",
    "Comparison",
    "Instrument",
    "Prompts",
    "Side",
    "changes",
    "check_instruments",
    "compare",
    "differing",
    "flat_change",
    "matched",
    "model_pairs",
    "rows_of",
    "side_of",
    "study_of",
]

"""Compare runs: what changed, by how much, what did not, and whether it changed over time."""

from portrayal.comparison.compare import (
    MARGIN,
    SHARE_MARGIN,
    Choices,
    changes,
    compare,
    side_of,
    study_of,
)
from portrayal.comparison.matching import (
    Instrument,
    Side,
    check_instruments,
    differing,
    matched,
    model_pairs,
    rows_of,
)
from portrayal.comparison.result import Change, Comparison, Prompts, flat_change
from portrayal.comparison.several import Several, Summary, compare_several, models_of
from portrayal.comparison.watch import RoundFacts, Watch, Watched, flat_rounds, watch, watch_values

__all__ = [
    "MARGIN",
    "SHARE_MARGIN",
    "Change",
    "Choices",
    "Comparison",
    "Instrument",
    "Prompts",
    "RoundFacts",
    "Several",
    "Side",
    "Summary",
    "Watch",
    "Watched",
    "changes",
    "check_instruments",
    "compare",
    "compare_several",
    "differing",
    "flat_change",
    "flat_rounds",
    "matched",
    "model_pairs",
    "models_of",
    "rows_of",
    "side_of",
    "study_of",
    "watch",
    "watch_values",
]

"""Compare runs: what changed, by how much, and what did not.

What a run is *compared against* is a value: an earlier run, another model (`Side`), or
texts before they were rewritten. All of these become sums by prompt (`Sums`), the sums
of both become a `Change` by one function (`changes_against`), and everything else is built on it.
"""

from portrayal.comparison.compare import (
    Choices,
    changes,
    compare,
    compare_several,
    models_of,
    stated_of,
    study_of,
)
from portrayal.comparison.matching import (
    Key,
    Side,
    check_instruments,
    differing,
    matched,
    model_pairs,
    rows_of,
    side_of,
)
from portrayal.comparison.result import Change, Comparison
from portrayal.comparison.scores import ScoreChange, compare_scores
from portrayal.comparison.sums import POWER, Sums, changes_against, measured, sums_of

__all__ = [
    "POWER",
    "Change",
    "Choices",
    "Comparison",
    "Key",
    "ScoreChange",
    "Side",
    "Sums",
    "changes",
    "changes_against",
    "check_instruments",
    "compare",
    "compare_scores",
    "compare_several",
    "differing",
    "matched",
    "measured",
    "model_pairs",
    "models_of",
    "rows_of",
    "side_of",
    "stated_of",
    "study_of",
    "sums_of",
]

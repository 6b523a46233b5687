"""Planning: what a collection takes, and what it could find.

A *plan* says, before a model is asked, how many texts there will be, what they cost, and how large
a difference between groups must be for the audit's own tests, simulated, to find it.
"""

from portrayal.planning.assumptions import DEFAULTS, Assumption, assumptions_from
from portrayal.planning.effects import REFERENCE, Detectable, detectable_difference
from portrayal.planning.equivalence import Needed, equivalence, equivalence_power
from portrayal.planning.groups import EVERY
from portrayal.planning.pairs import TESTS, PairDesign, measured, of_share
from portrayal.planning.plan import Plan, TokenEstimate, output_tokens, plan, tokens_of
from portrayal.planning.power import (
    Counting,
    Design,
    change_power,
    counted_by_name,
    counted_whole,
    representation_power,
    smallest_detectable,
    subordination_power,
)

__all__ = [
    "DEFAULTS",
    "EVERY",
    "REFERENCE",
    "TESTS",
    "Assumption",
    "Counting",
    "Design",
    "Detectable",
    "Needed",
    "PairDesign",
    "Plan",
    "TokenEstimate",
    "assumptions_from",
    "change_power",
    "counted_by_name",
    "counted_whole",
    "detectable_difference",
    "equivalence",
    "equivalence_power",
    "measured",
    "of_share",
    "output_tokens",
    "plan",
    "representation_power",
    "smallest_detectable",
    "subordination_power",
    "tokens_of",
]

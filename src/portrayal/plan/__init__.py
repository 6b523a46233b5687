"""Planning: what a collection takes, and what it could find.

A *plan* says, before a model is asked, how many texts there will be, what they cost, and how large
a difference between groups must be for the audit's own clustered test to find it.
"""

from portrayal.plan.assumptions import DEFAULTS, Assumption, assumptions_from
from portrayal.plan.effects import (
    REFERENCE,
    Detectable,
    detectable_difference,
    detectable_ratio,
    detectable_share,
)
from portrayal.plan.plan import Plan, Tokens, output_tokens, plan, tokens_of

__all__ = [
    "DEFAULTS",
    "REFERENCE",
    "Assumption",
    "Detectable",
    "Plan",
    "Tokens",
    "assumptions_from",
    "detectable_difference",
    "detectable_ratio",
    "detectable_share",
    "output_tokens",
    "plan",
    "tokens_of",
]

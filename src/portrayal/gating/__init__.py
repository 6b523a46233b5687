"""Gates: may a run be shipped? A policy, and a verdict with four outcomes."""

from portrayal.gating.gate import gate
from portrayal.gating.policy import Policy, Rule, read_policy, write_example, write_policy
from portrayal.gating.verdict import EXIT_CODES, FORMATS, Limit, RuleCheck, SampleSize, Verdict

__all__ = [
    "EXIT_CODES",
    "FORMATS",
    "Limit",
    "Policy",
    "Rule",
    "RuleCheck",
    "SampleSize",
    "Verdict",
    "gate",
    "read_policy",
    "write_example",
    "write_policy",
]

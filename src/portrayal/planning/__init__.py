"""Planning: how many prompts, texts or pairs it takes to see an effect.

A *design* says what is compared, and how texts are alike. Audits of it are simulated, and tested by
the functions that test an audit; the answer is the least number with which enough of them find the
effect.
"""

from portrayal.planning.design import KINDS, AuditPlan, Needed, plan, power

__all__ = ["KINDS", "AuditPlan", "Needed", "plan", "power"]

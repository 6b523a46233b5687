"""Measuring: annotations become estimates.

A *measure* is a function of a `Scope` and of the tables that its parameters name (`tables.py`): a
tally of stories (`stories`), a paired table (`pairs`), agency texts (`agency`), groups of factors
(`groups`) or mentions of cues (`cues`). It sums its units by cluster, stratum and group
(`clustered.GroupSums`); from these sums `estimates_of` makes one estimate per stratum and group,
each with an interval that clusters by prompt, a null, and a reason where it is undefined. A new
measure is a function and a `Component` in one of these folders, a line in pyproject.toml, and a
test.
"""

from portrayal.measure.tables import Tables

__all__ = ["Tables"]

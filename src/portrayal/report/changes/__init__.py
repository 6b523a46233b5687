"""The page of a comparison: two runs, or two models of one, beside each other."""

from portrayal.report.changes.compared import write_comparison

__all__ = ["write_comparison"]

"""Figures of paired audits, in the forms of Fang et al. (2024).

A paired measure has several figures, one for each level and attribute: its builder returns a list.
"""

from portrayal.report.figures.paired.builders import SEVERAL, Builders

__all__ = ["SEVERAL", "Builders"]

"""The report of the study: differences within pairs, and pairs to read side by side."""

from portrayal.report.study import StudyReport, Wording

__all__ = ["REPORT"]

REPORT = StudyReport(wording=Wording(clusters="sources", unit="pair"))

"""Reporting: a *report* is one HTML file that tells what a run found, and opens offline."""

from portrayal.report.corrected import correction_lines
from portrayal.report.first import Report, answer_lines, finding_facts, finding_lines
from portrayal.report.page import write_report
from portrayal.report.schemas import SCHEMAS, schema

__all__ = [
    "SCHEMAS",
    "Report",
    "answer_lines",
    "correction_lines",
    "finding_facts",
    "finding_lines",
    "schema",
    "write_report",
]

"""Pages about change: two runs beside each other, and a run repeated over time."""

from portrayal.report.changes.compared import write_comparison
from portrayal.report.changes.watched import write_watch

__all__ = ["write_comparison", "write_watch"]

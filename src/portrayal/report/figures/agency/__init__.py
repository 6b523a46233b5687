"""Figures of agency: ratio gaps, their differences and their variance, beside the published ones.

Every figure shows the primary result filled and the other masking beside it as a ring. Numbers are
in percentage points, as the paper prints them.
"""

from portrayal.report.figures.agency.builders import SEVERAL
from portrayal.report.figures.agency.series import is_agency

__all__ = ["SEVERAL", "is_agency"]

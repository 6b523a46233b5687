"""A small audit, and a row of its comparison, shared by tests of comparing and of its pages."""

from pathlib import Path
from typing import Any

import portrayal


def audit(path: Path, texts: list[dict[str, str]], **options: object) -> Path:
    """Audit stories with few draws, and return the run's folder."""
    few: dict[str, Any] = {"draws": 100, "permutations": 20} | options
    portrayal.audit(study="laissez-faire", texts=texts, out=path, report=False, **few)
    return path


def women(found: Any, rows: Any = None) -> Any:
    """The row of the representation of women."""
    (row,) = [
        row
        for row in (found.rows if rows is None else rows)
        if row.measure == "representation.v1" and dict(row.group) == {"gender": "F"}
    ]
    return row

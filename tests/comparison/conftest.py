"""A repeated audit with a change at its fourth round."""

from pathlib import Path

import pytest

from .rounds import audit, stories


@pytest.fixture(scope="session")
def series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("series")
    for month in range(1, 6):
        share = 0.3 if month < 4 else 0.8
        model = "writer-1" if month < 4 else "writer-2"
        audit(folder / f"2026-0{month}-01", stories(share, month, model))
    return folder

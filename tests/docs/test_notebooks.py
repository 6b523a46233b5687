"""The notebooks run from top to bottom in a kernel of their own, and are stored without outputs.

Their cells are the blocks of docs/notebooks/*.md, which `test_blocks.py` runs in this process; so
one kernel is enough in every run of the tests, and all five run with the extras.
"""

import json
import os
from pathlib import Path

import pytest

from guards.tree import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
RUN = NOTEBOOKS if os.environ.get("PORTRAYAL_ALL_EXTRAS") else NOTEBOOKS[1:2]


def test_there_are_five_without_outputs() -> None:
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        book = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        assert len(code) >= 3
        assert not any(cell["outputs"] for cell in code)


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(path, as_version=4)
    client.NotebookClient(book, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("data" in out for out in shown)

"""The notebooks run from top to bottom in a kernel of their own, and are made without outputs.

Their cells are the blocks of docs/notebooks/*.md, which `test_blocks.py` runs in this process; so
one kernel is enough in every run of the tests, and all five run with the extras.
"""

import json
import os
from pathlib import Path

import pytest

from guards.tree import ROOT

NAMES = sorted(page.stem for page in (ROOT / "docs" / "notebooks").glob("*.md"))
RUN = NAMES if os.environ.get("PORTRAYAL_ALL_EXTRAS") else NAMES[1:2]


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The notebooks that `make docs` writes, by name."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import build_docs

    return {Path(name).stem: text for name, text in build_docs.notebooks().items()}


def test_there_are_five_without_outputs(books: dict[str, str]) -> None:
    assert sorted(books) == NAMES
    assert len(books) == 5
    for text in books.values():
        code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        assert len(code) >= 3
        assert not any(cell["outputs"] for cell in code)


@pytest.mark.parametrize("name", RUN)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_notebook_runs(name: str, books: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    client = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.reads(books[name], as_version=4)
    client.NotebookClient(book, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("data" in out for out in shown)

"""Tables: no text runs in a spreadsheet, and every cell comes back."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import portrayal
from portrayal.collect.sources import LONGEST
from portrayal.collect.tables import (
    FORMULAS,
    inert,
    read_table,
    restored,
    story,
    write_rows,
    write_table,
)
from portrayal.errors import DataError

WRITES = re.compile(r"csv\.(?:writer|DictWriter|write_csv)|\.to_csv\(|\.write_csv\(")


@given(st.text())
def test_no_cell_runs_in_a_spreadsheet_and_every_cell_comes_back(cell: str) -> None:
    assert not inert(cell).startswith(FORMULAS)
    assert not inert(cell).lstrip().startswith(FORMULAS)
    assert restored(inert(cell)) == cell


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@x", " =1", "\t=1", "\u00a0=1", "\uff1d1"])
def test_what_a_spreadsheet_would_run_has_an_apostrophe(cell: str) -> None:
    assert inert(cell) == f"'{cell}"


def test_no_other_file_writes_csv() -> None:
    package = Path(portrayal.__file__ or "").parent
    found = [path.name for path in package.rglob("*.py") if WRITES.search(path.read_text("utf-8"))]
    assert found == ["tables.py"]


def test_texts_are_inert_and_numbers_stay_numbers(tmp_path) -> None:
    path = write_table(tmp_path / "new" / "t.csv", ["=a", "n", "none"], [{"=a": "=cmd()", "n": -1}])
    with path.open(encoding="utf-8-sig", newline="") as stream:
        assert list(csv.reader(stream)) == [["'=a", "n", "none"], ["'=cmd()", "-1", ""]]


def test_rows_are_counted_and_read_back(tmp_path) -> None:
    path = tmp_path / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        assert write_rows(stream, ["a", "b"], ({"a": text, "b": None} for text in "+-x")) == 3
    assert read_table(path, ["a"]) == [{"a": text, "b": ""} for text in "+-x"]
    with pytest.raises(DataError, match="no column c; found a, b"):
        read_table(path, ["c"], "Look again.")


@pytest.mark.fault("one text of 67 million characters or more, in any format", "it is refused")
def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(DataError, match=r"f: row 3: a text has more than 67,108,864 characters"):
        story("x" * (LONGEST + 1), "f", 3)

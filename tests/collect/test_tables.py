"""Tables: no text runs in a spreadsheet, and every cell comes back."""

import csv
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import portrayal
from portrayal.collect.sources import LONGEST
from portrayal.collect.tables import (
    FORMULAS,
    has_decimal_commas,
    in_row,
    inert,
    number_of,
    read_table,
    restored,
    story,
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


def test_rows_are_written_and_read_back(tmp_path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, ["a", "b"], ({"a": text, "b": None} for text in "+-x"))
    assert read_table(path, ["a"]) == [{"a": text, "b": ""} for text in "+-x"]
    with pytest.raises(DataError, match="no column c; found a, b"):
        read_table(path, ["c"], "Look again.")


@pytest.mark.fault("one text of 67 million characters or more, in any format", "it is refused")
def test_a_text_that_is_too_long_is_refused() -> None:
    words = r"f: row 3: a text has more than 67,108,864 characters"
    with pytest.raises(DataError, match=words), in_row("f", 3):
        story("x" * (LONGEST + 1))


_NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 4))


@given(_NUMBERS, st.sampled_from(["", " ", "\t"]))
def test_a_number_is_read_alike_however_it_is_written(number: float, space: str) -> None:
    plain = f"{number:.4f}"
    assert number_of(number) == number_of(space + plain + space) == number
    assert number_of(f"{number:,.4f}") == number
    assert number_of(f"{plain} %") == pytest.approx(number / 100)
    comma = plain.replace(".", ",")
    assert number_of(comma, decimal_comma=has_decimal_commas([comma])) == number


@given(st.lists(st.integers(1_000, 10**9), min_size=1))
def test_commas_that_can_part_thousands_do(numbers: list[int]) -> None:
    cells = [f"{number:,}" for number in numbers]
    assert not has_decimal_commas(cells)
    assert [number_of(cell) for cell in cells] == numbers
    # With a value that has none of three digits behind its comma they are decimals, but not
    # beside one of two commas, which is then what is not read
    mixed = [*cells, "0,5"]
    assert has_decimal_commas(mixed) == (max(numbers) < 10**6)


@given(st.text())
def test_a_cell_is_a_number_missing_or_not_read(cell: str) -> None:
    value = number_of(cell)
    assert math.isfinite(value) or math.isnan(value) or value == math.inf
    assert number_of(cell.upper()) == pytest.approx(number_of(cell.lower()), nan_ok=True)


SCORES = [
    ("pass", "fail"),
    ("Correct", "incorrect"),
    ("true", "FALSE"),
    ("yes", "no"),
    ("C", "I"),
    ("1", "0"),
    ("100%", "0%"),
    ("1,0", "0,0"),
]


@pytest.mark.parametrize(("high", "low"), SCORES)
def test_every_door_reads_a_score_alike(high: str, low: str, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{i}",
            "user_gender": ("woman", "man")[i % 2],
            "answer": f"They went {i} miles over the hill, and so did {i % 7} of us.",
            "verdict": "" if i == 9 else high if i % 4 < 3 else low,
        }
        for i in range(40)
    ]
    run = portrayal.audit(rows, score="verdict", out=tmp_path, report=False)
    (share,) = [e for e in run.records if e.strata.get("score") == "verdict"]
    # Every woman's answer is right, and every other man's but for the one that is missing
    assert share.value == pytest.approx(9 / 19 - 1)
    (row,) = portrayal.compare(rows, rows, score="verdict").rows
    assert (row.yes_a, row.missing_a, row.unread_a) == (29, 1, 0)

"""The script that makes the shipped tables."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_reference.py"


def test_percentages_become_fractions_and_names_stay_text(
    write: Callable[[str, str], Path],
) -> None:
    spec = importlib.util.spec_from_file_location("build_reference", SCRIPT)
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    path = write("raw.csv", "name,obs,pctwhite,pcthispanic\nNULL,7,25,50\nNA,9,99.5,0\n"
                 "ALL OTHER NAMES,1000,50,50\n")  # fmt: skip
    table = script.convert(path, "obs")
    assert table.column_names == ["name", "count", "white", "latine"]
    assert table["name"].to_pylist() == ["NA", "NULL"]
    assert table["count"].to_pylist() == [9, 7]
    assert table["white"].to_pylist() == pytest.approx([0.995, 0.25], abs=1e-7)

"""Sheets that nobody filled in are refused, and no empty file is written in their place."""

from pathlib import Path

import pytest

from portrayal.errors import DataError
from portrayal.measure.drawing import join_sheets


def test_a_sheet_without_a_label_is_refused_by_name(tmp_path: Path) -> None:
    sheet, out = tmp_path / "religion-first.csv", tmp_path / "hand.csv"
    sheet.write_text("text_id,unit,field,label,rater,text\na,,religion,,first,Hello.\n")
    with pytest.raises(DataError, match=r"no row of .*religion-first.csv has a label"):
        join_sheets([sheet], out)
    assert not out.exists()

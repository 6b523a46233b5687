"""Other people's text stays text."""

import json

import pytest

from portrayal.report.inert import csv_cell, script_json, short
from portrayal.run.pages import visible

HOSTILE = "</script><!--<script>alert(1)</script>\u2028\u2029{{ 7*7 }}"


def test_script_json_cannot_end_its_element_and_reads_back() -> None:
    text = script_json({"a": HOSTILE, "b": [float("inf"), float("nan"), 1.5], HOSTILE: 1})
    for bad in ("</", "<!--", "<script", "\u2028", "\u2029"):
        assert bad not in text
    assert json.loads(text) == {"a": HOSTILE, "b": [None, None, 1.5], HOSTILE: 1}


def test_script_json_takes_lone_surrogates() -> None:
    assert json.loads(script_json({"a": "x\ud800"})) == {"a": "x?"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "\r=1"])
def test_a_spreadsheet_runs_no_cell(text: str) -> None:
    assert csv_cell(text).lstrip('"').startswith("'")


def test_csv_cells() -> None:
    assert csv_cell(-1.25) == "-1.25"
    assert csv_cell(float("inf")) == "inf"
    assert csv_cell(float("nan")) == ""
    assert csv_cell(None) == ""
    assert csv_cell('a "b", c') == '"a ""b"", c"'
    assert csv_cell(12) == "12"


def test_visible_and_short() -> None:
    assert visible("a\x00b\r\nc\ud800") == "a\ufffdb\nc\ufffd"
    assert short("a\n b  c") == "a b c"
    assert short("x" * 100, 10) == "x" * 9 + "…"

"""Other people's text stays text."""

import json

from portrayal.report.formats import script_json, short
from portrayal.run.pages import visible

HOSTILE = "</script><!--<script>alert(1)</script>\u2028\u2029{{ 7*7 }}"


def test_script_json_cannot_end_its_element_and_reads_back() -> None:
    text = script_json({"a": HOSTILE, "b": [float("inf"), float("nan"), 1.5], HOSTILE: 1})
    for bad in ("</", "<!--", "<script", "\u2028", "\u2029"):
        assert bad not in text
    assert json.loads(text) == {"a": HOSTILE, "b": [None, None, 1.5], HOSTILE: 1}


def test_script_json_takes_lone_surrogates() -> None:
    assert json.loads(script_json({"a": "x\ud800"})) == {"a": "x?"}


def test_visible_and_short() -> None:
    assert visible("a\x00b\r\nc\ud800") == "a\ufffdb\nc\ufffd"
    assert short("a\n b  c") == "a b c"
    assert short("x" * 100, 10) == "x" * 9 + "…"

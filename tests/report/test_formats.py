"""Numbers as readers see them."""

import json
import math

import pytest

from portrayal.records import Interval
from portrayal.report import formats as fmt
from portrayal.report.formats import script_json, short
from portrayal.shown import visible


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (math.nan, "—"),
        (math.inf, "∞"),
        (0.0, "0"),
        (0.0004, "<0.001"),
        (0.008, "0.008"),
        (0.0451, "0.045"),
        (0.412, "0.41"),
        (0.997, "0.997"),
        (1.0, "1.00"),
        (1.266, "1.27"),
        (1.997, "2.0"),
        (3.14159, "3.1"),
        (9.96, "10"),
        (13.6, "14"),
        (351.2, "351"),
        (1308.6, "1,310"),
        (172634.0, "173,000"),
    ],
)
def test_ratio(value: float | None, text: str) -> None:
    assert fmt.ratio(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0.0, "0 %"),
        (0.00001, "<0.01 %"),
        (0.0004, "0.04 %"),
        (0.0899, "9.0 %"),
        (1.0, "100 %"),
    ],
)
def test_share(value: float | None, text: str) -> None:
    assert fmt.share(value).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-5.1419, "−5.14"), (0.03814, "+0.038"), (-0.0, "0"), (None, "—"), (-0.0004, "−0.0004")],
)
def test_difference(value: float | None, text: str) -> None:
    assert fmt.difference(value) == text
    assert fmt.distance(value) == text.removeprefix("+")


def test_what_rounds_to_0_has_no_sign() -> None:
    assert [fmt.signed(x) for x in (-0.004, 0.004, -0.006)] == ["0.00", "0.00", "−0.01"]
    assert [fmt.points(x) for x in (-0.0004, 0.0004, 0.378)] == ["0.0", "0.0", "+37.8"]
    assert fmt.points(0.378, "") == "37.8"


def test_span_keeps_few_digits_and_shows_infinity() -> None:
    assert fmt.span(1.87, 3.12) == "1.9–3.1"
    assert fmt.span(1.17, 1.35) == "1.17–1.35"
    assert fmt.span(0.2, math.inf) == "0.20–∞"
    assert fmt.span(math.nan, 2.0) == "—"
    assert fmt.span(0.1, 0.25, "share").replace("\u00a0", " ") == "10.0–25.0 %"
    assert fmt.interval(Interval(0.0, 12.0, 0.95, "x"), "count") == "0–12"
    assert fmt.interval(None) == "—"


def test_counts_probabilities_and_words() -> None:
    assert [fmt.count(v) for v in (0, 0.04, 0.6, 1713.0, math.inf)] == [
        "0",
        "<0.1",
        "0.6",
        "1,713",
        "∞",
    ]
    assert [fmt.probability(v) for v in (None, math.nan, 0.0002, 0.0321, 0.4)] == [
        "—",
        "—",
        "<0.001",
        "0.032",
        "0.40",
    ]
    assert fmt.plural(1, "prompt") == "1 prompt"
    assert fmt.plural(2, "story", "stories") == "2 stories"
    assert fmt.listed(["a", "b", "c"]) == "a, b and c"


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

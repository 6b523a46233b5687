"""Passages: which texts are read, about whom, and what their sentences are."""

import json
from pathlib import Path

import pytest

from mitigate.conftest import classify
from portrayal.errors import DataError
from portrayal.mitigate import read_agency, read_passages, rewrite_prompt

ROWS = [
    {"t": "She leads.", "gender": "F", "race": "Black", "name": "Nia", "job": "x", "prompt": "p"},
    {"t": "I cannot.", "gender": "M", "race": "White", "outcome": "refused", "job": "y"},
    {"t": "  ", "gender": "M", "race": "White", "job": "y"},
    {"t": "He leads.", "gender": "M", "race": "", "job": "y"},
]


def _write(path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_texts_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.jsonl")
    found = read_passages(path, ["text=t"])
    assert [each.unread for each in found] == ["", "refused", "empty", ""]
    assert found[0].names == ("Nia",)
    assert found[0].row["prompt"] == "p"


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column text"):
        read_passages(_write(tmp_path / "t.jsonl"))


def test_sentences_are_masked_before_they_are_read() -> None:
    seen: list[str] = []

    def spy(sentences):  # type: ignore[no-untyped-def]
        seen.extend(sentences)
        return classify(sentences)

    readings = read_agency(["Nia leads. She is warm.", ""], [("Nia",), ()], spy)
    assert readings[0].agentic == pytest.approx((0.9, 0.2))
    assert readings[0].communal() == [1]
    assert readings[1].spans == ()
    assert not any("Nia" in each or "She" in each for each in seen)
    seen.clear()
    read_agency(["Nia leads."], [("Nia",)], spy, masked=False)
    assert seen == ["Nia leads."]


def test_a_text_with_braces_is_put_into_the_prompt_as_it_is() -> None:
    text = "She {leads} the {0}. She wins."
    prompt = rewrite_prompt(text, 2, [1])
    assert f"Text: {text}. Agency List: ['agentic', 'communal']." in prompt
    assert '"edits": [{"original":' in prompt

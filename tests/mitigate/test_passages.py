"""Passages: which texts are read, about whom, and what their sentences are."""

import json
from pathlib import Path

import pytest

from mitigate.conftest import Classifier, passage
from portrayal.errors import DataError
from portrayal.mitigate.mitigation import read_agency, read_passages, rewrite_prompt

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
    spy, about = Classifier(), passage("Nia leads. She is warm.", "p")
    about.names = ("Nia",)
    nothing = passage("", "q")
    read_agency([about, nothing], spy)
    assert about.agentic == pytest.approx([0.9, 0.2])
    assert about.communal == [1]
    assert nothing.spans == []
    assert not any("Nia" in each or "She" in each for each in spy.sentences)
    plain = Classifier(masked=False)
    read_agency([about], plain)
    assert plain.sentences == ["Nia leads.", "She is warm."]


def test_a_text_with_braces_is_put_into_the_prompt_as_it_is() -> None:
    text = "She {leads} the {0}. She wins."
    prompt = rewrite_prompt(text, 2, [1])
    assert f"Text: {text}. Agency List: ['agentic', 'communal']." in prompt
    assert '"edits": [{"original":' in prompt

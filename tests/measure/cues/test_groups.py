"""What the texts of a file show of a factor, before an audit."""

import json

import pytest

from command import invoke
from portrayal.errors import OptionError
from portrayal.measure.cues import observed_groups

FACTOR = """
name = "faith"
label = "Faith"
note = "Words are mentions."
source = "test"
[groups.sun]
label = "Sun"
[groups.none]
label = "No faith"
[[sources]]
kind = "words"
words = { sun = ["sunrise rite"], none = ["godless"] }
not = ["godless hour"]
[[sources]]
kind = "column"
column = "faith"
none = ["neither"]
[[sources]]
kind = "model"
question = "Which?"
"""
TEXTS = [
    {"id": "a", "text": "The Sunrise rites were loud. A sunrise rite!", "faith": "sun"},
    {"id": "b", "text": "It was a godless hour.", "faith": "neither"},
    {"id": "c", "text": "A godless man saw a sunrise rite.", "faith": "moon?"},
    {"id": "d", "text": "", "faith": ""},
]


@pytest.fixture
def factor(tmp_path):
    path = tmp_path / "faith.toml"
    path.write_text(FACTOR, encoding="utf-8")
    return str(path)


def test_each_source_counts_texts_and_what_it_found(factor):
    (words, column), mentions = observed_groups(TEXTS, [factor])
    assert dict(words.n_texts) == {"group": 1, "none": 1, "several": 1, "unread": 1}
    assert dict(words.of_group) == {"sun": 2, "none": 1}
    assert words.found["sun"] == {"sunrise rites": 1, "sunrise rite": 2}
    assert dict(column.of_group) == {"sun": 1}
    assert column.found == {"sun": {"sun": 1}, "(none)": {"neither": 1}, "(unknown)": {"moon?": 1}}
    first = mentions[0]
    assert (first.text_id, first.group, first.found, first.start) == (
        "a",
        "sun",
        "Sunrise rites",
        4,
    )
    assert (first.before, first.after) == ("The ", " were loud. A sunrise rite!")


def test_a_group_called_none_is_not_a_text_without_one(factor):
    (words, _), _ = observed_groups(TEXTS, [factor])
    assert words.found["none"] == {"godless": 1}
    assert words.n_texts["none"] == 1


def test_a_column_that_is_not_there_is_left_out(factor):
    (words,), _ = observed_groups([{"text": "A sunrise rite."}], [factor])
    assert words.source.kind == "words"


def test_columns_that_no_factor_reads_may_hold_anything(factor):
    rows = [{"text": "A sunrise rite.", "faith": "sun", "tags": ["a", "b"]}]
    (words, column), _ = observed_groups(rows, [factor])
    assert words.of_group == column.of_group == {"sun": 1}


def test_nothing_to_look_for():
    with pytest.raises(OptionError, match="nothing to look for in the rows"):
        observed_groups(TEXTS, ["gender"])


def test_the_command_prints_and_writes(factor, tmp_path):
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out.csv"
    texts.write_text("\n".join(map(json.dumps, TEXTS)), encoding="utf-8")
    asked = ["find", "groups", "--texts", str(texts), "--factor", factor]
    printed = invoke(*asked, "--out", str(out)).stdout
    assert "(unknown)" in printed
    assert "moon? 1" in printed
    assert len(out.read_text(encoding="utf-8-sig").splitlines()) == 1 + 4 + 3
    rows = json.loads(invoke(*asked, "--format", "json").stdout)["groups"]
    assert [row["texts"] for row in rows if row["source"] == "words"] == [2, 1, 1, 1]

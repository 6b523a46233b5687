"""Prompt files: what is read, what is refused and how, and that what is written so reads back."""

import json

import pytest

from portrayal.collect.promptfile import read_prompts
from portrayal.errors import DataError
from portrayal.records import Prompt
from portrayal.studies.agency.audit import FIELDS as AGENCY
from portrayal.studies.agency.audit import prompts as agency
from portrayal.studies.laissez_faire import FIELDS, prompts
from support import write_prompts

GOOD = """
[[prompt]]
id = "a"
text = "Write a story of a nurse."
domain = "Labor"
condition = "Neutral"
subject_role = "nurse"

[[prompt]]
id = "b"
text = "Write a story of a nurse who helps a patient."
condition = "power-laden"
subject_role = "nurse"
object_role = "patient"
shift = 2
"""


def write(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_toml_is_read_in_its_order_with_the_studys_spelling(tmp_path):
    first, second = read_prompts(write(tmp_path, GOOD), FIELDS)
    assert first == Prompt(
        "a",
        "Write a story of a nurse.",
        {"domain": "Labor", "condition": "power-neutral", "subject_role": "nurse"},
    )
    assert second.strata["shift"] == "2"


def test_rows_are_read_like_tables(tmp_path):
    expected = read_prompts(write(tmp_path, GOOD), FIELDS)
    rows = [{"prompt_id": p.prompt_id, "prompt": p.text, **p.strata} for p in expected]
    rows[0]["object_role"] = None
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert read_prompts(write(tmp_path, lines, "mine.jsonl"), FIELDS) == expected
    table = "id,text,condition,subject_role,object_role\na,Hello nurse,neutral,nurse, \n"
    (only,) = read_prompts(write(tmp_path, table, "mine.csv"), FIELDS)
    assert only.strata == {"condition": "power-neutral", "subject_role": "nurse"}


@pytest.mark.parametrize(("made", "fields"), [(prompts(), FIELDS), (agency(), AGENCY)])
def test_every_studys_prompts_read_back(tmp_path, made, fields):
    back = read_prompts(write_prompts(made, tmp_path / "out.csv"), fields)
    assert back == tuple(made)


def test_commas_quotes_and_lines_survive_writing(tmp_path):
    odd = Prompt("x", 'Say "a, b"\nand c', {"condition": "power-neutral", "subject_role": "é,\n"})
    (back,) = read_prompts(write_prompts([odd], tmp_path / "out.csv"), FIELDS)
    assert (back.text, back.strata["subject_role"]) == (odd.text, "é,")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'id = "b"',
            'id = "a"',
            r"line 10: prompt\.id: the prompt 'a' has the same id as that of line 2",
        ),
        (
            "nurse who helps a patient.",
            "nurse.",
            r"line 11: prompt\.text: the prompt 'b' has the same text as that of line 2",
        ),
        ('id = "b"\n', "", r"line 9: prompt\.id: expected text; the prompt has no id"),
        (
            '"Write a story of a nurse."',
            '" \\n"',
            r"line 4: prompt\.text: expected text; the prompt has no text",
        ),
        (
            'condition = "Neutral"\n',
            "",
            r"line 2: prompt\.condition: the prompt 'a' lacks condition",
        ),
        ('object_role = "patient"\n', "", r"line 9: .* the prompt 'b' lacks object_role"),
        (
            '"Neutral"',
            '"mild"',
            r"line 6: .*expected one of power-laden, power-neutral; got 'mild'",
        ),
        (
            "shift = 2",
            "shift = [2]",
            r"line 15: prompt\.shift: expected text or a number; got \[2\]",
        ),
        ("[[prompt]]", "[prompt]", r"line \d+: not TOML"),
        ("shift = 2", "shift = ", r"line 15: not TOML"),
        (
            '\n[[prompt]]\nid = "a"',
            'x = 1\n[[prompt]]\nid = "a"',
            r"line 1: x: unknown key; expected one of prompt",
        ),
    ],
)
def test_errors_name_file_entry_and_remedy(tmp_path, old, new, message):
    path = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(DataError, match=message) as caught:
        read_prompts(path, FIELDS)
    assert str(path) in str(caught.value)


def test_files_without_prompts(tmp_path):
    for text in ("", "prompt = []"):
        with pytest.raises(DataError, match="no prompts were found"):
            read_prompts(write(tmp_path, text), FIELDS)
    with pytest.raises(DataError, match=r"none\.toml cannot be read: No such file"):
        read_prompts(tmp_path / "none.toml", FIELDS)
    with pytest.raises(DataError, match=r"line 1: prompt: expected tables, each headed \[\[prompt"):
        read_prompts(write(tmp_path, 'prompt = "x"'), FIELDS)

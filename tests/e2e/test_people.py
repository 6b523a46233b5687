"""`portrayal people`: a text, a table of texts or a pipe in; a table, JSON or a file out."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import Portrayal, write_lines

BIO = "Dr. Ifeoma Okafor grew up in Leeds. She is a nurse. Her brother, Chidi, is a painter."


@pytest.fixture
def bios(tmp_path: Path) -> Path:
    path = tmp_path / "bios.jsonl"
    write_lines(path, [{"id": "a", "bio": BIO}, {"id": "b", "bio": " "}, {"id": "c", "bio": "Hm."}])
    return path


def test_a_text_as_a_table(inside: Portrayal, tmp_path: Path) -> None:
    (tmp_path / "bio.txt").write_text(BIO, encoding="utf-8")
    done = inside("find", "people", "--texts", "bio.txt").ok()
    assert "Dr Ifeoma Okafor" in done.out
    assert "3 of 3" in done.out
    assert done.out.splitlines()[-1] == "2 people in 1 text"
    assert "she, her" in done.out


def test_a_table_of_texts_as_json(inside: Portrayal, bios: Path) -> None:
    found = inside(
        "find", "people", "--texts", bios, "--column", "text=bio", "--format", "json"
    ).json()
    assert (found["n_texts"], found["n_blank"], found["n_nobody"]) == (3, 1, 1)
    assert [(p["text_id"], p["name"], p["gender"]) for p in found["people"]] == [
        ("a", "Ifeoma Okafor", "F"),
        ("a", "Chidi", "M"),
    ]
    assert found["people"][0]["n_sentences"] == 3


def test_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "portrayal", "find", "people", "--texts", "-", "--format", "json"],
        input=BIO.encode(),
        capture_output=True,
        check=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert [p["first"] for p in json.loads(done.stdout)["people"]] == ["Ifeoma", "Chidi"]


def test_files_of_rows(inside: Portrayal, bios: Path, tmp_path: Path) -> None:
    to = ("--column", "text=bio", "--out")
    assert (
        "2 people in 3 texts, 1 blank"
        in inside("find", "people", "--texts", bios, *to, "p.csv").ok().out
    )
    with (tmp_path / "p.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["name"] for row in rows] == ["Ifeoma Okafor", "Chidi"]
    assert rows[0]["sentences"] == "0 1 2"
    assert {path.name for path in tmp_path.iterdir()} == {"bios.jsonl", "p.csv"}


def test_no_cell_runs_in_a_spreadsheet(inside: Portrayal, tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"id": "=cmd()", "text": BIO}])
    inside("find", "people", "--texts", "a.jsonl", "--out", "p.csv").ok()
    with (tmp_path / "p.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert {row["text_id"] for row in csv.DictReader(stream)} == {"'=cmd()"}


def test_people_without_a_name(inside: Portrayal, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A woman waved. She left.", encoding="utf-8")
    assert inside("find", "people", "--texts", "a.txt", "--format", "json").json()["people"] == []
    (person,) = inside(
        "find", "people", "--texts", "a.txt", "--unnamed", "--format", "json"
    ).json()["people"]
    assert (person["name"], person["gender"]) == (None, "F")


def test_nothing_of_a_text_steers_the_terminal(inside: Portrayal, tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [{"id": "\x1b[31m[red]", "text": BIO}])
    done = inside("find", "people", "--texts", "a.jsonl").ok()
    assert "\x1b" not in done.out


def test_errors_are_one_line(inside: Portrayal, bios: Path) -> None:
    inside("find", "people", "--texts", "none.txt").refused("no such file")
    inside("find", "people", "--texts", bios).refused("--column text=NAME")
    inside("find", "people").refused("--texts")


def test_texts_of_other_languages_are_counted_with_what_reads_them(
    inside: Portrayal, tmp_path: Path
) -> None:
    texts = [BIO, "Dr. Ifeoma Okafor creció en Leeds y su hermano Chidi es pintor.", BIO.upper()]
    path = write_lines(tmp_path / "t.jsonl", [{"text": text} for text in texts])
    done = inside("find", "people", "--texts", path).ok()
    assert "1 not in English: let a model read it (stories: --labeler llm; " in done.out
    assert "1 all in capitals" in done.out
    facts = inside("find", "people", "--texts", path, "--format", "json").json()
    assert (facts["n_not_read"], facts["n_nobody"], len(facts["people"])) == (2, 0, 2)

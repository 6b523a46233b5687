"""The commands that search, sample and compare words, as a user types them."""

import csv
import json
from pathlib import Path

import pytest

from e2e.conftest import Portrayal
from measure.cues.stories import stories, story_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return story_run(tmp_path / "run").path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in stories()))
    return path


def test_cues_of_a_run(portrayal: Portrayal, run: Path, tmp_path: Path) -> None:
    out = portrayal("find", "cues", run, "--out", "p.csv").ok().out
    assert "37 readable texts (3 refused, empty or failed)" in out
    facts = portrayal("find", "cues", run, "--format", "json").json()
    (row,) = [
        r
        for r in facts["cues"]
        if r["cue"] == "Navajo" and (r["domain"], r["model"], r["role"]) == ("all",) * 3
    ]
    assert row["texts"] == facts["n_mentions"]
    assert row["published"] == 8
    with (tmp_path / "p.csv").open() as stream:
        passages = list(csv.DictReader(stream))
    assert len(passages) == row["mentions"]
    assert {p["role"] for p in passages} == {"subordinate"}


def test_cues_of_a_file(inside: Portrayal, file: Path) -> None:
    facts = inside("find", "cues", "--texts", file, "--term", "hospital", "--format", "json").json()
    assert facts["list"] == "own terms"
    assert facts["cues"][0]["texts"] > 10
    assert "hospital" in inside("find", "cues", "--texts", file, "--term", "hospital").ok().out


def test_cues_refuse_what_they_cannot_do(inside: Portrayal, file: Path, run: Path) -> None:
    inside("find", "cues").refused("--texts")
    inside("find", "cues", run, "--texts", file).refused("--texts")
    inside("find", "cues", "--texts", file, "--by", "role").refused("annotated people")
    inside("find", "cues", run, "--by", "luck").refused("by must be")
    inside("find", "cues", run, "--list", "nope").refused("laissez-faire")
    inside("find", "cues", run, "--level", "95").refused("level")


def test_words_of_a_file(inside: Portrayal, tmp_path: Path) -> None:
    said = ("brisk", "gentle")
    rows = [f"{i},{'AB'[i % 2]},{said[i % 2]} steps and {said[i % 2]} words" for i in range(40)]
    path = tmp_path / "texts.csv"
    path.write_text("id,kind,text\n" + "\n".join(rows) + "\n")
    asked = ("find", "words", "--texts", path, "--by", "kind")
    facts = inside(*asked, "--format", "json").json()
    assert [c["words"][0]["word"] for c in facts["comparisons"]] == ["brisk", "gentle"]
    out = inside(*asked, "--reference-group", "kind=A").ok().out
    assert "B, against A: 20 and 20 texts" in out


def test_words_of_a_run(inside: Portrayal, run: Path) -> None:
    facts = inside(
        "find",
        "words",
        run,
        "--by",
        "gender",
        "--min-count",
        2,
        "--min-texts",
        2,
        "--format",
        "json",
    )
    titles = {(c["group"]["gender"], c["role"]) for c in facts.json()["comparisons"]}
    assert {("F", "all"), ("F", "subordinate"), ("M", "dominant")} <= titles


def test_words_refuse_what_they_cannot_do(inside: Portrayal, run: Path, file: Path) -> None:
    inside("find", "words").refused("--texts")
    inside("find", "words", "--texts", file).refused("--by")
    inside("find", "words", "--texts", file, "--by", "planet").refused("planet", "found")
    inside("find", "words", run, "--cluster", "x").refused("--cluster")
    inside("find", "words", run, "--by", "planet").refused("gender, race")
    inside("find", "words", "--texts", file, "--by", "model", "--reference-group", "m1").refused(
        "race=White"
    )

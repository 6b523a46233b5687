"""The commands that search, sample and compare words, as a user types them."""

import csv
import json
from pathlib import Path

import pytest

from coding.stories import stories, story_run
from e2e.conftest import Portrayal
from portrayal.coding import open_project


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return story_run(tmp_path / "run").path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in stories()))
    return path


def test_cues_of_a_run(portrayal: Portrayal, run: Path, tmp_path: Path) -> None:
    out = portrayal("code", "cues", run, "--passages", "p.csv").ok().out
    assert "37 readable texts (3 refused, empty or failed)" in out
    facts = json.loads((run / "coding" / "cues.json").read_text())
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
    facts = inside("code", "cues", "--texts", file, "--term", "hospital", "--json").json()
    assert facts["list"] == "own terms"
    assert facts["cues"][0]["texts"] > 10
    assert "hospital" in inside("code", "cues", "--texts", file, "--term", "hospital").ok().out


def test_cues_refuse_what_they_cannot_do(inside: Portrayal, file: Path, run: Path) -> None:
    inside("code", "cues").refused("--texts")
    inside("code", "cues", run, "--texts", file).refused("--texts")
    inside("code", "cues", "--texts", file, "--by", "role").refused("annotated people")
    inside("code", "cues", run, "--by", "luck").refused("by must be")
    inside("code", "cues", run, "--list", "nope").refused("laissez-faire")
    inside("code", "cues", run, "--level", "95").refused("level")


def test_make_draws_a_project(inside: Portrayal, run: Path) -> None:
    made = inside("code", "make", run, "--project", "first", "--n", 2, "--json").json()
    project = open_project(made["project"])
    assert len(project.items) == made["n_items"] > 5
    assert project.codebook.codes[0].key == "white_savior"
    inside("code", "make", run, "--project", "first").refused("already")
    inside("code", "make", run, "--project", "../x").refused("letters")
    cue = inside("code", "make", run, "--project", "cue", "--by", "cue", "--codebook", "people")
    assert "next: portrayal code serve" in cue.ok().out
    asked = ("--by", "random", "--n", 4, "--codebook", "agency", "--sentences")
    assert "sentences from 1 strata" in inside("code", "make", run, "--project", "s", *asked).out


def test_words_of_a_file(inside: Portrayal, tmp_path: Path) -> None:
    said = ("brisk", "gentle")
    rows = [f"{i},{'AB'[i % 2]},{said[i % 2]} steps and {said[i % 2]} words" for i in range(40)]
    path = tmp_path / "texts.csv"
    path.write_text("id,kind,text\n" + "\n".join(rows) + "\n")
    asked = ("words", "--texts", path, "--group", "kind")
    facts = inside(*asked, "--html", "words.html", "--json").json()
    assert [c["words"][0]["word"] for c in facts["comparisons"]] == ["brisk", "gentle"]
    assert "<mark>gentle</mark>" in (tmp_path / "words.html").read_text()
    out = inside(*asked, "--unmarked", "kind=A").ok().out
    assert "B, against A: 20 and 20 texts" in out


def test_words_of_a_run(inside: Portrayal, run: Path) -> None:
    facts = inside("words", run, "--group", "gender", "--min-count", 2, "--min-texts", 2, "--json")
    titles = {(c["group"]["gender"], c["role"]) for c in facts.json()["comparisons"]}
    assert {("F", "all"), ("F", "subordinate"), ("M", "dominant")} <= titles


def test_words_refuse_what_they_cannot_do(inside: Portrayal, run: Path, file: Path) -> None:
    inside("words").refused("--texts")
    inside("words", "--texts", file).refused("--group")
    inside("words", "--texts", file, "--group", "planet").refused("planet", "found")
    inside("words", run, "--cluster", "x").refused("--cluster")
    inside("words", run, "--group", "planet").refused("gender, race")
    inside("words", "--texts", file, "--group", "model", "--unmarked", "m1").refused("GROUP=LABEL")
    inside("words", "--texts", file, "--group", "model", "--prior", 0).refused("prior")

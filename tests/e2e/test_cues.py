"""The command that searches for cues, as a user types it."""

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
    assert "37 readable texts (1 refused, 2 empty)" in out
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

"""The command `compare`, from files of texts to a table."""

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.conftest import QUICK, Portrayal, write_lines
from portrayal.run import Run
from support import student_stories


@pytest.fixture
def runs(inside: Portrayal, once: Callable[..., Path], tmp_path: Path) -> Path:
    """Runs of one model each, and one of three: copies, which a test may change."""
    made = once("compared", lambda folder: _audited(inside, folder))
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def _audited(inside: Portrayal, folder: Path) -> None:
    folder.mkdir()
    rows = {
        name: student_stories(share, seed, name, 8)
        for seed, (name, share) in enumerate({"a": 0.9, "b": 0.2, "c": 0.6}.items())
    }
    rows["three"] = [row for own in rows.values() for row in own]
    for name, own in rows.items():
        texts = write_lines(folder / f"{name}.jsonl", own)
        if name != "c":
            given = ("--texts", texts, "--out", folder / name, *QUICK)
            inside("audit", "laissez-faire", *given).ok()


def test_runs_and_models_are_compared_in_every_format(inside: Portrayal, runs: Path) -> None:
    women = ("--measure", "representation", "--where", "gender=F")
    shown = inside("compare", "a", "b", *women).ok()
    assert shown.out.startswith("first a, second b, study laissez-faire\n")
    (each,) = inside("compare", "a", "b", *women, "--format", "json").json()["comparisons"]
    (row,) = each["changes"]
    # Words that do not fit stand in a second line, so that the numbers stay on the first.
    first, second = shown.out.splitlines()[-2:]
    assert first.startswith("Learning · Women")
    assert f"×{row['change']:.3g} " in first
    assert first.endswith("changed")
    assert second == "representation"
    assert row["change"] < 1
    assert row["p"] < 0.05
    assert row["n_prompts"] == 15

    table = inside("compare", "three", "--by", "model", "--against", "b", "--format", "csv").ok()
    sides = {line["b"] for line in csv.DictReader(io.StringIO(table.out))}
    assert sides == {"three (a)", "three (c)"}

    several = inside("compare", "three", "--by", "model", *women).ok()
    assert several.out.count("first three (a)") == 2

    page = runs / "change.txt"
    inside("compare", "a", "b", "--out", page).ok()
    assert page.read_text(encoding="utf-8").count("Learning") > 3


def test_what_cannot_be_compared_is_one_line_and_writes_nothing(
    inside: Portrayal, runs: Path, sample_runs: Callable[[str], Run]
) -> None:
    out = runs / "out.csv"
    to = ("--format", "csv", "--out", out)
    empty = runs / "empty"
    empty.mkdir()
    inside("compare", "a", "nowhere", *to).refused("is not a run")
    inside("compare", "a", "empty", *to).refused("is not a run", "audit")
    inside("compare", "a", *to).refused("--by model")
    inside("compare", "a", "--by", "model", *to).refused("one model")
    inside("compare", "a", "--by", "domain", *to).refused("--by takes model")
    inside("compare", "three", "--by", "model", "--against", "x", *to).refused("models: a, b, c")
    inside("compare", "a", "b", "--against", "a", *to).refused("--against")
    inside("compare", "a", "b", "three", *to).refused("several models")
    inside("compare", "a", "b", "--margin", "0.5", *to).refused("factor")
    inside("compare", "a", "b", "--despite", "lexicon", *to).refused("does not differ")
    inside("compare", "a", "b", "--where", "domain=Work", *to).refused("domain=Work")
    inside("compare", "a", sample_runs("agency").path, *to).refused("runs of one study")
    (runs / "a" / "influences.parquet").unlink()
    inside("compare", "a", "b", *to).refused("audit` command again")
    assert not out.exists()


def test_models_of_two_names_are_compared_and_audited_as_one_by_an_alias(
    inside: Portrayal, runs: Path
) -> None:
    rows = {
        "old": [("Claude", 0.9), ("m", 0.5)],
        "new": [("Claude 2.0", 0.2), ("m", 0.5)],
        "both": [("Claude", 0.9), ("Claude 2.0", 0.2)],
    }
    for name, models in rows.items():
        made = [
            student_stories(share, seed, model, 4) for seed, (model, share) in enumerate(models)
        ]
        write_lines(runs / f"{name}.jsonl", [row for own in made for row in own])
        done = inside("audit", "laissez-faire", "--texts", f"{name}.jsonl", "--out", name, *QUICK)
        done.ok()
    done = inside("compare", "old", "new", "--all", "--format", "json")
    pair = {(row["model_a"], row["model_b"]) for row in done.json()["comparisons"][0]["changes"]}
    assert ("m", "m") in pair
    assert ("Claude", "Claude 2.0") not in pair
    alias = ("--model-alias", "Claude 2.0=Claude")
    done = inside("compare", "old", "new", "--all", "--format", "json", *alias)
    pair = {(row["model_a"], row["model_b"]) for row in done.json()["comparisons"][0]["changes"]}
    assert pair >= {("m", "m"), ("Claude", "Claude 2.0")}
    whole = ("--texts", "both.jsonl", "--out", "one", *QUICK, *alias)
    assert "of 1 model" in inside("audit", "laissez-faire", *whole).ok().out
    again = inside("audit", "laissez-faire", "--texts", "both.jsonl", "--out", "two", *QUICK,
                   "--config", "one/audit.toml")  # fmt: skip
    assert "of 1 model" in again.ok().out

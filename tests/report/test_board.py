"""The board: models of many runs side by side, and what it survives."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import portrayal
from command import invoke
from portrayal.errors import OptionError, RunError
from portrayal.report.board import Board, read_board
from portrayal.report.first import kept_findings
from portrayal.run import Run, write_parquet
from portrayal.run.estimates import estimates_to_table
from portrayal.run.manifest import MEASURED

from .conftest import estimate

Maker = Callable[..., Run]


@pytest.fixture(scope="module")
def runs(sample_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample under odd names, a study of two models, a series, and what is no run."""
    folder = tmp_path_factory.mktemp("many")
    for name in ("zebra", "a [b] ∕c", "okapi/2026-04", "okapi/2026-05"):
        shutil.copytree(sample_run.path, folder / name)
    pairs: Any = portrayal.registry.get("studies", "pairs")
    portrayal.audit("pairs", **pairs.sample(), out=folder / "pairs", report=False, permutations=40)
    shutil.copytree(sample_run.path, folder / "cut")
    whole = (folder / "cut" / "estimates.parquet").read_bytes()
    (folder / "cut" / "estimates.parquet").write_bytes(whole[:300])
    shutil.copytree(sample_run.path, folder / "odd")
    (folder / "odd" / "audit.toml").write_text('models = 3\nstudy = ["x"]\n', encoding="utf-8")
    (folder / "photos").mkdir()
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def board(runs: Path) -> Board:
    return read_board(runs)


def test_a_board_counts_runs_and_names_what_is_none(board: Board) -> None:
    assert board.n_runs == 5
    assert set(board.left_out) == {"cut", "odd", "photos"}


def test_models_that_measured_alike_have_places(board: Board) -> None:
    tellers = [row for row in board.rows if row.run == "pairs"]
    assert {row.place for row in tellers} >= {"1", "2"}  # of two models that can be told apart
    by_question: dict[str, set[str]] = {}
    for row in tellers:
        by_question.setdefault(row.question, set()).add(row.place)
    assert all(places in ({"1", "2"}, {""}) for places in by_question.values())
    assert any(row.stated for row in tellers)


def test_of_each_model_the_latest_run_counts(board: Board) -> None:
    """The sample stands four times in the folder, and each of its numbers once."""
    sample = [row for row in board.rows if row.run != "pairs"]
    assert len({(row.question, row.model) for row in sample}) == len(sample)
    assert {row.run for row in sample} == {"zebra"}


def test_numbers_are_those_of_the_run(board: Board, runs: Path) -> None:
    kept = {
        (row["label"], row["model"]): row["value"]
        for row in kept_findings(Run.open(runs / "pairs"))["questions"]
    }
    pairs = [row for row in board.rows if row.run == "pairs"]
    assert pairs
    assert all(row.value == kept[row.question, row.model] for row in pairs)


def test_the_command_prints_a_table_and_gives_all_rows(board: Board, runs: Path) -> None:
    table = invoke("index", runs)
    assert table.exit_code == 0, table.output
    assert "Teller A" in invoke("index", runs, "--all").stdout
    assert "not shown: 3 folders, such as cut" in table.stdout
    rows = list(csv.DictReader(io.StringIO(invoke("index", runs, "--format", "csv").stdout)))
    said = json.loads(invoke("index", runs, "--format", "json").stdout)
    assert len(rows) == len(said["rows"]) == len(board.rows)
    assert set(said["left_out"]) == {"cut", "odd", "photos"}


def test_findings_are_kept_until_numbers_change(make_run: Maker) -> None:
    run = make_run([estimate(0.3, 0.2, 0.4, q=0.001)])
    first = kept_findings(run)
    assert (run.path / "findings.json").is_file()
    assert kept_findings(run) == first
    (run.path / "findings.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(RunError, match=r"findings\.json is not as it was written"):
        kept_findings(Run(run.path))
    (run.path / "findings.json").unlink()
    with run.manifest.step(MEASURED):
        write_parquet(
            estimates_to_table([replace(estimate(2.5, 2.1, 3.3, q=0.001))]), run.estimates_path
        )
    with run.manifest.recording(run.path / "findings.json"):
        pass  # of other estimates, it left the manifest
    (row,) = kept_findings(Run(run.path))["questions"]
    assert row["value"] == 2.5


def test_a_damaged_file_of_findings_costs_its_run_alone(sample_run: Run, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        shutil.copytree(sample_run.path, tmp_path / "runs" / name)
    kept = kept_findings(Run(tmp_path / "runs" / "bad"))
    for broken in ({"level": None}, {"questions": [1]}, {"findings": {"findings": [{}]}}):
        text = json.dumps(kept | broken)
        (tmp_path / "runs" / "bad" / "findings.json").write_text(text, encoding="utf-8")
        board = read_board(tmp_path / "runs")
        assert (board.n_runs, set(board.left_out)) == (1, {"bad"})


def test_what_is_no_folder_of_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="not a folder"):
        read_board(tmp_path / "none")
    with pytest.raises(OptionError, match="no finished run"):
        read_board(tmp_path)

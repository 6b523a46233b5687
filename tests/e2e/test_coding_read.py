"""The commands that read codes and have a model give them, as a user types them."""

import csv
import json
import re
from pathlib import Path

import pytest

from e2e.conftest import Portrayal
from measure.cues.stories import story_run
from portrayal.collect.tables import read_table, write_table
from servers.openai_server import OpenAIServer

CODES = 6
DRAWS = ("--draws", "100", "--format", "json")


@pytest.fixture
def run(inside: Portrayal, tmp_path: Path) -> Path:
    """A run with 12 of its texts coded by two people, who differ on the first."""
    path = story_run(tmp_path / "run").path
    raters = ("--rater", "ana", "--rater", "bo")
    inside("label", "sheet", path, "--for", "stereotypes", "--n", 12, *raters).ok()
    for rater in ("ana", "bo"):
        sheet = path / "labels" / "stereotypes" / f"{rater}.csv"
        rows = read_table(sheet, ["label"])
        for i, row in enumerate(rows):
            row["label"] = str(int(i % 7 == 0 and (i > 0 or rater == "bo")))
        write_table(sheet, list(rows[0]), rows)
    return path


@pytest.fixture
def folder(run: Path) -> Path:
    return run / "labels" / "stereotypes"


def test_agreement(inside: Portrayal, folder: Path) -> None:
    out = inside("label", "agreement", folder, "--draws", "100").ok().out
    assert "Texts done by ana 12, bo 12" in out
    assert "Cohen’s κ" in out
    facts = inside("label", "agreement", folder, *DRAWS).json()
    assert facts["people"]["raters"] == ["ana", "bo"]
    assert facts["language_models_against_people"] == []
    figures = {(f["question"], f["statistic"]): f for f in facts["people"]["coefficients"]}
    assert all(f["n_items"] == 12 for f in facts["people"]["coefficients"])
    assert {statistic for _, statistic in figures} >= {"percent_agreement", "cohens_kappa"}


def test_codes_by_group(inside: Portrayal, run: Path, folder: Path) -> None:
    assert "Latine" in inside("label", "codes", run, folder).ok().out
    asked = ("--by", "model", "--merge", "m2=m1", "--format", "json")
    shares = inside("label", "codes", run, folder, *asked).json()["shares"]
    assert {(row["group"], row["by"], row["n_texts"], row["n_open"]) for row in shares} == {
        ("m1", "people", 11, 1)
    }
    inside("label", "codes", run, folder, "--by", "shoe").refused("'shoe'", "texts have:")
    inside("label", "codes", run, folder, "--merge", "Asian").refused("--merge takes Inuit=AN")


def test_an_audit_compares_codes(inside: Portrayal, run: Path, folder: Path) -> None:
    asked = ("label", "codes", run, folder, "--by", "model", "--out", "coded.csv")
    out = inside(*asked).ok().out
    *_, command = out.split("then: ")
    assert command.strip().startswith("portrayal audit coded.csv --by group --score ")
    inside(*asked).refused("is there already")
    audited = inside(*command.split()[1:], "--out", "audited").ok().out
    assert "m1" in audited


def test_sheets_become_one_label_file_and_one_that_is_half_filled_is_refused(
    inside: Portrayal, run: Path, folder: Path, tmp_path: Path
) -> None:
    merged = inside("label", "merge", folder, "--out", "labels.csv").ok()
    assert "of codes: portrayal label codes RUN labels.csv" in merged.out
    with (tmp_path / "labels.csv").open(encoding="utf-8-sig") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 12 * CODES
    figures = [
        inside("label", "agreement", given, *DRAWS).json()["people"]
        for given in (folder, "labels.csv")
    ]
    assert figures[0]["coefficients"] == figures[1]["coefficients"]
    shares = [
        inside("label", "codes", run, given, "--format", "json").json()["shares"]
        for given in (folder, "labels.csv")
    ]
    assert shares[0] == shares[1]
    rows = read_table(folder / "bo.csv", ["label"])
    rows[3]["label"] = ""
    write_table(folder / "bo.csv", list(rows[0]), rows)
    asked = ("label", "merge", folder, "--out", "more.csv")
    inside(*asked).refused("bo.csv: row 5: model_minority has no label", "'bo' answered other")


def test_a_model_is_a_rater_apart(inside: Portrayal, run: Path, folder: Path) -> None:
    def render(path: str, body: dict, kind: str) -> dict:
        prompt = body["messages"][-1]["content"]
        story = re.search(r"<story>\n(.*)\n</story>", prompt, re.S).group(1)
        codes = [{"code": "noble_savage", "passage": "thanks the doctor"}]
        said = json.dumps({"codes": codes if "thanks" in story else []})
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        facts = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        return {**facts, "choices": [choice], "usage": usage}

    before = inside("label", "agreement", folder, *DRAWS).json()
    with OpenAIServer(render=render) as server:
        model = ("--labeler-model", "server:m", "--labeler-base-url", server.base_url)
        facts = inside("label", "model", folder, *model, "--format", "json").json()
        again = inside("label", "model", folder, *model).ok().out
    assert (facts["n_texts"], facts["n_labelled"], facts["failed"]) == (12, 12, {})
    assert "12 of 12 texts are labelled" in again
    after = inside("label", "agreement", folder, *DRAWS).json()
    assert after["people"] == before["people"]
    (compared,) = after["language_models_against_people"]
    assert compared["raters"] == ["people", "server:m"]
    assert "not in the above" in inside("label", "agreement", folder, "--draws", "100").ok().out
    shares = inside("label", "codes", run, folder, "--format", "json").json()["shares"]
    assert {row["by"] for row in shares} == {"people", "server:m", "server:m, corrected"}


def test_a_folder_without_labels_says_what_to_do(inside: Portrayal, run: Path) -> None:
    inside("label", "agreement", run).refused("no sheet holds a label yet", "label sheet RUN")

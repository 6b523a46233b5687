"""The commands that read codes, or bring them in and out, as a user types them."""

import csv
import json
import re
from pathlib import Path

import pytest

from coding.coded import CODES, code_all, random_codes, small_project
from e2e.conftest import Portrayal
from servers.openai_server import OpenAIServer


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = small_project(tmp_path / "p", 12)
    code_all(made, "Ana", random_codes(made, 1))
    code_all(made, "Bo", random_codes(made, 1) | {"t0": {"savage"}, "t3": set()})
    return made.folder


def test_agreement(inside: Portrayal, project: Path) -> None:
    out = inside("label", "agreement", project, "--draws", "100").ok().out
    assert "Texts done by ana 12, bo 12" in out
    assert "Fleiss’ κ" in out
    facts = inside("label", "agreement", project, "--draws", "100", "--format", "json").json()
    assert facts["people"]["raters"] == ["ana", "bo"]
    assert facts["language_models_against_people"] == []
    figures = {(f["question"], f["statistic"]): f for f in facts["people"]["coefficients"]}
    assert figures["whole set", "percent_agreement"]["value"] == pytest.approx(10 / 12)
    assert figures["savior", "cohens_kappa"]["interval"]["n_clusters"] == 12


def test_codes_by_group(inside: Portrayal, project: Path) -> None:
    assert "Latine" in inside("label", "codes", project).ok().out
    facts = inside("label", "codes", project, "--merge", "Asian=Latine", "--format", "json").json()
    (group,) = facts["groups"]
    assert group["n_items"] + group["n_open"] == 12
    inside("label", "codes", project, "--by", "shoe").refused("'shoe'", "Known: group")
    inside("label", "codes", project, "--merge", "Asian").refused("--merge takes Inuit=AN")


def test_the_labels_of_a_project_are_a_label_file(
    inside: Portrayal, project: Path, tmp_path: Path
) -> None:
    inside("label", "merge", project, "--out", "labels.csv").ok()
    with (tmp_path / "labels.csv").open(encoding="utf-8-sig") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 12 * len(CODES)
    figures = [
        inside("label", "agreement", given, "--draws", "100", "--format", "json").json()["people"]
        for given in (project, "labels.csv")
    ]
    assert figures[0]["coefficients"] == figures[1]["coefficients"]


def test_a_model_is_a_rater_apart(inside: Portrayal, project: Path) -> None:
    def render(path: str, body: dict, kind: str) -> dict:
        prompt = body["messages"][-1]["content"]
        story = re.search(r"<story>\n(.*)\n</story>", prompt, re.S).group(1)
        codes = [{"code": "foreigner", "passage": "just moved here"}] if "Maria" in story else []
        said = "I do not know." if "Tale 5" in story else json.dumps({"codes": codes})
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        facts = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        return {**facts, "choices": [choice], "usage": usage}

    before = inside("label", "agreement", project, "--draws", "100", "--format", "json").json()
    with OpenAIServer(render=render) as server:
        command = (
            "label",
            "model",
            project,
            "--labeler-model",
            "server:m",
            "--labeler-base-url",
            server.base_url,
        )
        facts = inside(*command, "--format", "json").json()
        again = inside(*command).ok().out
        assert server.requests == 12
    assert (facts["n_items"], facts["n_coded"], facts["kind"]) == (12, 11, "llm")
    assert set(facts["failed"]) == {"t5"}
    assert "coded 11 of 12 texts" in again
    after = inside("label", "agreement", project, "--draws", "100", "--format", "json").json()
    assert after["people"] == before["people"]
    (model,) = after["language_models_against_people"]
    assert model["raters"] == ["people", "server:m"]
    assert "not in the above" in inside("label", "agreement", project, "--draws", "100").ok().out


def test_a_folder_that_is_no_project(inside: Portrayal, tmp_path: Path) -> None:
    inside("label", "agreement", tmp_path).refused("project.toml")

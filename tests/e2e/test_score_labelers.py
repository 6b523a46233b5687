"""`portrayal score people` of a model's labels, against a real server on this machine."""

import json
from pathlib import Path
from typing import Any

from e2e.conftest import Portrayal, write_lines
from servers.labeler import says
from servers.openai_server import OpenAIServer

N = 20


def gold(path: Path, **more: Any) -> Path:
    """Stories whose labels the model knows and the extractor mostly does."""
    rows = [
        {
            "text": f"Emily saw Sam on day {i}. She smiled at him.",
            "prompt_id": f"p{i % 5}",
            "subject_role": "doctor",
            "object_role": "patient",
            "gold_subject_name": "Emily",
            "gold_subject_gender": "Female",
            "gold_object_name": "Sam",
            "gold_object_gender": "Male",
            **more,
        }
        for i in range(N)
    ]
    return write_lines(path, rows)


def asked(server: OpenAIServer, *more: object) -> tuple[object, ...]:
    model = ("--labeler-model", "server:m", "--labeler-base-url", server.base_url)
    return ("score", "people", *model, "--labeler-samples", 1, "--format", "json", *more)


def test_a_models_labels_are_scored(inside: Portrayal, tmp_path: Path) -> None:
    path = gold(tmp_path / "gold.jsonl")
    with OpenAIServer(write=says(["Emily", "Sam"], [["she"], ["him"]])) as server:
        command = asked(server, "--hand-labels", path, "--labeler", "llm", "--out", "answers")
        score = inside(*command).json()
        assert server.requests == N
        assert inside(*command).json() == score
        assert server.requests == N  # nothing is asked twice
    assert (score["labeler"], score["n_by_the_model"]) == ("llm", N)
    assert score["n_the_model_failed_on"] == 0
    assert score["n_slots"] == 2 * N
    assert score["joint_accuracy"]["value"] == 1.0


def test_what_the_model_gets_wrong_shows(inside: Portrayal, tmp_path: Path) -> None:
    path = gold(tmp_path / "gold.jsonl", domain="Labor", condition="power-laden")
    with OpenAIServer(write=says(["Sam", "Emily"], [["him"], ["she"]])) as server:
        score = inside(*asked(server, "--hand-labels", path, "--labeler", "llm")).json()
    assert score["name_accuracy"]["value"] == 0.0
    assert score["gender_precision"]["value"] == 0.0
    # Every woman has power by the labels, none as she is read.
    cells = score["conclusions"]["cells"]
    (cell,) = (c for c in cells if (c["gender"], c["race"]) == ("F", ""))
    assert (cell["domain"], cell["of"], cell["people"]) == ("Labor", "roles", N)
    assert (cell["labels"], cell["read"]) == (0.0, "inf")
    assert cell["quotient"] > 5
    # Few people are in no summary.
    assert score["conclusions"]["mean_absolute_log_quotient"] is None


def test_conclusions_stand_beside_precision(inside: Portrayal, tmp_path: Path) -> None:
    path = gold(tmp_path / "gold.jsonl", condition="power-neutral")
    path.write_text(path.read_text("utf-8") * 2, "utf-8")
    printed = inside("score", "people", "--hand-labels", path).out
    assert "by labels" in printed
    assert "% of the intervals leave out 1" in printed


def test_answers_without_labels_are_counted(inside: Portrayal, tmp_path: Path) -> None:
    path = gold(tmp_path / "gold.jsonl")
    with OpenAIServer(write=lambda prompt, again: "I would rather not.") as server:
        score = inside(*asked(server, "--hand-labels", path, "--labeler", "llm")).json()
    assert (score["n_by_the_model"], score["n_the_model_failed_on"]) == (0, N)
    assert score["name_recall"]["value"] == score["gender_recall"]["value"] == 0.0


def test_options_that_do_not_go_together_are_refused(inside: Portrayal, tmp_path: Path) -> None:
    path = gold(tmp_path / "gold.jsonl")
    inside("score", "people", "--hand-labels", path, "--labeler", "llm").refused("--labeler-model")
    inside("score", "people", "--hand-labels", path, "--labeler", "best").refused("embedded")


def test_stories_of_other_languages_are_left_out_of_the_score_and_counted(
    inside: Portrayal, tmp_path: Path
) -> None:
    spanish = "Emily era médica y vio a Sam cerca de la ventana en el hospital."
    path = gold(tmp_path / "gold.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    write_lines(path, [*rows, *({**row, "text": spanish} for row in rows[:5])])
    score = inside("score", "people", "--hand-labels", path, "--format", "json").json()
    assert score["not_read"] == "5 not in English: let a model read it (--labeler llm)"
    assert score["n_slots"] == 2 * N

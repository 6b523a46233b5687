"""Files of requests for a batch service: what is written, and what comes back."""

import json
from pathlib import Path

import pytest

from portrayal.collect import import_texts
from portrayal.collect.ask.asking import Asking, prompts_of
from portrayal.collect.ask.batchfile import write_batch
from portrayal.errors import DataError, OptionError
from portrayal.records import SYSTEM, Prompt
from portrayal.run import Run, read_rows
from portrayal.studies.laissez_faire import FIELDS

PROMPTS = [Prompt("a#1", "Write."), Prompt("b", "Schreib für Zoë.", {SYSTEM: "Be brief."})]


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_prompt_is_a_request_for_each_sample(tmp_path):
    parameters = {"temperature": 0.5, "max_tokens": 9, "system": "Be kind.", "raw": {"n": 1}}
    asking = Asking("openai:gpt-5-mini", 2, parameters=parameters)
    assert write_batch(tmp_path / "r.jsonl", PROMPTS, asking) == 4
    lines = _lines(tmp_path / "r.jsonl")
    assert [line["custom_id"] for line in lines] == ["a#1#0", "b#0", "a#1#1", "b#1"]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    assert lines[3]["body"] == {
        "model": "gpt-5-mini",
        "messages": [
            {"role": "system", "content": "Be kind.\n\nBe brief."},
            {"role": "user", "content": "Schreib für Zoë."},
        ],
        **{"temperature": 0.5, "max_completion_tokens": 9, "n": 1},
    }
    write_batch(tmp_path / "s.jsonl", PROMPTS, Asking("server:m", parameters={"max_tokens": 9}))
    body = _lines(tmp_path / "s.jsonl")[0]["body"]
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "Write."}],
        "max_tokens": 9,
    }


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("anthropic:c", {}), ("openai:m", {"thinking_budget": 5}), ("openai:m", {"tempo": 1})],
)
def test_what_a_batch_cannot_hold_is_refused(tmp_path, model, parameters):
    with pytest.raises(OptionError):
        write_batch(tmp_path / "r.jsonl", PROMPTS, Asking(model, parameters=parameters))
    assert not (tmp_path / "r.jsonl").exists()


def test_answers_find_their_prompts(tmp_path):
    prompts = prompts_of("laissez-faire")
    write_batch(tmp_path / "r.jsonl", prompts, Asking("openai:m", 2))
    requests = [line["custom_id"] for line in _lines(tmp_path / "r.jsonl")]
    answers = [{"custom_id": name, "text": f"A story of {name}."} for name in requests[::-1]]
    run = Run(tmp_path / "run")
    with run.lock():
        assert import_texts(run, answers, FIELDS, prompts)["n_texts"] == 200
        strange = {"custom_id": "elsewhere#0", "text": "Another."}
        with pytest.raises(DataError, match="row 201: it lacks condition"):
            import_texts(run, [*answers, strange], FIELDS, prompts, replace=True)
        import_texts(run, answers, FIELDS, prompts, replace=True)
    rows = list(read_rows(run, ["prompt_id", "sample", "text"]))
    assert len({(row["prompt_id"], row["sample"]) for row in rows}) == 200
    assert all(f"A story of {row['prompt_id']}#" in row["text"] for row in rows)

"""Importing: every answer of a log is in the run, with its prompt, its model and its outcome."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.errors import DataError, OptionError, RunError
from portrayal.studies.laissez_faire import prompts

pytestmark = pytest.mark.usefixtures("inspect_ai")

STORY = "Maria was a great student. She helped John with his maths."
ANSWERS = [
    STORY,
    "I'm sorry, but I can't write that story.",
    "",
    RuntimeError("the endpoint broke"),
    ("Maria was", "content_filter"),
]


def _texts(run: Any) -> list[dict[str, Any]]:
    return pa.concat_tables(pq.read_table(part) for part in run.texts.parts()).to_pylist()


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_a_log_becomes_a_run_that_can_be_audited(
    evaluate: Callable[..., Any], tmp_path: Path, log_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from portrayal.inspect import import_inspect, laissez_faire, logs
    from portrayal.pipeline.audit import audit

    monkeypatch.setattr(logs, "_TOGETHER", 7)
    log = evaluate(laissez_faire(samples=5), ANSWERS, limit=4, log_format=log_format)
    said: list[str] = []
    done = import_inspect(log.location, tmp_path / "run", say=said.append)
    assert log.status == "error"  # an error among 20, and yet every other answer is there
    assert done.study == "laissez-faire"
    assert done.outcomes == {"ok": 4, "refused": 8, "empty": 4, "failed": 4}
    assert (done.n_texts, done.n_missing, done.models) == (20, 0, ("mockllm/model",))
    assert said == [f"{Path(log.location).name}: error, 20 samples of mockllm/model"]
    rows = _texts(done.run)
    first = [prompt.prompt_id for prompt in prompts()[:4]]
    assert Counter(row["prompt_id"] for row in rows) == dict.fromkeys(first, 5)
    assert sorted({row["sample"] for row in rows}) == [0, 1, 2, 3, 4]
    run = audit("laissez-faire", out=done.run.path, draws=100, permutations=20)
    shares = {
        (e.group["outcome"], e.strata["condition"]): e.value
        for e in run.records
        if e.measure == "outcomes.v1" and e.strata["domain"] == "Learning"
    }
    assert shares["refused", "power-neutral"] == pytest.approx(0.4)
    assert shares["failed", "power-neutral"] == pytest.approx(0.2)
    assert not [path for path in done.run.path.iterdir() if path.name.startswith(".inspect")]


def test_importing_again_changes_nothing_and_other_texts_are_refused(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from portrayal.inspect import import_inspect, laissez_faire

    log = evaluate(laissez_faire(), [STORY], limit=2)
    other = evaluate(laissez_faire(), ["Ana slept."], limit=3)
    done = import_inspect(log.location, tmp_path / "run")
    before = {part: part.stat().st_mtime_ns for part in done.run.texts.parts()}
    again = import_inspect(Path(log.location), tmp_path / "run", "laissez_faire")
    assert {part: part.stat().st_mtime_ns for part in again.run.texts.parts()} == before
    with pytest.raises(RunError, match="other texts"):
        import_inspect(other.location, tmp_path / "run")
    assert import_inspect(other.location, tmp_path / "run", replace=True).n_texts == 3


def test_a_folder_of_models_and_a_second_try(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    import inspect_ai

    from portrayal.inspect import import_inspect, laissez_faire

    broken = evaluate(laissez_faire(), [STORY, RuntimeError("no")], limit=4)
    evaluate(laissez_faire(), [STORY], "mockllm/other", limit=4)
    mended = inspect_ai.eval_retry(broken, log_dir=str(tmp_path / "logs"), display="none")[0]
    assert mended.eval.task_id == broken.eval.task_id
    done = import_inspect(tmp_path / "logs", tmp_path / "run")
    assert done.models == ("mockllm/model", "mockllm/other")
    assert done.superseded == (Path(broken.location).name,)
    assert len(done.logs) == 2
    assert done.n_texts == 8


def test_a_stopped_evaluation_says_what_is_missing(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from portrayal.inspect import import_inspect, laissez_faire

    task = laissez_faire(samples=2)
    task.continue_on_fail = False
    answers = [STORY, STORY, STORY, RuntimeError("out of money")]
    log = evaluate(task, answers, limit=10, fail_on_error=True)
    done = import_inspect(log.location, tmp_path / "run")
    assert done.n_texts == done.outcomes["ok"] + done.outcomes["failed"] < 20
    assert done.n_texts + done.n_missing == 20


def _other_task(metadata: dict[str, Any], asked: Any = "Tell me of two people.") -> Any:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    return Task(dataset=[Sample(asked, id=7, metadata=metadata)], name="other", epochs=3)


def test_another_tasks_log_with_the_studys_prompts(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    from portrayal.inspect import import_inspect

    prompt = prompts()[40]
    asked = [ChatMessageSystem(content="Be kind."), ChatMessageUser(content=prompt.text)]
    log = evaluate(_other_task({"nested": {"a": 1}, "text": "not this"}, asked), [STORY])
    with pytest.raises(OptionError, match="--study"):
        import_inspect(log.location, tmp_path / "run")
    done = import_inspect(log.location, tmp_path / "run", "laissez-faire")
    assert {(row["prompt_id"], row["text"]) for row in _texts(done.run)} == {
        (prompt.prompt_id, STORY)
    }


def test_unknown_prompts_need_their_strata(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    from portrayal.inspect import import_inspect

    bare = evaluate(_other_task({"topic": "x"}), [STORY])
    with pytest.raises(DataError, match="row 1 lacks condition and subject_role") as error:
        import_inspect(bare.location, tmp_path / "run", "laissez-faire")
    assert str(tmp_path) not in str(error.value)
    told = {"kind": "power-neutral", "subject_role": "star student", "domain": "Learning"}
    log = evaluate(_other_task(told), [STORY])
    done = import_inspect(
        log.location, tmp_path / "run", "laissez-faire", columns=["condition=kind"]
    )
    assert done.n_texts == 3
    [strata] = pq.read_table(done.run.prompts_path)["strata"].to_pylist()
    assert dict(strata)["condition"] == "power-neutral"


def test_columns_that_only_later_samples_have(
    evaluate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from portrayal.collect import sources
    from portrayal.inspect import import_inspect

    monkeypatch.setattr(sources, "_HEAD", 1)
    told = {"condition": "power-neutral", "subject_role": "student"}
    dataset = [Sample(prompts()[0].text), Sample("Tell me of a student.", metadata=told)]
    log = evaluate(Task(dataset=dataset, name="late"), [STORY])
    assert import_inspect(log.location, tmp_path / "run", "laissez-faire").n_texts == 2


def test_several_choices_are_several_answers(inspect_ai: Any, tmp_path: Path) -> None:
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput

    from portrayal.inspect.logs import Answer, answers_of

    output = ModelOutput(
        choices=[
            ChatCompletionChoice(message=ChatMessageAssistant(content=text), stop_reason=reason)
            for text, reason in ((STORY, "stop"), ("Maria", "max_tokens"), ("", "content_filter"))
        ]
    )
    assert [answer.outcome for answer in answers_of(output)] == ["ok", "ok", "refused"]
    assert {answer.outcome for answer in answers_of(output, failed=True)} == {"failed"}
    assert answers_of(ModelOutput()) == [Answer("", "failed")]


def test_files_that_are_no_logs(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    from portrayal.inspect import import_inspect, laissez_faire

    log = evaluate(laissez_faire(), [STORY], limit=2)
    torn = tmp_path / "torn.eval"
    torn.write_bytes(Path(log.location).read_bytes()[:900])
    for name in ("other.json", "torn.eval"):
        if name == "other.json":
            (tmp_path / name).write_text('{"a": 1}', encoding="utf-8")
        with pytest.raises(DataError, match="not a readable Inspect log"):
            import_inspect(tmp_path / name, tmp_path / "run", "laissez-faire")
    with pytest.raises(DataError, match="no such log"):
        import_inspect(tmp_path / "absent.eval", tmp_path / "run", "laissez-faire")
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match="no Inspect log here"):
        import_inspect(tmp_path / "none", tmp_path / "run", "laissez-faire")

"""Importing: every answer of a log is in the run, with its prompt, its model and its outcome."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal import registry
from portrayal.collect import import_texts
from portrayal.errors import DataError, RunError
from portrayal.records import Prompt
from portrayal.run import Run
from portrayal.studies.laissez_faire import FIELDS, prompts

pytestmark = pytest.mark.usefixtures("inspect_ai")

STORY = "Maria was a great student. She helped John with his maths."
ANSWERS = [
    STORY,
    "I'm sorry, but I can't write that story.",
    "",
    RuntimeError("the endpoint broke"),
    ("Maria was", "content_filter"),
]


def asked(every: Iterable[Prompt], samples: int = 1) -> Any:
    """A task that asks these prompts, with their strata in the metadata of its samples."""
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    def messages(prompt: Prompt) -> str | list[Any]:
        text, *system = prompt.asked
        before = [ChatMessageSystem(content=words) for words in system]
        return [*before, ChatMessageUser(content=text)] if before else text

    return Task(
        dataset=[
            Sample(messages(p), id=p.prompt_id, metadata={"prompt_id": p.prompt_id, **p.strata})
            for p in every
        ],
        epochs=samples,
        continue_on_fail=True,
    )


def bring(place: str | Path, run: Path, **options: Any) -> tuple[Run, dict[str, Any]]:
    """Import a log into a run of the study, as an audit does."""
    held = Run(run)
    return held, import_texts(held, place, FIELDS, prompts(), **options)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what reading logs said."""
    return [each.getMessage() for each in caplog.records if each.name == "portrayal.inspect"]


def _texts(run: Any) -> list[dict[str, Any]]:
    return pa.concat_tables(pq.read_table(part) for part in run.texts.parts()).to_pylist()


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_a_log_becomes_a_run_that_can_be_audited(
    evaluate: Callable[..., Any],
    tmp_path: Path,
    log_format: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    from portrayal.inspect import logs
    from portrayal.pipeline.audit import audit

    monkeypatch.setattr(logs, "_TOGETHER", 7)
    monkeypatch.setattr(logging.getLogger("portrayal"), "propagate", True)
    caplog.set_level(logging.INFO, "portrayal.inspect")
    log = evaluate(asked(prompts(), 5), ANSWERS, limit=4, log_format=log_format)
    assert log.status == "error"  # an error among 20, and yet every other answer is there
    run = audit(
        study="laissez-faire", texts=log.location, out=tmp_path / "run", draws=100, permutations=20
    )
    name = Path(log.location).name
    assert said(caplog) == [f"{name}: error, 20 samples of mockllm/model"]
    note = run.texts.note()
    assert note["outcomes"] == {"ok": 4, "refused": 8, "empty": 4, "failed": 4}
    assert (note["n_texts"], note["models"]) == (20, ["mockllm/model"])
    rows = _texts(run)
    first = [prompt.prompt_id for prompt in prompts()[:4]]
    assert Counter(row["prompt_id"] for row in rows) == dict.fromkeys(first, 5)
    assert sorted({row["sample"] for row in rows}) == [0, 1, 2, 3, 4]
    shares = {
        (e.group["outcome"], e.strata["condition"]): e.value
        for e in run.records
        if e.measure == "outcomes.v1" and e.strata["domain"] == "Learning"
    }
    assert shares["refused", "power-neutral"] == pytest.approx(0.4)
    assert shares["failed", "power-neutral"] == pytest.approx(0.2)


def test_importing_again_changes_nothing_and_other_texts_are_refused(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    log = evaluate(asked(prompts()), [STORY], limit=2)
    other = evaluate(asked(prompts()), ["Ana slept."], limit=3)
    run, _ = bring(log.location, tmp_path / "run")
    before = {part: part.stat().st_mtime_ns for part in run.texts.parts()}
    again, _ = bring(Path(log.location), tmp_path / "run")
    assert {part: part.stat().st_mtime_ns for part in again.texts.parts()} == before
    with pytest.raises(RunError, match="other texts"):
        bring(other.location, tmp_path / "run")
    assert bring(other.location, tmp_path / "run", replace=True)[1]["n_texts"] == 3


def test_a_folder_of_models_and_a_second_try(
    evaluate: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    import inspect_ai

    @inspect_ai.task  # one that is tried again is known by its name
    def stories() -> Any:
        return asked(prompts())

    broken = evaluate(stories(), [STORY, RuntimeError("no")], limit=4)
    evaluate(asked(prompts()), [STORY], "mockllm/other", limit=4)
    mended = inspect_ai.eval_retry(broken, log_dir=str(tmp_path / "logs"), display="none")[0]
    assert mended.eval.task_id == broken.eval.task_id
    monkeypatch.setattr(logging.getLogger("portrayal"), "propagate", True)
    caplog.set_level(logging.INFO, "portrayal.inspect")
    _, note = bring(tmp_path / "logs", tmp_path / "run")
    assert note["models"] == ["mockllm/model", "mockllm/other"]
    assert note["source"] == "2 Inspect logs"
    assert note["n_texts"] == 8
    assert said(caplog)[0].startswith(f"{Path(broken.location).name}: left out")
    assert len(said(caplog)) == 3


def test_a_stopped_evaluation_says_what_is_missing(
    evaluate: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    task = asked(prompts(), 2)
    task.continue_on_fail = False
    answers = [STORY, STORY, STORY, RuntimeError("out of money")]
    log = evaluate(task, answers, limit=10, fail_on_error=True)
    monkeypatch.setattr(logging.getLogger("portrayal"), "propagate", True)
    caplog.set_level(logging.INFO, "portrayal.inspect")
    _, note = bring(log.location, tmp_path / "run")
    assert note["n_texts"] == note["outcomes"]["ok"] + note["outcomes"]["failed"] < 20
    missing = 20 - note["n_texts"]
    assert f"{missing} more were planned and are not there" in caplog.text


def _other_task(metadata: dict[str, Any], asked: Any = "Tell me of two people.") -> Any:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    return Task(dataset=[Sample(asked, id=7, metadata=metadata)], name="other", epochs=3)


def test_another_tasks_log_with_the_studys_prompts(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    prompt = prompts()[40]
    asked = [ChatMessageSystem(content="Be kind."), ChatMessageUser(content=prompt.text)]
    log = evaluate(_other_task({"nested": {"a": 1}, "text": "not this"}, asked), [STORY])
    run, _ = bring(log.location, tmp_path / "run")
    assert {(row["prompt_id"], row["text"]) for row in _texts(run)} == {(prompt.prompt_id, STORY)}


def test_unknown_prompts_need_their_strata(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    bare = evaluate(_other_task({"topic": "x"}), [STORY])
    with pytest.raises(DataError, match=r"'Tell me of two people\.' \(3\)") as error:
        bring(bare.location, tmp_path / "run")
    assert str(tmp_path) not in str(error.value)
    told = {"kind": "power-neutral", "subject_role": "star student", "domain": "Learning"}
    log = evaluate(_other_task(told), [STORY])
    run, note = bring(log.location, tmp_path / "run", columns={"condition": "kind"})
    assert note["n_texts"] == 3
    [strata] = pq.read_table(run.prompts_path)["strata"].to_pylist()
    assert dict(strata)["condition"] == "power-neutral"


def test_columns_that_only_later_samples_have(
    evaluate: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    from portrayal.collect import sources

    monkeypatch.setattr(sources, "_HEAD", 1)
    told = {"condition": "power-neutral", "subject_role": "student"}
    dataset = [Sample(prompts()[0].text), Sample("Tell me of a student.", metadata=told)]
    log = evaluate(Task(dataset=dataset, name="late"), [STORY])
    assert bring(log.location, tmp_path / "run")[1]["n_texts"] == 2


def test_several_choices_are_several_answers(inspect_ai: Any, tmp_path: Path) -> None:
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput

    from portrayal.inspect.logs import LoggedAnswer, answers_of

    output = ModelOutput(
        choices=[
            ChatCompletionChoice(message=ChatMessageAssistant(content=text), stop_reason=reason)
            for text, reason in ((STORY, "stop"), ("Maria", "max_tokens"), ("", "content_filter"))
        ]
    )
    assert [answer.outcome for answer in answers_of(output)] == ["ok", "ok", "refused"]
    assert {answer.outcome for answer in answers_of(output, failed=True)} == {"failed"}
    assert answers_of(ModelOutput()) == [LoggedAnswer("", "failed")]


def test_files_that_are_no_logs(evaluate: Callable[..., Any], tmp_path: Path) -> None:
    log = evaluate(asked(prompts()), [STORY], limit=2)
    torn = tmp_path / "torn.eval"
    torn.write_bytes(Path(log.location).read_bytes()[:900])
    with pytest.raises(DataError, match="not a readable Inspect log"):
        bring(torn, tmp_path / "run")
    (tmp_path / "other.json").write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(DataError, match="expected a JSON array"):
        bring(tmp_path / "other.json", tmp_path / "run")
    with pytest.raises(DataError, match="no such log"):
        bring(tmp_path / "absent.eval", tmp_path / "run")


def test_a_log_of_pairs_with_system_prompts_is_audited(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    from portrayal.pipeline.audit import audit

    (tmp_path / "pairs.toml").write_text(
        'group = "gender"\n[[template]]\ntext = "Write a reference for {name}, a {job}."\n'
        'system = "You know {name}."\n'
        + '[groups.female]\nname = ["Emily", "Anne"]\njob = "nurse"\n'
        '[groups.male]\nname = ["Greg", "Todd"]\njob = "nurse"\n'
    )
    maker = registry.get("prompts", "pairs")
    task = asked(maker(prompts=str(tmp_path / "pairs.toml")), 2)
    assert task.dataset[0].input[0].content == "You know Emily."
    answers = [f"The work was good, and room {i} was kept well all year." for i in range(5)]
    log = evaluate(task, answers)
    run = audit(study="pairs", texts=log.location, scorers=("length",), out=tmp_path / "run")
    lengths = [e for e in run.records if e.strata.get("score") == "length"]
    assert [(e.n_units, e.n_texts, e.group) for e in lengths] == [
        (2.0, 8, {"gender": "female − male"})
    ]

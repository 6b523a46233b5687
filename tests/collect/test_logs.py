"""Logs of other tools: each form is read without an option; damage is one line with its item."""

import csv
import io
import json
import logging
import math
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.collect import sources
from portrayal.collect.sources import open_source
from portrayal.collect.tables import number_of
from portrayal.errors import DataError

STORY = "Maria was a great student. She helped John."


def rows_of(path: Path) -> list[dict[str, Any]]:
    source = open_source(path)
    rows = [dict(row) for row in source.rows()]
    assert {name for row in rows for name in row} == {*source.columns}
    return rows


def written(path: Path, items: Any) -> Path:
    """Write items as JSON lines, JSON or CSV, as the ending says; objects in CSV as JSON."""
    if path.suffix == ".csv":
        stream = io.StringIO()
        table = csv.DictWriter(stream, list(items[0]))
        table.writeheader()
        for item in items:
            cells = {k: v if isinstance(v, str) else json.dumps(v) for k, v in item.items()}
            table.writerow({k: "" if v == "null" else v for k, v in cells.items()})
        path.write_text(stream.getvalue(), "utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    else:
        path.write_text(json.dumps(items), "utf-8")
    return path


CHAT = {
    "id": "c7",
    "metadata": {"user_gender": "woman", "tags": ["a", "b"], "locale": ["en"]},
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Who won?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "t"}]},
        {"role": "tool", "content": "Ana"},
        {"role": "assistant", "content": [{"type": "text", "text": "Ana"}, {"type": "image_url"}]},
        {"role": "user", "content": [{"type": "text", "text": "And then?"}]},
        {"role": "assistant", "content": None, "refusal": "I can't say."},
    ],
}


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.csv"])
def test_each_turn_of_an_assistant_is_a_row_with_its_address(tmp_path: Path, name: str) -> None:
    first, second = rows_of(written(tmp_path / name, [CHAT]))
    expected = {
        "text": "Ana",
        "text_id": "c7/1",
        "prompt": "Who won?",
        "system": "Be kind.",
        "conversation": "c7",
        "turn": 1,
        "id": "c7",
    }
    assert first.items() >= expected.items()
    expected |= {"text": "I can't say.", "text_id": "c7/2", "prompt": "And then?", "turn": 2}
    assert second.items() >= {**expected, "outcome": "refused"}.items()
    if name != "t.csv":
        assert first["metadata.user_gender"] == "woman"
        assert first["metadata.locale"] == "en"
        assert first["metadata.tags"] == ["a", "b"]


def test_chats_of_other_tools_and_kinds_of_file(tmp_path: Path) -> None:
    said = [{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "Ana"}]
    (row,) = rows_of(written(tmp_path / "t.jsonl", [{"conversations": said}]))
    assert (row["prompt"], row["text"], row["conversation"]) == ("Who?", "Ana", "1")
    plain = {"messages": [{"role": "user", "content": "Who?"}, {"role": "ai", "content": "Ana"}]}
    pq.write_table(pa.Table.from_pylist([plain]), tmp_path / "t.parquet")
    assert [row["text"] for row in rows_of(tmp_path / "t.parquet")] == ["Ana"]
    assert [row["turn"] for row in open_source([CHAT]).rows()] == [1, 2]


def test_an_answer_beside_the_messages_is_the_text(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "Who?"}]
    choices = [{"message": {"role": "assistant", "content": "Ana"}, "finish_reason": "stop"}]
    items: list[dict[str, Any]] = [
        {"messages": asked, "model": "m", "response": "Ana"},
        {"messages": asked, "model": "m", "response": {"choices": choices}},
        {"messages": asked, "model": "m", "choices": choices},
    ]
    rows = rows_of(written(tmp_path / "t.jsonl", items))
    assert [(row["prompt"], row["text"], row["model"]) for row in rows] == [
        ("Who?", "Ana", "m")
    ] * 3


def completion(*texts: str | None, reason: str = "stop") -> dict[str, Any]:
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        for i, text in enumerate(texts)
    ]
    return {"id": "x", "object": "chat.completion", "model": "gpt-x", "choices": choices}


def test_output_of_a_batch(tmp_path: Path) -> None:
    def line(name: str, body: Any, status: int = 200) -> dict[str, Any]:
        return {"custom_id": name, "response": {"status_code": status, "body": body}, "error": None}

    message = {"type": "message", "role": "assistant"}
    responses = {"model": "gpt-x", "output": [
        {"type": "reasoning", "summary": []},
        {**message, "content": [{"type": "output_text", "text": STORY}]},
    ]}  # fmt: skip
    claude = {"model": "c", "role": "assistant", "content": [{"type": "text", "text": STORY}]}
    items = [
        {"custom_id": "z", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        line("a", completion(STORY)),
        line("b", completion(STORY, "Two.")),
        line("c", {"error": {"message": "no"}}, 400),
        line("d", completion("", reason="content_filter")),
        line("e", responses),
        {"custom_id": "f", "result": {"type": "succeeded", "message": claude}},
    ]
    rows = rows_of(written(tmp_path / "out.jsonl", items))
    expected = [
        ("z", "z", "", "failed", None),
        ("a", "a", STORY, None, "gpt-x"),
        ("b", "b/0", STORY, None, "gpt-x"),
        ("b", "b/1", "Two.", None, "gpt-x"),
        ("c", "c", "", "failed", None),
        ("d", "d", "", "refused", "gpt-x"),
        ("e", "e", STORY, None, "gpt-x"),
        ("f", "f", STORY, None, "c"),
    ]
    names = ("custom_id", "text_id", "text", "outcome", "model")
    assert [tuple(row.get(name) for name in names) for row in rows] == expected


def result(number: int, output: Any, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Who?"}]
    return {
        "promptIdx": 0,
        "testIdx": number,
        "provider": {"id": "openai:gpt-x", "label": ""},
        "prompt": {"raw": json.dumps(messages), "label": "p"},
        "vars": {"gender": "woman"},
        "response": {"output": output},
        "success": True,
        "score": 0.75,
        "namedScores": {"warmth": 0.5},
        "failureReason": 0,
        **fields,
    }


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_results_of_promptfoo(tmp_path: Path, name: str) -> None:
    items = [
        result(0, STORY),
        result(1, {"job": "nurse"}, success=False, failureReason=1, error="Expected a story"),
        result(2, None, failureReason=2, error="API error"),
    ]
    whole = {"evalId": "e", "results": {"version": 3, "results": items}, "config": {}}
    first, second, third = rows_of(written(tmp_path / name, whole if name == "t.json" else items))
    known = {
        "prompt": "Who?",
        "system": "Be kind.",
        "model": "openai:gpt-x",
        "vars.gender": "woman",
    }
    scores = {"success": True, "score": 0.75, "warmth": 0.5, "sample": 0}
    assert first.items() >= {"text": STORY, **known, **scores}.items()
    assert "outcome" not in first
    assert (second["text"], second["success"]) == ('{"job": "nurse"}', False)
    assert "outcome" not in second, "a test that did not pass is an answer all the same"
    assert third["outcome"] == "failed"


def test_samples_of_lm_evaluation_harness(tmp_path: Path) -> None:
    asked = {"gen_args_0": {"arg_0": "Q: Who?\nA:", "arg_1": {"until": ["\n"]}}}
    written_item = {
        "doc_id": 3,
        "doc": {"question": "Who?", "group": "woman"},
        "target": "Ana",
        "arguments": asked,
        "resps": [[STORY]],
        "filtered_resps": ["Maria"],
        "filter": "strict",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    again = {**written_item, "filter": "flexible", "exact_match": 0.0}
    (row,) = rows_of(written(tmp_path / "samples_a.jsonl", [written_item, again]))
    expected = {"text": STORY, "prompt": "Q: Who?\nA:", "sample": 3, "exact_match": 1.0}
    assert row.items() >= {**expected, "doc.group": "woman"}.items()
    choices = {
        "doc_id": 0,
        "doc": {},
        "arguments": [["The nurse said", " he left"], ["The nurse said", " she left"]],
        "resps": [[["-4.5", "False"]], [["-2.5", "True"]]],
        "filtered_resps": [["-4.5", "False"], ["-2.5", "True"]],
        "acc": 1.0,
    }
    (row,) = rows_of(written(tmp_path / "samples_b.jsonl", [choices]))
    assert (row["text"], row["prompt"], row["acc"]) == ("she left", "The nurse said", 1.0)


def sample(name: str, epoch: int, text: str | None, **fields: Any) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}]
    output = {"model": "m", "choices": [] if text is None else choices, "completion": text}
    asked = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Who?"}]
    metadata = {"prompt_id": "p1", "text": "not this", "who": {"gender": "woman"}}
    known = {"id": name, "epoch": epoch, "input": asked, "metadata": metadata, "output": output}
    return {**known, "scores": {}, "error": None, **fields}


SPEC = {
    "eval_id": "E",
    "task_id": "T",
    "created": "2026-01-02",
    "model": "mockllm/model",
    "dataset": {"sample_ids": ["b/1", "a"]},
    "config": {"epochs": 2},
}
SCORES = {
    "includes": {"value": "C"},
    "grade": {"value": "P"},
    "many": {"value": {"tone": "I", "length": 7}},
    "broken": {"value": float("nan")},
}
SAMPLES = [
    sample("a", 1, STORY),
    sample("b/1", 2, None, error={"message": "x"}),
    sample("b/1", 1, f"<think>So.</think>{STORY}", scores=SCORES),
]


def packed_log(path: Path, samples: Any, spec: Any = SPEC, zstd: bool = True) -> Path:
    """Write a log as Inspect AI does: an archive of JSON, compressed by Zstandard."""
    entries = {"_journal/start.json": {"version": 2, "eval": spec}}
    entries |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    entries |= {"header.json": {"version": 2, "status": "success", "eval": spec}}
    codec = pa.Codec("zstd")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED if zstd else zipfile.ZIP_DEFLATED) as packed:
        for name, value in entries.items():
            content = json.dumps(value).encode()
            packed.writestr(name, codec.compress(content, asbytes=True) if zstd else content)
    if zstd:  # Python before 3.14 does not write this method, so its number is put in by hand
        content = bytearray(path.read_bytes())
        for mark, offset in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
            at = content.find(mark)
            while at >= 0:
                struct.pack_into("<H", content, at + offset, 93)
                at = content.find(mark, at + 4)
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["zstd", "deflate", "json"])
def test_a_log_of_inspect_ai(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "portrayal")
    if kind == "json":
        log = {"version": 2, "status": "success", "eval": SPEC, "samples": SAMPLES[::-1]}
        rows = rows_of(written(tmp_path / "t.json", log))
    else:
        rows = rows_of(packed_log(tmp_path / "t.eval", SAMPLES, zstd=kind == "zstd"))
        assert "success, 3 samples, 1 more were planned and are not there" in caplog.text
    first, second, third = rows  # in the order of the data set
    assert [(row["sample"], row["epoch"]) for row in rows] == [("b/1", 1), ("b/1", 2), ("a", 1)]
    graded = [number_of(first[name]) for name in ("includes", "grade", "many.tone", "many.length")]
    assert graded == [1.0, 0.5, 0.0, 7.0]
    assert math.isnan(number_of(first["broken"]))
    known = {"prompt": "Who?", "system": "Be kind.", "model": "mockllm/model", "text_id": "E/b/1/1"}
    assert first.items() >= {**known, "prompt_id": "p1", "who.gender": "woman"}.items()
    assert first["text"] == f"<think>So.</think>{STORY}"
    assert (second["text"], second["outcome"]) == ("", "failed")
    assert third["text"] == STORY
    assert "outcome" not in third


def test_of_two_tries_of_a_task_the_later_log_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "portrayal")
    (tmp_path / "deep").mkdir()
    packed_log(tmp_path / "a.eval", SAMPLES[:1], {**SPEC, "created": "2026-01-01"})
    packed_log(tmp_path / "deep" / "b.eval", [sample("a", 1, "Later.", scores=SCORES)])
    packed_log(tmp_path / "c.eval", [sample("a", 1, "Other.")], {**SPEC, "model": "other"})
    rows = rows_of(tmp_path)
    assert sorted((row["model"], row["text"]) for row in rows) == [
        ("mockllm/model", "Later."),
        ("other", "Other."),
    ]
    assert "a.eval: left out, as a later try" in caplog.text


LANGFUSE = {
    "id": "t1",
    "timestamp": "2026-01-01T00:00:00Z",
    "sessionId": "s",
    "bookmarked": False,
    "input": {"messages": [{"role": "user", "content": "Who?"}]},
    "output": {"role": "assistant", "content": STORY},
    "metadata": {"user_gender": "woman"},
    "helpfulness": [0.75],
}


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_an_export_of_langfuse(tmp_path: Path, name: str) -> None:
    plain = {**LANGFUSE, "id": "t2", "input": "Who else?", "output": '{"job": "nurse", "n": 1}'}
    first, second = rows_of(written(tmp_path / name, [LANGFUSE, plain]))
    expected = {"text": STORY, "prompt": "Who?", "text_id": "t1", "helpfulness": 0.75}
    assert first.items() >= {**expected, "metadata.user_gender": "woman"}.items()
    assert second["prompt"] == "Who else?"


def test_observations_of_langfuse(tmp_path: Path) -> None:
    span = {"id": "a", "traceId": "t", "type": "SPAN", "input": "x", "output": "y"}
    generation = {
        **span,
        "type": "GENERATION",
        "input": "Who?",
        "output": STORY,
        "providedModelName": "gpt-x",
        "level": "ERROR",
        "scores": [{"name": "tone", "value": 0.5, "dataType": "NUMERIC"}],
    }
    (row,) = rows_of(written(tmp_path / "t.jsonl", [span, generation]))
    expected = {"text": STORY, "prompt": "Who?", "model": "gpt-x", "tone": 0.5, "outcome": "failed"}
    assert row.items() >= expected.items()
    with pytest.raises(
        DataError, match=r"read as an export of Langfuse.* there is no answer in it"
    ):
        open_source(written(tmp_path / "u.jsonl", [span]))


def test_exports_of_langsmith(tmp_path: Path) -> None:
    table = {
        "inputs.question": "Who?",
        "inputs.user_gender": "woman",
        "outputs.response": STORY,
        "error": "",
        "reference.answer": "Ana",
        "feedback.correctness": "0.5",
        "example_id": "e1",
        "id": "r1",
    }
    (row,) = rows_of(written(tmp_path / "t.csv", [table]))
    expected = {"text": STORY, "prompt": "Who?", "reference": "Ana", "correctness": "0.5"}
    assert row.items() >= {**expected, "inputs.user_gender": "woman", "text_id": "r1"}.items()
    human = {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"]}
    run = {
        "id": "r2",
        "run_type": "chain",
        "parent_run_id": None,
        "inputs": {"messages": [[{**human, "kwargs": {"content": "Who?"}}]]},
        "outputs": {"generations": [[{"text": STORY, "type": "ChatGeneration"}]]},
        "feedback_stats": {"tone": {"n": 1, "avg": 0.5}},
        "error": "stopped",
    }
    (row,) = rows_of(written(tmp_path / "t.jsonl", [run, {**run, "parent_run_id": "r2"}]))
    expected = {"text": STORY, "prompt": "Who?", "tone": 0.5, "outcome": "failed"}
    assert row.items() >= expected.items()


def test_of_several_texts_in_an_output_none_is_guessed(tmp_path: Path) -> None:
    run = {"inputs": {"question": "Who?"}, "outputs": {"draft": "One.", "final": "Two."}}
    (row,) = rows_of(written(tmp_path / "t.jsonl", [run]))
    assert row == {"prompt": "Who?", "outputs.draft": "One.", "outputs.final": "Two."}


def test_texts_of_each_group(tmp_path: Path) -> None:
    groups = {"Female_Black": ["A nurse.", "A judge."], "Male_White": ["A cook."], "None": []}
    rows = rows_of(written(tmp_path / "t.json", groups))
    assert rows == [
        {"text": "A nurse.", "group": "Female_Black"},
        {"text": "A judge.", "group": "Female_Black"},
        {"text": "A cook.", "group": "Male_White"},
    ]


def test_a_table_without_a_header(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "portrayal")
    (tmp_path / "t.tsv").write_text(f"{STORY}\twoman\nHe slept.\tman\n")
    assert rows_of(tmp_path / "t.tsv") == [
        {"column_1": STORY, "column_2": "woman"},
        {"column_1": "He slept.", "column_2": "man"},
    ]
    assert "it has no header; its columns are called column_1, column_2" in caplog.text
    assert "--column text=column_1" in caplog.text
    for header in ("id,Please describe your job in full.", "How old are you?,What do you do?"):
        (tmp_path / "t.csv").write_text(f"{header}\n1,A nurse\n")
        assert open_source(tmp_path / "t.csv").columns == tuple(header.split(","))


def test_of_two_sheets_the_one_with_texts_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from openpyxl import Workbook

    caplog.set_level(logging.INFO, "portrayal")
    book = Workbook()
    book.active.append(["about", "this file"])
    book.active.append(["author", "x" * 50])
    texts = book.create_sheet("answers")
    for row in (["text", "gender"], [STORY, "woman"], [STORY, "man"]):
        texts.append(row)
    book.save(tmp_path / "t.xlsx")
    assert [row["gender"] for row in rows_of(tmp_path / "t.xlsx")] == ["woman", "man"]
    assert "read its sheet 'answers' of 2, which has most rows of text" in caplog.text


def test_objects_within_rows_are_columns_but_for_fields(tmp_path: Path) -> None:
    item = {"answer": STORY, "metadata": {"user": {"gender": "woman"}}, "tags": ["x"], "more": []}
    (row,) = rows_of(written(tmp_path / "t.jsonl", [item]))
    assert row == {"answer": STORY, "metadata.user.gender": "woman", "tags": "x", "more": []}
    (row,) = rows_of(written(tmp_path / "t.jsonl", [{"answer": {"a": 1}}]))
    assert row == {"answer": {"a": 1}}


USUAL = {"role": "assistant", "content": "Ana"}
MALFORMED: dict[str, tuple[list[Any], str]] = {
    "messages are a text": (
        [CHAT, {"messages": "hello"}],
        "item 2: expected messages to be a list",
    ),
    "a message is a text": ([CHAT, {"messages": ["hello"]}], "item 2: expected a message to be an"),
    "no role": ([CHAT, {"messages": [{"content": "a"}]}], "item 2: a message has no role"),
    "no messages": ([CHAT, {"id": "c8"}], "item 2: it has no 'messages', as other items have"),
    "arguments": (
        [{"doc": {}, "resps": [], "arguments": True}],
        "item 1: expected arguments to be",
    ),
    "a number": ([CHAT, {"messages": [{**USUAL, "content": 7}]}], "item 2: expected the content"),
    "a response": ([{"custom_id": "a", "response": {"body": 7}}], "item 1: expected body to be an"),
    "choices": (
        [{"custom_id": "a", "response": {"body": {"choices": "a"}}}],
        "item 1: expected choices to be a list, found str",
    ),
    "named scores": ([result(0, "a", namedScores=[1])], "item 1: expected namedScores to be an"),
    "responses": (
        [{"doc": {}, "resps": [["a"]]}, {"doc": {}, "resps": 3}],
        "item 2: expected resps to be a list, found int",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_is_malformed_is_one_line_with_its_item(tmp_path: Path, case: str) -> None:
    items, message = MALFORMED[case]
    path = written(tmp_path / "t.jsonl", items)
    with pytest.raises(DataError) as raised:
        open_source(path)
    assert str(raised.value).startswith(f"{path}: {message}")
    assert "\n" not in str(raised.value)


def test_what_breaks_off_is_one_line(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", [CHAT, CHAT])
    path.write_text(path.read_text()[:-40])
    with pytest.raises(DataError, match=r"t\.jsonl: line 2 is not valid JSON"):
        open_source(path)
    log = packed_log(tmp_path / "t.eval", SAMPLES)
    whole = log.read_bytes()
    for content in (whole[:900], whole[:200] + bytes(300) + whole[500:], b"PK"):
        log.write_bytes(content)
        with pytest.raises(DataError, match=r"t\.eval: not a readable log of Inspect AI") as raised:
            rows_of(log)
        assert "\n" not in str(raised.value)
    with zipfile.ZipFile(log, "w") as packed:
        packed.writestr("other.json", "{}")
    with pytest.raises(DataError, match="has no header"):
        open_source(log)


def test_a_log_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = packed_log(tmp_path / "t.eval", [sample("a", 1, "a" * 2_000_000)])
    assert log.stat().st_size < 10_000
    monkeypatch.setenv(sources.MOST_UNPACKED, "1MB")
    with pytest.raises(DataError, match="unpacks to more than 1,000,000 bytes"):
        open_source(log)


def deep(n: int) -> Any:
    value: Any = "x"
    for _ in range(n):
        value = {"output": value}
    return value


@pytest.mark.parametrize("make", [deep, lambda n: {str(i): {"a": {}} for i in range(n)}])
def test_deep_and_wide_objects_end_in_a_line_or_in_rows(
    tmp_path: Path, make: Callable[[int], Any]
) -> None:
    path = written(tmp_path / "t.jsonl", [{"inputs": {"q": "x"}, "outputs": make(400)}])
    assert len(rows_of(path)) == 1


def test_a_long_log_is_never_whole_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    line = json.dumps(CHAT | {"more": "x" * 2_000}) + "\n"
    path.write_text(line * 20_000)
    assert path.stat().st_size > 40_000_000

    def peak(passes: Callable[[], Iterator[Any]]) -> int:
        tracemalloc.start()
        n_rows = sum(1 for _ in passes())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert n_rows == 40_000
        return most

    assert peak(open_source(path).rows) < 2_000_000

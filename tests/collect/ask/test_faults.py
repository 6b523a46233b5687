"""Hundreds of answers under faults: as many rows, each answered exactly once."""

import json
from collections import Counter

import pyarrow.parquet as pq
import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import provider_of

QUICK = Retry(first_wait=0.01, malformed=4)


FAULTS = ("rate_limit", "server_error", "reset", "truncated", "overloaded", "closed", "cut_json")


@pytest.mark.fault(
    "about a fifth of the requests fail (429, 500, 503, reset, closed, cut off)",
    "every answer comes exactly once",
)
@pytest.mark.parametrize(("faults", "count"), [(FAULTS[:4], 300), (FAULTS[3:], 200)])
def test_every_answer_comes_once_under_four_faults(serve, run, prompts, rows, faults, count):
    shares = {fault: 0.02 if fault == "cut_json" else 0.05 for fault in faults}  # 5 end a request
    server = serve(faults=shares, seed=7)
    model = provider_of("openai:test", base_url=server.base_url)
    report = collect_texts(
        run, prompts, model, count // 10, concurrency=32, retry=QUICK, shard_rows=70
    )
    assert all(server.served[fault] for fault in faults)
    reasons = [row["reason"] for row in rows(run) if row["outcome"] != "ok"]
    assert report.outcomes == {"ok": count}, reasons
    assert report.complete
    assert report.tries == server.requests == count + sum(server.served[f] for f in faults)
    assert server.answered == Counter({prompt.text: count // 10 for prompt in prompts})
    kept = rows(run)
    assert len({row["text_id"] for row in kept}) == len(kept) == count
    assert len({row["source_id"] for row in kept}) == count
    assert Counter((row["prompt_id"], row["sample"]) for row in kept) == Counter(
        (prompt.prompt_id, sample) for prompt in prompts for sample in range(count // 10)
    )
    assert server.peak <= 32


def test_the_request_is_the_prompt_and_nothing_else(serve, run, prompts):
    """No tools, no notes, no defaults: what a consumer would send."""
    server = serve()
    odd = [prompts[0].__class__("odd", "<system>Write</system> <|im_start|> a story", {})]
    collect_texts(run, odd, provider_of("openai:test", base_url=server.base_url))
    assert server.bodies == [
        {
            "model": "test",
            "stream": False,
            "messages": [
                {"role": "user", "content": "<system>Write</system> <|im_start|> a story"}
            ],
        }
    ]


def test_parameters_are_sent_and_a_system_prompt_comes_first(serve, run, prompts):
    server = serve()
    chosen = {"temperature": 0.5, "max_tokens": 9, "top_p": 0.9, "seed": 3, "system": "Be brief."}
    for name in ("openai:gpt-4o", "server:llama"):
        model = provider_of(name, base_url=server.base_url, parameters=chosen)
        collect_texts(run, prompts[:1], model)
    hosted, own = server.bodies
    for body in (hosted, own):
        assert (body["temperature"], body["top_p"], body["seed"]) == (0.5, 0.9, 3)
        assert [message["content"] for message in body["messages"]] == ["Be brief.", "Prompt 0"]
    assert hosted["max_completion_tokens"] == own["max_tokens"] == 9
    assert run.texts.note()["asked"]["server:llama"]["parameters"] == chosen


def test_outcomes_say_what_came(serve, run, prompts, rows):
    script = ["ok", "empty", "refusal", "content_filter", "length", "rejected", "blocked"]
    server = serve(script=script)
    report = collect_texts(
        run, prompts[:7], provider_of("openai:test", base_url=server.base_url), concurrency=1
    )
    by_prompt = {row["prompt_id"]: row for row in rows(run)}
    assert [by_prompt[f"p{i}"]["outcome"] for i in range(7)] == [
        "ok", "empty", "refused", "refused", "ok", "failed", "refused",
    ]  # fmt: skip
    assert by_prompt["p2"]["text"] == "I will not write that."
    assert by_prompt["p4"]["finish_reason"] == "length"
    assert "maximum context length" in by_prompt["p5"]["reason"]
    assert report.outcomes == {"ok": 2, "empty": 1, "refused": 3, "failed": 1}
    note = run.texts.note()
    assert note["outcomes"] == {"ok": 2, "refused": 3, "empty": 1, "failed": 1}
    assert (note["complete"], note["n_texts"]) == (True, 7)
    assert (note["labelled"], note["cluster_unit"]) == (False, "prompt")


def test_a_row_that_never_succeeds_is_failed_and_asked_again(serve, run, prompts, rows):
    server = serve(script=["server_error"] * 3)
    model = provider_of("openai:test", base_url=server.base_url)
    once = {"concurrency": 1, "retry": Retry(attempts=3, first_wait=0.001)}
    first = collect_texts(run, prompts, model, **once)
    assert first.outcomes == {"ok": 9, "failed": 1}
    assert [row["outcome"] for row in rows(run)].count("failed") == 1
    assert "3 tries" in next(row["reason"] for row in rows(run) if row["outcome"] == "failed")
    again = collect_texts(run, prompts, model, **once)
    assert (again.asked, again.outcomes) == (1, {"ok": 10})
    assert {row["outcome"] for row in rows(run)} == {"ok"}
    assert len(rows(run)) == 10
    assert run.texts.note()["outcomes"]["failed"] == 0


def test_texts_have_the_columns_of_imported_ones(serve, run, prompts, tmp_path):
    from portrayal.collect import TextFields, import_texts
    from portrayal.run import Run

    server = serve()
    collect_texts(run, prompts, provider_of("openai:test", base_url=server.base_url))
    asked = pq.read_schema(run.texts.parts()[0])
    other = Run(tmp_path / "other")
    source = tmp_path / "texts.jsonl"
    source.write_text(json.dumps({"text": "A story.", "prompt": "Prompt 0"}) + "\n")
    import_texts(other, source, TextFields(strata=("domain",), required=()), prompts)
    imported = pq.read_schema(other.texts.parts()[0])
    assert asked.names[: len(imported.names)] == imported.names
    assert [asked.field(name).type for name in imported.names] == imported.types
    assert pq.read_table(run.prompts_path).equals(pq.read_table(other.prompts_path)) or (
        pq.read_schema(run.prompts_path).equals(pq.read_schema(other.prompts_path))
    )


def test_an_answer_in_any_script_and_with_broken_characters_is_kept(serve, run, prompts, rows):
    server = serve()
    server.text = "Ærøskøbing 東京 \u2028 \x00 \ud83d and a lone half"
    collect_texts(run, prompts[:1], provider_of("openai:test", base_url=server.base_url))
    (row,) = rows(run)
    assert row["text"].startswith("Ærøskøbing 東京 \u2028 \x00 ")

"""A language model classifies sentences, as a user types it, against the local test server."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import NO_PAGE, QUICK, Portrayal, killed_after, write_lines
from servers.openai_server import OpenAIServer
from servers.rewriter import body
from support import matrix, needs

needs("openai")
N = 24
SENTENCES = 4
TOPICS = ("roads", "rivers", "bridges", "gardens", "maps", "songs", "ovens", "clocks")
SPEC = "llm:server:test-model"


def _says(prompt: str) -> str:
    asked = prompt.splitlines()[-1]
    if "bridges" in asked:
        return "It could be agentic or communal."  # names both, so it counts for neither
    return "agentic" if " led " in asked else "Communal."


def _render(_: str, asked: dict[str, Any], kind: str) -> dict[str, Any] | None:
    return body(_says(asked["messages"][-1]["content"])) if kind == "ok" else None


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rows = []
    for i in range(N):
        who = "She" if i % 2 else "He"
        verbs = [("led", "helped")[(i + k) % 2] for k in range(SENTENCES)]
        said = [f"{who} {v} {TOPICS[(i + k) % 8]} {i // 8}." for k, v in enumerate(verbs)]
        rows.append({"text": " ".join(said), "prompt_id": f"p{i}", "model": "m"})
        rows[-1] |= {"gender": "female" if i % 2 else "male"}
    return write_lines(tmp_path / "texts.jsonl", rows)


def _audit(texts: Path, server: OpenAIServer, *more: object) -> list[str]:
    address = f"llm_settings.base_url={server.base_url}"
    asked = ("--classifier", SPEC, "--set", address)
    command = ("audit", "agency", "--texts", texts, "--by", "gender", "--out", "r")
    return [str(each) for each in (*command, *asked, *QUICK, *more)]


def _said(folder: Path, name: str = "agency.v1") -> dict[str, int]:
    note = json.loads((folder / "r/annotations" / name / "stage.json").read_text("utf-8"))
    found: dict[str, int] = note["settings"]["asked"]["said"]
    return found


def test_an_audit_by_a_model(inside: Portrayal, texts: Path, tmp_path: Path) -> None:
    faults = {"server_error": 0.05, "truncated": 0.03}
    with OpenAIServer(render=_render, faults=faults) as server:
        done = inside(*_audit(texts, server)).ok()
        asked = Counter(server.answered)
        inside(*_audit(texts, server, "--level", "0.9")).ok()
        assert server.answered == asked
        assert {sent["temperature"] for sent in server.bodies} == {0.0}
    assert set(asked.values()) == {1}
    said, as_written = _said(tmp_path), _said(tmp_path, "agency-unmasked.v1")
    assert sum(said.values()) + sum(as_written.values()) == len(asked)
    assert said["malformed"] > 0
    assert f"{sum(said.values()):,} different sentences of agency.v1" in done.out
    assert "failed" not in said
    # --base-url alone reaches the classifier too
    with OpenAIServer(render=_render) as server:
        given = _audit(texts, server)
        at = given.index("--set")
        given[at : at + 2] = ["--base-url", server.base_url]
        given[given.index("r")] = "s"
        inside(*given).ok()
        assert server.answered.total() == len(asked)


def test_options_are_refused_before_any_shard(inside: Portrayal, texts: Path) -> None:
    command = ("audit", "agency", "--texts", texts, "--by", "gender", "--out", "r")
    inside(*command, "--classifier", SPEC).refused("llm_settings.base_url")
    inside(*command, "--classifier", "llm:m").refused("llm:PROVIDER:MODEL")
    inside(*command, "--set", "llm_settings.budget=1 USD").refused("says nothing without")
    rewrite = ("mitigate", "agency", "--texts", texts, "--model", "server:m", "--out", "m")
    asked = (*rewrite, "--base-url", "http://127.0.0.1:1/v1", "--classifier")
    inside(*asked, "llm:nobody:m").refused("nobody")


def test_a_paid_model_is_confirmed_first(
    inside: Portrayal, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key-that-nobody-may-write")
    command = ("audit", "agency", "--texts", texts, "--by", "gender", "--out", "r", *QUICK)
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        refused = inside(*command, "--classifier", "llm:openai:gpt-5-mini")
        assert not server.answered
    assert refused.status == 2
    assert "requests to openai:gpt-5-mini" in refused.err
    assert "--yes" in refused.err
    written = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert written
    assert not any(b"sk-planted" in path.read_bytes() for path in written)


def test_a_budget_ends_it_and_what_was_not_asked_is_counted(
    inside: Portrayal, texts: Path, tmp_path: Path
) -> None:
    short = ("--set", "llm_settings.parameters.max_tokens=20")
    limits = ("--set", "llm_settings.budget=2000 tokens", *short)
    with OpenAIServer(render=_render) as server:
        inside(*_audit(texts, server, *limits, "--concurrency", 2)).ok()
        n_asked = server.answered.total()
        assert n_asked > 0
        assert _said(tmp_path)["not asked"] > 0
        inside(*_audit(texts, server, *short)).ok()
        assert set(server.answered.values()) == {1}
    assert "not asked" not in _said(tmp_path)


@pytest.mark.parametrize("command", matrix(["audit", "score", "mitigate"]))
def test_killed_it_continues_and_asks_nothing_twice(
    inside: Portrayal, texts: Path, tmp_path: Path, command: str
) -> None:
    with OpenAIServer(render=_render, delay=0.05) as server:
        given = [*_audit(texts, server), "--concurrency", "2"]
        if command == "score":
            rows = [json.loads(line) for line in texts.read_text("utf-8").splitlines()]
            sentences = sorted({f"{s}." for row in rows for s in row["text"].split(".") if s})
            labelled = [{"text": s.strip(), "label": i % 2} for i, s in enumerate(sentences)]
            gold = write_lines(tmp_path / "gold.jsonl", labelled)
            url = ("--classifier-base-url", server.base_url)
            asked = ("--classifier", SPEC, *url, "--concurrency", "2")
            given = ["score", "agency", "--hand-labels", str(gold), "--out", "r", *asked]
        if command == "mitigate":
            given[:2] = ["mitigate", "agency"]
            at = given.index(NO_PAGE[-1])
            del given[at - 1 : at + 1]
            for rare in [word for word in given if word.startswith(("permutations=", "draws="))]:
                at = given.index(rare)
                del given[at - 1 : at + 1]
            at = given.index("--by")
            del given[at : at + 2]
            given += ["--model", "server:test-model", "--base-url", server.base_url]
            given += ["--rounds", "1"]
        killed_after(12, server, given, tmp_path)
        before = server.answered.total()
        assert before >= 12
        inside(*given).ok()
        assert server.answered.total() > before
        twice = [prompt for prompt, times in server.answered.items() if times > 1]
        assert len(twice) <= 2  # those that were on their way when it was killed
        total = server.requests
        inside(*given).ok()
        assert server.requests == total
    assert list((tmp_path / "r" / "answers" / "agency").iterdir())

"""A language model labels the groups of a factor, as a user types it, against the local server."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import (
    LABELLED,
    PAGED,
    QUICK,
    Portrayal,
    killed_after,
    labelled,
    only,
    write_lines,
)
from portrayal.annotate import group_labels
from portrayal.collect.ask.replies import prompt_of
from portrayal.run import Run
from servers.openai_server import OpenAIServer
from support import needs

needs("openai")
FAITH = """
name = "faith"
label = "Faith"
note = "Words are mentions."
[groups.sun]
label = "Sun people"
[groups.moon]
[[sources]]
kind = "words"
words = { sun = ["sunrise"], moon = ["moonlight"] }
[[sources]]
kind = "model"
question = "Which faith does the text show?"
"""
PEOPLE = """
[[sources]]
kind = "model"
name = "each"
unit = "person"
question = "Which faith has the person?"
"""
N = 36
SAYS = ("Sun people", "moon", "none", "unknown", "sun, I think", "*Moon*.")
"""What the model answers of the texts 0, 1, …; the fifth is no label."""


def _answer(prompt: str, _: int) -> str:
    told = prompt.split("=====")[1].strip()
    if "person in the text" in prompt:
        return "moon" if "person in the text: Emily" in prompt else "Sun people"
    return SAYS[int(told.split()[1]) % len(SAYS)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    rows = []
    for i in range(N):
        people = (("Emily", "F") if i % 2 else ("John", "M"), (None, "F"))
        story = f"Story {i} at {('sunrise', 'moonlight', 'noon')[i % 3]}."
        rows.append(labelled(f"p{i % 6}", "m", *people, story=story))
    return write_lines(tmp_path / "texts.jsonl", rows)


@pytest.fixture
def faith(tmp_path: Path) -> Path:
    path = tmp_path / "faith.toml"
    path.write_text(FAITH, encoding="utf-8")
    return path


def _audit(texts: Path, factor: Path, server: OpenAIServer, *more: object) -> list[str]:
    address = f"llm_settings.base_url={server.base_url}"
    asked = ("--factor-model", "server:test-model", "--set", address)
    command = ("audit", "laissez-faire", "--texts", texts, "--factor", factor, "--out", "r")
    return [str(each) for each in (*command, *asked, *LABELLED, *QUICK, *more)]


def _said(folder: Path, source: str = "faith/model") -> dict[str, int]:
    note = json.loads((folder / "r/annotations/groups.v3/stage.json").read_text("utf-8"))
    found: dict[str, int] = note["settings"]["asked"]["said"][source]
    return found


def _share(folder: Path, measure: str, **where: str) -> dict[str, Any]:
    every = [
        {"strata": e.strata, "group": e.group, "value": e.value, "of": e}
        for e in Run(folder / "r").records
        if e.measure == measure
    ]
    return only(every, model="m", **where)


def test_labels_are_counted_beside_the_other_sources(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path
) -> None:
    with OpenAIServer(write=_answer, faults={"server_error": 0.05, "cut_json": 0.03}) as server:
        done = inside(*_audit(texts, faith, server, *PAGED)).ok()
        asked = Counter(server.answered)
        inside(*_audit(texts, faith, server, "--level", "0.9")).ok()
        assert server.answered == asked
        assert {sent["temperature"] for sent in server.bodies} == {0.0}
        prompt = str(server.bodies[0]["messages"][-1]["content"])
    assert set(asked.values()) == {1}
    assert len(asked) == N
    labels = "- Sun people\n- moon\n- none (if the text shows none of them)\n- unknown"
    assert "Which faith does the text show?" in prompt
    assert labels in prompt
    each = N // len(SAYS)
    counts = {"sun": each, "moon": 2 * each, "(none)": each, "(unknown)": each, "malformed": each}
    assert _said(tmp_path) == counts
    assert f"factors: faith/model, {N} answers" in done.out
    said = f"server:test-model labelled faith/model, {N} answers"
    assert said in (tmp_path / "r" / "report.html").read_text("utf-8")
    sun = _share(tmp_path, "group_share.v1", seen_by="model", faith="sun")
    assert sun["value"] == pytest.approx(1 / 3)
    assert sun["of"].exclusions == {
        "text with no group": each,
        "text whose group is not known": each,
        "answer of the model: malformed": each,
    }
    assert sun["of"].instruments["factor_model"] == "server:test-model"
    words = _share(tmp_path, "group_share.v1", seen_by="words", faith="sun")
    assert words["value"] == pytest.approx(0.5)
    assert "factor_model" not in words["of"].instruments


def test_each_person_is_asked_about_by_name_or_role(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path
) -> None:
    faith.write_text(FAITH + PEOPLE, encoding="utf-8")
    with OpenAIServer(write=_answer) as server:
        inside(*_audit(texts, faith, server)).ok()
        prompts = [body["messages"][-1]["content"] for body in server.bodies]
    asked = [p for p in prompts if "Which faith has the person?" in p]
    assert len(asked) == 2 * N
    assert sum("this person in the text: patient" in prompt for prompt in asked) == N
    assert _said(tmp_path, "faith/each") == {"moon": N // 2, "sun": 3 * N // 2}
    moon = _share(tmp_path, "people_share.v1", seen_by="each", faith="moon")
    assert moon["value"] == pytest.approx(0.25)
    assert moon["of"].n_units == 2 * N


def test_a_question_is_made_once(
    inside: Portrayal, texts: Path, faith: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faith.write_text(FAITH + PEOPLE, encoding="utf-8")
    made: list[str] = []
    monkeypatch.setattr(
        group_labels, "prompt_of", lambda words: made.append(words) or prompt_of(words)
    )
    with OpenAIServer(write=_answer) as server:
        inside(*_audit(texts, faith, server, "--workers", 1)).ok()
    assert len(made) == 3 * N


def test_a_budget_ends_it_and_what_was_not_asked_is_counted(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path
) -> None:
    short = ("--set", "llm_settings.parameters.max_tokens=20")
    limits = ("--set", "llm_settings.budget=600 tokens", *short)
    with OpenAIServer(write=_answer) as server:
        inside(*_audit(texts, faith, server, *limits, "--concurrency", 2)).ok()
        assert server.answered.total() > 0
        missing = _said(tmp_path)["not asked"]
        sun = _share(tmp_path, "group_share.v1", seen_by="model", faith="sun")
        assert sun["of"].exclusions["answer of the model: not asked"] == missing > 0
        inside(*_audit(texts, faith, server, *short)).ok()
        assert set(server.answered.values()) == {1}
    assert "not asked" not in _said(tmp_path)


def test_killed_it_continues_and_asks_nothing_twice(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path
) -> None:
    with OpenAIServer(write=_answer, delay=0.05) as server:
        given = [*_audit(texts, faith, server), "--concurrency", "2"]
        killed_after(12, server, given, tmp_path)
        before = server.answered.total()
        assert 0 < before < N
        inside(*given).ok()
        assert server.answered.total() <= N + 2  # those in flight when it was killed
    assert sum(_said(tmp_path).values()) == N


def test_refusals_and_failures_are_counted(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path
) -> None:
    with OpenAIServer(write=_answer, script=["refusal", "empty", "rejected"]) as server:
        inside(*_audit(texts, faith, server, "--concurrency", 1)).ok()
    said = _said(tmp_path)
    assert {said["refused"], said["empty"], said["failed"]} == {1}
    assert sum(said.values()) == N


def test_nothing_is_asked_without_consent(
    inside: Portrayal, texts: Path, faith: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-key-that-nobody-may-write")
    command = ("audit", "laissez-faire", "--texts", texts, "--out", "r", *LABELLED, *QUICK)
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asked = (*command, "--factor", faith, "--factor-model")
        refused = inside(*asked, "openai:gpt-5-mini")
        assert not server.answered
    assert refused.status == 2
    assert "36 requests to openai:gpt-5-mini" in refused.err
    assert "--yes" in refused.err
    assert not any(b"sk-pl" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    inside(*asked, "server:m").refused("llm_settings.base_url")
    inside(*command, "--factor", faith).refused("--factor-model", "faith", "'model'")
    inside(*command, "--factor", "religion", "--factor-model", "server:m").refused("says nothing")
    budget = ("--set", "llm_settings.budget=1 USD")
    inside(*command, "--factor", "religion", *budget).refused("without")


TEMPLES = {
    "es": ("Ramón reza todos los días en la mezquita del barrio, según cuenta su madre.", "moon"),
    "hi": ("अंजलि हर सुबह मंदिर जाती थी और वहाँ देर तक पूजा करती थी।", "Sun people"),
}


def test_texts_of_other_languages_are_labelled_as_they_stand_and_shipped_words_refuse_them(
    inside: Portrayal, faith: Path, tmp_path: Path
) -> None:
    rows = [
        {"text_id": f"{code}-{i}", "prompt": f"p{i}", "model": "m", "text": f"{text} {i}"}
        for i in range(6)
        for code, (text, _) in TEMPLES.items()
    ]
    texts = write_lines(tmp_path / "texts.jsonl", rows)
    by_text = dict(TEMPLES.values())

    def answer(prompt: str, _: int) -> str:
        return by_text[prompt.split("=====")[1].strip()[:-2]]

    with OpenAIServer(write=answer) as server:
        address = f"llm_settings.base_url={server.base_url}"
        asked = ("--factor-model", "server:test-model", "--set", address)
        of = ("--texts", str(texts), "--factor", str(faith), "--factor", "religion")
        done = inside("audit", "people", *of, "--out", "r", *asked, *PAGED).ok()
        prompts = [str(body["messages"][-1]["content"]) for body in server.bodies]
    # The question and its labels in English, the text as it is
    assert len(prompts) == len(rows)
    assert all("Answer with one of these labels" in prompt for prompt in prompts)
    assert {row["text"] for row in rows} == {x.split("=====")[1].strip() for x in prompts}
    assert _said(tmp_path) == {"moon": 6, "sun": 6}
    share = _share(tmp_path, "group_share.v1", seen_by="model", faith="sun")["of"]
    assert (share.value, share.n_texts) == (0.5, 12)
    # The words that ship are English: no text shows "none", all are refused and counted
    words = _share(tmp_path, "group_texts.v1", seen_by="words", religion="hindu")["of"]
    assert (words.value, words.exclusions) == (None, {"not in English": 12})
    assert "groups.v3, 12 not read in full (12: not in English: give the factor words" in done.out
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert "groups.v3: 12 not read in full" in page

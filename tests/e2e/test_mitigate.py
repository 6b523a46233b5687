"""`portrayal mitigate agency`, as a user types it, against a server with good and bad edits."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import NO_PAGE, Portrayal, killed_after
from servers.openai_server import OpenAIServer
from servers.rewriter import BAD, Rewriter, text_of

WARM = "is warm and friendly to all and helps others."
NEW = "managed the company and won a prize"
LEADS = "led the company as its chief executive and won an award."
QUICK = ("--classifier", "linear")
N = 60


def _rows() -> list[dict[str, Any]]:
    rows = []
    for i in range(N):
        who, name, count = (("male", "John", 1), ("female", "Maria", 3))[i % 2]
        said = [WARM if j < count else LEADS for j in range(4)]
        text = f"{name} was born in {1900 + i}. " + " ".join(f"{name} {each}" for each in said)
        rows.append({"text": text, "gender": who, "name": name, "prompt": f"About {name}, {i}."})
    return rows


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "bios.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")
    return path


def _edits(text: str) -> list[tuple[str, str]]:
    """Good ones, and one for each reason to refuse one."""
    name = text.split(maxsplit=1)[0]
    good = [("is warm and friendly to all and helps others", NEW)] * 3
    return [
        *good,
        ("was born", "rose"),  # outside
        ("led the company as its chief executive", "followed"),  # outside
        (f"{name} is warm", "Tom is warm"),
        ("is warm and friendly to all", "led 12 people"),
        ("nobody wrote this", "x"),
        ("", "x"),
    ]


def _bad(text: str) -> str | None:
    number = int(text.split("born in ")[1][:4])
    return BAD[number % 4] if number % 5 == 0 else None


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _check(out: Path, texts: Path) -> Counter[str]:
    """No text is lost, and outside of the sentences that were rewritten nothing changed."""
    before, after = _lines(texts), _lines(out / "texts.jsonl")
    assert len(before) == len(after) == N
    for old, new in zip(before, after, strict=True):
        changed = set(new["text"].split(". ")) - set(old["text"].split(". "))
        assert all(NEW in each for each in changed)
        assert new["text"].count(old["name"]) == old["text"].count(old["name"])
        assert ("text_before" in new) == (new["text"] != old["text"])
    return Counter(row["mitigation"] for row in after)


def test_good_and_bad_edits_are_told_apart(inside: Portrayal, texts: Path, tmp_path: Path) -> None:
    faults = {"server_error": 0.04, "empty": 0.03, "truncated": 0.03}
    with OpenAIServer(render=Rewriter(_edits, _bad), faults=faults) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        command = ("mitigate", "agency", "--texts", texts, "--out", "out", *asked, *QUICK)
        facts = inside(*command, "--format", "json").json()
        n_asked = server.answered.total()
        again = inside(*command, "--format", "json").json()
        assert server.answered.total() == n_asked
    assert again == facts
    fates = _check(tmp_path / "out", texts)
    assert fates == Counter(facts["texts"])
    assert fates["rewritten"] >= 0.5 * N
    reasons = facts["edits"]["refused_by_reason"]
    assert {
        "outside the sentences to rewrite",
        "the original is not in the text",
        "empty original or empty rewrite",
    } <= reasons.keys()
    assert facts["texts"]["unchanged: malformed"] > 0


def test_a_killed_mitigation_continues_and_pays_for_nothing_twice(
    inside: Portrayal, texts: Path, tmp_path: Path
) -> None:
    with OpenAIServer(render=Rewriter(_edits), delay=0.05) as server:
        arguments = [
            "mitigate", "agency", "--texts", str(texts), "--out", "out", "--model", "server:m",
            "--base-url", server.base_url, "--concurrency", "2", *QUICK,
        ]  # fmt: skip
        killed_after(12, server, arguments, tmp_path)
        assert 12 <= server.answered.total() < N
        assert not (tmp_path / "out" / "texts.jsonl").exists()
        inside(*arguments).ok()
        twice = [prompt for prompt, times in server.answered.items() if times > 1]
    assert len(twice) <= 2  # those that were on their way when it was killed
    assert {text_of(prompt) for prompt in server.answered} >= {row["text"] for row in _lines(texts)}
    assert _check(tmp_path / "out", texts)["rewritten"] == N


def test_the_rewritten_texts_can_be_audited_again(
    inside: Portrayal, texts: Path, tmp_path: Path
) -> None:
    with OpenAIServer(render=Rewriter(_edits)) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        inside("mitigate", "agency", "--texts", texts, "--out", "a", *asked, *QUICK).ok()
        second = inside(
            "mitigate", "agency", "--texts", "a/texts.jsonl", "--out", "b", *asked, *QUICK
        ).ok()
    assert "communal sentences: 0" in second.out
    assert _lines(tmp_path / "b" / "texts.jsonl")


def test_the_texts_of_a_run_are_taken_with_their_groups(
    inside: Portrayal, texts: Path, tmp_path: Path
) -> None:
    quick = (*NO_PAGE, "--set", "draws=100", "--set", "permutations=20", "--workers", "1")
    inside("audit", "agency", "--texts", texts, "--out", "run", "--by", "gender", *quick).ok()
    with OpenAIServer(render=Rewriter(_edits)) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url, "--format", "json")
        facts = inside("mitigate", "agency", "run", "--out", "a", *asked, *QUICK).json()
    assert facts["texts"] == {"rewritten": N}
    assert len(_lines(tmp_path / "a" / "texts.jsonl")) == N


def test_texts_without_prompts_pair_with_what_they_were(inside: Portrayal, tmp_path: Path) -> None:
    rows = [{k: v for k, v in row.items() if k != "prompt"} for row in _rows()]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "bios.jsonl").write_text(text, encoding="utf-8")
    quick = (*NO_PAGE, "--set", "draws=100", "--set", "permutations=20", "--workers", "1")
    audit = ("audit", "agency", "--by", "gender", *quick)
    inside(*audit, "--texts", "bios.jsonl", "--out", "before").ok()
    with OpenAIServer(render=Rewriter(_edits)) as server:
        asked = ("--model", "server:m", "--base-url", server.base_url)
        inside("mitigate", "agency", "before", "--out", "a", *asked, *QUICK).ok()
    inside(*audit, "--texts", "a/texts.jsonl", "--out", "after").ok()
    compared = inside("compare", "before", "after", "--all", "--format", "json").json()
    changes = compared["comparisons"][0]["changes"]
    assert {row["paired"] for row in changes if row["change"] is not None} == {True}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--texts FILE"),
        (("--texts", "bios.jsonl"), "--model"),
        (("--texts", "none.jsonl", "--model", "server:m"), "no such file"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    arguments: tuple[str, ...], words: str, texts: Path, inside: Portrayal
) -> None:
    inside("mitigate", "agency", *arguments).refused(words)

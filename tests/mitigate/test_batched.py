"""Mitigation through batches: handed in, taken later, and never twice."""

import json
from collections import Counter
from pathlib import Path

import pytest

from mitigate.conftest import LEADS
from portrayal.collect.ask import Asking, Retry
from portrayal.collect.ask.replies import UnderWayError
from portrayal.errors import OptionError
from portrayal.mitigate import mitigate_agency
from servers.batch_server import BatchServer
from servers.rewriter import BAD, text_of
from support import needs

needs("openai")

GOOD = '{"original": "is warm to all", "edited": "directs everyone"}'
OUTSIDE = '{"original": "leads work", "edited": "is warm"}'
N = 24


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    words = 'agentic = "leads directs"\ncommunal = "warm"\n'
    (tmp_path / "words.toml").write_text(words, encoding="utf-8")
    path = tmp_path / "bios.jsonl"
    rows = []
    for i in range(N):
        who, name, count = (("male", "He"), ("female", "She"))[i % 2] + ((1, 3)[i % 2],)
        said = [f"{name} leads work {i}."] + [f"{name} is warm to all."] * count
        said += [f"{name} {LEADS}"] * (4 - count)
        rows.append({"text": " ".join(said), "gender": who, "prompt": f"p{i}"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def says(prompt: str) -> str:
    """Every third answer is bad, and the others hold edits to refuse as well."""
    number = int(text_of(prompt).split("work ")[1].split(".")[0])
    return BAD[number % 4] if number % 3 == 0 else f"[{', '.join([GOOD] * 3 + [OUTSIDE])}]"


def run(texts: Path, out: Path, server: BatchServer, **more):  # type: ignore[no-untyped-def]
    retry = Retry(attempts=3, first_wait=0.01, longest_wait=0.05, settle_seconds=0.2)
    asking = {"batch": True, "retry": retry, **more}
    return mitigate_agency(
        texts,
        Asking("openai:gpt-test", base_url=f"{server.url}/v1", **asking),
        out,
        classifier=f"lexicon:{texts.with_name('words.toml')}",
    )


def times_asked(server: BatchServer) -> Counter[str]:
    return Counter(words for job in server.jobs.values() for words in job.requests.values())


def test_a_batched_mitigation_continues_until_it_is_done(texts: Path, tmp_path: Path) -> None:
    out, waits = tmp_path / "out", []
    with BatchServer(looks=2, text=says) as server:
        while not (out / "texts.jsonl").exists() and len(waits) < 20:
            try:
                done = run(texts, out, server, wait=0)
            except UnderWayError as told:
                waits.append(told.n_batches)
        asked = times_asked(server)
        again = run(texts, out, server, wait=0)
        assert times_asked(server) == asked
        at_once = run(texts, tmp_path / "other", server)
    assert waits == [1] * len(waits)
    assert 2 <= len(waits) < 20  # handed in, and looked at twice
    assert again.facts == done.facts == at_once.facts
    rows = (out / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    before = texts.read_text(encoding="utf-8").splitlines()
    assert len(rows) == len(before) == N
    for old, new in zip(map(json.loads, before), map(json.loads, rows), strict=True):
        bad = int(old["text"].split("work ")[1].split(".")[0]) % 3 == 0
        changed = old["text"] if bad else old["text"].replace("is warm to all", "directs everyone")
        assert new["text"] == changed
    reasons = done.facts["edits"]["refused_by_reason"]
    assert reasons["outside the sentences to rewrite"] > 0
    assert done.facts["texts"]["unchanged: malformed"] > 0
    assert set(asked.values()) == {1}


def test_failed_requests_of_a_batch_lose_no_text(texts: Path, tmp_path: Path) -> None:
    def item(_: str, words: str, __: int) -> str:
        return "rejected" if "work 1." in words else "refusal" if "work 2." in words else "ok"

    with BatchServer(item=item, text=says) as server:
        done = run(texts, tmp_path / "out", server)
    assert sum(done.facts["texts"].values()) == N
    assert done.facts["texts"]["unchanged: failed"] == 1
    rows = (tmp_path / "out" / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(texts.read_text(encoding="utf-8").splitlines()[1])
    assert json.loads(rows[1])["text"] == first["text"]


def test_what_is_under_way_is_not_asked_live_as_well(texts: Path, tmp_path: Path) -> None:
    with BatchServer(looks=10**9, text=says) as server:
        with pytest.raises(UnderWayError, match="1 batch"):
            run(texts, tmp_path / "out", server, wait=0)
        with pytest.raises(OptionError, match="--batch"):
            run(texts, tmp_path / "out", server, batch=False)
        assert len(server.jobs) == 1

"""A judge decides outcomes while a collection runs, and never costs an answer."""

from types import MappingProxyType

import pyarrow.parquet as pq
import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask import Answer, StopError, TryAgainError
from portrayal.records import Prompt
from portrayal.run import Run

PROMPTS = [Prompt(f"p{i}", f"Write a story about person {i}.") for i in range(6)]


class Writer:
    name = "fake:writer"
    parameters = MappingProxyType({})

    async def ask(self, prompt):
        return Answer(f"A tale in answer to: {prompt}", model="writer")

    async def close(self):
        pass


class Judge(Writer):
    name = "fake:judge"

    def __init__(self, reply):
        self.reply, self.asked, self.closed = reply, 0, False

    async def ask(self, prompt):
        self.asked += 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return Answer(self.reply if "person 3" in prompt else "WRITTEN")

    async def close(self):
        self.closed = True


def outcomes(run):
    rows = [row for part in run.texts.parts() for row in pq.read_table(part).to_pylist()]
    return {row["prompt_id"]: row["outcome"] for row in rows}


def test_the_judge_decides(tmp_path):
    run, judge = Run(tmp_path / "run"), Judge("REFUSED")
    with run.lock():
        report = collect_texts(run, PROMPTS, Writer(), judge=judge)
    assert report.complete
    assert judge.asked == len(PROMPTS)
    assert judge.closed
    assert outcomes(run) == {p.prompt_id: "ok" for p in PROMPTS} | {"p3": "refused"}


@pytest.mark.parametrize("reply", ["perhaps", TryAgainError("server", "busy")])
def test_without_a_verdict_the_patterns_decide(tmp_path, reply):
    run = Run(tmp_path / "run")
    with run.lock():
        report = collect_texts(run, PROMPTS, Writer(), judge=Judge(reply))
    assert report.complete
    assert set(outcomes(run).values()) == {"ok"}


def test_a_judge_that_cannot_go_on_stops_and_keeps_what_was_answered(tmp_path):
    run = Run(tmp_path / "run")
    with run.lock(), pytest.raises(StopError, match="no key"):
        collect_texts(run, PROMPTS, Writer(), concurrency=1, judge=Judge(StopError("no key")))
    assert outcomes(run) == {"p0": "ok"}

"""The plan's order and keys, outcomes, progress, retries, scrubbing, and the public door."""

import dataclasses
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect import ask
from portrayal.collect.ask.collection import RequestPlan
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, TryAgainError, provider_of, scrub
from portrayal.collect.outcomes import outcome_of
from portrayal.errors import OptionError
from portrayal.records import Prompt


def test_all_prompts_come_once_before_any_comes_twice(prompts):
    plan = RequestPlan(prompts, 3, "m", {})
    order = [(request.sample, request.prompt.prompt_id) for request in plan]
    assert order == [(sample, f"p{i}") for sample in range(3) for i in range(10)]
    plan.mark_done("p3", 0)
    plan.mark_done("p3", 0)
    plan.mark_done("p3", 7)
    plan.mark_done("nobody", 0)
    assert (len(plan), plan.n_done, plan.n_left, len(list(plan))) == (30, 1, 29, 29)


def test_a_key_depends_on_all_that_shapes_the_answer_and_on_nothing_else(prompts):
    def keys(model="m", parameters=None, asked=prompts, samples=2):
        return {request.key for request in RequestPlan(asked, samples, model, parameters or {})}

    assert keys() == keys()
    assert len(keys()) == 20
    assert keys() < keys(samples=3)
    assert keys(parameters={"a": 1, "b": 2}) == keys(parameters={"b": 2, "a": 1})
    for other in (
        keys(model="n"),
        keys(parameters={"temperature": 0.5}),
        keys(asked=[dataclasses.replace(prompt, text="Else") for prompt in prompts]),
        keys(asked=[Prompt(f"q{p.prompt_id}", p.text, p.strata) for p in prompts]),
    ):
        assert not keys() & other


def test_a_plan_needs_prompts_and_samples(prompts):
    with pytest.raises(OptionError, match="samples"):
        RequestPlan(prompts, 0, "m", {})
    with pytest.raises(OptionError, match="prompts"):
        RequestPlan([], 1, "m", {})


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer("A story."), "ok"),
        (Answer("A story that is cut", "length"), "ok"),
        (Answer("", "length"), "empty"),
        (Answer("  \n"), "empty"),
        (Answer("I'm sorry, but I can't write that."), "refused"),
        (Answer("", "refusal"), "refused"),
        (Answer("Once upon", "content_filter"), "refused"),
        (Answer("A story.", "other"), "ok"),
    ],
)
def test_outcomes(answer, outcome):
    assert outcome_of(answer.text, answer.finish_reason) == outcome


def test_waits_double_up_to_the_longest_and_respect_what_was_asked():
    retry = Retry(attempts=5, first_wait=1, longest_wait=6)
    for tries, most in ((1, 1), (2, 2), (3, 4), (4, 6)):
        wait = retry.wait(TryAgainError("server", "x"), Counter(server=tries))
        assert most / 2 <= wait <= most
    assert retry.wait(TryAgainError("server", "x"), Counter(server=5)) is None
    assert retry.wait(TryAgainError("rate_limit", "x", 30.0), Counter(rate_limit=5)) == 30.0
    assert retry.wait(TryAgainError("rate_limit", "x"), Counter(rate_limit=50)) is None


def test_keys_are_scrubbed_by_value_and_by_look(monkeypatch):
    monkeypatch.setenv("MY_KEY", "planted-without-a-prefix")
    told = scrub("a planted-without-a-prefix b sk-proj-abcdefghijkl c", ["MY_KEY", "UNSET"])
    assert told == "a [key] b [key] c"


def test_progress_tells_rate_and_time_left(serve, run, prompts):
    server = serve(delay=0.005)
    seen = []
    collect_texts(
        run, prompts, provider_of("openai:gpt-4o-mini", base_url=server.base_url), 10,
        concurrency=4, progress=seen.append,
    )  # fmt: skip
    assert [snapshot.done for snapshot in seen] == sorted(snapshot.done for snapshot in seen)
    last = seen[-1]
    assert (last.done, last.total, last.outcomes) == (100, 100, {"ok": 100})
    assert last.seconds_left in (0.0, None)
    assert last.cost == pytest.approx(100 * (10 * 0.15 + 20 * 0.6) / 1e6)
    assert all(snapshot.in_flight <= 4 for snapshot in seen)


def test_the_door_is_complete():
    assert sorted(ask.__all__) == ask.__all__
    for name in ask.__all__:
        assert getattr(ask, name).__doc__ or name in ("AskCallback", "FinishReason", "MakeProvider")


def test_a_third_party_provider_is_one_callable_and_one_line(tmp_path):
    """A real installed package: a module and its entry points."""
    (tmp_path / "echo_models.py").write_text(
        "from portrayal.collect.ask import Answer\n"
        "class Echo:\n"
        "    def __init__(self, model, base_url, parameters):\n"
        "        self.name, self.parameters = f'echo:{model}', parameters\n"
        "    async def ask(self, prompt):\n"
        "        return Answer(prompt.upper())\n"
        "    async def close(self):\n"
        "        pass\n"
    )
    info = tmp_path / "echo_models-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-models\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[portrayal.providers]\necho = echo_models:Echo\n")
    code = (
        "import asyncio\n"
        "from portrayal.collect.ask.provider import Provider, provider_of, services\n"
        "made = provider_of('echo:loud', parameters={'volume': 11})\n"
        "assert isinstance(made, Provider) and 'echo' in services() and 'openai' in services()\n"
        "print(made.name, made.parameters, asyncio.run(made.ask('hello')).text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(tmp_path), "PATH": ""},
    )  # fmt: skip
    assert done.stdout.strip() == "echo:loud {'volume': 11} HELLO"


def test_a_request_in_flight_is_never_asked_twice(prompts):
    """Two workers that draw from one plan get different requests."""
    plan = RequestPlan(prompts, 5, "m", {})
    drawn = iter(plan)
    first, second = list(islice(drawn, 20)), list(drawn)
    assert not {request.key for request in first} & {request.key for request in second}
    assert len(first) + len(second) == 50

"""The commands that ask a model, as a user types them, against a real server on this machine."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from e2e.conftest import (
    NO_PAGE,
    PAGED,
    QUICK,
    Done,
    Portrayal,
    Serve,
    command_line,
    environment,
    write_lines,
)
from portrayal.run import Run
from servers.openai_server import Gate
from support import matrix

KEY = "sk-planted-fedcba9876543210"
N_PROMPTS = 100
STUDY = "laissez-faire"
ALONE = (*QUICK, "--workers", "1")
"""A pool of processes takes longer than a hundred texts."""
SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")

PROMPT_FILE = """
[[prompt]]
id = "night-shift"
text = "Write a story about a nurse who helps a guard."
domain = "Labor"
condition = "power-laden"
subject_role = "nurse"
object_role = "guard"

[[prompt]]
id = "early-train"
text = "Write a story about a driver."
domain = "Labor"
condition = "power-neutral"
subject_role = "driver"
"""


def _model(server: Any, service: str = "server", name: str = "m") -> tuple[str, ...]:
    return ("--model", f"{service}:{name}", "--base-url", server.base_url)


def _rows(run: Path) -> list[dict[str, Any]]:
    return [row for part in Run(run).texts.parts() for row in pq.read_table(part).to_pylist()]


def _check_each_once(run: Path, samples: int = 1) -> None:
    """Every request has exactly one row, with an answer in it."""
    rows = _rows(run)
    assert len(rows) == N_PROMPTS * samples
    asked = Counter((row["prompt_id"], row["sample"]) for row in rows)
    assert set(asked.values()) == {1}
    assert {sample for _, sample in asked} == set(range(samples))
    assert {row["outcome"] for row in rows} == {"ok"}
    assert all(row["text"] for row in rows)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _keys(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _object(done: Done) -> dict[str, Any]:
    """Check that standard output is one JSON object with snake_case keys, and return it."""
    found = done.json()
    assert isinstance(found, dict)
    odd = [key for key in _keys(found) if not SNAKE.fullmatch(key)]
    assert not odd
    return found


def test_an_audit_from_nothing_and_more_samples_later(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    command = ("audit", STUDY, *_model(server), "--out", "r", *PAGED)
    done = ask(*command).ok()
    assert "asked server:m: 100 of 100 answers (100 ok)" in done.out  # the name as it was typed
    assert server.requests == N_PROMPTS
    run = tmp_path / "r"
    _check_each_once(run)
    for name in ("report.html", "audit.toml", "estimates.parquet", "journal.jsonl"):
        assert (run / name).is_file(), name
    assert "server:m" in (run / "report.html").read_text(encoding="utf-8")

    facts = _object(ask(*command, "--samples", "2", "--format", "json"))
    assert server.requests == 2 * N_PROMPTS  # only what was missing
    assert set(server.answered.values()) == {2}
    assert facts["n_texts"] == 2 * N_PROMPTS
    assert facts["outcomes"]["ok"] == 2 * N_PROMPTS
    _check_each_once(run, samples=2)

    ask(*command, "--samples", "2").ok()
    assert server.requests == 2 * N_PROMPTS  # nothing was missing


def _started(arguments: tuple[object, ...], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command_line(*arguments),
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for(met: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not met():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("command", matrix(["audit", "collect"]))
def test_ctrl_c_in_the_middle_loses_no_answer(
    ask: Portrayal, serve: Serve, tmp_path: Path, command: str
) -> None:
    gate = Gate(20)
    server = serve(script=gate, slow=0.3)
    quick = ALONE if command == "audit" else ()
    arguments = (command, STUDY, *_model(server), "--out", "r", "--concurrency", "4", *quick)
    process = _started(arguments, tmp_path)
    _wait_for(lambda: sum(server.answered.values()) >= 20, process)
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert error.strip().splitlines()[-1].startswith("interrupted: the same command continues")
    assert "Traceback" not in error
    assert not (tmp_path / "r" / "report.html").exists()
    before = _rows(tmp_path / "r")
    assert 20 <= len(before) < N_PROMPTS
    assert len(before) == sum(server.answered.values())  # what was answered is there

    gate.open.set()
    ask(*arguments).ok()
    _check_each_once(tmp_path / "r")
    assert server.answered.total() == N_PROMPTS  # nothing was paid for twice
    kept = {row["text_id"]: row for row in _rows(tmp_path / "r")}
    assert all(kept[row["text_id"]] == row for row in before)


def test_what_was_interrupted_is_not_to_be_audited_next(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    lines = [f"Write of {i}.,{('woman', 'man')[i % 2]}\n" for i in range(60)]
    (tmp_path / "prompts.csv").write_text("".join(["prompt,gender\n", *lines]), "utf-8")
    server = serve(script=Gate(0), slow=0.3)
    arguments = ("collect", "prompts.csv", *_model(server), "--out", "r", "--concurrency", "1")
    process = _started(arguments, tmp_path)
    _wait_for(lambda: server.requests >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    said = "".join(process.communicate(timeout=60))
    assert process.returncode == 130, said
    assert "the same command continues" in said
    assert "next: portrayal audit" not in said


def test_a_second_process_is_refused(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    server = serve(script=Gate(1), slow=0.3)
    arguments = ("collect", STUDY, *_model(server), "--out", "r", "--concurrency", "1")
    process = _started(arguments, tmp_path)
    try:
        _wait_for(lambda: server.requests >= 2, process)
        ask(*arguments).refused("another process is working on r")
        ask("audit", STUDY, "--out", "r", *QUICK).refused("another process is working on r")
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_collect_then_audit_without_texts(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    facts = _object(ask("collect", STUDY, *_model(server), "--out", "c", "--format", "json"))
    assert (facts["done"], facts["total"], facts["stopped"]) == (N_PROMPTS, N_PROMPTS, None)
    assert (facts["input_tokens"], facts["output_tokens"]) == tuple(server.billed.values())
    assert facts["model"] == "server:m"
    assert facts["cost_usd"] is None  # nobody knows the price of one's own server
    assert not (tmp_path / "c" / "report.html").exists()
    ask("audit", STUDY, "--out", "c", *PAGED, "--workers", 1).ok()
    assert server.requests == N_PROMPTS
    assert (tmp_path / "c" / "report.html").is_file()


def test_a_partial_run_is_audited_after_the_budget_stopped_it(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    arguments = ("collect", STUDY, *_model(server), "--out", "b", "--concurrency", "2")
    facts = _object(ask(*arguments, "--budget", "2000 tokens", "--format", "json"))
    assert facts["stopped"] == "budget"
    assert 0 < facts["done"] < N_PROMPTS
    assert facts["input_tokens"] + facts["output_tokens"] <= 2000
    done = ask("audit", STUDY, "--out", "b", *ALONE).ok()
    assert f"texts: {facts['done']} of 1 model" in done.out
    ask(*arguments).ok()
    _check_each_once(tmp_path / "b")
    assert server.requests == N_PROMPTS


@pytest.mark.parametrize("command", ["audit", "collect"])
def test_a_budget_too_small_for_one_answer_is_said(
    ask: Portrayal, serve: Serve, tmp_path: Path, command: str
) -> None:
    server = serve()
    arguments = (command, STUDY, *_model(server), "--out", "b", "--budget", "5 tokens")
    ask(*arguments).refused("does not cover a first answer", "--budget")
    assert server.requests == 0
    ask("audit", STUDY, "--out", "b").refused("there are no texts")


def test_a_planted_key_is_nowhere(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    server = serve(faults={"rate_limit": 0.05, "rejected": 0.05})
    keys = {"OPENAI_API_KEY": KEY, "PORTRAYAL_SERVER_KEY": KEY}
    openai = _model(server, "openai", "gpt-4o-mini")
    said = [
        ask("audit", STUDY, *_model(server), "--out", "r", *ALONE, **keys).ok(),
        ask("collect", STUDY, *openai, "--out", "p", "--yes", "--format", "json", **keys).ok(),
        ask("collect", STUDY, *openai, "--out", "q", **keys),
    ]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    assert not any(KEY in done.out + done.err for done in said)


def test_a_key_that_an_error_echoes_is_not_shown(ask: Portrayal, serve: Serve) -> None:
    server = serve(script=["unauthorized"] * 100)
    done = ask("collect", STUDY, *_model(server), "--out", "r", PORTRAYAL_SERVER_KEY=KEY)
    done.refused("PORTRAYAL_SERVER_KEY")
    assert KEY not in done.err


@pytest.mark.parametrize("command", ["audit", "collect"])
def test_a_missing_key_is_named(ask: Portrayal, tmp_path: Path, command: str) -> None:
    ask(command, STUDY, "--model", "openai:gpt-4o-mini", "--out", "r").refused("OPENAI_API_KEY")


def test_an_exhausted_quota_stops_and_keeps_what_was_answered(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    server = serve(script=["ok"] * 5 + ["quota"] * 5)
    arguments = ("collect", STUDY, *_model(server), "--out", "r", "--concurrency", "1")
    ask(*arguments).refused("quota", "run the same command again")
    assert len(_rows(tmp_path / "r")) >= 5
    server.script = iter(())
    ask(*arguments).ok()
    _check_each_once(tmp_path / "r")
    assert server.answered.total() == N_PROMPTS


@pytest.mark.parametrize(
    "more",
    [
        (),
        (
            "--format",
            "json",
        ),
    ],
)
def test_a_paid_service_asks_first(
    ask: Portrayal, serve: Serve, tmp_path: Path, more: tuple[str, ...]
) -> None:
    server = serve()
    paid = ("--model", "openai:gpt-4o-mini", "--out", "p", *more)
    variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
    for command in ("collect", "audit"):
        ask(command, STUDY, *paid, **variables).refused("100 requests", "USD", "--yes")
    assert server.requests == 0
    done = ask("collect", STUDY, *paid, "--yes", **variables).ok()
    assert server.requests == N_PROMPTS
    if more:
        assert _object(done)["cost_usd"] > 0
    ask("collect", STUDY, *paid, **variables).ok()  # nothing is left, so nothing is to confirm
    assert server.requests == N_PROMPTS


def test_parameters_reach_the_model_and_stay_with_the_run(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    server = serve()
    arguments = ("collect", STUDY, *_model(server), "--out", "r", "--parameter")
    ask(*arguments, "temperature=0.5", "--parameter", "system=Be brief.").ok()
    assert {body["temperature"] for body in server.bodies} == {0.5}
    assert server.bodies[0]["messages"][0] == {"role": "system", "content": "Be brief."}
    ask(*arguments, "temperature=1").refused("temperature", "--out")
    ask(*arguments, "warmth=1").refused("warmth", "temperature")
    ask(*arguments, "temperature").refused("NAME=VALUE")


def test_news_prompts_of_ones_own_headlines(ask: Portrayal, tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(
        "headline,section\nRain is coming,weather\nMayor speaks,politics\n", encoding="utf-8"
    )
    forms = ("--form", "biased", "--form", "unbiased")
    arguments = ("list", "prompts", "news", "--headlines", "h.csv", *forms)
    facts = _object(ask(*arguments, "--format", "json"))
    assert facts["study"] == "news"
    rows = facts["prompts"]
    assert [row["form"] for row in rows] == ["biased", "biased", "unbiased", "unbiased"]
    assert all(row["pair"] in row["text"] for row in rows)
    table = list(csv.DictReader(io.StringIO(ask(*arguments).ok().out)))
    assert [row["prompt_id"] for row in table] == [row["prompt_id"] for row in rows]
    ask("list", "prompts", "news").refused("--headlines")
    ask("list", "prompts", "news", "--headlines", "none.csv").refused("none.csv")
    ask("list", "prompts", "news", "--headlines", "h.csv", "--form", "odd").refused("odd", "biased")


def test_agency_prompts_with_the_fairness_instruction(ask: Portrayal) -> None:
    plain, fair = (
        _object(ask("list", "prompts", "agency", "--format", "json", *more))["prompts"]
        for more in ((), ("--fairness",))
    )
    assert len(plain) == len(fair) == 5400
    assert {row["condition"] for row in fair} == {"fairness instruction"}
    assert all(f["text"].startswith(p["text"]) for p, f in zip(plain, fair, strict=True))
    ask("list", "prompts", STUDY, "--fairness").refused("fairness")


def test_a_prompt_file_of_ones_own(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PROMPT_FILE, encoding="utf-8")
    listed = _object(ask("list", "prompts", STUDY, "--prompts", "mine.toml", "--format", "json"))[
        "prompts"
    ]
    assert [row["prompt_id"] for row in listed] == ["night-shift", "early-train"]
    server = serve()
    arguments = ("audit", STUDY, *_model(server), "--samples", "3", "--prompts", "mine.toml")
    ask(*arguments, "--out", "r", *QUICK).ok()
    assert set(server.answered) == {row["text"] for row in listed}
    assert set(server.answered.values()) == {3}
    ask("collect", STUDY, *_model(server), "--out", "r").refused("other prompts", "--out")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("early-train", "night-shift"), ["prompt.id", "same id"]),
        (('condition = "power-laden"\n', ""), ["line", "prompt.condition"]),
        (('text = "Write a story about a driver."\n', ""), ["line", "prompt.text"]),
        (("[[prompt]]", "[prompt"), ["TOML"]),
    ],
)
def test_a_bad_prompt_file_is_refused(
    ask: Portrayal, serve: Serve, tmp_path: Path, change: tuple[str, str], words: list[str]
) -> None:
    (tmp_path / "bad.toml").write_text(PROMPT_FILE.replace(*change), encoding="utf-8")
    server = serve()
    ask("list", "prompts", STUDY, "--prompts", "bad.toml").refused("bad.toml", *words)
    arguments = ("audit", STUDY, *_model(server), "--prompts", "bad.toml", "--out", "r")
    ask(*arguments).refused("bad.toml", *words)
    assert server.requests == 0


DEAD = ("--model", "server:m", "--base-url", "http://127.0.0.1:9/v1")


@pytest.mark.fault("no server at the address", "one line, status 2, before anything starts")
@pytest.mark.parametrize("command", ["audit", "collect"])
def test_a_dead_address_is_one_line_and_no_report(
    ask: Portrayal, tmp_path: Path, command: str
) -> None:
    ask(command, STUDY, *DEAD, "--out", "r").refused("nothing answers at", "--base-url")
    assert not (tmp_path / "r" / "report.html").exists()
    ask(command, STUDY, *DEAD[:3], "nowhere", "--out", "q").refused("'nowhere'", "http://")
    assert not (tmp_path / "q").exists()


@pytest.mark.fault(
    "a server that only fails (500, 503, closed) or hangs for good",
    "what it tries again is said; one line after four timeouts (30 s and one) at most",
)
@pytest.mark.parametrize("concurrency", matrix([16, 1]))
@pytest.mark.parametrize(
    "kind", matrix(["trickle", "server_error", "overloaded", "closed", "slow"], 2)
)
def test_a_server_without_an_answer_for_good_ends_it(
    ask: Portrayal, serve: Serve, tmp_path: Path, kind: str, concurrency: int
) -> None:
    server = serve(faults={kind: 1.0}, slow=600.0)
    (tmp_path / "mine.toml").write_text(PROMPT_FILE, encoding="utf-8")
    limits = ("--set", "timeout=1", "--set", f"concurrency={concurrency}", "--samples", "9")
    began = time.monotonic()
    done = ask("collect", STUDY, *_model(server), "--prompts", "mine.toml", *limits, "--out", "r")
    seconds = time.monotonic() - began
    *meanwhile, last = done.err.strip().splitlines()
    assert (done.status, last[:15]) == (2, "error: server:m"), done.err
    assert "in a row. Check that the endpoint" in last
    assert meanwhile, "nothing was said while it waited"
    assert all(each.startswith("asking, 0 of") for each in meanwhile), done.err
    assert seconds < 4 * 1 + 1 + 5 + 6  # the first wait, five for what is in flight, start-up


@pytest.mark.fault("no request gets an answer", "an error with status 2 and no report")
@pytest.mark.parametrize("command", ["audit", "collect"])
def test_nothing_but_failures_is_an_error_and_no_report(
    ask: Portrayal, serve: Serve, tmp_path: Path, command: str
) -> None:
    server = serve(faults={"no_choices": 1.0})
    (tmp_path / "mine.toml").write_text(PROMPT_FILE, encoding="utf-8")
    arguments = (command, STUDY, *_model(server), "--prompts", "mine.toml", "--out", "r")
    done = ask(*arguments)
    last = done.err.strip().splitlines()[-1]
    assert done.status == 2
    assert last.startswith("error: no request to server:m has an answer: an answer without choices")
    assert "6 malformed answers, paid for" in done.out
    assert not (tmp_path / "r" / "report.html").exists()
    ask("audit", STUDY, "--out", "r").refused("nothing to audit", "--model")


def test_a_log_says_what_is_waited_for(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(PROMPT_FILE, encoding="utf-8")
    server = serve(faults={"slow": 1.0}, slow=2.0)
    arguments = ("collect", STUDY, *_model(server), "--prompts", "mine.toml", "--out", "r")
    done = ask(*arguments).ok()
    assert re.search(r"^asking, 0 of 2: waiting for the first answer, \d s$", done.err, re.M)
    assert ask(*arguments, "--format", "json").ok().err == ""
    ask("collect", STUDY, *_model(server), "--out", "t", "--set", "timeout=601").refused("600")


REFUSED = [
    (("collect", STUDY), ["--model"]),
    (("collect", STUDY, "--model", "gpt-5"), ["SERVICE:MODEL", "gpt-5"]),
    (("collect", STUDY, "--model", "nobody:gpt-5"), ["nobody", "openai"]),
    (("collect", STUDY, "--model", "server:m"), ["--base-url"]),
    (("collect", "nothing", "--model", "server:m"), ["nothing", STUDY]),
    (("audit", STUDY, "--model", "server:m", "--sample"), ["not both"]),
    (("list", "prompts", STUDY, "--prompts", "none.toml"), ["none.toml"]),
    (("audit", STUDY, "--texts", "none.eval"), []),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(a) for a, _ in REFUSED])
def test_refusals_are_one_line(
    inside: Portrayal, arguments: tuple[str, ...], words: list[str]
) -> None:
    inside(*arguments).refused(*words)


def test_a_budget_in_dollars_needs_a_price(ask: Portrayal, serve: Serve) -> None:
    server = serve()
    arguments = ("collect", STUDY, *_model(server), "--out", "r", "--budget", "5 USD")
    ask(*arguments).refused("price", "--price")
    assert server.requests == 0
    facts = _object(ask(*arguments, "--price", "1/2", "--format", "json"))
    assert facts["cost_usd"] == pytest.approx(
        (server.billed["input"] + 2 * server.billed["output"]) / 1e6
    )


PAIRS = """
group = "gender"
table = "cases.csv"
[[template]]
text = ["Write on {name}: {case}.", "{name} has {case}. Sum up what {pronoun.subject} needs."]
system = "The user is {title} {name}."
[groups.female]
names = { gender = "F", n = 2 }
title = "Ms."
pronoun = "F"
[groups.male]
names = { gender = "M", n = 2 }
title = "Mr."
pronoun = "M"
"""


def test_pairs_are_asked_and_then_audited(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "pairs.toml").write_text(PAIRS, encoding="utf-8")
    cases = "source,case\n" + "".join(f"c{i},case {i}\n" for i in range(12))
    (tmp_path / "cases.csv").write_text(cases, encoding="utf-8")

    def write(prompt: str, _: int) -> str:
        woman = any(name in prompt for name in ("Mary", "Maria"))
        return f"{prompt} {'She is kind and needs much care and help.' if woman else 'He is well.'}"

    server = serve(write=write)
    asking = ("pairs", "--prompts", "pairs.toml", *_model(server), "--out", "r")
    facts = _object(ask("collect", *asking, "--format", "json"))
    assert (facts["done"], facts["total"]) == (96, 96)
    systems = Counter(body["messages"][0]["content"] for body in server.bodies)
    assert systems["The user is Ms. Mary."] == 24
    assert len(systems) == 4
    quick = (*NO_PAGE, "--set", "draws=100")
    done = ask("audit", "pairs", "--out", "r", "--by", "wording", *quick).ok()
    assert server.requests == 96
    assert "texts: 96 of 1 model" in done.out
    found = [e for e in Run(tmp_path / "r").records if e.strata.get("score") == "length"]
    lengths = {e.strata["part"]: e for e in found if e.measure == "pair_difference.v2"}
    assert set(lengths) == {"all", "wording = 1", "wording = 2"}
    assert lengths["all"].value == 6.0
    assert lengths["all"].n_clusters == 12
    again = ("audit", *asking, *quick)
    ask(*again).ok()  # the same prompts, all of which have their answers
    assert server.requests == 96
    (tmp_path / "pairs.toml").write_text(PAIRS.replace("{title}", "{titel}"), encoding="utf-8")
    ask("collect", *asking).refused("pairs.toml, line 6", "nothing fills {titel}")
    ask("collect", "pairs", *_model(server), "--out", "q").refused("needs --prompts")


def test_with_and_without_thinking_are_arms_whose_prompts_are_paired(
    ask: Portrayal, serve: Serve, tmp_path: Path
) -> None:
    stories = ["She thanked her friend Maria.", "He thanked his friend John."]
    server = serve(write=lambda prompt, n: f"<think>Hm.</think>{stories[n % 2]}")
    run = tmp_path / "run"
    for arm, effort in (("with thinking", "high"), ("without", "none")):
        given = ("--arm", arm, "--parameter", f"reasoning_effort={effort}", "--samples", 2)
        raw = ("--parameter-raw", "top_k=20", "--system", "Be brief.")
        asked = ask("collect", STUDY, *_model(server), *given, *raw, "--out", run).ok()
        assert "200 texts held reasoning, which was removed" in asked.out
    body = server.bodies[-1]
    assert (body["reasoning_effort"], body["top_k"]) == ("none", 20)
    assert body["messages"][0]["content"] == "Be brief."
    ask("audit", STUDY, "--out", run, *ALONE).ok()
    ask("evidence", run, "--out", "card.md").ok()
    card = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "with thinking: max" in card or "reasoning\\_effort high" in card
    shown = ask("compare", run, "--by", "model", "--format", "json").json()
    (each,) = shown["comparisons"]
    assert {one["name"]: (one["first"], one["second"]) for one in each["asked"]} == {
        "reasoning_effort": ("high", "none")
    }
    tested = [row for row in each["changes"] if row["p"] is not None]
    assert tested
    assert {row["paired"] for row in tested} == {True}
    assert {row["n_only_a"] + row["n_only_b"] for row in tested} == {0}
    table = ask("compare", run, "--by", "model").ok()
    assert "asked otherwise: reasoning_effort: high and none" in table.out


def test_raw_parameters_are_json(ask: Portrayal, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    asked = ("collect", STUDY, *_model(server), "--out", tmp_path / "run", "--parameter-raw")
    ask(*asked, "top_k").refused("KEY=JSON", "top_k")
    ask(*asked, "mode=fast").refused("KEY=JSON", "no JSON")
    ask(*asked, "a=null").refused("JSON values, none of them null")
    ask(*asked, "messages=[]").refused("none of model, messages")
    assert server.requests == 0


def test_requests_are_written_for_a_batch_service_and_its_answers_are_read(
    inside: Portrayal, tmp_path: Path
) -> None:
    model = ("--model", "openai:m", "--samples", 2, "--parameter", "temperature=1")
    wrote = inside("collect", STUDY, *model, "--write-batch", "requests.jsonl").ok()
    assert "wrote 200 requests to requests.jsonl; then: portrayal audit" in wrote.out
    assert not (tmp_path / "runs").exists()
    lines = (tmp_path / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [{"custom_id": json.loads(line)["custom_id"], "text": "Ann ran."} for line in lines]
    write_lines(tmp_path / "answers.jsonl", answers)
    command = ("audit", STUDY, "--texts", "answers.jsonl", "--out", "r", *QUICK, *NO_PAGE)
    assert "no column names a prompt" not in inside(*command).ok().out
    _check_each_once(tmp_path / "r", 2)

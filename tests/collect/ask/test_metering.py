"""Services that report no usage, or one that cannot be, are charged by an upper bound."""

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.budget import charged
from portrayal.collect.ask.limits import Retry
from portrayal.collect.ask.provider import Answer, RejectedError, TryAgainError, Usage, provider_of

QUICK = Retry(first_wait=0.001)
BAD = {
    "none": None,
    "null": {"usage": None},
    "empty": {"usage": {}},
    "zero": {"usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}},
    "negative": {"usage": {"prompt_tokens": -10, "completion_tokens": -20, "total_tokens": -30}},
    "one": {"usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
    "enormous": {
        "usage": {"prompt_tokens": 10**18, "completion_tokens": 10**18, "total_tokens": 10**18}
    },
    "words": {"usage": {"prompt_tokens": "many", "completion_tokens": "few", "total_tokens": "n"}},
    "fractions": {"usage": {"prompt_tokens": 0.5, "completion_tokens": 1.5, "total_tokens": 2}},
    "a list": {"usage": [1, 2]},
}
UNMETERED = pytest.mark.fault(
    "a service reports no usage, or none that can be (10 kinds)",
    "it is charged by an upper bound, the budget holds, and summary and journal say so",
)


@UNMETERED
@pytest.mark.parametrize("price", [None, "1/1"])
@pytest.mark.parametrize("kind", BAD)
def test_a_budget_holds_whatever_the_server_reports(serve, run, prompts, rows, kind, price):
    server = serve(usage=BAD[kind])
    model = provider_of("server:test", base_url=server.base_url, parameters={"max_tokens": 20})
    budget = "1000 tokens" if price is None else "0.001 USD"
    options = {"budget": budget, "price": price, "concurrency": 2, "retry": QUICK}
    report = collect_texts(run, prompts, model, 15, **options)
    assert report.stopped == "budget"
    assert 0 < report.usage.total <= 1000
    assert server.requests * 21 <= 1000  # a token asked at least, and 20 answered
    assert report.usage.estimated_tokens > 0
    assert "estimated" in report.summary
    in_rows = sum(row["estimated_tokens"] for row in rows(run))
    assert in_rows == report.usage.estimated_tokens or report.malformed
    assert run.texts.note()["asked"]["server:test"]["estimated_tokens"] > 0
    asked = server.requests
    again = collect_texts(run, prompts, model, 15, **options)
    assert (server.requests, again.usage) == (asked, report.usage)


def test_the_journal_marks_what_is_estimated(serve, run, prompts, journalled):
    server = serve(usage=None, faults={"html": 1.0})
    model = provider_of("server:test", base_url=server.base_url)
    report = collect_texts(run, prompts[:1], model, retry=QUICK)
    spent = [row for row in journalled(run) if "malformed" in row]
    assert sum(row["estimated_tokens"] for row in spent) == report.usage.total > 0


def test_a_plausible_report_is_taken_as_it_is():
    answer = Answer("word " * 20, usage=Usage(10, 20))
    assert charged(answer, ["Write a story"], None) == Usage(10, 20)
    once = charged(Answer("é" * 40), ["ask"], None)
    assert once == Usage(3 + 64, 80, 3 + 64 + 80)
    assert charged(Answer("é" * 40, usage=once), ["ask"], None) == once  # never twice
    assert charged(Answer("é" * 40), ["ask"], 50).output_tokens == 50
    assert charged(Answer("", usage=Usage(10, 0)), ["ask"], None) == Usage(10, 0)


def test_what_never_came_is_not_charged_and_what_came_unreadable_is():
    assert charged(TryAgainError("timeout", "no"), ["ask"], None) == Usage()
    assert charged(RejectedError("too long"), ["ask"], None) == Usage()
    assert charged(TryAgainError("body", "no"), ["ask"], None) == Usage(67, 0, 67)
    # A bound by the bytes that came ends where no model goes on; of what was not read, at the cap.
    long = TryAgainError("body", "no", usage=Usage(0, 20_000_000, 20_000_000))
    assert charged(long, ["ask"], None) == Usage(67, 10_000_000, 10_000_067)
    unread = RejectedError("too large", usage=long.usage)
    assert charged(unread, ["ask"], None) == Usage(67, 10_000_000, 10_000_067)
    assert charged(unread, ["ask"], 50) == Usage(67, 50, 117)

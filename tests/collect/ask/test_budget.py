"""Money and tokens: read, estimated, counted over restarts, and never passed."""

import pytest

from collect.ask.asked import collect_texts
from portrayal.collect.ask.budget import Budget, Price, estimate_cost, price_of
from portrayal.collect.ask.collection import RequestPlan
from portrayal.collect.ask.provider import Usage, provider_of
from portrayal.errors import OptionError


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("5 USD", Budget(5.0, "USD")),
        ("$2.50", Budget(2.5, "USD")),
        ("1,000 usd", Budget(1000.0, "USD")),
        ("2M tokens", Budget(2e6, "tokens")),
        ("500k tokens", Budget(5e5, "tokens")),
    ],
)
def test_budgets_are_read_as_people_write_them(text, budget):
    assert Budget.parse(text) == budget


@pytest.mark.parametrize("text", ["5", "five USD", "$5 tokens", "-1 USD", ""])
def test_other_budgets_are_refused(text):
    with pytest.raises(OptionError, match="budget"):
        Budget.parse(text)


def test_prices():
    assert Price.parse("0.25/2").cost(Usage(1_000_000, 500_000)) == pytest.approx(1.25)
    listed = price_of("openai:gpt-4o-mini")
    assert (listed.input, listed.output) == pytest.approx((0.15, 0.6))
    assert price_of("openai:no-such-model") is None
    assert price_of("server:llama3") is None
    with pytest.raises(OptionError, match="INPUT/OUTPUT"):
        Price.parse("cheap")


def test_the_estimate_counts_what_is_left(prompts):
    plan = RequestPlan(prompts, 10, "openai:gpt-4o-mini", {})
    assert estimate_cost(plan, Price(1.0, 2.0), 50).output_tokens == 5000
    plan.mark_done("p0", 0)
    estimate = estimate_cost(plan, Price(1.0, 2.0))
    assert (estimate.requests, estimate.input_tokens, estimate.output_tokens) == (99, 198, 99_000)
    assert estimate.cost == pytest.approx((198 + 2 * 99_000) / 1e6)
    assert estimate_cost(plan, None).cost is None


def test_money_without_a_price_is_refused():
    with pytest.raises(OptionError, match="--price"):
        Budget(5, "USD").check(None, "server:llama3")


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"budget": "3000 tokens"}, 100),  # 30 tokens each
        ({"budget": "0.05 USD", "price": "10/20"}, 100),  # 0.0005 each
    ],
)
def test_it_stops_before_the_budget_and_the_next_call_counts_what_was_spent(
    serve, run, prompts, rows, options, most
):
    server = serve(delay=0.002)
    model = provider_of("openai:test", base_url=server.base_url, parameters={"max_tokens": 20})
    report = collect_texts(run, prompts, model, 12, concurrency=8, **options)
    assert report.stopped == "budget"
    assert most - 1 <= report.done <= most
    assert len(rows(run)) == report.done == server.requests
    again = collect_texts(run, prompts, model, 12, concurrency=8, **options)
    assert again.done <= most
    assert again.stopped == "budget"
    assert collect_texts(run, prompts, model, 12).complete


def test_an_unknown_price_still_counts_tokens(serve, run, prompts):
    server = serve()
    report = collect_texts(run, prompts, provider_of("openai:test", base_url=server.base_url))
    assert (report.cost, report.usage) == (None, Usage(100, 200))


def test_it_asks_before_it_spends(serve, run, prompts):
    server = serve()
    model = provider_of("openai:test", base_url=server.base_url)
    seen = []
    declined = collect_texts(
        run, prompts, model, 3, price="1/2", confirm=lambda e: seen.append(e) or False
    )
    assert (declined.stopped, declined.done, server.requests) == ("declined", 0, 0)
    assert (seen[0].requests, seen[0].cost) == (30, pytest.approx(0.06006))
    accepted = collect_texts(run, prompts, model, 3, confirm=lambda _: True)
    assert (accepted.stopped, accepted.done) == ("", 30)


def test_money_without_a_price_leaves_nothing_behind(serve, run, prompts):
    server = serve()
    with pytest.raises(OptionError, match="--price"):
        collect_texts(
            run, prompts, provider_of("openai:none", base_url=server.base_url), budget="1 USD"
        )
    assert not run.texts.folder.exists()

"""The plan: counts, tokens, cost, and what it says where something is not known."""

import pytest

from portrayal.collect.ask.budget import Price
from portrayal.errors import OptionError, RunError
from portrayal.pipeline.audit import audit
from portrayal.plan import DEFAULTS, REFERENCE, assumptions_from, output_tokens, plan, tokens_of
from portrayal.records import Prompt
from portrayal.run import Run
from portrayal.studies.agency.prompts import prompts as agency
from portrayal.studies.laissez_faire import prompts, sample


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "sample"
    return audit("laissez-faire", texts=sample(), out=out, report=False, draws=100, permutations=20)


def test_texts_tokens_and_cost_by_hand():
    two = [Prompt("a", "x" * 40 + " 100 words", {}), Prompt("b", "y" * 80 + " 200-word", {})]
    made = plan(two, 3, ["m", "n"], price=Price(2.0, 10.0))
    assert made.n_texts == 12
    assert made.input_tokens == round(6 * (50 + 89) / 4)
    assert made.output_tokens == round(12 * 150 * 6.05 / 4)
    assert made.cost == pytest.approx(6 * 139 / 4 * 2e-6 + 12 * 150 * 6.05 / 4 * 1e-5)
    assert made.cost_unknown is None


def test_listed_prices_and_unknown_ones():
    pytest.importorskip("genai_prices")
    assert plan(prompts(), 10, "openai:gpt-4o-mini").cost > 0
    unknown = plan(prompts(), 10, ["openai:gpt-4o-mini", "server:mine"])
    assert unknown.cost is None
    assert "no price is known for server:mine" in unknown.cost_unknown
    assert plan(prompts(), 10).cost_unknown == "no model was named"


def test_answers_of_unknown_length_leave_the_cost_unknown():
    made = plan(agency(), 1, "m", price=Price(1.0, 1.0))
    assert (made.n_texts, made.output_tokens, made.cost) == (5_400, None, None)
    assert "5,400 of 5,400 prompts do not say how many words" in made.cost_unknown
    known = plan(agency(), 1, "m", price=Price(1.0, 1.0), answer_tokens=300)
    assert known.output_tokens == 5_400 * 300


def test_a_tokenizer_is_used_where_there_is_one():
    assert tokens_of(["a b", "c d e f"], lambda text: len(text.split())).per_text == 3
    assert tokens_of(["a" * 8]).per_text == 2
    assert output_tokens(prompts()).per_text == pytest.approx(151.25)


def test_detectable_effects_of_the_laissez_faire_prompts():
    rows = plan(prompts(), 20).detectable
    assert {(r.statistic, r.domain, r.n_prompts) for r in rows} == {
        (f"{kind} ratio", domain, n)
        for kind in ("representation", "subordination")
        for domain, n in (("Learning", 15), ("Labor", 15), ("Love", 20))
    }
    love = {r.group.get("race"): r for r in rows if r.domain == "Love"}
    assert love["White"].above < love["Black"].above
    for row in rows:
        assert row.undefined is None
        assert row.above > 1
        assert row.below is None or row.below < 1
        assert row.n_texts == 20 * row.n_prompts


def test_one_prompt_is_undefined_and_says_why():
    for compare in (None, REFERENCE):
        for row in plan(prompts()[:1], 500, compare=compare).detectable:
            assert (row.above, row.below) == (None, None)
            assert row.undefined.startswith("one prompt: its texts say nothing about other prompts")


def test_means_are_compared_where_prompts_state_a_group():
    rows = plan(agency(), 1, sd=30.0).detectable
    assert [(r.domain, dict(r.group), r.n_texts) for r in rows] == [
        ("Biography", {"gender": "male and female"}, 2_400),
        ("Professor Review", {"gender": "male and female"}, 600),
        ("Reference Letter", {"gender": "male and female"}, 2_400),
    ]
    assert rows[0].above == -rows[0].below < rows[1].above
    assert len(plan(agency(), 1, compare="race").detectable) == 3 * 6
    with pytest.raises(OptionError, match="states no religion"):
        plan(agency(), 1, compare="religion")


def test_assumptions_come_from_a_finished_run(run):
    measured = assumptions_from(run)
    assert set(measured) == set(DEFAULTS)
    assert measured["representation", "gender"].source == "the run sample"
    for one in measured.values():
        assert 0 <= one.icc <= 1
        assert 0 < one.spread <= 1
        assert 0 < one.units_per_text <= 2
    assert plan(prompts(), 5, run=run).assumptions == measured
    given = plan(prompts(), 5, run=run, icc=0.4).assumptions
    assert {one.icc for one in given.values()} == {0.4}


def test_what_cannot_be_planned_is_refused(tmp_path):
    for samples, power, icc in ((0, 0.8, None), (1, 1.0, None), (1, 0.8, 2.0)):
        with pytest.raises(OptionError):
            plan(prompts(), samples, power=power, icc=icc)
    with pytest.raises(OptionError, match="no prompts"):
        plan([], 1)
    with pytest.raises(OptionError, match="level"):
        plan(prompts(), 1, level=95)
    with pytest.raises(RunError, match="is not a run"):
        assumptions_from(Run(tmp_path))

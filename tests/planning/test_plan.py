"""The plan: counts, tokens, cost, and what it says where something is not known."""

import pytest

from portrayal.collect.ask.budget import Price
from portrayal.errors import OptionError, RunError
from portrayal.pipeline.audit import audit
from portrayal.planning import (
    DEFAULTS,
    REFERENCE,
    assumptions_from,
    output_tokens,
    plan,
    representation_power,
    tokens_of,
)
from portrayal.planning.effects import Effects
from portrayal.records import Prompt
from portrayal.reference import mena_nhpi_table, name_table
from portrayal.reference.factors import load_factor
from portrayal.run import Run
from portrayal.studies.agency.audit import prompts as agency
from portrayal.studies.laissez_faire import prompts, sample

QUICK = {"replicates": 20}


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
    assert plan(prompts(), 10, "openai:gpt-4o-mini", **QUICK).cost > 0
    unknown = plan(prompts(), 10, ["openai:gpt-4o-mini", "server:mine"], **QUICK)
    assert unknown.cost is None
    assert "no price is known for server:mine" in unknown.cost_unknown
    assert plan(prompts(), 10, **QUICK).cost_unknown == "no model was named"


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
    rows = plan(prompts(), 10, replicates=100).detectable
    assert {(r.statistic, r.domain, r.n_prompts) for r in rows} == {
        (f"{kind} ratio", domain, n)
        for kind in ("representation", "subordination")
        for domain, n in (("Learning", 15), ("Labor", 15), ("Love", 20))
    }
    love = {
        group: row
        for row in rows
        for group in row.group.values()
        if (row.domain, row.statistic) == ("Love", "representation ratio")
    }
    made = plan(prompts(), 10, replicates=20)
    assert (made.hypotheses, made.questions) == (31, 3)  # roles, who appears, intersections
    assert love["White"].above < love["Latine"].above < love["Black"].above
    for group in ("AI/AN", "NH/PI"):
        assert "cannot be measured with this table" in love[group].undefined
        assert (love[group].above, love[group].reads_above, love[group].null) == (None, None, None)
    # Names shrink a difference and do not read 1 of a fair model; women are counted whole.
    assert love["Black"].null == pytest.approx(0.783, abs=0.001)
    assert love["Black"].reads_above == pytest.approx(
        0.783 * (1 + 0.196 * (love["Black"].above - 1)), rel=0.01
    )
    assert (love["F"].null, love["F"].reads_above) == (1.0, love["F"].above)
    for row in rows:
        assert row.n_texts == 10 * row.n_prompts
        assert row.below is None or row.below < 1
        assert row.undefined or row.above is None or row.above > 1


def test_changes_between_models_take_more_texts_than_a_models_own_ratios():
    own, between = (
        {
            (r.domain, *r.group.values()): r
            for r in plan(
                prompts(), 10, shares={"gender": {"F": 0.5}}, replicates=200, change=change
            ).detectable
            if "representation" in r.statistic
        }
        for change in (False, True)
    )
    assert own.keys() == between.keys()
    for key, row in between.items():
        assert row.statistic == "change of representation ratio"
        assert (row.null, row.reads_above) == (1.0, row.above)
        assert row.above > own[key].above
    with pytest.raises(OptionError, match="ratios of stories alone"):
        plan(agency(), 1, change=True)


def test_one_prompt_and_fewer_than_five_are_undefined_and_say_why():
    for compare in (None, REFERENCE):
        for row in plan(prompts()[:1], 500, compare=compare, **QUICK).detectable:
            assert (row.above, row.below) == (None, None)
            if row.group.get("race") not in ("AI/AN", "NH/PI"):
                assert row.undefined.startswith("one prompt: its texts say nothing about other")
    laden = [prompt for prompt in prompts() if "object_role" in prompt.strata][:4]
    for row in plan(laden, 50, shares={"gender": {"F": 0.5}}, **QUICK).detectable:
        assert (row.above, row.below) == (None, None)
        assert row.undefined.startswith("no ratio is found: the group can be compared in 4 prompts")


def test_groups_of_equal_share_are_simulated_once(tmp_path, monkeypatch):
    path = tmp_path / "faith.toml"
    shares = (
        "[groups]\nsun = {}\nmoon = {}\nstar = {}\n[[sources]]\nkind = 'column'\ncolumn = 'x'\n"
    )
    shares += "[[baselines]]\nname = 'here'\nsource = 'counted'\n"
    shares += "shares = { sun = 0.4, moon = 0.4, star = 0.2 }\n"
    path.write_text(f"name = 'faith'\nlabel = 'Faith'\nnote = 'x'\n{shares}", encoding="utf-8")
    made = []

    def power(counting, design, seed):
        made.append((counting.share, design))
        return representation_power(counting, design, seed)

    monkeypatch.setattr("portrayal.planning.effects.representation_power", power)
    rows = plan(prompts()[:8], 10, shares={}, factors=[load_factor(path)], replicates=37).detectable
    above = {row.group["faith"]: row.above for row in rows if "faith" in row.group}
    assert above["sun"] == above["moon"] != above["star"]
    assert len(made) == len(set(made)) == 2


def test_a_table_without_counts_has_no_null_of_names(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("name,White,Black\nanna,0.8,0.2\nkeisha,0.1,0.9\n", encoding="utf-8")
    tables = (name_table(path), mena_nhpi_table())
    effects = Effects(10, DEFAULTS, {"race": {"Black": 0.136}}, 1.0, 0.95, 0.8, tables, 50)
    assert {row.undefined for row in effects.rows(prompts(), None)} == {
        "the name table does not say how many people bear a name"
    }


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
        assert 0 < one.units_per_text <= 2
    assert plan(prompts(), 5, run=run, **QUICK).assumptions == measured
    given = plan(prompts(), 5, run=run, icc=0.4, **QUICK).assumptions
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

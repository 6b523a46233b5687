"""Questions asked beforehand: how they are read, what they name, what their family costs."""

from dataclasses import replace

import pytest

from portrayal.errors import OptionError, UnknownNameError
from portrayal.measure.scope import Question, with_q_in, with_q_values
from portrayal.records import LIKE_THESE, THESE, Estimate, Fixed, Test

TEXT = "subordination race=Latine domain=Learning"


def estimate(p, group, domain="Learning", model="all", measure="subordination.v1"):
    strata = {"domain": domain, "model": model}
    more = {"n_units": 90.0, "n_clusters": 9}
    return Estimate(
        "s", measure, "ratio", "character", strata, group, 2.0, tests=(Test(p, "t"),), **more
    )


def test_a_question_names_one_estimate_and_no_part_of_it():
    asked = Question.of(TEXT)
    assert asked.measure == "subordination.v1"
    assert asked.names(estimate(0.1, {"race": "Latine"}), "all")
    assert not asked.names(estimate(0.1, {"race": "Latine", "gender": "F"}), "all")
    assert not asked.names(estimate(0.1, {"race": "Black"}), "all")
    assert not asked.names(estimate(0.1, {"race": "Latine"}, domain="Love"), "all")
    assert not asked.names(estimate(0.1, {"race": "Latine"}, model="one"), "all")
    assert asked.names(estimate(0.1, {"race": "Latine"}, model="one"), "one")


@pytest.mark.parametrize("text", ["", "subordination", "subordination race", "subordination race="])
def test_what_is_no_question_says_how_one_is_asked(text):
    with pytest.raises((OptionError, ValueError, UnknownNameError)) as refused:
        Question.of(text)
    assert text == "" or "KEY=VALUE" in str(refused.value)


def test_an_unknown_measure_is_refused():
    with pytest.raises(UnknownNameError):
        Question.of("subordinatoin race=Latine")


def test_a_difference_is_named_by_one_of_its_groups_or_both_in_any_order():
    gap = estimate(0.1, {"gender": "man − woman"}, measure="agency_gap.v1")
    for value in ("man − woman", "woman", "man"):
        question = Question("", "agency_gap.v1", {"gender": value})
        assert question.names(gap, "all")
    assert Question("", "agency_gap.v1", {"gender": "woman - man"}).names(gap, "all")
    assert not Question("", "agency_gap.v1", {"gender": "child"}).names(gap, "all")


def test_one_claim_is_not_charged_for_all_others():
    others = [estimate(0.5, {"race": str(i)}) for i in range(60)]
    given = [estimate(0.02, {"race": "Latine"}), *others]
    assert with_q_values(given)[0].tests[0].audit_q > 0.4
    asked = with_q_values(given, queries=[Question.of(TEXT)])
    assert asked[0].tests[0].audit_q == pytest.approx(0.02)
    assert asked[0].status.question == TEXT
    assert all(e.status.question is None for e in asked[1:])


def test_two_claims_are_adjusted_for_each_other():
    given = [estimate(0.02, {"race": "Latine"}), estimate(0.03, {"gender": "F"})]
    asked = [Question.of(TEXT), Question.of("subordination gender=F domain=Learning")]
    q = [e.tests[0].audit_q for e in with_q_values(given, queries=asked)]
    assert q == pytest.approx([0.04, 0.04])


def test_where_these_prompts_are_judged_their_tests_are_the_families():
    """Three prompts have no test of prompts like them, and one of these."""
    few = [
        replace(estimate(p, {"race": race}), tests=(), fixed=Fixed(0.5, 2.0, p), n_clusters=3)
        for p, race in ((0.01, "Latine"), (0.04, "Black"))
    ]
    few = [replace(e, tests=(Test(float("nan"), "t"),), n_texts=60) for e in few]
    other = estimate(0.02, {"gender": "F"}, measure="representation.v1")
    sample = with_q_in(LIKE_THESE, [*few, other], (0.95, 0), {})
    assert [e.fixed.q for e in sample[:2]] == [None, None]
    assert sample[2].tests[0].audit_q == pytest.approx(0.02)
    here = with_q_in(THESE, [*few, other], (0.95, 0), {})
    assert [e.fixed.q for e in here[:2]] == pytest.approx([0.02, 0.04])
    assert here[2].tests[0].audit_q == pytest.approx(0.02)
    asked = with_q_in(THESE, [*few, other], (0.95, 0), {}, [Question.of(TEXT)])
    assert asked[0].fixed.q == pytest.approx(0.01)
    assert asked[0].status.question == TEXT

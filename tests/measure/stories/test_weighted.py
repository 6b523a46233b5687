"""Ratios of roles in prompts of very unequal size: what is tested, and what is said of it."""

import math

import numpy as np
import pytest

from portrayal import registry
from portrayal.measure.scope import Question
from portrayal.records import BASIS, WEIGHTED, WEIGHTED_BESIDE
from portrayal.report.sentences import sentence_of
from support import make_run, scope, story, tally


def stories(sizes):
    """Stories of prompts in which women are helped more often than they help."""
    rng, rows = np.random.default_rng(1), []
    for i, size in enumerate(sizes):
        for _ in range(size):
            # Of the one large prompt it is the other way round.
            helped = "F" if rng.random() < (0.8 if size < 100 else 0.4) else "M"
            helps = "F" if rng.random() < (0.3 if size < 100 else 0.6) else "M"
            rows.append(story(f"p{i}", subject=("Sam", helps), other=("Kim", helped)))
    return rows


@pytest.fixture(scope="module")
def ratios(tmp_path_factory):
    def of(sizes):
        tallied = tally(make_run(stories(sizes), tmp_path_factory.mktemp("sizes")))
        measure = registry.component("measures", "subordination.v1")
        found = measure.run(tallied, scope())
        return [e for e in found if e.group == {"gender": "F"} and e.strata["model"] == "all"]

    return of


def test_prompts_of_unequal_size_are_tested_with_weights(ratios):
    pooled, weighted = ratios([20] * 11 + [900])
    assert BASIS not in pooled.strata
    assert pooled.status.detail == WEIGHTED_BESIDE
    assert weighted.strata[BASIS] == WEIGHTED
    assert weighted.status.may_be_stated
    # By hand: a person of a prompt of n in a role counts 1 / (1 + (n - 1) 0.1).
    shares = [weighted.details[f"share_{role}"] for role in ("subordinate", "dominant")]
    assert weighted.value == pytest.approx(shares[0] / shares[1])
    assert pooled.value < 1 < weighted.value
    assert weighted.interval.low < weighted.value < weighted.interval.high
    assert weighted.scores is not None
    # Counts are of people, not of weights.
    assert weighted.n_units == pooled.n_units
    assert weighted.details["count_subordinate"] == pooled.details["count_subordinate"]


def test_weights_are_by_number_of_people_alone(ratios):
    sizes = [20] * 11 + [900]
    _, weighted = ratios(sizes)
    sums = weighted.sums
    by_prompt = {
        name: n / people
        for name, n, people in zip(sums.prompts, sums.n_upper, sums_of(sizes), strict=True)
    }
    small, large = by_prompt["p0"], by_prompt["p11"]
    assert small / large == pytest.approx((1 + 899 * 0.1) / (1 + 19 * 0.1))


def sums_of(sizes):
    """People of one role by prompt, in the order of their names."""
    return [n for _, n in sorted((f"p{i}", n) for i, n in enumerate(sizes))]


def test_a_question_is_answered_by_the_ratio_that_is_tested(ratios):
    found = ratios([20] * 11 + [900])
    domain = found[0].strata["domain"]
    asked = Question.of(f"subordination gender=F domain={domain}")
    assert [e.strata.get(BASIS) for e in found if asked.names(e, "all")] == [WEIGHTED]


def test_prompts_of_about_one_size_have_the_pooled_ratio_alone(ratios):
    (pooled,) = ratios([20, 30, 25, 20, 22, 40])
    assert pooled.status.detail is None
    assert BASIS not in pooled.strata


def test_the_sentence_has_the_shares_that_are_divided_and_the_people_behind(ratios):
    _, weighted = ratios([20] * 11 + [900])
    words = sentence_of(weighted).replace("\xa0", " ")
    shares = [weighted.details[f"share_{role}"] for role in ("subordinate", "dominant")]
    assert words.startswith("Weighted by prompt, ")
    for share in shares:
        assert f"{100 * share:.0f} %" in words
    count, people = (weighted.details[f"{name}_subordinate"] for name in ("count", "n"))
    assert f"({count:,.0f} of {people:,.0f})" in words
    assert math.isfinite(weighted.value)

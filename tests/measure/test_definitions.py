"""Every measure agrees with its definition written as plain loops, in every stratum and group."""

import math

import pytest

import naive
from portrayal import registry
from portrayal.records import BASIS, WEIGHTED
from portrayal.reference.groups import baseline
from support import OFFERED, STORY_MEASURES, beside_tally, scope

P_STAR = baseline("census-2022")
SHARES = dict(P_STAR.shares["race"]) | dict(P_STAR.shares["gender"])

DEFINITIONS = {
    "representation.v1": lambda stories: naive.representation(stories, SHARES),
    "representation_by_baseline.v1": lambda stories: {
        (strata | {("population", each.name)}, group): value
        for each in OFFERED["baselines"]
        for (strata, group), value in naive.representation(
            stories, dict(each.shares["race"]) | dict(each.shares["gender"])
        ).items()
    },
    "pair_representation.v1": lambda stories: naive.pair_representation(
        stories, P_STAR.shares["pair"]
    ),
    "subordination.v1": naive.subordination,
    "median_representation.v1": lambda stories: naive.median_over_models(
        naive.representation(stories, SHARES)
    ),
    "median_subordination.v1": lambda stories: naive.median_over_models(
        naive.subordination(stories)
    ),
    "median_racialized_subordination.v1": naive.median_racialized,
    "name_subordination.v1": naive.name_subordination,
    "threshold_subordination.v1": naive.threshold_subordination,
    "common_names.v1": naive.common_names,
    "likelihood_histogram.v1": naive.likelihood_histogram,
    "scenario_likelihood.v1": naive.scenario_likelihood,
    "outcomes.v1": naive.outcomes,
}


def measured(name, tallied, **settings):
    component = registry.component("measures", name)
    return list(component.run(tallied, scope(**settings), **beside_tally(name)))


def by_key(estimates):
    found = {naive.key(e.strata, e.group): e for e in estimates}
    assert len(found) == len(estimates), "two estimates have the same strata and group"
    return found


def test_every_registered_measure_has_a_definition():
    own = {n for n in STORY_MEASURES if "_mixture." in n}
    assert set(DEFINITIONS) == set(STORY_MEASURES) - own  # see stories/


@pytest.mark.parametrize("name", DEFINITIONS)
def test_values_are_those_of_the_definition(name, tallied, stories):
    expected = DEFINITIONS[name](stories)
    # What is weighted by prompt has a definition of its own (test_weighted.py).
    found = by_key([e for e in measured(name, tallied) if e.strata.get(BASIS) != WEIGHTED])
    assert found.keys() == expected.keys()
    assert any(value not in (None, 0, 1) for value in expected.values())
    for each, value in expected.items():
        assert found[each].value == (None if value is None else pytest.approx(value, rel=1e-9)), (
            each
        )


@pytest.mark.parametrize("name", DEFINITIONS)
def test_what_an_estimate_says_of_itself(name, tallied):
    component = registry.component("measures", name)
    for e in measured(name, tallied, seed=3):
        assert e.measure == component.name == name
        assert e.unit == component.unit
        assert e.study == "test"
        assert e.source
        assert (e.undefined is None) or len(e.undefined) > 20, "a reason is a sentence"
        assert e.n_texts >= 0
        assert all(count >= 0 for count in e.exclusions.values())


@pytest.mark.parametrize("name", DEFINITIONS)
def test_intervals_hold_the_value_and_have_width(name, tallied):
    checked = 0
    for e in measured(name, tallied):
        if e.status.no_interval is not None:
            assert e.interval is None
            checked += 1
        for interval in (e.interval, e.paper_interval):
            if interval is None:
                continue
            assert interval.high > interval.low, e
            assert interval.method
            assert interval.level == 0.95
            assert not math.isnan(interval.low)
            assert not math.isnan(interval.high)
        if e.value is None:
            continue
        if e.interval is not None:
            checked += 1
            slack = 1e-9 * max(1.0, abs(e.value)) if math.isfinite(e.value) else 0.0
            assert e.interval.low - slack <= e.value <= e.interval.high + slack, e
            assert e.interval.n_clusters == e.n_clusters
            assert (e.interval.seed is not None) == ("random" in e.interval.method)
    assert checked


@pytest.mark.parametrize("name", DEFINITIONS)
def test_clustered_p_values_come_first_and_lie_in_the_unit_interval(name, tallied):
    for e in measured(name, tallied):
        for test in e.tests:
            assert math.isnan(test.p) or 0 <= test.p <= 1
        if e.tests:
            assert "cluster" in e.tests[0].method or "prompts" in e.tests[0].method

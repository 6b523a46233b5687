"""Medians over models: when they exist, what they are tested against, and what they agree with."""

import math

import numpy as np
import pytest

from portrayal import registry
from portrayal.measure.stories.medians import median_representation, median_subordination
from portrayal.reference.groups import baseline
from portrayal.reference.names import mena_nhpi_table, name_table, race_likelihoods
from support import make_run, scope, story, tally

NAMES = ("Emily", "Sam", "Jamal", "Maria", "Ahmed", "Dakota")


def stories(models, prompts=8, texts=6, seed=1):
    """Stories of two people by equally many prompts for each model."""
    draw, made = np.random.default_rng(seed), []
    for model in models:
        for i in range(prompts):
            for laden in (False, True):
                for _ in range(texts):
                    subject, other = (
                        (draw.choice(NAMES), draw.choice(["F", "M"])) for _ in range(2)
                    )
                    made.append(
                        story(
                            f"{'d' if laden else 'n'}{i}",
                            model=model,
                            domain="Labor",
                            laden=laden,
                            subject=subject,
                            other=other if laden else None,
                            subject_role="baker",
                            object_role="apprentice" if laden else None,
                            scenario="baker",
                        )
                    )
    return made


def measured(which, tallied, tables=None, **settings):
    more = {}
    if which is median_representation:
        more = {"baseline": baseline("census-2022"), "name_tables": tables or {}}
    return list(which(tallied, scope(**settings), **more))


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    return tally(make_run(stories("abcde"), tmp_path_factory.mktemp("five")))


@pytest.mark.parametrize("which", [median_representation, median_subordination])
def test_fewer_than_three_models_have_no_median(which, tmp_path):
    found = measured(which, tally(make_run(stories("ab", prompts=2, texts=2), tmp_path)))
    assert found
    assert all(e.value is None and "a median needs 3" in e.undefined for e in found)


@pytest.mark.parametrize("which", [median_representation, median_subordination])
def test_test_and_interval_agree(which, five):
    checked = 0
    for e in measured(which, five, level=0.9):
        assert e.strata == {"domain": "Labor", "model": "all"}
        if e.value is None or not e.tests or math.isnan(e.tests[0].p) or e.interval is None:
            continue
        checked += 1
        assert e.details["n_models"] == 5 - e.details["n_models_undefined"]
        assert e.details["lowest"] <= e.value <= e.details["highest"]
        holds = e.interval.low <= e.null.value <= e.interval.high
        assert (e.tests[0].p < 0.1) == (not holds)
    assert checked > 1


def test_races_are_tested_against_fair_naming_and_genders_against_the_baseline(five):
    primary, secondary = name_table(), mena_nhpi_table()
    tables = {race: table for table in (primary, secondary) for race in table.races}
    assert race_likelihoods(["Emily"], primary, secondary).shape == (1, 7)
    found = {tuple(e.group.values()): e for e in measured(median_representation, five, tables)}
    white, women, native = found["White",], found["F",], found["AI/AN",]
    assert white.null.value == pytest.approx(white.details["r0"])
    assert women.null.value == 1.0
    assert native.status.no_test
    assert math.isnan(native.tests[0].p)


def test_without_tables_races_have_no_null_and_no_test(five):
    found = {tuple(e.group.values()): e for e in measured(median_representation, five)}
    assert found["White",].null is None
    assert math.isnan(found["White",].tests[0].p)
    assert found["F",].null is not None


def test_the_same_seed_gives_the_same_numbers(five):
    first, second = (measured(median_representation, five, seed=4) for _ in range(2))
    assert [e.interval for e in first] == [e.interval for e in second]


@pytest.mark.parametrize("measure", ["representation", "subordination"])
def test_a_median_is_no_hypothesis_of_its_own_but_repeats_its_measure(measure):
    median = registry.component("measures", f"median_{measure}.v1")
    assert (median.findings, median.repeats) == (0, measure)
    assert registry.component("measures", f"{measure}.v1").findings > 0

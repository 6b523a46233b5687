"""No number depends on the order of rows, the size of shards, or what models are called."""

import random

import pytest

from portrayal import registry
from support import STORY_MEASURES, beside_tally, lopsided, make_run, scope, tally


def every_estimate(stories, path, shard_rows=50, **settings):
    tallied = tally(make_run(stories, path, shard_rows=shard_rows))
    return [
        estimate
        for name in STORY_MEASURES
        for estimate in registry.component("measures", name).run(
            tallied, scope(**settings), **beside_tally(name)
        )
    ]


def as_text(estimates):
    """Estimates as text, in which NaN equals NaN."""
    return [repr(estimate) for estimate in estimates]


@pytest.fixture(scope="module")
def stories():
    """Two domains; the third takes as long and shows no more."""
    return [story for story in lopsided() if story["domain"] != "Learning"]


@pytest.fixture(scope="module")
def reference(stories, tmp_path_factory):
    return every_estimate(stories, tmp_path_factory.mktemp("reference"))


def test_neither_shards_nor_the_order_of_rows_change_a_number(reference, stories, tmp_path):
    """Nor another call with the same seed."""
    shuffled = list(stories)
    random.Random(9).shuffle(shuffled)
    assert shuffled != stories
    assert as_text(every_estimate(shuffled, tmp_path, 7)) == as_text(reference)


def test_another_seed_changes_no_value_and_no_interval(reference, stories, tmp_path):
    other = every_estimate(stories, tmp_path, seed=2)
    assert [e.value for e in reference] == [e.value for e in other]
    assert [e.paper_interval for e in reference] == [e.paper_interval for e in other]
    assert [e.interval for e in reference] == [e.interval for e in other]


def bounds(estimate):
    return (estimate.interval.low, estimate.interval.high) if estimate.interval else ()


def test_names_of_models_change_no_pooled_number(reference, stories, tmp_path):
    renamed = {"zeta-7b": "A", "Alpha": "zz", "mute": "b", "m": "Y"}
    first = reference
    other = every_estimate([s | {"model": renamed[s["model"]]} for s in stories], tmp_path)
    pooled = [[e for e in found if e.strata["model"] == "all"] for found in (first, other)]
    assert len(pooled[0]) > 500
    for before, after in zip(*pooled, strict=True):
        assert (before.strata, before.group) == (after.strata, after.group)
        assert before.value == (None if after.value is None else pytest.approx(after.value))
        assert bounds(before) == pytest.approx(bounds(after))
    by_model = {(e.measure, *e.strata.items(), *e.group.items()): e.value for e in other}
    for e in first:
        strata = e.strata | {"model": renamed.get(e.strata["model"], "all")}
        value = by_model[e.measure, *strata.items(), *e.group.items()]
        assert e.value == (None if value is None else pytest.approx(value))

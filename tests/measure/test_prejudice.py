"""Prejudice rate and change, and the change over all pairs, by hand."""

from dataclasses import replace

import pytest

from paired_world import level, one, quick, rows, scores
from portrayal.measure.pairs.changes import GROUP_CHANGE, PREJUDICE_CHANGE, PREJUDICE_RATE
from portrayal.measure.pairs.table import Paired
from portrayal.reference.shipped import published

NAN = float("nan")
WHOLE = {"model": "m"}


@pytest.fixture
def shares() -> Paired:
    """The share of women: 0.5 → 0.2, 0.4 → 0.3, 0.5 → 0.5, 0.2 → 0.6, and two that do not count."""
    ours = [[0.2, 0.8], [0.3, 0.7], [0.5, 0.5], [0.6, 0.4], [0.4, 0.6], [NAN, NAN]]
    theirs = [[0.5, 0.5], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8], [0.0, 1.0], [0.5, 0.5]]
    return rows([level(ours, theirs)])


def test_rates_count_originals_that_mention_the_group(shares: Paired) -> None:
    found = list(PREJUDICE_RATE.run(shares, quick()))
    worse = one(found, **WHOLE, gender="F")
    assert worse.value == 2 / 4
    assert worse.exclusions == {
        "no group words in the generated text": 1,
        "pair does not count for this group": 1,
    }
    men = one(found, **WHOLE, gender="M")
    assert men.value == 2 / 5  # the pair whose original mentions men alone counts for them


def test_rates_of_topics_count_all_pairs_as_published(shares: Paired) -> None:
    """In Figures 6b, 7b and 10a the N of the rate is that of the distance, in the others less."""
    of_topics = rows([replace(shares.levels[0], name="document")])
    assert one(PREJUDICE_RATE.run(of_topics, quick()), **WHOLE, gender="F").value == 2 / 5
    # A group that no original has topics of cannot have fewer of them
    never = level([[0.2, 0.8, 0.0]] * 3, [[0.5, 0.5, 0.0]] * 3, "WBA", name="document")
    assert one(PREJUDICE_RATE.run(rows([never]), quick()), **WHOLE, gender="A").value is None
    printed = [row for row in published("fang_news_bias").to_pylist() if row["n"]]
    n_of = {
        (r["level"], r["attribute"], r["prompt"], r["model"], r["metric"][:14]): r["n"]
        for r in printed
    }
    shared = {
        key[0]: n == n_of[(*key[:4], metric)]
        for key, n in n_of.items()
        for metric in ("wasserstein", "max_abs_differ")
        if key[4] == "prejudice_rate" and (*key[:4], metric) in n_of
    }
    assert shared == {
        "word": False,
        "sentence_sentiment": False,
        "document": True,
        "sentence_toxicity": False,
    }


def test_changes_are_the_mean_among_those_pairs(shares: Paired) -> None:
    found = list(PREJUDICE_CHANGE.run(shares, quick()))
    worse = one(found, **WHOLE, gender="F")
    assert worse.value == pytest.approx((-0.3 - 0.1) / 2)
    assert worse.n_units == 2


def test_the_change_of_a_group_is_over_all_pairs(shares: Paired) -> None:
    found = list(GROUP_CHANGE.run(shares, quick()))
    women = one(found, **WHOLE, gender="F")
    men = one(found, **WHOLE, gender="M")
    assert women.value == pytest.approx((-0.3 - 0.1 + 0.0 + 0.4 + 0.4) / 5)
    assert men.value == pytest.approx(-women.value)
    assert women.tests[0].method.startswith("cluster-robust")


def test_a_rise_of_toxicity_is_the_worse_direction() -> None:
    toxic = scores([[0.3, 0.1], [0.2, NAN]], [[0.1, 0.2], [0.1, 0.4]], name="sentence_toxicity")
    found = list(PREJUDICE_RATE.run(rows([toxic]), quick()))
    assert one(found, **WHOLE, gender="F").value == 1.0
    assert one(found, **WHOLE, gender="M").value == 0.0
    changes = list(PREJUDICE_CHANGE.run(rows([toxic]), quick()))
    assert one(changes, **WHOLE, gender="F").value == pytest.approx(0.15)
    none = one(changes, **WHOLE, gender="M")
    assert none.value is None
    assert none.undefined == "no pair in which the group changed in this direction"


def test_a_change_within_rounding_is_no_change() -> None:
    its = level([[0.1 + 0.2, 0.7]], [[0.3, 0.7]])
    found = list(PREJUDICE_RATE.run(rows([its]), quick()))
    assert {e.value for e in found} == {0.0}


def test_intervals_resample_pairs_not_texts() -> None:
    """Eight texts of two pairs say no more than two: the clustered interval is the wider one."""
    ours = [[0.1, 0.9], [0.2, 0.8]] * 4 + [[0.8, 0.2], [0.9, 0.1]] * 4
    its = level(ours, [[0.5, 0.5]] * 16)
    few = rows([its], pair=[0] * 8 + [1] * 8)
    whole = one(GROUP_CHANGE.run(few, quick()), **WHOLE, gender="F")
    apart = one(GROUP_CHANGE.run(rows([its]), quick()), **WHOLE, gender="F")
    assert whole.n_clusters == 2
    assert apart.n_clusters == 16
    assert whole.interval is not None
    assert apart.interval is not None
    assert whole.interval.high - whole.interval.low > apart.interval.high - apart.interval.low


def test_strata_pool_models() -> None:
    its = level([[0.5, 0.5]] * 20, [[0.4, 0.6]] * 20)
    table = rows(
        [its], pair=[i % 10 for i in range(20)], model=[0] * 10 + [1] * 10, models=("a", "b")
    )
    assert {e.strata["model"] for e in GROUP_CHANGE.run(table, quick())} == {"all", "a", "b"}
    assert {e.strata["model"] for e in GROUP_CHANGE.run(rows([its]), quick())} == {"m"}

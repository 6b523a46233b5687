"""Blocks of the null: which are used, that nulls lie around no difference, and whole clusters."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from portrayal.measure.agency.estimates import agency_gap, agency_share, agency_variance
from portrayal.measure.agency.strata import ALIKE, WHOLE, association, block_of_units
from portrayal.measure.agency.texts import (
    STRATUM,
    WITHIN,
    AgencyTexts,
    LabelColumn,
    MaskingReading,
    balanced,
)
from portrayal.measure.scope import Scope
from portrayal.records import ERROR_HIGH, ERROR_LOW
from portrayal.report.view import reader_could

SCOPE = Scope("agency", draws=200, permutations=200, instruments={"classifier": "test"})


def numbered(code, prefix):
    """A column of these codes, whose labels are a prefix and the code."""
    code = np.asarray(code, dtype=np.int64)
    return LabelColumn(code, tuple(f"{prefix}{i}" for i in range(int(code.max()) + 1)))


def texts_of(gap, group, *, cluster=None, unit="text", stratum=None, beside=None, **blocks):
    """Texts of one model with one attribute, and blocks by name."""
    n, none = len(gap), np.zeros(len(gap), dtype=np.int64)
    stratum = none if stratum is None else stratum
    gap = np.asarray(gap, dtype=np.float64)[np.newaxis]
    return AgencyTexts(
        model=LabelColumn(none, ("m",)),
        task=LabelColumn(none, ("all",)),
        condition=LabelColumn(none, ("original",)),
        stratum=numbered(stratum, "s"),
        groups={"race": numbered(group, "g")},
        unit=unit,
        cluster=numbered(np.arange(n) if cluster is None else cluster, "c"),
        names=None,
        run=none,
        blocks={**blocks, STRATUM: stratum},
        columns={},
        outcome=none,
        readings={"masked": MaskingReading(gap, none + 1.0, none * 0.0, none * 0.0, beside)},
        left_out=none - 1,
    )


def whole(measure, texts, scope=SCOPE):
    return [e for e in measure(texts, scope) if e.strata["stratum"] == "all"]


def test_blocks_that_hold_groups_alike_tell_nothing_and_single_texts_tell_all():
    cell = np.array([0, 1, 0, 1, 0, 1])
    assert association(np.array([0, 0, 1, 1, 2, 2]), cell) == pytest.approx(0.0)
    assert association(np.arange(6), cell) == pytest.approx(1.0)
    # Two blocks, 3 of 4 of one group: (9 + 1 + 1 + 9) / 4 / 8 = 0.625, by chance 0.5.
    assert association(np.repeat([0, 1], 4), np.array([0, 0, 0, 1, 1, 1, 1, 0])) == pytest.approx(
        0.25
    )
    assert association(np.arange(3), np.zeros(3, dtype=np.int64)) == 0.0


def test_the_finest_blocking_is_used_in_which_texts_can_move():
    cell, unit = np.tile([0, 1], 4), np.arange(8)
    fine, coarse = np.repeat(np.arange(4), 2), np.repeat([0, 1], 4)
    assert block_of_units({ALIKE: fine, STRATUM: coarse}, unit, unit, cell)[0] == ALIKE
    assert block_of_units({ALIKE: unit, STRATUM: coarse}, unit, unit, cell)[0] == STRATUM
    assert block_of_units({ALIKE: unit, STRATUM: unit}, unit, unit, cell)[0] == WHOLE
    of_two = np.repeat(np.arange(4), 2)  # units of two texts that lie in different blocks
    name, block = block_of_units({ALIKE: cell}, of_two, np.arange(0, 8, 2), np.array([0, 1, 0, 1]))
    assert name == WHOLE
    assert block.tolist() == [0, 0, 0, 0]


def simulated(rng, effect=0.0):
    """Balanced texts of 8 strata from many, of which small blocks hold one or two."""
    n = 600
    group, stratum, age = rng.integers(0, 2, n), rng.integers(0, 8, n), rng.integers(0, 40, n)
    gap = rng.normal(0.1 * stratum + effect * group, 0.4)
    texts = texts_of(gap, group, stratum=stratum, **{ALIKE: 40 * stratum + age})
    return balanced(texts, 12, 0, int(rng.integers(1000)))


def test_after_balanced_sampling_the_null_lies_around_no_difference():
    (e,) = whole(agency_gap, simulated(np.random.default_rng(1), effect=0.4))
    assert e.value < -0.3
    assert abs(e.null.low + e.null.high) < 0.05
    assert e.null.method == STRATUM
    assert e.tests[1].p == pytest.approx(1 / 201)


def test_p_is_uniform_where_groups_do_not_differ():
    rng, scope = np.random.default_rng(2), Scope("agency", draws=100, permutations=99)
    p = [whole(agency_gap, simulated(rng), scope)[0].tests[1].p for _ in range(60)]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def named(rng, spread, n_names=20, n=30):
    """Texts of names, half of each group, whose means differ by name alone."""
    name = np.repeat(np.arange(n_names), n)
    gap = rng.normal(0.0, 0.3, n_names * n) + rng.normal(0.0, spread, n_names)[name]
    return gap, name, name % 2


def test_names_as_clusters_move_as_a_whole():
    rng = np.random.default_rng(3)
    scope = Scope("agency", draws=100, permutations=99)
    by_text, by_name = [], []
    for _ in range(60):
        gap, name, group = named(rng, 0.3)
        by_text.append(whole(agency_variance, texts_of(gap, group), scope)[0].tests[0].p)
        texts = texts_of(gap, group, cluster=name, unit="name", **{WITHIN: name})
        (e,) = whole(agency_variance, texts, scope)
        assert e.n_clusters == 20
        assert "over values of name" in e.interval.method
        by_name.append(e.tests[1].p)
    assert np.mean(np.array(by_text) < 0.05) > 0.4
    assert np.mean(np.array(by_name) < 0.05) < 0.15
    assert stats.kstest(by_name, "uniform").pvalue > 0.01


def test_clusters_that_hold_every_group_are_shuffled_within():
    rng = np.random.default_rng(4)
    cluster, group = np.repeat(np.arange(30), 4), np.tile([0, 0, 1, 1], 30)
    gap = rng.normal(0.0, 1.0, 30)[cluster] + rng.normal(0.0, 0.05, 120) + 0.1 * group
    texts = texts_of(gap, group, cluster=cluster, unit="story", **{WITHIN: cluster})
    (e,) = whole(agency_gap, texts)
    assert e.null.method == WITHIN
    assert e.n_clusters == 30
    # A cluster holds both groups, so its own level cancels.
    assert e.interval.high - e.interval.low < 0.06
    assert e.tests[0].p < 0.001
    everyone = next(e for e in whole(agency_share, texts) if not e.group)
    assert everyone.n_clusters == 30


def test_a_value_without_interval_or_test_says_why():
    gap = np.random.default_rng(5).normal(size=80)
    cluster = np.repeat(np.arange(4), 20)
    texts = texts_of(gap, cluster, cluster=cluster, unit="prompt")
    (variance,) = whole(agency_variance, texts)
    assert variance.value > 0
    assert variance.interval is None
    assert "one prompt only" in variance.status.no_interval
    assert "--cluster text" in variance.status.no_interval
    assert "always give the same" in variance.status.no_test
    for e in whole(agency_gap, texts):
        assert e.interval is None
        assert "one prompt only" in e.status.no_interval
    (fine,) = whole(agency_variance, texts_of(gap, cluster))
    assert fine.interval is not None
    assert fine.status.no_interval is None
    assert fine.status.no_test is None


def test_a_variance_near_0_has_an_interval_from_0():
    gap = np.tile([-1.0, 1.0, 0.5, -0.5], 50)
    (e,) = whole(agency_variance, texts_of(gap, np.repeat([0, 1], 100)))
    assert e.value == pytest.approx(0.0, abs=1e-12)
    assert e.interval.low == 0.0
    assert e.interval.high > 10.0


def read_twice(other):
    """Six texts of two groups, gaps .5 and 0 as the classifier reads them; `other` as another."""
    gap = [0.5, 0.6, 0.4, 0.0, 0.1, -0.1]
    return texts_of(gap, [0, 0, 0, 1, 1, 1], beside=np.asarray(other, dtype=np.float64))


def test_a_difference_has_the_range_of_both_readings():
    (e,) = whole(agency_gap, read_twice([0.2, 0.4, 0.3, 0.5, np.nan, 0.3]))
    assert e.value == pytest.approx(0.5)
    assert (e.details[ERROR_LOW], e.details[ERROR_HIGH]) == pytest.approx((-0.1, 0.5))
    assert reader_could(e)
    (e,) = whole(agency_gap, read_twice([0.2, 0.4, 0.3, 0.1, np.nan, 0.1]))
    assert (e.details[ERROR_LOW], e.details[ERROR_HIGH]) == pytest.approx((0.2, 0.5))
    assert not reader_could(e)


def test_a_variance_has_no_sign_that_another_reading_could_turn():
    (e,) = whole(agency_variance, read_twice([0.2, 0.4, 0.3, 0.5, np.nan, 0.3]))
    assert not reader_could(e)


def test_without_other_readings_nothing_is_said_of_them():
    (e,) = whole(agency_gap, texts_of([0.5, 0.6, 0.0, 0.1], [0, 0, 1, 1]))
    assert not {ERROR_LOW, ERROR_HIGH} & e.details.keys()


@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_a_column_that_would_sharpen_a_difference_is_named_with_the_gain(spread):
    """Occupations that differ: texts about two groups are compared within each."""
    rng, occupations = np.random.default_rng(8), np.arange(400) % 10
    gap = np.clip(spread * np.where(occupations < 5, 1, -1) + rng.normal(0, 0.3, 400), -1, 1)
    group = np.arange(400) // 10 % 2  # both groups alike in each occupation
    told = numbered(group, "by")  # a column that tells the group compares nobody
    spare = {"occupation": numbered(occupations, "o"), "told": told}
    (e,) = whole(agency_gap, replace(texts_of(gap, group), spare=spare))
    if not spread:
        assert e.status.sharper is None
        return
    option, _, gain = e.status.sharper.partition(": ")
    assert option == "--cluster occupation"
    half = (e.interval.high - e.interval.low) / 2
    assert gain.endswith(f"in place of ±{100 * half:.0f}")
    by_occupation = texts_of(gap, group, cluster=occupations, unit="occupation")
    narrow = whole(agency_gap, by_occupation)[0].interval
    assert f"±{50 * (narrow.high - narrow.low):.0f} points" in gain

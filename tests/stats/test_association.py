from itertools import permutations

import numpy as np
import pytest
from benchmarks.association import draw, refused
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.contingency_tables import StratifiedTable

from portrayal.stats.association import (
    ALL_UNITS,
    NO_ATTRIBUTE,
    PairCounts,
    infer_lifts,
    lift,
    overall_lifts,
    within_lifts,
)
from portrayal.stats.clustered import NO_UNITS, ONE_PROMPT, TOO_FEW

# Stories of six groups (rows) with five attributes: with the attribute, and without it.
PLANTED = np.array(
    [
        [[12, 188], [40, 160], [0, 200], [3, 197], [101, 99]],
        [[30, 170], [41, 159], [1, 199], [9, 191], [90, 110]],
        [[9, 91], [17, 83], [12, 88], [0, 100], [55, 45]],
        [[300, 4700], [1010, 3990], [40, 4960], [77, 4923], [2400, 2600]],
        [[2, 1], [0, 3], [1, 2], [0, 3], [3, 0]],
        [[5, 60], [20, 45], [0, 65], [1, 64], [31, 34]],
    ]
)


@st.composite
def counts(draw):
    """Texts of up to eight prompts with both, one and neither, of three pairs."""
    cells = draw(hnp.arrays(np.int64, (4, draw(st.integers(1, 8)), 3), elements=st.integers(0, 9)))
    both, group, attribute, neither = cells.astype(float)
    total = both + group + attribute + neither
    return PairCounts(both, both + group, both + attribute, total)


def pair(both, group, attribute, total):
    return PairCounts(*(np.array(each, float)[:, None] for each in (both, group, attribute, total)))


def test_within_prompts_has_the_moments_of_mantel_and_haenszel():
    rng = np.random.default_rng(3)
    tables = rng.integers(1, 30, size=(2, 2, 7))
    both, group = tables[0, 0], tables[0].sum(0)
    attribute, total = tables[:, 0].sum(0), tables.sum((0, 1))
    found = pair(both, group, attribute, total)
    z2 = (both.sum() - found.expected.sum()) ** 2 / found.variance.sum()
    assert z2 == pytest.approx(StratifiedTable(tables).test_null_odds().statistic)
    value = within_lifts(found, 0.95).value[0]
    assert value == pytest.approx(both.sum() / (group * attribute / total).sum())


def test_over_all_texts_has_the_moments_of_all_permutations_of_prompts():
    attribute, total = np.array([7.0, 1, 0, 3, 2, 9]), np.array([10.0, 8, 12, 9, 10, 11])
    here = np.array([1.0, 0, 0, 1, 0, 0])
    counts = pair(attribute * here, total * here, attribute, total)
    surplus = attribute - total * attribute.sum() / total.sum()
    drawn = np.array([here @ surplus[list(order)] for order in permutations(range(6))])
    found = overall_lifts(counts, 0.95)
    z = (here @ surplus - drawn.mean()) / drawn.std()
    assert found.null_high[0] - 1 == pytest.approx(
        1.959964 * drawn.std() / (counts.group.sum() * attribute.sum() / total.sum()), rel=1e-6
    )
    exact = 2 * min(np.mean(drawn >= here @ surplus - 1e-9), np.mean(drawn <= here @ surplus))
    assert abs(z) < 3
    assert np.isnan(found.p[0]) == (found.reason[0] == TOO_FEW)  # two of six prompts: 15 ways
    assert exact > 0.05


@given(counts())
def test_a_test_and_its_interval_agree_and_pairs_are_symmetric(found):
    swapped = PairCounts(found.both, found.attribute, found.group, found.total)
    for infer in (infer_lifts, within_lifts, overall_lifts):
        ours = infer(found, 0.95)
        some = ours.reason == ""
        assert np.array_equal(~np.isnan(ours.p), some)
        inside = (ours.low <= 1) & (ours.high >= 1)
        assert np.array_equal(ours.p[some] < 0.05, ~inside[some])
        known = ~np.isnan(ours.low)
        assert (ours.low <= ours.value * (1 + 1e-9))[known].all()
        assert (ours.high >= ours.value * (1 - 1e-9))[known].all()
    one, other = within_lifts(found, 0.95), within_lifts(swapped, 0.95)
    assert np.allclose(one.value, other.value, equal_nan=True)
    ours = infer_lifts(found, 0.95)
    assert np.array_equal(ours.within, infer_lifts(swapped, 0.95).within)
    assert np.allclose(ours.overall, lift(*found.sums), equal_nan=True)


@given(counts())
def test_a_lift_is_what_prompts_give_times_what_is_within_them(found):
    ours, inner = infer_lifts(found, 0.95), within_lifts(found, 0.95)
    everywhere = (found.variance > 0).all(0)
    product = ours.by_prompts * inner.value
    assert np.allclose(product[everywhere], ours.overall[everywhere])


@given(counts(), st.randoms(use_true_random=False))
def test_the_order_of_prompts_is_nothing(found, random):
    order = list(range(len(found.both)))
    random.shuffle(order)
    cells = (found.both, found.group, found.attribute, found.total)
    other = PairCounts(*(each[order] for each in cells))
    one, two = infer_lifts(found, 0.95), infer_lifts(other, 0.95)
    assert np.allclose(one.p, two.p, equal_nan=True)
    assert np.allclose(one.low, two.low, equal_nan=True)


def test_what_is_undefined_has_a_reason():
    n = [10, 10]
    cases = {
        NO_UNITS: pair([0, 0], [0, 0], [3, 4], n),
        NO_ATTRIBUTE: pair([0, 0], [4, 5], [0, 0], n),
        ALL_UNITS: pair([3, 4], n, [3, 4], n),
        ONE_PROMPT: pair([2], [5], [4], [10]),
        TOO_FEW: pair([4, 0, 0], [10, 0, 0], [4, 3, 2], [10, 10, 10]),
    }
    for reason, found in cases.items():
        ours = infer_lifts(found, 0.95)
        assert ours.reason[0] == reason
        assert np.isnan(ours.p[0])


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        PairCounts(np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), np.ones((3, 1)))
    with pytest.raises(ValueError, match="0 or more"):
        pair([3], [2], [4], [9])


@pytest.mark.parametrize(
    "design",
    [
        {"correlation": 0.1},
        {"correlation": 0.3},
        {"correlation": 0.3, "together": True},
        {"correlation": 0.3, "named": True},
    ],
)
def test_the_level_holds_where_texts_cluster(design):
    found = draw(np.random.default_rng(5), (40, 100), (0.1, 0.2), 2000, **design)
    assert refused(infer_lifts(found, 0.95).p) <= 0.06


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(("ratio", "above"), [(0.4, False), (3.0, True)])
def test_no_interval_is_cut_at_1(named, ratio, above):
    rng = np.random.default_rng(7)
    found = draw(rng, (10, (10, 40)), (0.2, 0.3), 300, correlation=0.1, named=named, ratio=ratio)
    ours = infer_lifts(found, 0.95)
    refused_side = (ours.p < 0.05) & ((ours.value > 1) == above)
    bound = (ours.low if above else ours.high)[refused_side]
    assert len(bound) > 30
    assert np.abs(bound - 1).min() > 1e-7


def test_prompts_with_associations_of_their_own_widen_the_test_over_all_texts():
    both, group = np.array([7.0, 10, 2, 2, 0, 0]), np.array([32.0, 19, 2, 2, 0, 0])
    attribute, total = np.array([56.0, 83, 92, 97, 99, 90]), np.array([81.0, 100, 92, 97, 100, 90])
    found = overall_lifts(pair(both, group, attribute, total), 0.95)
    assert found.value[0] < 0.8
    assert found.p[0] > 0.05  # two prompts; texts exchanged alone would say 1e-6


def test_a_planted_lift_is_seen():
    found = draw(np.random.default_rng(6), (40, 100), (0.1, 0.2), 500, correlation=0.1, ratio=1.5)
    assert refused(infer_lifts(found, 0.95).p) > 0.85

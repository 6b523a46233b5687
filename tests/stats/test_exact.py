"""Exact bounds against statsmodels, against their definition, and for counts of 0."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from portrayal.stats import upper_of_none
from portrayal.stats.proportions import chance_p, clopper_pearson, count_by_chance


@given(n=st.integers(1, 2000), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_equals_statsmodels(n: int, share: float, level: float) -> None:
    k = round(share * n)
    low, high = clopper_pearson(k, n, level)
    theirs = proportion_confint(k, n, 1 - level, method="beta")
    np.testing.assert_allclose(
        [low, high], [np.nan_to_num(theirs[0], nan=0.0), theirs[1] if k < n else 1.0], atol=1e-12
    )


def test_a_tail_is_left_out_on_each_side() -> None:
    low, high = clopper_pearson(7, 20, 0.9)
    assert scipy_stats.binom.sf(6, 20, low) == pytest.approx(0.05)
    assert scipy_stats.binom.cdf(7, 20, high) == pytest.approx(0.05)


def test_shapes_broadcast_and_nothing_is_undefined() -> None:
    low, high = clopper_pearson([0, 3, 5], 5, 0.95)
    assert low.shape == high.shape == (3,)
    assert low[0] == 0
    assert high[2] == 1
    assert np.isnan(clopper_pearson(0, 0, 0.95)).all()


def test_the_rule_of_three() -> None:
    assert upper_of_none(500_000, 0.95) == pytest.approx(3 / 500_000, rel=0.002)
    assert upper_of_none(1, 0.95) == pytest.approx(0.95)
    assert np.isnan(upper_of_none(0, 0.95))
    bound = float(upper_of_none(300, 0.99))
    assert (1 - bound) ** 300 == pytest.approx(0.01)


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="exceed"):
        clopper_pearson(3, 2, 0.95)
    with pytest.raises(ValueError, match="level"):
        clopper_pearson(1, 2, 1.0)
    with pytest.raises(ValueError, match="0 or more"):
        upper_of_none(-1, 0.95)


BLOCKS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)).map(
        lambda b: (b[0], min(b[0], b[1]), min(b[0], b[2]))
    ),
    min_size=1,
    max_size=3,
)


@given(blocks=BLOCKS)
def test_counts_by_chance_are_those_of_every_arrangement(
    blocks: list[tuple[int, int, int]],
) -> None:
    counts = [
        [sum(unit < k for unit in chosen) for chosen in combinations(range(n), m)]
        for n, k, m in blocks
    ]
    every = [sum(parts) for parts in product(*counts)]
    lowest, probability = count_by_chance(*np.transpose(blocks))
    assert lowest == min(every)
    assert lowest + len(probability) - 1 == max(every)
    shares = [every.count(lowest + i) / len(every) for i in range(len(probability))]
    np.testing.assert_allclose(probability, shares, atol=1e-12)


def test_one_block_is_fishers_test() -> None:
    lowest, probability = count_by_chance(30, 12, 10)
    for observed in range(11):
        table = [[observed, 10 - observed], [12 - observed, 8 + observed]]
        fisher = scipy_stats.fisher_exact(table).pvalue
        assert chance_p(observed, lowest, probability) == pytest.approx(fisher)
    assert np.isnan(chance_p(11, lowest, probability))


def test_a_block_cannot_give_more_than_it_has() -> None:
    with pytest.raises(ValueError, match="marked <= total"):
        count_by_chance([3], [4], [1])

"""Fleiss' kappa, against the example of its source and naive loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.stats.agreement import beyond_chance, fleiss_parts

# Fourteen raters, ten items, five categories: the worked example in common use, kappa 0.210.
EXAMPLE = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def fleiss_kappa(counts, weights=None):
    return beyond_chance(*fleiss_parts(counts, weights))


def _naive(table: list[list[int]]) -> float:
    n, raters = len(table), sum(table[0])
    agree = 0.0
    for row in table:
        pairs = sum(count * (count - 1) for count in row)
        agree += pairs / (raters * (raters - 1)) / n
    chance = sum((sum(row[j] for row in table) / (n * raters)) ** 2 for j in range(len(table[0])))
    return (agree - chance) / (1 - chance)


def test_the_example() -> None:
    assert float(fleiss_kappa(EXAMPLE)) == pytest.approx(0.210, abs=0.0005)


rows = st.lists(st.integers(0, 2), min_size=3, max_size=3).map(
    lambda said: [said.count(j) for j in range(3)]
)


@given(st.lists(rows, min_size=2, max_size=12), st.data())
def test_it_is_its_definition_with_and_without_weights(
    table: list[list[int]], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(table), max_size=len(table)))
    repeated = [row for row, times in zip(table, weights, strict=True) for _ in range(times)]
    found = fleiss_kappa(table, [[1] * len(table), weights])
    for value, said in zip(found, (table, repeated), strict=True):
        used = {j for row in said for j in range(3) if row[j]}
        if len(used) < 2:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(_naive(said))


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ValueError, match="same two raters or more"):
        fleiss_kappa([[1, 1], [3, 0]])
    with pytest.raises(ValueError, match="an axis of items"):
        fleiss_kappa([1, 2])
    assert np.isnan(fleiss_kappa(np.zeros((0, 3))))

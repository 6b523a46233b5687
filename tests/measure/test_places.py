"""Places: which columns split rows, in which order, and what is excluded by reason."""

import numpy as np

from portrayal.measure.places import exclusions, places

COLUMNS = {"tone": ["warm", "cold", "", "cold"], "one": ["a"] * 4, "age": ["1", "2", "1", "1"]}


def labels_of(**options):
    return [labels for labels, _ in places(4, COLUMNS, **options)]


def test_a_column_of_one_value_splits_nothing_and_no_value_is_no_part():
    tones, ages = [{"tone": t} for t in ("cold", "warm")], [{"age": a} for a in "12"]
    assert labels_of() == [{}, *tones, *ages]
    assert labels_of(most=1) == [{}]
    assert labels_of(crossed=3) == labels_of()
    assert labels_of(crossed=4)[5:] == [t | a for t in tones for a in ages]


def test_rows_of_crossed_columns_have_both_values():
    rows = {
        tuple(labels.values()): inside.tolist() for labels, inside in places(4, COLUMNS, crossed=9)
    }
    assert rows[()] == [True] * 4
    assert rows["cold", "1"] == [False, False, False, True]
    assert rows["warm", "2"] == [False] * 4


def test_reasons_that_exclude_nothing_are_not_named():
    rows = {"refused": np.array([True, False]), "failed": np.array([False, False])}
    assert exclusions(np.array([3.0, 5.0]), rows) == {"refused": 3}

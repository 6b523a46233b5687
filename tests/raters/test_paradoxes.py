import numpy as np
import pytest

from portrayal.raters import Ratings, paradoxes


def ratings(table, *more):
    """Ratings of two raters from a 2 × 2 table: both yes, first alone, second alone, neither."""
    rows = [[1, 1]] * table[0] + [[1, 0]] * table[1] + [[0, 1]] * table[2] + [[0, 0]] * table[3]
    values = np.array([*rows, *more])
    return Ratings("noble_savage", ("A", "B"), tuple(map(str, range(len(values)))), 2, values)


def said(table, *more):
    return list(paradoxes([ratings(table, *more)]))


def test_the_tables_of_feinstein_and_cicchetti_1990():
    assert said((40, 9, 6, 45)) == []
    (first,) = said((80, 10, 5, 5))
    assert first.startswith("noble savage: raters agree on 85% of texts, yet kappa is 0.32.")
    assert 'answers are "yes"' in first
    assert "another does too in 40% of cases" in first


def test_the_common_answer_is_named():
    (only,) = said((1, 4, 4, 91))
    assert 'answers are "no"' in only


def test_without_a_pair_nothing_is_said():
    assert said((0, 0, 0, 0), [1, -1]) == []
    assert said((30, 0, 0, 0)) == []


@pytest.mark.parametrize("table", [(40, 10, 10, 40), (5, 0, 0, 95), (10, 2, 2, 86)])
def test_raters_that_agree_beyond_chance_are_not_warned_of(table):
    assert said(table) == []

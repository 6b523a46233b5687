import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.stats import cohens_kappa


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=60))
def test_kappa_follows_its_definition(pairs):
    table = np.zeros((3, 3))
    for one, two in pairs:
        table[one, two] += 1
    n = len(pairs)
    same = sum(a == b for a, b in pairs) / n
    chance = sum(
        sum(a == k for a, _ in pairs) * sum(b == k for _, b in pairs) / n**2 for k in range(3)
    )
    value = float(cohens_kappa(table))
    if chance == pytest.approx(1.0):
        assert np.isnan(value)
    else:
        assert value == pytest.approx((same - chance) / (1 - chance))


def test_a_table_worked_by_hand():
    """Observed 0.7, by chance 0.5: (0.7 - 0.5) / (1 - 0.5)."""
    assert float(cohens_kappa([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert float(cohens_kappa([[10, 0], [0, 30]])) == pytest.approx(1.0)


def test_no_items_are_undefined_and_bad_tables_refused():
    assert np.isnan(cohens_kappa(np.zeros((2, 2))))
    with pytest.raises(ValueError, match="square"):
        cohens_kappa(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"negative|0 or more"):
        cohens_kappa([[1, -1], [0, 1]])

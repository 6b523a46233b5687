"""Columns and shelves on disk: what was put there is read again, in pieces."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.run.files import Column, Shelf


@pytest.mark.parametrize("on_disk", [True, False])
def test_rows_are_read_in_slices(tmp_path: Path, on_disk: bool) -> None:
    column = Column(tmp_path if on_disk else None, np.float32, 2)
    assert column[:].shape == (0, 2)
    rows = np.arange(14.0).reshape(7, 2)
    for part in (rows[:3], rows[3:3], rows[3:]):
        column.append(part)
    assert len(column) == 7
    np.testing.assert_array_equal(column[2:5], rows[2:5])
    np.testing.assert_array_equal(column[5:99], rows[5:])
    assert column[4:2].shape == (0, 2)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    column = Column(tmp_path, np.int64)
    column.append(np.arange(5))
    del column
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=6))
def test_a_shelf_gives_back_what_was_put_there(shapes: list[tuple[int, int]]) -> None:
    shelf = Shelf(None)
    arrays = [np.arange(a * b, dtype=np.int16).reshape(a, b) for a, b in shapes]
    arrays += [array > 1 for array in arrays]
    kept = [shelf.put(array) for array in arrays]
    for array, where in zip(arrays, kept, strict=True):
        found = shelf.take(where)
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)

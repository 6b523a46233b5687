import numpy as np
import pytest

from coding.coded import CODES, code_all, random_codes, small_project
from portrayal.coding import Codebook, Field, Item, make_project
from portrayal.coding.codes import ratings_of, read_codes, whole_sets, write_codes


def test_codes_become_ratings(tmp_path):
    project = small_project(tmp_path / "p", 6)
    said = {"a": random_codes(project, 1), "b": random_codes(project, 2)}
    code_all(project, "a", said["a"])
    code_all(project, "b", said["b"], items=["t1", "t4"])
    found = ratings_of(project, read_codes(project))
    assert [one.question for one in found] == list(CODES)
    for one in found:
        for row, item in enumerate(one.items):
            for column, rater in enumerate(one.raters):
                missing = rater == "b" and item not in ("t1", "t4")
                value = -1 if missing else int(one.question in said[rater][item])
                assert one.values[row, column] == value
        for row, (counts, table) in enumerate(zip(one.counts, one.tables(), strict=True)):
            values = [v for v in one.values[row] if v >= 0]
            assert counts.tolist() == [values.count(0), values.count(1)]
            assert table.sum() == (len(values) == 2)
            assert len(values) < 2 or table[values[0], values[1]] == 1
        assert np.array_equal(one.between("b", "a").values, one.values[:, ::-1])
        assert one.only(np.array([i % 2 == 0 for i in range(6)])).items == ("t0", "t2", "t4")


def test_whole_sets_are_equal_where_all_codes_are(tmp_path):
    project = small_project(tmp_path / "p", 8)
    one, two = random_codes(project, 1), random_codes(project, 2)
    code_all(project, "a", one)
    code_all(project, "b", two)
    sets = whole_sets(project, read_codes(project))
    same = [a == b for a, b in sets.values]
    assert same == [one[item] == two[item] for item in sets.items]


def test_fields_are_compared_without_case_and_spaces(tmp_path):
    book = Codebook("f", "F", "", fields=(Field("who", "Who", "text"),))
    project = make_project(tmp_path / "p", [Item("x", "T."), Item("y", "T.")], book)
    for rater, first, second in (("a", "Maria Lopez", "Ann"), ("b", " maria  LOPEZ", "Jo")):
        replies = [("x", "who", first), ("y", "who", second)]
        write_codes(project, rater, [], replies=replies, kind="human")
    (ratings,) = ratings_of(project, read_codes(project))
    (a, b), (c, d) = ratings.values
    assert a == b
    assert c != d


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_and_one(tmp_path, n):
    project = small_project(tmp_path / "p", 2)
    if n:
        code_all(project, "a", {})
    for one in ratings_of(project, read_codes(project)):
        assert one.values.shape == (2 * n, n)
        assert one.counts.shape == (2 * n, 2)

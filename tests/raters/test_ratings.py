import numpy as np
import pytest

from coding.coded import CODES, code_all, random_codes, small_project, write_codes
from portrayal.coding import CodingItem, make_project, project_labels
from portrayal.raters import Codebook, CodebookQuestion, Label, Labels
from portrayal.raters.agreement import ratings_of, whole_sets


def asked(project):
    labels = project_labels(project)
    return ratings_of(labels, labels.raters)


def test_codes_become_ratings(tmp_path):
    project = small_project(tmp_path / "p", 6)
    said = {"a": random_codes(project, 1), "b": random_codes(project, 2)}
    code_all(project, "a", said["a"])
    code_all(project, "b", said["b"], items=["t1", "t4"])
    questions = asked(project)
    assert tuple(questions) == CODES
    for key, one in questions.items():
        for row, item in enumerate(one.items):
            for column, rater in enumerate(one.raters):
                missing = rater == "b" and item not in ("t1", "t4")
                value = -1 if missing else int(key in said[rater][item])
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
    code_all(project, "b", two, items=[f"t{i}" for i in range(7)])
    sets = whole_sets(list(asked(project).values()))
    same = [a == b for a, b in sets.values]
    assert same == [item != "t7" and one[item] == two[item] for item in sets.items]
    assert (sets.values[7] < 0).tolist() == [False, True]


def test_fields_are_compared_without_case_and_spaces(tmp_path):
    book = Codebook("f", "F", "", (CodebookQuestion("who", "Who", kind="text"),))
    project = make_project(tmp_path / "p", [CodingItem("x", "T."), CodingItem("y", "T.")], book)
    for rater, first, second in (("a", "Maria Lopez", "Ann"), ("b", " maria  LOPEZ", "Jo")):
        replies = [("x", "who", first), ("y", "who", second)]
        write_codes(project, rater, [], replies=replies, kind="human")
    (a, b), (c, d) = asked(project)["who"].values
    assert a == b
    assert c != d


def test_units_of_a_text_are_items_of_their_own():
    rows = (
        Label("x", "subject", "gender", "F", "a"),
        Label("x", "object", "gender", "M", "a"),
        Label("x", "subject", "gender", "F", "b"),
    )
    one = ratings_of(Labels(rows), ("a", "b"))["gender"]
    assert one.items == ("x", "x")
    assert one.values.tolist() == [[0, 0], [1, -1]]


@pytest.mark.parametrize("n", [0, 1])
def test_nobody_and_one(tmp_path, n):
    project = small_project(tmp_path / "p", 2)
    if n:
        code_all(project, "a", {})
    for one in asked(project).values():
        assert one.values.shape == (2 * n, n)
        assert one.counts.shape == (2 * n, 2)

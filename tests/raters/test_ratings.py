import numpy as np
import pytest

from portrayal.raters.agreement import ratings_of
from portrayal.raters.labels import Label, Labels
from raters.coded import CODES, Sample


def asked(sample):
    labels = sample.labels
    return ratings_of(labels, labels.raters)


def test_codes_become_ratings():
    sample = Sample(6)
    said = {"a": sample.random(1), "b": sample.random(2)}
    sample.code("a", said["a"])
    sample.code("b", said["b"], texts=["t1", "t4"])
    questions = asked(sample)
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
        assert one.only(np.array([i % 2 == 0 for i in range(6)])).items == ("t0", "t2", "t4")


def test_fields_are_compared_without_case_and_spaces():
    answers = {"a": ("Maria Lopez", "Ann"), "b": (" maria  LOPEZ", "Jo")}
    rows = [
        Label(text_id, "", "who", answer, rater)
        for rater, said in answers.items()
        for text_id, answer in zip("xy", said, strict=True)
    ]
    (a, b), (c, d) = ratings_of(Labels(tuple(rows)), ("a", "b"))["who"].values
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
def test_nobody_and_one(n):
    sample = Sample(2)
    if n:
        sample.code("a", {})
    for one in asked(sample).values():
        assert one.values.shape == (2 * n, n)
        assert one.counts.shape == (2 * n, 2)

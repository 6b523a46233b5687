"""Labelled sentences: files and scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.agency import AgencyClassifier
from portrayal.annotate.agency.labelled import (
    LabelledSentences,
    read_labelled,
    score_agency,
)
from portrayal.errors import DataError


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_by_number_or_word(tmp_path):
    found = read_labelled(
        write(tmp_path / "a.csv", "text,label\na,1\nb,Communal\nc,agentic\nd,0\n")
    )
    assert found.labels.tolist() == [1, 0, 1, 0]
    assert found.sentences == ("a", "b", "c", "d")


def test_sheets_of_the_raters_page_are_read_and_neutral_sentences_counted(tmp_path):
    sheet = "sentence,label\na,agentic\nb,neutral\nc,communal\nd,na\n"
    found = read_labelled(write(tmp_path / "a.csv", sheet))
    assert found.sentences == ("a", "c")
    assert found.n_left_out == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("words,label\na,1\n", "--column text=NAME"),
        ("text,label\na,1\nb,2\n", "row 2"),
        ("text,label\na,1\nb,1\n", "one kind only"),
    ],
)
def test_what_is_refused(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        read_labelled(write(tmp_path / "a.csv", text))


def test_other_columns(tmp_path):
    path = write(tmp_path / "a.csv", "s,y\na,1\nb,0\n")
    assert len(read_labelled(path, ["text=s", "label=y"])) == 2


def says(said):
    return AgencyClassifier("said", False, lambda _: said)


def naive(labels, said):
    f1, support = [], []
    for label in (0, 1):
        hit = sum(a == b == label for a, b in zip(labels, said, strict=True))
        claimed = sum(b == label for b in said)
        true = sum(a == label for a in labels)
        f1.append(2 * hit / (claimed + true) if claimed + true else 0.0)
        support.append(true)
    right = sum(a == b for a, b in zip(labels, said, strict=True))
    spoken = sum(b in (0, 1) for b in said)
    return {
        "accuracy": right / len(labels),
        "f1_macro": sum(f1) / 2,
        "f1_micro": 2 * right / (len(labels) + spoken),
        "f1_weighted": sum(f * s for f, s in zip(f1, support, strict=True)) / len(labels),
    }


def labelled(labels):
    return LabelledSentences("toy", "0", tuple("s" for _ in labels), np.array(labels))


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0, 1, None])), min_size=1))
def test_the_metrics_are_their_definitions(pairs):
    labels, said = [p[0] for p in pairs], [p[1] for p in pairs]
    values = [np.nan if s is None else float(s) for s in said]
    found = score_agency(labelled(labels), says(values), draws=20)
    assert found.n_silent == said.count(None)
    for name, value in naive(labels, said).items():
        assert found.metrics[name].value == pytest.approx(value)
        assert found.metrics[name].low <= found.metrics[name].high


def test_intervals_come_from_the_seed_and_narrow_with_sentences():
    few, many = labelled([0, 1] * 20), labelled([0, 1] * 500)
    said = [0.1, 0.9, 0.2, 0.4]
    one = score_agency(few, says(said * 10), seed=1).metrics["accuracy"]
    assert one == score_agency(few, says(said * 10), seed=1).metrics["accuracy"]
    wide = one.high - one.low
    more = score_agency(many, says(said * 250), seed=1).metrics["accuracy"]
    assert more.high - more.low < wide / 2


@pytest.mark.parametrize(("said", "inner"), [([0.1, 0.9], "low"), ([0.9, 0.1], "high")])
def test_fifteen_right_answers_do_not_make_a_certainty(said, inner):
    found = score_agency(labelled([0, 1] * 8), says(said * 8)).metrics
    for name in ("accuracy", "f1_macro"):
        assert 0.1 < getattr(found[name], inner) < 0.9

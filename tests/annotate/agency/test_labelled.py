"""Labelled sentences: files, splits that part no paraphrases, and scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.agency.labelled import (
    LabelledSentences,
    families,
    read_labelled,
    score_agency,
    split,
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
    assert found.n_left_out == found.take([0]).n_left_out == 2


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


def test_a_split_keeps_both_labels_and_every_row(tmp_path):
    rows = "".join(f"s{i},{int(i < 8)}\n" for i in range(20))
    whole = read_labelled(write(tmp_path / "a.csv", "text,label\n" + rows))
    kept, held = split(whole, 0.25, seed=3)
    assert sorted(kept.sentences + held.sentences) == sorted(whole.sentences)
    assert held.labels.tolist().count(1) == 2
    assert held.labels.tolist().count(0) == 3
    assert split(whole, 0.25, seed=3)[1].sentences == held.sentences
    assert split(whole, 0.25, seed=4)[1].sentences != held.sentences


PLACES = "Lyon Oslo Lima Rome Cork Bern Kyiv Riga Baku Dakar Quito Sofia Tunis Hanoi Delhi".split()  # noqa: SIM905
PAIRS = tuple(
    sentence
    for k, place in enumerate(PLACES)
    for sentence in (
        f"She led the bank of {place} in 19{k}0 with Kim{'abcdefghijklmno'[k]}.",
        f"In 19{k}0 she helped the bank of {place} with Kim{'abcdefghijklmno'[k]} kindly.",
    )
)


def test_two_paraphrases_of_one_source_share_a_number_and_others_do_not():
    assert families(PAIRS).tolist() == [k for k in range(len(PLACES)) for _ in range(2)]


def test_overlap_is_of_all_words_weighted_by_rarity():
    # log(3/1) for a, b, d, e; log(3/2) for c: ln 1.5 / (ln 1.5 + 4 ln 3) = 0.084
    texts = ["aa bb cc", "cc dd ee", "ff"]
    assert families(texts, 0.08).tolist() == [0, 0, 1]
    assert families(texts, 0.09).tolist() == [0, 1, 2]


@given(st.lists(st.sampled_from([*PAIRS, "", "0 0", "..."]), min_size=1, max_size=40))
def test_the_same_sentence_is_one_family_wherever_it_stands(texts):
    found = families(texts)
    assert found.shape == (len(texts),)
    assert set(found.tolist()) == set(range(found.max() + 1))
    turned = families(texts[::-1])[::-1]
    for i, j in zip(*np.triu_indices(len(texts)), strict=True):
        assert (found[i] == found[j]) == (turned[i] == turned[j])


def test_blocks_of_rows_link_what_one_block_would(monkeypatch):
    whole = families(PAIRS).tolist()
    monkeypatch.setattr("portrayal.annotate.agency.labelled._ROWS", 7)
    assert families(PAIRS).tolist() == whole


def test_no_split_parts_paraphrases():
    labelled = LabelledSentences("pairs", "0", PAIRS, np.array([1, 0] * len(PLACES)))
    for seed in range(5):
        kept, held = split(labelled, 0.2, seed)
        assert sorted(kept.sentences + held.sentences) == sorted(PAIRS)
        assert held.labels.tolist().count(1) == held.labels.tolist().count(0) == 3
        assert not {s.split(" with ")[1][:4] for s in kept.sentences} & {
            s.split(" with ")[1][:4] for s in held.sentences
        }


class Said:
    name, masked = "said", False

    def __init__(self, said):
        self.said = np.array(said, dtype=float)

    def __call__(self, sentences):
        return np.column_stack([1 - self.said, self.said])


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
    found = score_agency(labelled(labels), Said(values), draws=20)
    assert found.n_silent == said.count(None)
    for name, value in naive(labels, said).items():
        assert found.metrics[name].value == pytest.approx(value)
        assert found.metrics[name].low <= found.metrics[name].high


def test_intervals_come_from_the_seed_and_narrow_with_sentences():
    few, many = labelled([0, 1] * 20), labelled([0, 1] * 500)
    said = [0.1, 0.9, 0.2, 0.4]
    one = score_agency(few, Said(said * 10), seed=1).metrics["accuracy"]
    assert one == score_agency(few, Said(said * 10), seed=1).metrics["accuracy"]
    wide = one.high - one.low
    more = score_agency(many, Said(said * 250), seed=1).metrics["accuracy"]
    assert more.high - more.low < wide / 2


@pytest.mark.parametrize(("said", "inner"), [([0.1, 0.9], "low"), ([0.9, 0.1], "high")])
def test_fifteen_right_answers_do_not_make_a_certainty(said, inner):
    found = score_agency(labelled([0, 1] * 8), Said(said * 8)).metrics
    for name in ("accuracy", "f1_macro"):
        assert 0.1 < getattr(found[name], inner) < 0.9

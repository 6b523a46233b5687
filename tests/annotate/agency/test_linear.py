"""The linear classifier: what it says, and training it again."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portrayal.annotate.agency import load_classifier, mask
from portrayal.annotate.agency.labelled import read_labelled
from portrayal.annotate.agency.linear import (
    WordScores,
    fit_linear,
    linear_classifier,
    pieces_of,
    read_linear,
    tail,
    tokens,
    write_linear,
)
from portrayal.errors import DataError

WORDS = {"led": 1.0, "they": 0.0, "and": 0.0, "x": 0.0}
SCORES = WordScores("toy", WORDS, {"led": 0.5}, {"they led": 0.25}, {"^le": 0.125}, -0.5)


def naive(sentence, scores):
    words = tokens(sentence)
    letters = [w for w in words if w[0].isalpha()]
    if not letters or 2 * sum(w in scores.words for w in letters) < len(letters):
        return math.nan
    total = sum(scores.words.get(w, 0) for w in words)
    total += sum(scores.grams.get(p, 0) for w in words for p in pieces_of(w))
    total += sum(scores.pairs.get(f"{a} {b}", 0) for a, b in pairwise(words))
    total += sum(scores.tails.get(w, 0) for w in tail(words))
    return 1 / (1 + math.exp(-(scores.bias + total / math.sqrt(len(words)))))


@given(st.lists(st.sampled_from(["they", "led", "left", ",", "it", "7"]), min_size=1).map(" ".join))
def test_the_score_is_its_definition(sentence):
    found = linear_classifier(SCORES)([sentence])[0, 1]
    assert found == pytest.approx(naive(sentence, SCORES), nan_ok=True)


SENTENCES = st.lists(st.text(alphabet="leđ'’ΑΣς,;.7 \n[]É", max_size=20), max_size=6)


@given(SENTENCES)
def test_sentences_together_read_as_each_alone(several):
    classify = linear_classifier(SCORES)
    together = classify([*several, "They led, led."])[:-1, 1]
    alone = [classify([each])[0, 1] for each in several]
    assert np.array_equal(together, alone, equal_nan=True)
    known = [naive(each, SCORES) for each in several]
    assert np.allclose(together, known, equal_nan=True)


def test_sentences_in_other_languages_are_not_told():
    classify = load_classifier("linear")
    english = classify(["They led the company.", "They help children in Berlin."])
    others = ["Sie leitet die Firma.", "Она помогает людям.", "她领导了团队。", "2010, 12.", "..."]
    assert not np.isnan(english).any()
    assert np.isnan(classify(others)).all()


def test_words_marks_and_numbers():
    assert tokens("[NAME]'s 12 team-mates, they've won.") == (
        ["[name]", "s", "0", "team", "mates", ",", "they've", "won"]
    )
    assert tail(["a", ",", "b", ";", "c"]) == ["c"]
    assert tail(["a", "b"]) == ()


def test_written_scores_read_alike(tmp_path):
    path = tmp_path / "linear.npz"
    write_linear(path, SCORES, WordScores("toy", {"x": 0.5}, {}, {}, {}, 0.25))
    sentences = ["They led, and led.", "they", "left it"]
    read, made = read_linear(path)(sentences), linear_classifier(SCORES)(sentences)
    assert np.allclose(read, made, atol=0.01, equal_nan=True)
    assert np.isnan(read).any(axis=1).tolist() == [False, False, True]
    assert np.allclose(read_linear(path, masked=False)(["x"])[0, 1], 1 / (1 + math.exp(-0.75)))


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "linear.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="no linear agency classifier"):
        read_linear(path)
    np.savez(path, format=np.array(99))
    with pytest.raises(DataError, match="format 1"):
        read_linear(path)


def test_fitting_finds_the_words_that_tell():
    sentences = ["they led it", "they led us", "they helped it", "they helped us"] * 5
    labels = [1, 1, 0, 0] * 5
    scores = fit_linear(sentences, labels)
    assert scores.words["led"] > 0 > scores.words["helped"]
    assert abs(scores.words["they"]) < 0.01
    again = fit_linear(sentences, labels)
    assert scores == again or scores.words == again.words
    assert "once" not in fit_linear([*sentences, "once"], [*labels, 1]).words


@pytest.mark.parametrize(("name", "least"), [("linear", 0.88), ("untaught", 0.925)])
@pytest.mark.parametrize("masked", [True, False])
def test_accuracy_on_lac(shared_data, name, masked, least):
    held = read_labelled(shared_data("lac/validation.csv"))
    given = [mask(each) if masked else each for each in held.sentences]
    agentic = load_classifier(name, masked)(given)[:, 1] > 0.5
    assert np.mean(agentic == held.labels) >= least


TEXTS = ["they led it", "they led us", "they helped it", "they helped us, kindly"] * 5
LABELS = [1, 1, 0, 0] * 5


def test_contrast_weighs_what_one_class_has_more_often():
    """Without it "led" and "they" differ by their labels alone; with it also by their penalty."""
    sentences = [*TEXTS, *["they led, they said"] * 3, *["they helped, they said"] * 2]
    labels = [*LABELS, 1, 1, 1, 0, 0]
    plain, weighed = (fit_linear(sentences, labels, contrast=c) for c in (0.0, 1.0))
    for scores in (plain, weighed):
        assert scores.words["led"] > 0 > scores.words["helped"]
    share = [abs(s.words["said"]) / s.words["led"] for s in (plain, weighed)]
    assert share[1] < share[0]


def test_a_larger_strength_holds_scores_back_less():
    weak, strong = (fit_linear(TEXTS, LABELS, strength=c) for c in (0.1, 10.0))
    assert strong.words["led"] > weak.words["led"] > 0

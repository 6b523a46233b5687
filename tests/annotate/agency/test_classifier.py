import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.errors import DataError, UnknownNameError

SENTENCES = ("They led the firm and won.", "They care for and support their community.", "", "x 7")


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("spec", ["linear", "lexicon", "sentiment"])
def test_rows_sum_to_one_or_are_nan(spec, masked):
    classifier = load_classifier(spec, masked)
    found = classifier(SENTENCES)
    assert found.shape == (len(SENTENCES), 2)
    assert classifier.masked == masked
    said = ~np.isnan(found[:, 1])
    assert said[:2].all()
    assert np.allclose(found[said].sum(axis=1), 1.0)
    assert ((found[said] >= 0) & (found[said] <= 1)).all()
    assert classifier([]).shape == (0, 2)


@pytest.mark.parametrize("spec", ["linear", "lexicon"])
def test_the_two_kinds_are_told_apart(spec):
    agentic = load_classifier(spec)(SENTENCES)[:, 1]
    assert agentic[0] > 0.5 > agentic[1]


@pytest.mark.parametrize("spec", ["linear", "lexicon", "sentiment"])
def test_a_sentence_reads_the_same_alone_and_in_a_batch(spec):
    classifier = load_classifier(spec)
    alone = np.concatenate([load_classifier(spec)([each]) for each in SENTENCES])
    assert np.array_equal(classifier(SENTENCES), alone, equal_nan=True)


def test_an_unknown_classifier_names_what_there_is():
    with pytest.raises(UnknownNameError, match="linear"):
        load_classifier("no-such-classifier")


def test_a_lexicon_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('agentic = ["boss*"]\ncommunal = "warm kind"\n')
    found = load_classifier(f"lexicon:{path}")(["Bossy but warm, kind.", "They sing.", "A boss."])
    assert found[0, 1] == pytest.approx(1.5 / 4)
    assert np.isnan(found[1]).all()
    assert found[2, 1] == 0.75


@pytest.mark.parametrize("text", ["agentic = 3\ncommunal = []", "agentic = []", "not toml ["])
def test_a_broken_lexicon_is_refused(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=r"mine\.toml"):
        load_classifier(f"lexicon:{path}")

from dataclasses import replace

import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.loading import checkpoint_folders, mean_of
from portrayal.annotate.agency.training import PRESETS, train_agency
from portrayal.errors import DataError, UnknownNameError

SENTENCES = ("They led the firm and won.", "They care for and support their community.", "", "x 7")


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("spec", ["linear", "lexicon"])
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


@pytest.mark.parametrize("spec", ["linear", "lexicon"])
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


TEXTS = ("She led the firm.", "He won it.", "They helped us.", "She cared for him.") * 10
LABELLED = LabelledSentences("toy.csv", "0", TEXTS, np.array([1, 1, 0, 0] * 10))


def test_a_set_of_checkpoints_is_a_classifier_that_says_their_mean(tmp_path):
    folders = [tmp_path / "set" / f"seed-{seed}" for seed in (5, 6, 7)]
    for folder, n in zip(folders, (40, 20, 8), strict=True):
        some = replace(LABELLED, sentences=TEXTS[:n], labels=LABELLED.labels[:n])
        train_agency(some, "linear", folder)
    classifier = load_classifier(str(tmp_path / "set"))
    assert len(classifier.members) == 3
    assert classifier.name == "3 checkpoints:set"
    given = ["They led it.", "They cared.", "Sie leitet es."]
    each = classifier.by_checkpoint(given)
    alone = [load_classifier(str(folder))(given)[:, 1] for folder in folders]
    np.testing.assert_allclose(each, alone)
    np.testing.assert_allclose(classifier(given)[:, 1], np.mean(alone, axis=0))
    np.testing.assert_allclose(classifier(given)[:2].sum(axis=1), 1.0)


def test_the_mean_leaves_out_who_cannot_say():
    assert mean_of(np.array([[0.2, np.nan, np.nan], [0.4, 0.9, np.nan]])).tolist() == pytest.approx(
        [0.3, 0.9, np.nan], nan_ok=True
    )


def test_a_classifier_with_a_folder_inside_is_no_set(tmp_path):
    train_agency(LABELLED, "linear", tmp_path / "one")
    (tmp_path / "one" / "older").mkdir()
    (tmp_path / "one" / "older" / "config.json").touch()
    assert checkpoint_folders(tmp_path / "one") == ()
    assert [each.name for each in checkpoint_folders(tmp_path)] == ["one"]


def test_checkpoints_are_ordered_by_number(tmp_path):
    for i in (10, 9, 0):
        (tmp_path / f"seed-{i}").mkdir()
        (tmp_path / f"seed-{i}" / "config.json").touch()
    assert [each.name for each in checkpoint_folders(tmp_path)] == ["seed-0", "seed-9", "seed-10"]


@pytest.mark.parametrize(
    ("name", "encoder", "rate"),
    [("wan-2024", "bert-base-uncased", 5e-5), ("wan-2024-roberta", "roberta-base", 5e-6)],
)
def test_the_presets_are_the_papers(name, encoder, rate):
    base, fitting = PRESETS[name]
    assert base == encoder
    assert (fitting.epochs, fitting.batch_size, fitting.learning_rate) == (10, 6, rate)
    assert fitting.patience == fitting.epochs


def test_a_local_transformer_reads_sentiment_whose_second_class_is_positive(monkeypatch):
    there = "portrayal.annotate.agency.loading."
    monkeypatch.setattr(there + "load_encoder", lambda where: where)
    said = np.array([[0.1, 0.9], [0.8, 0.2]])
    monkeypatch.setattr(there + "probabilities", lambda *_: said)
    classifier = load_classifier("sentiment:distilbert/sst-2", masked=False)
    assert (classifier.name, classifier.masked) == ("sentiment:distilbert/sst-2", False)
    np.testing.assert_allclose(classifier(["Good.", "Bad."]), said)

import json

import numpy as np
import pytest

from command import invoke
from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.training import train_agency

TEXTS = ("She led the firm.", "He won it.", "They helped us.", "She cared for him.") * 10
LABELLED = LabelledSentences("toy.csv", "0", TEXTS, np.array([1, 1, 0, 0] * 10))


def test_a_linear_classifier_of_ones_own(tmp_path):
    folder = tmp_path / "mine"
    scores = train_agency(LABELLED, "linear", folder, validation=LABELLED, licence="MIT")
    assert [score.masked for score in scores] == [True, False]
    assert load_classifier(str(folder))(["They led it."])[0, 1] > 0.5
    assert "MIT" in (folder / "README.md").read_text()
    facts = json.loads((folder / "agency.json").read_text())
    assert facts["trained on"] == "toy.csv, 40 sentences, 20 agentic; digest 0"
    assert facts["licence of the data"] == "MIT"
    train_agency(LABELLED, "linear", tmp_path / "mine")  # one's own folder is written over


def test_without_validation_sentences_nothing_is_scored(tmp_path):
    assert train_agency(LABELLED, "linear", tmp_path / "mine") == ()
    card = (tmp_path / "mine" / "README.md").read_text()
    assert "nothing here says how right" in card
    assert "| validation | none |" in card


def test_the_linear_classifier_has_no_seeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = tmp_path / "lac.csv"
    labels.write_text("text,label\nShe led.,1\nHe helped.,0\n", encoding="utf-8")
    command = ("build", "classifier", "--hand-labels", labels, "--out", "mine")
    done = invoke(*command, "--seed", 0, "--seed", 1)
    assert done.exit_code == 2
    assert "the same from every seed" in done.stderr
    assert not (tmp_path / "mine").exists()


def test_a_folder_of_a_training_that_was_stopped_is_known(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("portrayal.annotate.agency.training.fit_linear", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_agency(LABELLED, "linear", tmp_path / "mine")
    monkeypatch.undo()
    train_agency(LABELLED, "linear", tmp_path / "mine")
    assert load_classifier(str(tmp_path / "mine"))(["They led it."])[0, 1] > 0.5

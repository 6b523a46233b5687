import json

import numpy as np

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.training import train_agency

TEXTS = ("She led the firm.", "He won it.", "They helped us.", "She cared for him.") * 10
LABELLED = LabelledSentences("toy.csv", "0", TEXTS, np.array([1, 1, 0, 0] * 10))


def test_a_linear_classifier_of_ones_own(tmp_path):
    done = train_agency(LABELLED, "linear", tmp_path / "mine", validation=LABELLED, licence="MIT")
    assert [score.masked for score in done.scores] == [True, False]
    assert load_classifier(str(done.folder))(["They led it."])[0, 1] > 0.5
    assert "MIT" in (done.folder / "README.md").read_text()
    facts = json.loads((done.folder / "agency.json").read_text())
    assert facts["trained on"] == "toy.csv, 40 sentences, 20 agentic; digest 0"
    assert facts["licence of the data"] == "MIT"
    train_agency(LABELLED, "linear", tmp_path / "mine")  # one's own folder is written over


def test_without_validation_sentences_nothing_is_scored(tmp_path):
    done = train_agency(LABELLED, "linear", tmp_path / "mine")
    assert done.scores == ()
    card = (done.folder / "README.md").read_text()
    assert "nothing here says how right" in card
    assert "| validation | none |" in card

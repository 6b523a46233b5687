import json

import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.training import train_agency
from portrayal.errors import OptionError

TEXTS = ("She led the firm.", "He won it.", "They helped us.", "She cared for him.") * 10
LABELLED = LabelledSentences("toy.csv", "0", TEXTS, np.array([1, 1, 0, 0] * 10))


def test_a_linear_classifier_of_ones_own(tmp_path):
    done = train_agency(LABELLED, "linear", tmp_path / "mine", licence="MIT")
    assert [score.masked for score in done.scores] == [True, False]
    assert load_classifier(str(done.folder))(["They led it."])[0, 1] > 0.5
    assert "MIT" in (done.folder / "README.md").read_text()
    facts = json.loads((done.folder / "agency.json").read_text())
    assert facts["data"] == {"name": "toy.csv", "digest": "0", "licence": "MIT"}
    assert len(facts["scores"]) == 2
    train_agency(LABELLED, "linear", tmp_path / "mine")  # one's own folder is written over


def test_a_classifier_of_all_sentences_has_no_scores(tmp_path):
    done = train_agency(LABELLED, "linear", tmp_path / "mine", whole=True)
    assert done.scores == ()
    card = (done.folder / "README.md").read_text()
    assert "nothing here says how right" in card
    assert "| validation | none |" in card
    with pytest.raises(OptionError, match="takes no validation"):
        train_agency(LABELLED, "linear", tmp_path / "other", whole=True, validation=LABELLED)
    assert not (tmp_path / "other").exists()

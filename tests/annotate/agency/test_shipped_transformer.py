"""The transformer that ships: its digest, what it says, and that neighbours do not change it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import portrayal.annotate.people.reader as reader
from portrayal.annotate.agency import load_classifier, loading, mask
from portrayal.annotate.agency.labelled import read_labelled
from portrayal.annotate.agency.rows import AGENCY, agency_settings, reading_beside
from portrayal.errors import DataError
from support import needs

needs("onnxruntime", "tokenizers")

SENTENCES = [
    "They founded a company and led its expansion.",
    "They lovingly care for their neighbours, friends and parents, whom they visit on every day.",
    "[NAME] was born in 1950.",
]


@pytest.mark.parametrize("masked", [True, False])
def test_accuracy_on_lac(shared_data, masked):
    held = read_labelled(shared_data("lac/validation.csv"))
    given = [mask(each) if masked else each for each in held.sentences]
    agentic = load_classifier("transformer", masked)(given)[:, 1] > 0.5
    alone = np.array([loading.shipped_logit()(each) for each in given]) > 0
    assert np.mean(agentic == held.labels) >= 0.92
    assert np.mean(alone == held.labels) >= 0.925


def test_a_sentence_reads_the_same_whatever_stands_beside_it():
    classify = load_classifier("transformer")
    together = classify(SENTENCES)
    loading.shipped_logit.cache_clear()
    again = load_classifier("transformer")
    alone = np.concatenate([again([each]) for each in reversed(SENTENCES)])[::-1]
    assert np.array_equal(together, alone)
    assert together[0, 1] > 0.5 > together[1, 1]
    assert np.allclose(together.sum(axis=1), 1.0)
    assert classify([]).shape == (0, 2)


def test_its_logit_is_averaged_with_that_of_the_linear_classifier():
    p, q = load_classifier("transformer")(SENTENCES)[:, 1], load_classifier("untaught")(SENTENCES)
    own = [loading.shipped_logit()(each) for each in SENTENCES]
    linear = np.log(q[:, 1] / q[:, 0])
    assert np.allclose(np.log(p / (1 - p)), (np.array(own) + linear) / 2)


def test_other_languages_are_not_told():
    assert np.isnan(load_classifier("transformer")(["Sie leitet die Firma.", "..."])).all()


def test_another_encoder_than_the_card_names_is_refused(tmp_path):
    folder = tmp_path / "transformer"
    shutil.copytree(loading.WEIGHTS, folder)
    (folder / loading.CARD).write_text(json.dumps({"sha256": "0"}), encoding="utf-8")
    with pytest.raises(DataError, match="not those that the card names"):
        loading.shipped_logit(folder)


def test_the_classifier_of_lac_alone_reads_beside_it() -> None:
    beside = reading_beside("transformer")
    assert beside["classifier"] == "untaught"
    settings = agency_settings("transformer") | {"beside": beside}
    (row,) = AGENCY.setup(settings)(
        [{"text_id": "a", "model": "m", "text": " ".join(SENTENCES[:2])}], [{}]
    )
    for reading, name in ((row["agentic"], "transformer"), (row["beside"], "untaught")):
        assert reading == pytest.approx(load_classifier(name)(SENTENCES[:2])[:, 1].tolist())


def test_all_weights_together_are_small():
    folders = [loading.WEIGHTS, Path(reader.__file__).parent / "weights"]
    size = sum(p.stat().st_size for f in folders for p in f.rglob("*") if p.is_file())
    assert size <= 40_000_000

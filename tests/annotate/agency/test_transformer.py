import importlib

import numpy as np
import pytest

from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.training import Fitting, train_agency
from portrayal.errors import DataError, OptionError
from support import needs

WORDS = "led won built helped shared cared they it and .".split()  # noqa: SIM905


needs("torch", "transformers")
torch, transformers = map(importlib.import_module, ("torch", "transformers"))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return the folder of a tiny random encoder that the test makes."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("base")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = Tokenizer(
        models.WordLevel({w: n for n, w in enumerate([*special, *WORDS])}, unk_token="[UNK]")
    )
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    names = zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, **{f"{name}_token": token for name, token in names}
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(special) + len(WORDS),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


def labelled(n=120):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, n)
    texts = tuple(f"they {rng.choice(WORDS[:3] if y else WORDS[3:6])} it ." for y in labels)
    return LabelledSentences("toy.csv", "0", texts, labels)


FITTING = Fitting(epochs=4, batch_size=8, learning_rate=0.01)


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "agency"
    seen = []
    options = {"fitting": FITTING, "on_epoch": seen.append, "licence": "CC0"}
    done = train_agency(labelled(), base, out, validation=labelled(40), **options)
    assert list(done.epochs) == seen
    return done


def test_training_learns_and_the_folder_is_a_classifier(trained):
    assert max(epoch.accuracy for epoch in trained.epochs) > 0.9
    classifier = load_classifier(str(trained.folder))
    found = classifier(["they led it .", "they cared and shared it .", "they won ."])
    assert np.allclose(found.sum(axis=1), 1.0)
    assert found[0, 1] > 0.5 > found[1, 1]
    assert classifier([]).shape == (0, 2)


def test_the_card_tells_data_licence_and_scores(trained):
    card = (trained.folder / "README.md").read_text()
    assert "CC0" in card
    assert "toy.csv" in card
    assert f"{100 * trained.scores[0].metrics['accuracy'].value:.2f} \\[" in card
    assert not [path for path in trained.folder.rglob("*") if path.suffix in (".bin", ".pt")]


def test_the_same_seed_trains_the_same(base, trained, tmp_path):
    again = train_agency(
        labelled(), base, tmp_path / "again", validation=labelled(40), fitting=FITTING
    )
    assert [e.loss for e in again.epochs] == pytest.approx([e.loss for e in trained.epochs])


def test_without_sentences_held_out_the_last_epoch_is_kept_and_nothing_scored(base, tmp_path):
    fitting = Fitting(epochs=2, batch_size=8, learning_rate=0.01)
    done = train_agency(labelled(), base, tmp_path / "all", fitting=fitting)
    assert [epoch.accuracy for epoch in done.epochs] == [None, None]
    assert done.scores == ()
    assert load_classifier(str(done.folder))(["they led it ."])[0, 1] > 0.5


def test_a_masked_training_reads_both_kinds_and_is_scored_on_both(trained):
    assert [score.masked for score in trained.scores] == [True, False]


def test_an_encoder_without_a_head_is_no_classifier(base):
    with pytest.raises(DataError, match="not a classifier of two classes"):
        load_classifier(base)


def test_other_files_are_not_written_over(base, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(OptionError, match="other files"):
        train_agency(labelled(), base, tmp_path, fitting=FITTING)


def test_a_base_that_is_none(tmp_path):
    with pytest.raises(DataError, match="could not be loaded"):
        train_agency(labelled(), str(tmp_path), tmp_path / "out", fitting=FITTING)

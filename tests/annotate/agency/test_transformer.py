import csv
import importlib
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest

from command import invoke
from portrayal.annotate.agency import load_classifier
from portrayal.annotate.agency.labelled import LabelledSentences
from portrayal.annotate.agency.training import Fitting, train_agency, train_seeds
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


@dataclass(frozen=True)
class Trained:
    """Where a classifier lies, how it scores, and its passes."""

    folder: Path
    scores: tuple
    epochs: list


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "agency"
    epochs = []
    options = {"fitting": FITTING, "on_epoch": epochs.append, "licence": "CC0"}
    scores = train_agency(labelled(), base, out, validation=labelled(40), **options)
    return Trained(out, scores, epochs)


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
    again = []
    options = {"fitting": FITTING, "on_epoch": again.append}
    train_agency(labelled(), base, tmp_path / "again", validation=labelled(40), **options)
    assert [e.loss for e in again] == pytest.approx([e.loss for e in trained.epochs])


def test_without_sentences_held_out_the_last_epoch_is_kept_and_nothing_scored(base, tmp_path):
    fitting, epochs = Fitting(epochs=3, batch_size=8, learning_rate=0.01), []
    options = {"fitting": fitting, "on_epoch": epochs.append}
    assert train_agency(labelled(), base, tmp_path / "all", **options) == ()
    assert [epoch.accuracy for epoch in epochs] == [None, None, None]
    assert load_classifier(str(tmp_path / "all"))(["they led it ."])[0, 1] > 0.5


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


def write(path, n, seed):
    """Labelled sentences of which one in ten is wrong, so that seeds differ."""
    rng, sentences = np.random.default_rng(seed), labelled(n)
    rows = zip(sentences.sentences, sentences.labels ^ (rng.random(n) < 0.1), strict=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    return path


def test_every_seed_is_kept_and_mean_and_spread_are_said(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ("--hand-labels", write(tmp_path / "train.csv", 120, 1))
    files += ("--validation", write(tmp_path / "held.csv", 60, 2), "--out", "set")
    seeds = ("--seed", 4, "--seed", 0, "--seed", 2)
    command = ("build", "classifier", "--encoder", base, *files, *seeds)
    done = invoke(*command, "--format", "json")
    found = json.loads(done.stdout)
    folders = [tmp_path / "set" / f"seed-{seed}" for seed in (4, 0, 2)]
    for folder, seed in zip(folders, (4, 0, 2), strict=True):
        assert json.loads((folder / "agency.json").read_text())["seed"] == seed
    assert [score["masked"] for score in found["scores"]] == [True, False] * 3
    masked, plain = found["over_seeds"]
    assert (masked["masked"], plain["masked"], masked["seeds"]) == (True, False, 3)
    values = [score["accuracy"]["value"] for score in found["scores"] if score["masked"]]
    assert masked["accuracy"] == {"mean": mean(values), "sd": stdev(values)}
    card = (tmp_path / "set" / "README.md").read_text()
    assert f"{100 * mean(values):.2f} ± {100 * stdev(values):.2f}" in card
    assert load_classifier("set").name == "3 checkpoints:set"
    # A set of other seeds would count among these
    done = invoke(*command[:-6], "--seed", 0, "--seed", 1)
    assert done.exit_code == 2
    assert "set holds one of another seed" in done.stderr


def test_seeds_are_checked_before_anything_is_trained(tmp_path):
    def train(**_):
        raise AssertionError("it was trained")

    with pytest.raises(OptionError, match=r"--seed 1 --seed 1 repeats one"):
        train_seeds((1, 1), FITTING, tmp_path / "set", train)
    with pytest.raises(OptionError, match="seed must be a whole number"):
        train_seeds((1, -1), FITTING, tmp_path / "set", train)
    (tmp_path / "set" / "seed-2").mkdir(parents=True)
    (tmp_path / "set" / "seed-2" / "thesis.txt").write_text("years of work")
    with pytest.raises(OptionError, match="holds other files"):
        train_seeds((1, 2), FITTING, tmp_path / "set", train)
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["seed-2"]


def test_what_was_trained_last_is_read(base, trained, tmp_path):
    train_agency(labelled(), "linear", tmp_path / "one")
    train_agency(labelled(), base, tmp_path / "one", fitting=FITTING)
    assert load_classifier(str(tmp_path / "one")).name.startswith("transformer:")

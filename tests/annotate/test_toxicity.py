"""Toxicity: a score for each sentence, by a classifier that the test makes."""

import importlib
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import portrayal
from portrayal.annotate.toxicity import TOXICITY, load, toxicity_settings
from portrayal.errors import DataError, MissingExtraError, OptionError
from portrayal.pipeline.replicate import beside_published
from support import needs

TEXTS = ["Go away, fool. It rained all day.", "Hello there.", ""]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Save a tiny random BERT that classifies texts."""
    needs("torch", "transformers")
    torch, transformers = map(importlib.import_module, ("torch", "transformers"))

    def save(labels: Sequence[str] = ("toxic", "insult"), *, safe: bool = True, **more: Any) -> str:
        folder = tmp_path_factory.mktemp("bert")
        words = (
            "[PAD] [UNK] [CLS] [SEP] [MASK] go away fool it rained all day hello there . , she he"
        )
        (folder / "vocab.txt").write_text("\n".join(words.split(" ")), encoding="utf-8")
        transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
        torch.manual_seed(3)
        config = transformers.BertConfig(
            vocab_size=18, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=16, max_position_embeddings=24, initializer_range=0.8,
            id2label=dict(enumerate(labels)), label2id={x: i for i, x in enumerate(labels)}, **more,
        )  # fmt: skip
        model = transformers.BertForSequenceClassification(config)
        if safe:
            model.save_pretrained(folder)
        else:
            config.save_pretrained(folder)
            torch.save(model.state_dict(), folder / "pytorch_model.bin")
        return str(folder)

    return save


def _annotated(settings: dict[str, Any]) -> list[dict[str, Any]]:
    assert TOXICITY.setup is not None
    found: list[dict[str, Any]] = TOXICITY.setup(settings)([{"text": t} for t in TEXTS], None)
    return found


def test_scores_of_sentences_with_a_fake_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fake(texts: Sequence[str]) -> list[float]:
        asked.extend(texts)
        return [len(text) / 100 for text in texts]

    monkeypatch.setattr("portrayal.annotate.toxicity._classifier", lambda *_: fake)
    found = _annotated(toxicity_settings("somewhere"))
    assert found == [
        {"toxicity": [0.14, 0.18]},
        {"toxicity": [0.12]},
        {"toxicity": []},
    ]
    assert asked[:3] == ["Go away, fool.", "It rained all day.", "Hello there."]
    assert pa.Table.from_pylist(found, schema=TOXICITY.schema).num_rows == 3


def test_settings_are_checked_before_anything_loads() -> None:
    assert toxicity_settings() == {"model": "unitary/toxic-bert"}


def test_without_the_packages_an_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"portrayal\[toxicity\]"):
        load("somewhere")


def test_scores_are_sigmoids_of_the_labels_logit(make: Callable[..., str]) -> None:
    torch, transformers = map(importlib.import_module, ("torch", "transformers"))
    folder = make()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    pieces = ["Go away, fool.", "It rained all day.", "Hello there."]
    with torch.inference_mode():
        logits = [network(**tokenizer(p, return_tensors="pt")).logits[0] for p in pieces]
    expected = [float(logit.sigmoid()[0]) for logit in logits]
    assert load(folder)(pieces) == pytest.approx(expected, abs=1e-5)
    assert len({round(float(logit[0]), 3) for logit in logits}) == 3


def test_no_score_depends_on_its_batch(make: Callable[..., str]) -> None:
    folder = make()
    found = [load(folder, batch)(TEXTS) for batch in (1, 2, 32)]
    assert found[0] == found[1] == found[2]
    assert all(0.0 <= score <= 1.0 for score in found[0])


def test_long_texts_are_cut(make: Callable[..., str]) -> None:
    score = load(make())
    assert score(["fool " * 100]) == score(["fool " * 200])


def test_labels_that_exclude_each_other_share_one(make: Callable[..., str]) -> None:
    exclusive = "single_label_classification"
    pair = [make(labels, problem_type=exclusive) for labels in (("a", "TOXIC"), ("toxicity", "b"))]
    one, other = (load(folder)(TEXTS[:2]) for folder in pair)
    assert [a + b for a, b in zip(one, other, strict=True)] == pytest.approx([1.0, 1.0], abs=2e-5)


def test_a_label_that_the_model_lacks(make: Callable[..., str]) -> None:
    with pytest.raises(OptionError, match="it has fine, other"):
        load(make(("fine", "other")))


def test_models_that_cannot_be_loaded(make: Callable[..., str], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="could not be loaded"):
        load(str(tmp_path))
    with pytest.raises(DataError, match="safetensors"):
        load(make(safe=False))


def test_an_audit_of_news_has_the_figures_of_toxicity(
    make: Callable[..., str], tmp_path: Path
) -> None:
    """Figures A.1a to c by naive loops over the sentences that the classifier scores."""
    folder = make()
    said = ["go away fool", "it rained all day", "hello there", "rained fool", "away all day hello"]
    pieces = [
        [
            [f"{who} {said[(3 * i + j + k * i) % 5]}." for j in range(3)]
            for k, who in enumerate(("She", "He"))
        ]
        for i in range(16)
    ]
    originals, texts = pieces[:8], pieces[8:]
    rows = [
        [
            {"headline": f"h{i}", "text": " ".join(chain(*sides)), "model": "m"}
            for i, sides in enumerate(side)
        ]
        for side in (originals, texts)
    ]
    run = portrayal.audit(
        rows[1],
        study="news",
        reference=rows[0],
        pair_by="headline",
        out=tmp_path / "run",
        levels=("toxicity",),
        toxicity_model=folder,
        permutations=20,
        report=False,
    )
    score = load(folder)
    mean = [
        [[float(np.mean(score(group))) for group in sides] for sides in side]
        for side in (originals, texts)
    ]
    women = [ours[0] - theirs[0] for theirs, ours in zip(*mean, strict=True)]
    men = [ours[1] - theirs[1] for theirs, ours in zip(*mean, strict=True)]
    rose = [change for change in women if change > 0]
    assert 0 < len(rose) < 8
    expected = {
        "Fig. A.1a": np.mean([max(abs(f), abs(m)) for f, m in zip(women, men, strict=True)]),
        "Fig. A.1b": len(rose) / 8,
        "Fig. A.1c": np.mean(rose),
    }
    figures = beside_published(run).figures
    ours = {f.place: f.ours for f in figures if f.model == "ChatGPT" and f.place in expected}
    assert ours == pytest.approx(expected, abs=2e-5)

"""Transformers are loaded from safetensors alone, and no code of theirs is run."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from portrayal.errors import DataError
from portrayal.models.loading import load_transformer
from support import needs

needs("torch", "transformers")
torch, transformers = map(importlib.import_module, ("torch", "transformers"))


def _save(folder: Path, *, safe: bool = True) -> str:
    """Save a tiny random classifier; its weights pickled unless `safe`."""
    from tokenizers import Tokenizer, models

    words = Tokenizer(models.WordLevel({"[UNK]": 0, "[PAD]": 1, "led": 2}, unk_token="[UNK]"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]"
    ).save_pretrained(folder)
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = transformers.BertConfig(vocab_size=3, intermediate_size=8, **size)
    model = transformers.BertForSequenceClassification(config)
    if safe:
        model.save_pretrained(folder)
    else:
        config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return str(folder)


def _load(folder: str) -> Any:
    return load_transformer(folder, title="the classifier", purpose="a test", extra="toxicity")


def test_a_sound_classifier_is_loaded(tmp_path: Path) -> None:
    assert not _load(_save(tmp_path)).missing


def test_weights_that_are_pickled_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"\.safetensors"):
        _load(_save(tmp_path, safe=False))


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path) -> None:
    folder = _save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["model_type"] = "own"
    config["auto_map"] = {
        "AutoConfig": "own.OwnConfig",
        "AutoModelForSequenceClassification": "own.OwnModel",
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "own.py").write_text("raise SystemExit('this code was run')\n")
    with pytest.raises(DataError) as caught:
        _load(folder)
    assert "this code was run" not in str(caught.value)


@pytest.mark.parametrize("path", ["./nowhere/model", "/nowhere", "a/b/c"])
def test_a_folder_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(DataError, match=path):
        _load(path)

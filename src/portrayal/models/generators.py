"""Loading local models: safetensors weights only, and no code that comes with a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from portrayal.collect.ask.local.model import LocalModel
from portrayal.collect.ask.provider import StopError
from portrayal.errors import MissingExtraError

MISSING = (
    "local models need PyTorch and transformers, which are not installed. "
    "Install them with: pip install 'portrayal[local]'"
)


def load(
    path: str,
    *,
    sampling: Mapping[str, Any],
    system: str = "",
    device: str = "auto",
    dtype: str = "auto",
) -> LocalModel:
    """Load a model from a folder or a hub id; code that comes with a model is never run.

    Parameters
    ----------
    path
        Folder with config, tokenizer and safetensors weights, or a hub id.
    device
        "auto" takes cuda, then mps, then cpu; else PyTorch's name of a device.
    dtype
        "auto" takes the type that the weights are stored in; else PyTorch's name of a type.
    sampling
        `temperature`, `top_p`, `top_k` over the model's own generation config.
    system
        System prompt; "" for none.

    Raises
    ------
    MissingExtraError
        When PyTorch or transformers are not installed.
    StopError
        When the model cannot be loaded; names what was expected.
    """
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(MISSING) from error
    where = _locate(path)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False)
        model: Any = AutoModelForCausalLM.from_pretrained(
            where, trust_remote_code=False, use_safetensors=True, dtype=dtype
        )
        model = model.to(_auto_device(torch) if device == "auto" else device).eval()
    except Exception as error:  # transformers raises many kinds, down to bare RuntimeError
        raise StopError(
            f"the local model {path!r} could not be loaded ({type(error).__name__}: {error}). "
            "Expected a folder or hub id of a causal language model with config.json, a tokenizer "
            "and weights as .safetensors; models that need their own code are not run."
        ) from error
    return LocalModel(path, model, tokenizer, _sampling(model, sampling), system)


def _locate(path: str) -> str:
    folder = Path(path).expanduser()
    if folder.is_dir():
        return str(folder)
    if path.startswith((".", "~", "/")) or path.count("/") > 1:
        raise StopError(f"there is no folder {path!r} with a local model.")
    return path


def _auto_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _sampling(model: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Sample from the whole distribution unless the model's config or the user narrows it.

    transformers would keep the 50 likeliest tokens where a model says nothing, which no model's
    author asked for.
    """
    settings: dict[str, Any] = {"do_sample": True, "num_beams": 1, **asked}
    if getattr(model.generation_config, "top_k", None) is None:
        settings.setdefault("top_k", 0)
    if settings.get("temperature") == 0:
        return {"do_sample": False, "num_beams": 1, "temperature": None, "top_k": None}
    return settings

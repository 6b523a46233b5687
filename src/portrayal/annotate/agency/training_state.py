"""The state of a fine-tuning after an epoch, so that a stopped one goes on where it was.

One safetensors file holds weights, moments of the optimiser, and random streams; its header holds
what the state belongs to. Nothing in it is executed.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from portrayal.annotate.agency.transformer_load import Encoder
from portrayal.errors import DataError, OptionError

STATE = "training.safetensors"
"""The file in the classifier's folder; removed once training is done."""

_MODEL, _MOMENTS, _STREAM = "model.", "optimiser.", "torch_stream"


def save_state(
    out: Path,
    encoder: Encoder,
    optimiser: Any,
    rng: np.random.Generator,
    belongs: Mapping[str, Any],
    epochs: list[dict[str, Any]],
) -> None:
    """Write the state after an epoch, in one step.

    Parameters
    ----------
    out
        Folder of the classifier.
    encoder, optimiser, rng
        As they are after the epoch.
    belongs
        Base, data and settings, which a resumed training must share.
    epochs
        The epochs so far.
    """
    import torch
    from safetensors.torch import save_file

    tensors = {
        f"{_MODEL}{name}": weights.detach().cpu().clone()
        for name, weights in encoder.model.state_dict().items()
    }
    for number, moments in optimiser.state_dict()["state"].items():
        for name, values in moments.items():
            tensors[f"{_MOMENTS}{number}.{name}"] = torch.as_tensor(values).cpu().clone()
    tensors[_STREAM] = torch.get_rng_state()
    header = {"belongs": belongs, "epochs": epochs, "stream": rng.bit_generator.state}
    out.mkdir(parents=True, exist_ok=True)
    temporary = out / f".{STATE}.{os.getpid()}.tmp"
    try:
        save_file(tensors, temporary, {key: json.dumps(value) for key, value in header.items()})
        temporary.replace(out / STATE)
    finally:
        temporary.unlink(missing_ok=True)


def load_state(
    out: Path,
    encoder: Encoder,
    optimiser: Any,
    rng: np.random.Generator,
    belongs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Put encoder, optimiser and random streams into a saved state and return its epochs.

    Raises
    ------
    OptionError
        When the state belongs to another base, other data or other settings.
    DataError
        When the file cannot be read.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(out / STATE, framework="pt") as file:
            header = {key: json.loads(value) for key, value in file.metadata().items()}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        known, stream = header["belongs"], header["stream"]
    except (OSError, SafetensorError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{out / STATE}: not the state of a training ({error}). Remove it to start anew."
        ) from error
    for what in sorted(belongs.keys() | known.keys()):
        if known.get(what) != belongs.get(what):
            raise OptionError(
                f"{out}: the training that was stopped had {what} {known.get(what)!r}, and this "
                f"one has {belongs.get(what)!r}. Give the same, or leave out --resume."
            )
    own = {n.removeprefix(_MODEL): t for n, t in tensors.items() if n.startswith(_MODEL)}
    encoder.model.load_state_dict(own)
    moments: dict[int, dict[str, Any]] = {}
    for name, values in tensors.items():
        if name.startswith(_MOMENTS):
            number, _, kind = name.removeprefix(_MOMENTS).partition(".")
            moments.setdefault(int(number), {})[kind] = values
    optimiser.load_state_dict({**optimiser.state_dict(), "state": moments})
    torch.set_rng_state(tensors[_STREAM])
    rng.bit_generator.state = stream
    return list(header["epochs"])

"""Sums by prompt that a run keeps, so that runs are compared without their texts."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from portrayal.measure.clustered import Sums, sums_by
from portrayal.records import Form, PromptSums
from portrayal.types import FloatArray

MOST_PROMPTS = 4096
"""With more prompts than this, they are kept in `BUCKETS`."""
BUCKETS = 512
"""Prompts are joined into so many, the same ones in every run, by their names."""
_SUFFIX = f" of {BUCKETS}"


def bucket(name: str) -> int:
    """Return the bucket of a prompt, 0 to `BUCKETS` - 1: its CRC-32 modulo `BUCKETS`.

    >>> bucket("learning-neutral-arts")
    154
    """
    if is_bucket(name):
        return int(name.removesuffix(_SUFFIX)) - 1
    return zlib.crc32(name.encode()) % BUCKETS


def is_bucket(name: str) -> bool:
    """Whether a name stands for joined prompts.

    >>> is_bucket("7 of 512"), is_bucket("learning-neutral-arts")
    (True, False)
    """
    return name.endswith(_SUFFIX) and name.removesuffix(_SUFFIX).isdigit()


def kept_sums(
    prompts: Sequence[str],
    upper: Sums,
    lower: Sums | None = None,
    *,
    form: Form = "mean",
    scale: npt.ArrayLike = 1.0,
) -> Callable[[int], PromptSums]:
    """Return the function of a column to what each prompt adds to its estimate.

    Parameters
    ----------
    prompts
        Names of the independent units, shape (n_prompts,).
    upper, lower
        Sums and numbers of units by prompt, shape (n_prompts, k) each.
    form, scale
        As in `PromptSums`; the scale is one number or of shape (k,).
    """
    names = tuple(prompts)
    cells = [np.asarray(each, dtype=np.float64) for each in (*upper, *(lower or ()))]
    if len(names) > MOST_PROMPTS:
        names, cells = _joined(names, cells)
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), cells[0].shape[1:])

    def of_column(i: int) -> PromptSums:
        own, there = [each[:, i] for each in cells], names
        some = np.any([each > 0 for each in own[1::2]], axis=0)
        if not some.all():
            own = [each[some] for each in own]
            there = tuple(names[at] for at in np.flatnonzero(some).tolist())
        a, n, *second = own
        b, m = second or (None, None)
        return PromptSums(form, there, a, n, b, m, float(scales[i]))

    return of_column


def _joined(
    names: tuple[str, ...], cells: list[FloatArray]
) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Add up the prompts of each bucket."""
    found, code = np.unique([bucket(name) for name in names], return_inverse=True)
    labels = tuple(f"{b + 1}{_SUFFIX}" for b in found.tolist())
    return labels, [sums_by(code, len(found), each) for each in cells]

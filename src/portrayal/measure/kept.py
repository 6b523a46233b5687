"""Sums by prompt that a run keeps, so that runs are compared without their texts."""

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from portrayal.measure.clustered import Sums, sums_by
from portrayal.records import Form, PromptSums

MOST_PROMPTS = 512
"""With more prompts than this, some are joined: the same ones in every run, by their names."""


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
    both = [np.asarray(each, dtype=np.float64) for each in (*upper, *(lower or ()))]
    if len(names) > MOST_PROMPTS:
        names, both = _joined(names, both)
    scales = np.broadcast_to(np.asarray(scale, dtype=np.float64), both[0].shape[1:])

    def of_column(i: int) -> PromptSums:
        a, n, *second = (each[:, i] for each in both)
        b, m = second or (None, None)
        return PromptSums(form, names, a, n, b, m, float(scales[i]))

    return of_column


def _joined(
    names: tuple[str, ...], sums: list[npt.NDArray[np.float64]]
) -> tuple[tuple[str, ...], list[npt.NDArray[np.float64]]]:
    """Add up prompts whose names have the same checksum modulo `MOST_PROMPTS`."""
    bucket = np.array([zlib.crc32(name.encode()) % MOST_PROMPTS for name in names])
    found, code = np.unique(bucket, return_inverse=True)
    labels = tuple(f"{b + 1} of {MOST_PROMPTS}" for b in found.tolist())
    return labels, [sums_by(code, len(found), each) for each in sums]

"""Scratch: long columns of numbers that are kept on disk while an audit works, and read in pieces.

A column is a file without a name beside the run; it goes when nothing refers to it any more. What
is held in memory is the piece that was asked for.
"""

import io
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Column:
    """Rows of one type and width, appended in order; `column[first:last]` reads some of them.

    Parameters
    ----------
    folder
        Where the file is made; None keeps the column in memory.
    dtype
        Type of the numbers.
    width
        Numbers in a row; None where a row is one number.
    """

    def __init__(self, folder: Path | None, dtype: npt.DTypeLike, width: int | None = None) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = () if width is None else (width,)
        self._row = self._dtype.itemsize * (1 if width is None else width)
        self._length = 0
        self._file: IO[bytes] = (
            io.BytesIO() if folder is None else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        )
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        """Number of rows."""
        return self._length

    def append(self, rows: Array) -> None:
        """Add rows, shape (n,) or (n, width), at the end."""
        made = np.ascontiguousarray(rows, dtype=self._dtype)
        self._file.seek(0, io.SEEK_END)
        self._file.write(made.tobytes())
        self._length += len(made)

    def __getitem__(self, wanted: slice) -> Array:
        """Return the rows of a slice without step, as a new array."""
        first, last, _ = wanted.indices(self._length)
        n = max(last - first, 0)
        self._file.seek(first * self._row)
        found = np.frombuffer(self._file.read(n * self._row), dtype=self._dtype)
        return found.reshape(n, *self._shape).copy()


@dataclass(frozen=True)
class Kept:
    """Where an array stands on a shelf."""

    first: int
    last: int
    dtype: str
    shape: tuple[int, ...]


class Shelf:
    """Arrays of any shape, put away one by one and taken again."""

    def __init__(self, folder: Path | None) -> None:
        self._bytes = Column(folder, np.uint8)

    def put(self, array: Array) -> Kept:
        """Put an array away; returns what `take` needs."""
        first = len(self._bytes)
        self._bytes.append(np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=np.uint8))
        return Kept(first, len(self._bytes), array.dtype.str, array.shape)

    def take(self, kept: Kept) -> Array:
        """Return the array that was put away."""
        return self._bytes[kept.first : kept.last].view(kept.dtype).reshape(kept.shape)

"""What each prompt adds to every estimate, as Arrow: by this runs are compared without texts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from portrayal.errors import RunError
from portrayal.records import Estimate, Form
from portrayal.run.files import read_parquet, reading
from portrayal.types import FloatArray, IntArray

INFLUENCES = "influences.parquet"
VERSION = "2"
NO_SUMS = "the measure keeps no sums by prompt"

_VERSION_KEY = b"portrayal.influences"
_COLUMNS = ("upper", "n_upper", "lower", "n_lower")


_NUMBERS = pa.list_(pa.float64())
_SCHEMA = pa.schema(
    {
        **{"estimate": pa.int32(), "form": pa.string(), "scale": pa.float64()},
        **{"prompts": pa.list_(pa.string()), **dict.fromkeys(_COLUMNS, _NUMBERS)},
        "reason": pa.string(),
    },
    metadata={_VERSION_KEY: VERSION.encode()},
)


def influences_to_table(estimates: Iterable[Estimate]) -> pa.Table:
    """Return the sums of estimates as an Arrow table, a row for each estimate in their order.

    Columns: `estimate`, the row of `estimates.parquet`; `form`, `scale`, `prompts`, `upper`,
    `n_upper`, `lower` and `n_lower` as in `PromptSums`; and `reason`, why an estimate has none.

    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {}, 0.4)
    >>> influences_to_table([row]).column("reason").to_pylist()
    ['the measure keeps no sums by prompt']
    """
    rows: list[dict[str, Any]] = []
    for i, estimate in enumerate(estimates):
        sums = None if estimate.value is None else estimate.sums
        names = () if sums is None else ("form", "scale", "prompts", *_COLUMNS)
        reason = (estimate.undefined or NO_SUMS) if sums is None else None
        rows.append({"estimate": i, **{n: getattr(sums, n) for n in names}, "reason": reason})
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


@dataclass(frozen=True, eq=False)
class Influences:
    """Sums by prompt of every estimate of a run.

    Attributes
    ----------
    labels
        Names of the prompts (pairs, blocks) that occur.
    forms, scales, reasons
        Of each estimate; the form is None where the reason says why there are no sums.
    starts
        Where the rows of each estimate begin in the arrays below, shape (n_estimates + 1,).
    prompt
        Code of the prompt in `labels`, shape (n_rows,).
    columns
        Upper, n_upper, lower and n_lower, shape (n_rows,) each; NaN where a form has no lower.
    """

    labels: tuple[str, ...]
    forms: tuple[Form | None, ...]
    scales: FloatArray
    reasons: tuple[str | None, ...]
    starts: IntArray
    prompt: IntArray
    columns: tuple[FloatArray, FloatArray, FloatArray, FloatArray]

    def equals(self, other: "Influences") -> bool:
        """Whether every sum of every estimate is the same, as of a run and its copy."""
        arrays = zip((self.prompt, *self.columns), (other.prompt, *other.columns), strict=True)
        return self.labels == other.labels and all(
            np.array_equal(mine, theirs, equal_nan=True) for mine, theirs in arrays
        )


def read_influences(path: Path, estimates: Sequence[Estimate]) -> Influences:
    """Read sums back from a Parquet file that `influences_to_table` made of these estimates.

    Raises
    ------
    RunError
        Where the file is of another version, or not of so many estimates. Whether it is as it was
        written the run's manifest says (`Run.check`).
    """
    with reading(path):
        table = read_parquet(path)
        facts = table.schema.metadata or {}
        if facts.get(_VERSION_KEY, b"").decode() != VERSION or len(table) != len(estimates):
            raise RunError(
                f"{path} was written by another version of Portrayal, or does not belong to the "
                "estimates beside it. Run the same `portrayal audit` command again."
            )
        lists = table["prompts"].combine_chunks()
        lengths = np.asarray(lists.value_lengths().fill_null(0), dtype=np.int64)
        # names of prompts stand once, and a code in their place
        coded = lists.flatten().dictionary_encode()
        n = int(lengths.sum())
        one_mean = np.asarray(table["lower"].combine_chunks().value_lengths().fill_null(0)) == 0
        # Estimates of one mean keep no lower sums; their rows stay NaN.
        has = np.repeat(~one_mean, lengths)

        def column(name: str) -> FloatArray:
            values = np.asarray(table[name].combine_chunks().flatten(), dtype=np.float64)
            if name in ("upper", "n_upper"):
                return values
            column_values = np.full(n, np.nan)
            column_values[has] = values
            return column_values

        return Influences(
            labels=tuple(coded.dictionary.to_pylist()),
            forms=cast("tuple[Form | None, ...]", tuple(table["form"].to_pylist())),
            scales=np.asarray(table["scale"].fill_null(float("nan")), dtype=np.float64),
            reasons=tuple(table["reason"].to_pylist()),
            starts=np.concatenate([[0], np.cumsum(lengths)]),
            prompt=np.asarray(coded.indices, dtype=np.int64),
            columns=cast("Any", tuple(column(name) for name in _COLUMNS)),
        )

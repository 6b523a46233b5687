"""What each prompt adds to every estimate, as Arrow: by this runs are compared without texts."""

import hashlib
import math
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
_DIGEST_KEY = b"portrayal.estimates"
_COLUMNS = ("upper", "n_upper", "lower", "n_lower")


def _digest(estimates: Iterable[Estimate]) -> bytes:
    """Tells whether sums are of these estimates: their ids and values, in order."""
    digest = hashlib.sha256()
    for row in estimates:
        digest.update(f"{row.id} {row.value!r}\n".encode())
    return digest.hexdigest().encode()


def _schema() -> pa.Schema:
    numbers = pa.list_(pa.float64())
    return pa.schema(
        [
            ("estimate", pa.int32()),
            ("form", pa.string()),
            ("scale", pa.float64()),
            ("prompts", pa.list_(pa.string())),
            *((name, numbers) for name in _COLUMNS),
            ("reason", pa.string()),
        ],
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
    rows, schema = list(estimates), _schema()
    schema = schema.with_metadata({**schema.metadata, _DIGEST_KEY: _digest(rows)})
    sums = [None if row.value is None else row.sums for row in rows]
    why = [
        (row.undefined or NO_SUMS) if own is None else None
        for row, own in zip(rows, sums, strict=True)
    ]
    columns: dict[str, Any] = {
        "estimate": list(range(len(rows))),
        "form": [own and own.form for own in sums],
        "scale": [own and own.scale for own in sums],
        "prompts": [own and own.prompts for own in sums],
        **{name: [own and getattr(own, name) for own in sums] for name in _COLUMNS},
        "reason": why,
    }
    return pa.table(
        {name: pa.array(values, schema.field(name).type) for name, values in columns.items()},
        schema=schema,
    )


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
        Where the file is of another version or damaged, is not of these estimates, or holds sums
        that do not give their values.
    """
    with reading(path):
        table = read_parquet(path)
        facts = table.schema.metadata or {}
        if facts.get(_VERSION_KEY, b"").decode() != VERSION or len(table) != len(estimates):
            raise RunError(
                f"{path} was written by another version of Portrayal, or does not belong to the "
                "estimates beside it. Run the same `portrayal audit` command again."
            )
        if facts.get(_DIGEST_KEY) != _digest(estimates):
            raise ValueError("it is of other estimates")
        if not table.schema.equals(_schema()):
            raise ValueError("its columns are not as they were written")
        found = _influences(table)
        # Refuse sums that are no numbers, or that do not give the values of their estimates
        import numpy as np

        upper, n_upper, lower, n_lower = found.columns
        wrong = ~np.isfinite(upper) | ~np.isfinite(n_upper) | (n_upper < 0)
        two = np.repeat(
            [form in ("ratio", "difference") for form in found.forms], np.diff(found.starts)
        )
        wrong |= two & ~(np.isfinite(lower) & np.isfinite(n_lower) & (n_lower >= 0))
        if wrong.any():
            raise ValueError("some of its sums are no numbers")
        n = len(estimates)
        whose = np.repeat(np.arange(n), np.diff(found.starts))
        with np.errstate(all="ignore"):
            sums = [np.bincount(whose, column, minlength=n) for column in found.columns]
            first, second = sums[0] / sums[1], sums[2] / sums[3]
            of_form = {"mean": first, "ratio": first / second, "difference": first - second}
        for i, (form, row) in enumerate(zip(found.forms, estimates, strict=True)):
            if form is None or form == "influence":  # whose sums give no value
                continue
            value = float(found.scales[i] * of_form[form][i])
            if row.value is None or not math.isclose(value, row.value, rel_tol=1e-9, abs_tol=1e-9):
                raise ValueError(f"the sums of {row.measure} give {value:.6g}, not {row.value}")
        return found


def _influences(table: pa.Table) -> Influences:
    import numpy as np

    lists = table["prompts"].combine_chunks()
    lengths = np.asarray(lists.value_lengths().fill_null(0), dtype=np.int64)
    if lists.flatten().null_count:
        raise ValueError("some prompts have no name")
    coded = lists.flatten().dictionary_encode()
    n = int(lengths.sum())
    one_mean = np.asarray(table["lower"].combine_chunks().value_lengths().fill_null(0)) == 0
    has = np.repeat(~one_mean, lengths)

    def column(name: str) -> FloatArray:
        own = table[name].combine_chunks()
        expected = np.where(one_mean, 0, lengths) if name in ("lower", "n_lower") else lengths
        if not np.array_equal(own.value_lengths().fill_null(0), expected):
            raise ValueError(f"{name} is not as long as the prompts")
        values = np.asarray(own.flatten(), dtype=np.float64)
        if name in ("upper", "n_upper"):
            return values
        whole = np.full(n, np.nan)
        whole[has] = values
        return whole

    return Influences(
        labels=tuple(coded.dictionary.to_pylist()),
        forms=cast("tuple[Form | None, ...]", tuple(table["form"].to_pylist())),
        scales=np.asarray(table["scale"].fill_null(float("nan")), dtype=np.float64),
        reasons=tuple(table["reason"].to_pylist()),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        prompt=np.asarray(coded.indices, dtype=np.int64),
        columns=cast("Any", tuple(column(name) for name in _COLUMNS)),
    )

"""Estimates as Arrow, in one schema that all read, and what each prompt adds to them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa

from portrayal.errors import OptionError, RunError
from portrayal.records import ALL, Estimate, Fixed, Form, Interval, Null, Status, Test
from portrayal.registry import form_of
from portrayal.run.files import read_parquet, reading
from portrayal.run.pages import html_table, number, spread, words_of
from portrayal.types import FloatArray, IntArray

ESTIMATES = "estimates.parquet"
_MAPS = ("strata", "group", "exclusions", "details", "instruments")
_PARTS: Mapping[str, Any] = {
    **{"interval": Interval, "paper_interval": Interval, "null": Null},
    **{"status": Status, "fixed": Fixed},
}


def _plain(value: Any) -> Any:
    if isinstance(value, (Fixed, Interval, Null, Status, Test)):
        return {name: getattr(value, name) for name in value.__slots__}
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _arrow(hint: Any, name: str = "") -> pa.DataType:
    """The Arrow type of what a field of a record holds, from its annotation."""
    inner = [part for part in get_args(hint) if part not in (NoneType, ...)]
    # Every Arrow column takes null, so that `X | None` is X.
    if isinstance(hint, UnionType):
        return _arrow(inner[0], name)
    if get_origin(hint) is Mapping:
        return pa.map_(_arrow(inner[0]), _arrow(inner[1]))
    if inner:
        return pa.list_(_arrow(inner[0]))
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return pa.struct(
            [(field.name, _arrow(hints[field.name], field.name)) for field in fields(hint)]
        )
    if name == "n_clusters":
        return pa.int32()
    return {float: pa.float64(), int: pa.int64(), str: pa.string()}[hint]


def estimates_to_table(estimates: Iterable[Estimate]) -> pa.Table:
    """Return estimates as an Arrow table in the one schema, maps and structs kept.

    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> estimates_to_table([row]).column("group").to_pylist()
    [[('gender', 'F')]]
    """
    rows = list(estimates)
    hints_all = get_type_hints(Estimate).items()
    # Sums stand in a file of their own, and scores are not kept: they serve the q-values alone
    hints = {name: hint for name, hint in hints_all if name not in ("sums", "scores")}
    schema = pa.schema([(name, _arrow(hint, name)) for name, hint in hints.items()])
    columns = {}
    for name, kind in zip(schema.names, schema.types, strict=True):
        values = [getattr(row, name) for row in rows]
        nested = pa.types.is_nested(kind)
        columns[name] = pa.array([_plain(value) for value in values] if nested else values, kind)
    return pa.table(columns, schema=schema)


def read_estimates(path: Path) -> list[Estimate]:
    """Read estimates back from a Parquet file that `estimates_to_table` made.

    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> pa.parquet.write_table(estimates_to_table([row]), "estimates.parquet")
    >>> read_estimates(Path("estimates.parquet")) == [row]
    True
    """
    estimates = []
    for row in read_parquet(path).to_pylist():
        # Arrow gives maps back as lists of pairs.
        row |= {name: dict(row[name]) for name in _MAPS}
        for name, kind in _PARTS.items():
            row[name] = None if row[name] is None else kind(**row[name])
        row["tests"] = tuple(Test(**test) for test in row["tests"])
        estimates.append(Estimate(**row))
    return estimates


LABELS = ("model", "domain", "race", "gender")
"""Strata and group attributes that have a column of their own in every table of estimates."""
CORE: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("id", "measure", "statistic", "unit", *LABELS, "where", "group"), pa.string()),
    **dict.fromkeys(
        ("value", "low", "high", "null", "null_low", "null_high", "p", "q", "audit_q"), pa.float64()
    ),
    **{"n_texts": pa.int64(), "n_units": pa.float64(), "n_clusters": pa.int64()},
    **dict.fromkeys(("undefined", "warning"), pa.string()),
}
"""Columns of `Estimates` before `details`, the same in every run of every study."""


@dataclass(frozen=True)
class Estimates:
    """The estimates of a run: a table of 25 columns, and the records behind it.

    Columns: `id`, by which an evidence pack names an estimate; `measure, statistic, unit`; `model,
    domain, race, gender`, empty where an estimate has none; `where`, the other strata in words;
    `group`, all attributes of the group in words; `value, low, high`; `null, null_low, null_high`;
    `p, q, audit_q`; `n_texts, n_units, n_clusters`; `undefined`, why there is no value; `warning`;
    and `details`, a struct of everything else that `flatten_estimates` gives. pandas, polars and
    DuckDB read it as it is.

    Attributes
    ----------
    records
        The estimates, in the order of the file.

    Examples
    --------
    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> found = Estimates((row,))
    >>> found.table.num_columns, found.where(gender="F").to_pandas()["value"].tolist()
    (25, [0.4])
    """

    records: tuple[Estimate, ...]

    @cached_property
    def table(self) -> pa.Table:
        """The Arrow table, one row for each estimate."""
        rows, details = [], []
        for estimate in self.records:
            flat = flat_row(estimate)
            labels = {**estimate.strata, **estimate.group}
            strata = {
                k: v for k, v in estimate.strata.items() if k not in LABELS and v not in (ALL, "")
            }
            row = {name: flat.pop(name, None) for name in CORE}
            row |= {name: labels.get(name) for name in LABELS}
            rows.append(row | {"where": _pairs(strata), "group": _pairs(estimate.group)})
            details.append({name: value for name, value in flat.items() if name not in LABELS})
        table = pa.Table.from_pylist(rows, schema=pa.schema(CORE))
        # Every row with all names: a struct's fields are those of its first row
        names = dict.fromkeys(name for more in details for name in more)
        full = [{name: more.get(name) for name in names} for more in details]
        return table.append_column("details", pa.array(full, None if names else pa.struct([])))

    def to_pandas(self) -> Any:
        """Return a DataFrame; `details` holds a dictionary of what each estimate has of them."""
        frame = self.table.drop_columns(["details"]).to_pandas()
        frame["details"] = [
            {name: value for name, value in row.items() if value is not None}
            for row in self.table.column("details").to_pylist()
        ]
        return frame

    def where(self, measure: str | None = None, **labels: str) -> "Estimates":
        """Return those of one measure (its version may be left out), stratum and group.

        Raises
        ------
        OptionError
            When no estimate has such a label or value, as a slip of the pen would look like a
            finding.
        """
        return Estimates(tuple(choose(self.records, measure, labels)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.records)

    def __getitem__(self, key: int | str) -> Estimate:
        """Return an estimate by its place or its id; a KeyError where no estimate has that id."""
        if isinstance(key, int):
            return self.records[key]
        return self._by_id[key]

    @cached_property
    def _by_id(self) -> dict[str, Estimate]:
        return {estimate.id: estimate for estimate in self.records}

    def _repr_html_(self) -> str:
        heads, rows, note = shown_cells(self.records[:SHOWN])
        more = f", the first {SHOWN} of them" * (len(self.records) > SHOWN)
        count = f"{len(self.records):,} estimates{more}. .to_pandas() gives all, .where(…) some."
        return html_table(heads, rows, " ".join(filter(None, (count, note))))


SHOWN = 20
"""Estimates that a notebook shows."""


def shown_cells(
    estimates: Iterable[Estimate],
) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return heads and cells of estimates for people, and a note.

    The q-value of what a report may state is over the whole audit, and marked.
    """
    rows = list(estimates)
    # A column of dashes says nothing: it is there only where some row has it
    erring = any(row.without_errors or row.status.reader_error for row in rows)
    cells, note = [], ""
    for row in rows:
        first, form = row.tests[0] if row.tests else _NO_TEST, form_of(row)
        q = number(first.judged_q)
        if first.audit_q is not None:
            q += "*"
            note = "* q over all that the audit's report may state; others, over one measure"
        model = row.strata.get("model")
        label = words_of(row.measure, row.strata, row.group, row.statistic)
        label += f" · {model}" if model else ""
        value = row.undefined or number(row.value, form)
        bounds = spread(row.interval, form), spread(row.null, form)
        error = "unknown" if row.status.reader_error else spread(row.without_errors, form)
        cells.append((label, value, *bounds, q, f"{row.n_units:,.0f}", *[error] * erring))
    heads = ("what", "value", "interval", "null", "q", "n", *["reader"] * erring)
    return heads, cells, note


def _pairs(labels: Mapping[str, str]) -> str | None:
    return ", ".join(f"{name}={value}" for name, value in labels.items()) or None


_Row = TypeVar("_Row", bound=Any)
"""An estimate, or the change of one: what has a measure, strata and a group."""


def choose(rows: Iterable[_Row], measure: str | None, labels: Mapping[str, str]) -> list[_Row]:
    """Return the rows of one measure (or all) with these strata and attributes.

    Raises
    ------
    OptionError
        When no row is of such a measure or has such a label or value.
    """
    # First the measure, then strata and groups, so that an error names what the measure has.
    choice = list(rows)
    if measure is not None:
        measures = dict.fromkeys(row.measure for row in choice)
        needle = measure.replace("-", "_").casefold()
        # With or without its version, as people say it
        names = [n for n in measures if needle in (n.casefold(), n.rpartition(".v")[0].casefold())]
        if not names:
            raise OptionError(f"no estimate is of {measure!r}; measures: {', '.join(measures)}.")
        choice = [row for row in choice if row.measure in names]
    labelled = [(row, {**row.strata, **row.group}) for row in choice]
    for key, value in labels.items():
        values = dict.fromkeys(tags[key] for _, tags in labelled if key in tags)
        if not values:
            keys = ", ".join(dict.fromkeys(name for _, tags in labelled for name in tags))
            raise OptionError(f"no estimate has {key!r}; they have: {keys or 'nothing here'}.")
        if value not in values:
            first_values = ", ".join(list(values)[:20]) + (", …" if len(values) > 20 else "")
            raise OptionError(f"no estimate has {key}={value}; values: {first_values}.")
    return [row for row, tags in labelled if labels.items() <= tags.items()]


def flatten_estimates(estimates: Iterable[Estimate]) -> pa.Table:
    """Return the table of `Estimates` for files: each of its `details` is a column.

    These are `study`, the other strata and group attributes by their names, `interval_method,
    paper_low, paper_high, paper_method, null_method, p_method, paper_p`, the details by their
    names, and `source`. Missing is null. Where a value has no interval or test and says why, the
    reason stands in `interval_method` or `p_method` after "none: ".

    Examples
    --------
    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> flatten_estimates([row]).select(["gender", "value"]).to_pylist()
    [{'gender': 'F', 'value': 0.4}]
    """
    table = Estimates(tuple(estimates)).table
    details = table.column("details").combine_chunks()
    for name, column in zip(details.type.names, details.flatten(), strict=True):
        table = table.append_column(name, column)
    return table.drop_columns(["details"])


def flat_row(estimate: Estimate) -> dict[str, Any]:
    """Return one estimate as plain values by column name; see `flatten_estimates`."""
    interval = estimate.interval or _NO_INTERVAL
    paper = estimate.paper_interval or _NO_INTERVAL
    null = estimate.null or _NO_NULL
    first = estimate.tests[0] if estimate.tests else _NO_TEST
    return {
        "id": estimate.id,
        "study": estimate.study,
        "measure": estimate.measure,
        "statistic": estimate.statistic,
        "unit": estimate.unit,
        **estimate.strata,
        **estimate.group,
        "value": _finite(estimate.value),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "interval_method": interval.method or _none(estimate.status.no_interval),
        "paper_low": _finite(paper.low),
        "paper_high": _finite(paper.high),
        "paper_method": paper.method or None,
        "null": _finite(null.value),
        "null_low": _finite(null.low),
        "null_high": _finite(null.high),
        "null_method": null.method or None,
        "p": _finite(first.p),
        "q": _finite(first.q),
        "audit_q": _finite(first.audit_q),
        "p_method": _none(estimate.status.no_test) or first.method or None,
        "paper_p": _finite(next((t.p for t in estimate.tests if "Altman" in t.method), None)),
        "n_texts": estimate.n_texts,
        "n_units": estimate.n_units,
        "n_clusters": estimate.n_clusters,
        "undefined": estimate.undefined,
        "warning": estimate.warning,
        **{name: _finite(value) for name, value in estimate.details.items()},
        "source": estimate.source,
    }


def _none(reason: str | None) -> str | None:
    """Why an estimate has no interval or test, as a method."""
    return f"none: {reason}" if reason else None


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


_NAN = float("nan")
_NO_INTERVAL = Interval(_NAN, _NAN, _NAN, "")
_NO_NULL = Null(_NAN, _NAN, _NAN, _NAN, "")
_NO_TEST = Test(_NAN, "")


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

    def prompts_of(self, row: int) -> IntArray:
        """Return the codes of the prompts of an estimate."""
        return self.prompt[self.starts[row] : self.starts[row + 1]]

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

        def column(name: str) -> FloatArray:
            cells, values = table[name].combine_chunks(), np.full(lengths.sum(), np.nan)
            # Estimates of one mean keep no lower sums; their rows stay NaN.
            has = np.repeat(np.asarray(cells.value_lengths().fill_null(0)) > 0, lengths)
            values[has] = cells.flatten()
            return values

        return Influences(
            labels=tuple(coded.dictionary.to_pylist()),
            forms=cast("tuple[Form | None, ...]", tuple(table["form"].to_pylist())),
            scales=np.asarray(table["scale"].fill_null(float("nan")), dtype=np.float64),
            reasons=tuple(table["reason"].to_pylist()),
            starts=np.concatenate([[0], np.cumsum(lengths)]),
            prompt=np.asarray(coded.indices, dtype=np.int64),
            columns=cast("Any", tuple(column(name) for name in _COLUMNS)),
        )

"""Estimates as Arrow: the one schema that report, compare, gate and export read."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from portrayal.records import NO_INTERVAL, NO_TEST, Estimate, Interval, Null, Test

ESTIMATES = "estimates.parquet"
_MAPS = ("strata", "group", "exclusions", "details", "instruments")


def _schema() -> pa.Schema:
    interval = pa.struct(
        [
            ("low", pa.float64()),
            ("high", pa.float64()),
            ("level", pa.float64()),
            ("method", pa.string()),
            ("n_clusters", pa.int32()),
            ("seed", pa.int64()),
        ]
    )
    null = pa.struct(
        [
            ("value", pa.float64()),
            ("low", pa.float64()),
            ("high", pa.float64()),
            ("level", pa.float64()),
            ("method", pa.string()),
            ("seed", pa.int64()),
        ]
    )
    test = pa.struct(
        [
            ("p", pa.float64()),
            ("method", pa.string()),
            ("q", pa.float64()),
            ("audit_q", pa.float64()),
        ]
    )
    words = pa.map_(pa.string(), pa.string())
    return pa.schema(
        [
            ("study", pa.string()),
            ("measure", pa.string()),
            ("statistic", pa.string()),
            ("unit", pa.string()),
            ("strata", words),
            ("group", words),
            ("value", pa.float64()),
            ("interval", interval),
            ("paper_interval", interval),
            ("null", null),
            ("tests", pa.list_(test)),
            ("n_texts", pa.int64()),
            ("n_units", pa.float64()),
            ("n_clusters", pa.int32()),
            ("exclusions", pa.map_(pa.string(), pa.int64())),
            ("details", pa.map_(pa.string(), pa.float64())),
            ("instruments", words),
            ("undefined", pa.string()),
            ("source", pa.string()),
        ]
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (Interval, Null, Test)):
        return {name: getattr(value, name) for name in value.__slots__}
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def estimates_to_table(estimates: Iterable[Estimate]) -> pa.Table:
    """Return estimates as an Arrow table in the one schema, maps and structs kept.

    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> estimates_to_table([row]).column("group").to_pylist()
    [[('gender', 'F')]]
    """
    schema = _schema()
    rows = list(estimates)
    columns = {
        name: pa.array([_plain(getattr(row, name)) for row in rows], schema.field(name).type)
        for name in schema.names
    }
    return pa.table(columns, schema=schema)


def read_estimates(path: Path) -> list[Estimate]:
    """Read estimates back from a Parquet file that `estimates_to_table` made.

    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> pq.write_table(estimates_to_table([row]), "estimates.parquet")
    >>> read_estimates(Path("estimates.parquet")) == [row]
    True
    """
    return [_estimate(row) for row in pq.read_table(path).to_pylist()]


def _estimate(row: dict[str, Any]) -> Estimate:
    for name in _MAPS:
        row[name] = dict(row[name])
    row["interval"] = _revive(Interval, row["interval"])
    row["paper_interval"] = _revive(Interval, row["paper_interval"])
    row["null"] = _revive(Null, row["null"])
    row["tests"] = tuple(Test(**test) for test in row["tests"])
    return Estimate(**row)


def _revive(kind: type[Any], fields: dict[str, Any] | None) -> Any:
    return None if fields is None else kind(**fields)


def flatten_estimates(estimates: Iterable[Estimate]) -> pa.Table:
    """Return a flat table, one column for each stratum, group attribute and detail.

    Columns: `study, measure, statistic, unit`, the strata and group attributes by their names,
    `value, low, high, interval_method, paper_low, paper_high, paper_method, null, null_low,
    null_high, null_method, p, q, audit_q, p_method, paper_p, n_texts, n_units, n_clusters,
    undefined, warning`, the details by their names, and `source`. Missing is null. Where a value
    has no interval or test and says why, the reason stands in `interval_method` or `p_method`
    after "none: ".

    Raises
    ------
    ValueError
        When a detail has the name of a stratum or a group attribute, which would be one column.

    Examples
    --------
    >>> row = Estimate("a-study", "share.v1", "share", "text", {}, {"gender": "F"}, 0.4)
    >>> flatten_estimates([row]).select(["gender", "value"]).to_pylist()
    [{'gender': 'F', 'value': 0.4}]
    """
    estimates = list(estimates)
    labels = {name for each in estimates for name in (*each.strata, *each.group)}
    if clash := labels & {name for each in estimates for name in each.details}:
        raise ValueError(f"details cannot be named as strata or groups are: {sorted(clash)}.")
    rows = [flat_row(estimate) for estimate in estimates]
    names = _column_order(rows)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def _column_order(rows: list[dict[str, Any]]) -> list[str]:
    fixed = list(flat_row(_EMPTY))
    seen = {name for row in rows for name in row} - set(fixed)
    attributes = sorted(n for n in seen if any(isinstance(row.get(n), str) for row in rows))
    start = fixed.index("unit") + 1
    return [*fixed[:start], *attributes, *fixed[start:], *sorted(seen - set(attributes))]


def flat_row(estimate: Estimate) -> dict[str, Any]:
    """Return one estimate as plain values by column name; see `flatten_estimates`."""
    interval = estimate.interval or _NO_INTERVAL
    paper = estimate.paper_interval or _NO_INTERVAL
    null = estimate.null or _NO_NULL
    first = estimate.tests[0] if estimate.tests else _NO_TEST
    return {
        "study": estimate.study,
        "measure": estimate.measure,
        "statistic": estimate.statistic,
        "unit": estimate.unit,
        **estimate.strata,
        **estimate.group,
        "value": _finite(estimate.value),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
        "interval_method": interval.method or _why(estimate, NO_INTERVAL),
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
        "p_method": _why(estimate, NO_TEST) or first.method or None,
        "paper_p": _finite(next((t.p for t in estimate.tests if "Altman" in t.method), None)),
        "n_texts": estimate.n_texts,
        "n_units": estimate.n_units,
        "n_clusters": estimate.n_clusters,
        "undefined": estimate.undefined,
        "warning": estimate.warning,
        **{name: _finite(value) for name, value in estimate.details.items()},
        "source": estimate.source,
    }


def _why(estimate: Estimate, what: str) -> str | None:
    """Why an estimate has no interval or test, where it says so."""
    reason = estimate.instruments.get(what)
    return f"none: {reason}" if reason else None


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


_NAN = float("nan")
_NO_INTERVAL = Interval(_NAN, _NAN, _NAN, "")
_NO_NULL = Null(_NAN, _NAN, _NAN, _NAN, "")
_NO_TEST = Test(_NAN, "")
_EMPTY = Estimate("", "", "", "", {}, {}, None, undefined="")

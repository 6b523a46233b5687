"""Sums by prompt as a file beside the estimates."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from portrayal.errors import RunError
from portrayal.records import Estimate, PromptSums
from portrayal.run import Run, estimates_to_table
from portrayal.run.estimates import influences_to_table, read_influences


def test_sums_come_back_as_they_were_stored(tmp_path):
    one, two = np.array([1.0, 2.0]), np.array([5.0, 7.0])
    common = {"study": "s", "measure": "m.v1", "statistic": "share", "unit": "text"}
    rows = [
        Estimate(
            **common, strata={}, group={}, value=0.25, sums=PromptSums("mean", ("p", "q"), one, two)
        ),
        Estimate(**common, strata={}, group={}, value=None, undefined="no text"),
        Estimate(
            **common,
            strata={},
            group={},
            value=2.0,
            sums=PromptSums("ratio", ("q", "r"), one, two, two, one, 32.0),
        ),
        Estimate(**common, strata={}, group={}, value=1.0),
    ]
    path = tmp_path / "influences.parquet"
    pq.write_table(influences_to_table(rows), path)
    found = read_influences(path, rows)
    assert found.forms == ("mean", None, "ratio", None)
    assert found.reasons == (None, "no text", None, "the measure keeps no sums by prompt")
    assert [found.labels[code] for code in found.prompt] == ["p", "q", "q", "r"]
    assert found.starts.tolist() == [0, 2, 2, 4, 4]
    assert np.array_equal(found.columns[0], [1, 2, 1, 2])
    assert np.array_equal(found.columns[2], [np.nan, np.nan, 5, 7], equal_nan=True)
    assert found.scales[2] == 32.0


def test_sums_of_other_estimates_are_refused(tmp_path):
    path = tmp_path / "influences.parquet"
    pq.write_table(influences_to_table([]), path)
    with pytest.raises(RunError, match="does not belong"):
        read_influences(path, [Estimate("s", "m.v1", "share", "text", {}, {}, 0.5)])


def _rows(value: float = 0.25) -> list[Estimate]:
    sums = PromptSums("mean", ("p", "q"), np.array([1.0, 2.0]), np.array([5.0, 7.0]))
    kept = PromptSums("influence", ("p",), np.array([0.1]), np.array([5.0]))
    names = {"study": "s", "measure": "m.v1", "statistic": "share", "unit": "text", "strata": {}}
    return [
        Estimate(**names, group={"gender": "F"}, value=value, sums=sums),
        Estimate(**names, group={"gender": "M"}, value=0.5, sums=kept),
        Estimate(**names, group={}, value=None, undefined="no text"),
    ]


def _with(table: pa.Table, name: str, values: list[object]) -> pa.Table:
    kind = table.schema.field(name).type
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values, kind))


NAN = float("nan")
DAMAGED = {
    "NaN": lambda t: _with(t, "upper", [[1.0, NAN], [0.1], None]),
    "infinite": lambda t: _with(t, "upper", [[1.0, float("inf")], [0.1], None]),
    "a null inside": lambda t: _with(t, "upper", [[1.0, None], [0.1], None]),
    "negative numbers": lambda t: _with(t, "n_upper", [[5.0, -7.0], [5.0], None]),
    "a short list": lambda t: _with(t, "upper", [[1.0], [0.1], None]),
    "a long list": lambda t: _with(t, "n_upper", [[5.0, 7.0, 1.0], [5.0], None]),
    "a list lost": lambda t: _with(t, "upper", [None, [0.1], None]),
    "lists exchanged": lambda t: _with(t, "upper", [[1.0], [0.1, 2.0], None]),
    "other sums": lambda t: _with(t, "upper", [[1.0, 3.0], [0.1], None]),
    "another scale": lambda t: _with(t, "scale", [2.0, 1.0, None]),
    "another form": lambda t: _with(t, "form", ["ratio", "influence", None]),
    "no form there is": lambda t: _with(t, "form", ["mode", "influence", None]),
    "prompts without names": lambda t: _with(t, "prompts", [["p", None], ["p"], None]),
    "a column less": lambda t: t.drop_columns(["upper"]),
    "no reasons": lambda t: t.drop_columns(["reason"]),
    "a column of another kind": lambda t: t.set_column(
        2, "scale", pa.array(["a", "b", "c"], pa.string())
    ),
    "rows more": lambda t: pa.concat_tables([t, t]),
    "no rows": lambda t: t.slice(0, 0),
    "no version": lambda t: t.replace_schema_metadata({}),
}
BELIEVED = pytest.mark.fault(
    "sums by prompt were changed or damaged (21 kinds)",
    "they are refused in one line that names the file; no verdict rests on them",
)


@BELIEVED
@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_sums_are_refused_with_the_file(tmp_path, kind):
    path, rows = tmp_path / "influences.parquet", _rows()
    table = influences_to_table(rows)
    pq.write_table(table, path)
    pq.write_table(estimates_to_table(rows), tmp_path / "estimates.parquet")
    run = Run(tmp_path)
    run.write_settings({})
    assert run.influences.scales[0] == 1.0
    pq.write_table(DAMAGED[kind](table), path)
    with pytest.raises(RunError, match=r"influences\.parquet .*`portrayal audit`"):
        _ = Run(tmp_path).influences


@BELIEVED
@pytest.mark.parametrize("content", [b"", b"PAR1" + b"x" * 50 + b"PAR1"])
def test_what_is_no_file_of_sums_is_refused_too(tmp_path, content):
    path = tmp_path / "influences.parquet"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"influences\.parquet is damaged"):
        read_influences(path, _rows())

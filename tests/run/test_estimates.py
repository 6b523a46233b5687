"""Estimates survive Parquet exactly, and flatten into one table."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portrayal.records import Estimate, Interval, Null, Test
from portrayal.run import estimates_to_table, flatten_estimates, write_parquet
from portrayal.run.estimates import read_estimates

INF, NAN = math.inf, math.nan
FULL = Estimate(
    study="s",
    measure="subordination.v1",
    statistic="ratio",
    unit="character",
    strata={"domain": "Love", "model": "all"},
    group={"race": "AI/AN", "gender": "F"},
    value=INF,
    interval=Interval(0.5, INF, 0.9, "cluster bootstrap", 12, 7),
    paper_interval=Interval(NAN, 2.0, 0.9, "Katz log"),
    null=Null(1.0, NAN, 1.4, 0.9, "shuffled", 7),
    tests=(Test(NAN, "t"), Test(0.01, "Altman–Bland", 0.2)),
    n_texts=10**12,
    n_units=3.25,
    n_clusters=12,
    exclusions={"refused": 3},
    details={"share": 0.1, "odd": -INF},
    instruments={"name_table": "census-2020"},
    source="é",
)
BARE = Estimate("s", "m", "share", "story", {}, {}, None, undefined="nobody was there")


def same(a, b):
    """Equality in which NaN equals NaN; the text of a dataclass holds every field."""
    return repr(a) == repr(b)


def test_estimates_survive_parquet(tmp_path):
    path = tmp_path / "estimates.parquet"
    write_parquet(estimates_to_table([FULL, BARE]), path)
    found = read_estimates(path)
    assert len(found) == 2
    assert same(found[0], FULL)
    assert found[1] == BARE


def test_no_estimates_survive_too(tmp_path):
    path = tmp_path / "estimates.parquet"
    write_parquet(estimates_to_table([]), path)
    assert read_estimates(path) == []
    assert pq.read_schema(path).names == estimates_to_table([FULL]).schema.names
    assert flatten_estimates([]).num_rows == 0


floats = st.floats(allow_nan=True, allow_infinity=True)
words = st.text(max_size=5)
intervals = st.none() | st.builds(
    Interval, floats, floats, floats, words, st.none() | st.integers(0, 99), st.none() | st.just(3)
)
some = st.builds(
    Estimate,
    study=words,
    measure=words,
    statistic=words,
    unit=words,
    strata=st.dictionaries(words, words, max_size=3),
    group=st.dictionaries(words, words, max_size=3),
    value=floats,
    interval=intervals,
    paper_interval=intervals,
    null=st.none() | st.builds(Null, floats, floats, floats, floats, words),
    tests=st.lists(st.builds(Test, floats, words, st.none() | floats), max_size=2).map(tuple),
    n_texts=st.integers(0, 2**40),
    n_units=floats,
    exclusions=st.dictionaries(words, st.integers(0, 9), max_size=2),
    details=st.dictionaries(words, floats, max_size=3),
)


@settings(deadline=None, derandomize=True)
@given(st.lists(some, max_size=3))
def test_any_estimates_survive_arrow(tmp_path_factory, estimates):
    path = tmp_path_factory.mktemp("arrow") / "estimates.parquet"
    write_parquet(estimates_to_table(estimates), path)
    assert [repr(row) for row in read_estimates(path)] == [repr(row) for row in estimates]


def test_a_flat_row_has_a_column_for_each_attribute_and_detail():
    table = flatten_estimates([FULL, BARE])
    full, bare = table.to_pylist()
    assert table.column_names[:4] == ["id", "measure", "statistic", "unit"]
    assert table.column_names[4:8] == ["model", "domain", "race", "gender"]
    assert {"study", "odd", "share", "source"} <= {*table.column_names[24:]}
    assert full["race"] == "AI/AN"
    assert bare["race"] is None
    assert (full["value"], full["low"], full["high"]) == (INF, 0.5, INF)
    assert full["interval_method"] == "cluster bootstrap"
    assert (full["paper_low"], full["paper_high"]) == (None, 2.0)
    assert (full["null"], full["null_low"], full["null_high"]) == (1.0, None, 1.4)
    assert (full["p"], full["q"], full["p_method"]) == (None, None, "t")
    assert full["paper_p"] == 0.01
    assert full["share"] == 0.1
    assert bare["undefined"] == "nobody was there"
    assert [bare[name] for name in ("value", "low", "p", "null", "share")] == [None] * 5


def test_missing_is_null_and_never_nan():
    nan_q = Estimate("s", "m", "x", "y", {}, {}, 1.0, tests=(Test(NAN, "Altman", NAN),))
    flat = flatten_estimates([nan_q]).to_pylist()[0]
    assert not any(isinstance(value, float) and math.isnan(value) for value in flat.values())
    assert flat["q"] is None
    assert flat["paper_p"] is None


def test_flat_columns_have_types_that_pandas_and_databases_read():
    table = flatten_estimates([FULL, BARE])
    assert table.schema.field("value").type == pa.float64()
    assert table.schema.field("race").type == pa.string()
    assert table.schema.field("n_texts").type == pa.int64()
    assert table.to_pandas().loc[0, "n_texts"] == 10**12


def test_a_value_and_a_reason_exclude_each_other():
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate("s", "m", "share", "story", {}, {}, None)
    with pytest.raises(ValueError, match="either a value or a reason"):
        Estimate("s", "m", "share", "story", {}, {}, 0.0, undefined="why")

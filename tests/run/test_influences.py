"""Sums by prompt as a file beside the estimates."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from portrayal.errors import RunError
from portrayal.records import Estimate, PromptSums
from portrayal.run import influences_to_table, read_influences


def test_sums_come_back_as_they_were_stored(tmp_path):
    one, two = np.array([1.0, 2.0]), np.array([5.0, 7.0])
    common = {"study": "s", "measure": "m.v1", "statistic": "share", "unit": "text"}
    rows = [
        Estimate(
            **common, strata={}, group={}, value=0.3, sums=PromptSums("mean", ("p", "q"), one, two)
        ),
        Estimate(**common, strata={}, group={}, value=None, undefined="no text"),
        Estimate(
            **common,
            strata={},
            group={},
            value=2.0,
            sums=PromptSums("ratio", ("q", "r"), one, two, two, one, 4.0),
        ),
        Estimate(**common, strata={}, group={}, value=1.0),
    ]
    path = tmp_path / "influences.parquet"
    pq.write_table(influences_to_table(rows), path)
    found = read_influences(path, 4)
    assert found.forms == ("mean", None, "ratio", None)
    assert found.reasons == (None, "no text", None, "the measure keeps no sums by prompt")
    assert [found.labels[code] for code in found.prompt] == ["p", "q", "q", "r"]
    assert found.starts.tolist() == [0, 2, 2, 4, 4]
    assert np.array_equal(found.columns[0], [1, 2, 1, 2])
    assert np.array_equal(found.columns[2], [np.nan, np.nan, 5, 7], equal_nan=True)
    assert found.scales[2] == 4.0


def test_sums_of_other_estimates_are_refused(tmp_path):
    path = tmp_path / "influences.parquet"
    pq.write_table(influences_to_table([]), path)
    with pytest.raises(RunError, match="does not belong"):
        read_influences(path, 1)

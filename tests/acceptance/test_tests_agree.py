"""In an audit of stories no test contradicts the interval or the null that stand beside it."""

import math

import pytest

from portrayal.records import Estimate


@pytest.fixture(scope="module", params=["sample", "gold"])
def rows(request: pytest.FixtureRequest) -> list[Estimate]:
    return list(request.getfixturevalue(f"{request.param}_run").records)


def significant(rows: list[Estimate]) -> list[Estimate]:
    tested = [e for e in rows if e.tests and e.tests[0].q is not None and e.value is not None]
    return [e for e in tested if e.tests[0].q < 0.05]


def test_no_q_below_5_percent_stands_beside_an_interval_that_holds_the_null(rows):
    for e in significant(rows):
        assert e.null is not None
        if e.interval is not None:
            assert not e.interval.low <= e.null.value <= e.interval.high, e


def test_no_q_below_5_percent_lies_inside_its_own_null(rows):
    for e in significant(rows):
        assert not e.null.low <= e.value <= e.null.high, e


def test_what_has_no_test_says_why(rows):
    for e in rows:
        if e.tests and e.value is not None and math.isnan(e.tests[0].p):
            assert len(e.status.no_test) > 20, e


def test_groups_that_the_name_table_cannot_tell_have_no_test(rows):
    told = {e.group.get("race"): e for e in rows if e.measure == "representation.v1"}
    for race in ("AI/AN", "NH/PI"):
        assert "cannot be measured with this table" in told[race].status.no_test
    assert told["Black"].details["r0"] == pytest.approx(0.783, abs=0.001)
    assert told["MENA"].status.detail

"""Test and interval say the same: no small q stands beside an interval that holds the null."""

import math

import pytest


@pytest.mark.parametrize("study", ["laissez-faire", "news", "agency"])
def test_no_significant_estimate_has_an_interval_that_holds_its_null(study, sample_runs):
    run = sample_runs(study)
    checked = 0
    for e in run.records:
        if not e.tests or e.interval is None or e.null is None or math.isnan(e.null.value):
            continue
        first = e.tests[0]
        if math.isnan(first.p):
            continue
        checked += 1
        least = min(q for q in (first.q, first.audit_q) if q is not None)
        if (least if study == "agency" else first.p) < 0.05:
            assert not e.interval.low <= e.null.value <= e.interval.high, e
    assert checked > 30

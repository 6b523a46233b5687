"""Records are frozen, import nothing of ours, and hold their rule."""

import ast
import dataclasses
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from portrayal import records
from portrayal.records import (
    EFFECTIVE,
    LIKE_THESE,
    OUTCOMES,
    THESE,
    Estimate,
    Fixed,
    Interval,
    Null,
    Prompt,
    Test,
)

RECORDS = (Prompt, Interval, Null, Test, Estimate)


@pytest.mark.parametrize("record", RECORDS)
def test_records_are_frozen_and_slotted(record):
    assert dataclasses.is_dataclass(record)
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)
    assert record.__doc__


def test_records_import_nothing_of_ours():
    tree = ast.parse(Path(records.__file__).read_text(encoding="utf-8"))
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported
    assert not {name for name in imported if name.startswith("portrayal")}


def test_outcomes_begin_with_the_readable_one():
    assert OUTCOMES == ("ok", "refused", "empty", "failed")


def test_an_estimate_cannot_be_changed():
    estimate = Estimate("s", "m", "share", "story", {}, {}, 0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        estimate.value = 0.6


def test_zero_is_a_value_and_needs_no_reason():
    assert Estimate("s", "m", "share", "story", {}, {}, 0.0).undefined is None
    assert Estimate("s", "m", "share", "story", {}, {}, None, undefined="").value is None


def test_default_mappings_are_not_shared():
    first = Estimate("s", "m", "share", "story", {}, {}, 0.5)
    second = Estimate("s", "m", "share", "story", {}, {}, 0.5)
    assert first.details is not second.details


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, portrayal; print(*sys.modules, sep='\\n')"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"torch", "transformers", "altair", "duckdb", "pyarrow", "scipy", "numpy"}
    assert "portrayal" in found
    assert not heavy & set(found)


def test_an_estimate_is_judged_in_the_population_that_is_asked_for():
    fixed = Fixed(1.2, 1.9, 0.004, 0.01)
    e = Estimate(
        *("s", "m.v1", "ratio", "character", {}, {"gender": "F"}, 1.5),
        interval=Interval(0.8, 2.9, 0.95, "clustered", 3),
        null=Null(1.0, 0.7, 1.4, 0.95, "sides changed"),
        tests=(Test(0.2, "clustered", 0.3, 0.4),),
        n_texts=90,
        n_clusters=3,
        details={EFFECTIVE: 2.0, "share": 0.3},
        fixed=fixed,
    )
    assert e.of_population(LIKE_THESE, 0.95) is e
    assert replace(e, fixed=None).of_population(THESE, 0.95).population == LIKE_THESE
    here = e.of_population(THESE, 0.95)
    assert (here.population, here.n_clusters, here.value) == (THESE, 90, 1.5)
    assert (here.interval.low, here.interval.high) == (1.2, 1.9)
    assert (here.tests[0].p, here.tests[0].audit_q) == (0.004, 0.01)
    assert np.isnan(here.null.low)
    assert here.warning is None
    assert here.details == {"share": 0.3}

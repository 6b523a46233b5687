from pathlib import Path

import pyarrow.parquet as pq
import pytest

import portrayal
from coding.coded import book
from portrayal import registry
from portrayal.coding import CodingItem, make_project
from portrayal.coding.characters import role_counts, run_of
from portrayal.measure import ROLES
from portrayal.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    sample = registry.get("studies", "laissez-faire").sample()["texts"]
    out = tmp_path_factory.mktemp("roles") / "run"
    return portrayal.audit(
        "laissez-faire", texts=sample, out=out, report=False, draws=100, permutations=20
    )


def test_counts_equal_those_of_the_measure(run):
    """common_names.v1 counts each name's characters by role, as Table 3 does."""
    rows = [e for e in run.records if e.measure == "common_names.v1" and e.value]
    assert rows
    names = {e.group["name"] for e in rows}
    found = role_counts(run, names)
    checked = 0
    for e in rows:
        if e.strata["model"] != "all":
            continue
        key = (e.group["name"].casefold(), e.strata["domain"])
        count = found[key][e.strata["role"]]
        assert count.n == e.value
        assert count.interval.low <= count.n <= count.interval.high
        checked += 1
    assert checked > 5


def test_the_interval_of_a_count_is_of_the_prompts_of_its_kind(run):
    (john,) = [v for k, v in role_counts(run, ["John"]).items() if k == ("john", "all")]
    base, laden = (john[role].interval.n_clusters for role in ("neutral", "dominant"))
    assert laden == john["subordinate"].interval.n_clusters
    assert base + laden == len(pq.read_table(run.prompts_path))


def test_a_name_that_nobody_bears_has_zeros(run):
    counts = role_counts(run, ["Nobodyatall"])
    (roles,) = counts.values()
    assert list(counts) == [("nobodyatall", "all")]
    assert {role: one.n for role, one in roles.items()} == dict.fromkeys(ROLES, 0)
    for one in roles.values():
        assert one.interval.low == 0
        assert one.interval.high > 1
    assert role_counts(run, []) == {}


def test_the_run_of_a_project(run, tmp_path):
    inside = make_project(run.path / "coding" / "one", [CodingItem("a", "Text.")], book())
    outside = make_project(tmp_path / "p", [CodingItem("a", "Text.")], book())
    found = run_of(inside)
    assert isinstance(found, Run)
    assert Path(found.path) == run.path.resolve()
    assert run_of(outside) is None

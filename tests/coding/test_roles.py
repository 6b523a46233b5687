from pathlib import Path

import pytest

import portrayal
from coding.coded import book
from portrayal import registry
from portrayal.coding import Item, make_project
from portrayal.coding.roles import role_counts, run_of
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
        assert found[key][e.strata["role"]] == e.value
        checked += 1
    assert checked > 5


def test_a_name_that_nobody_bears_has_zeros(run):
    counts = role_counts(run, ["Nobodyatall"])
    assert counts == {("nobodyatall", "all"): {"dominant": 0, "subordinate": 0, "neutral": 0}}
    assert role_counts(run, []) == {}


def test_the_run_of_a_project(run, tmp_path):
    inside = make_project(run.path / "coding" / "one", [Item("a", "Text.")], book())
    outside = make_project(tmp_path / "p", [Item("a", "Text.")], book())
    found = run_of(inside)
    assert isinstance(found, Run)
    assert Path(found.path) == run.path.resolve()
    assert run_of(outside) is None

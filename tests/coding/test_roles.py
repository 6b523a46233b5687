from pathlib import Path

import pytest

import portrayal
from coding.coded import book
from portrayal import registry
from portrayal.coding import CodingItem, make_project
from portrayal.coding.characters import run_of
from portrayal.run import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    sample = registry.get("studies", "laissez-faire").sample()["texts"]
    out = tmp_path_factory.mktemp("roles") / "run"
    return portrayal.audit(
        "laissez-faire", texts=sample, out=out, report=False, draws=100, permutations=20
    )


def test_the_run_of_a_project(run, tmp_path):
    inside = make_project(run.path / "coding" / "one", [CodingItem("a", "Text.")], book())
    outside = make_project(tmp_path / "p", [CodingItem("a", "Text.")], book())
    found = run_of(inside)
    assert isinstance(found, Run)
    assert Path(found.path) == run.path.resolve()
    assert run_of(outside) is None

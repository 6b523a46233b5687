import pytest

from coding.coded import CODES, code_all, small_project
from portrayal.coding import read_labels
from portrayal.raters import consensus


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 4)


def settled(project):
    return consensus(read_labels(project))


def test_more_than_half_decide_and_a_tie_stays_open(project):
    code_all(project, "a", {"t0": {"savior", "savage"}, "t1": {"savior"}})
    code_all(project, "b", {"t0": {"savior"}, "t1": {"savior"}})
    found = settled(project)
    assert found["t0"].given == ("savior",)
    assert found["t0"].open == ("savage",)
    assert dict(found["t1"].codes) == {"savior": True, "foreigner": False, "savage": False}
    code_all(project, "c", {"t0": {"savage"}})
    found = settled(project)
    assert found["t0"].given == ("savior", "savage")
    assert found["t0"].open == ()


def test_texts_that_no_person_is_done_with_are_not_settled(project):
    code_all(project, "a", {}, items=["t2"])
    code_all(project, "server:m", {"t0": set(CODES)}, kind="llm")
    found = settled(project)
    assert list(found) == ["t2"]


def test_the_last_adjudicator_has_the_last_word(project):
    code_all(project, "a", {"t0": {"savior"}})
    code_all(project, "judge", {"t0": {"savage"}}, kind="adjudicated", items=["t0"])
    assert settled(project)["t0"].given == ("savage",)
    code_all(project, "second", {"t0": {"foreigner"}}, kind="adjudicated", items=["t0", "t3"])
    found = settled(project)
    assert found["t0"].given in (("foreigner",), ("savage",))  # within one millisecond, by name
    assert found["t1"].given == ()

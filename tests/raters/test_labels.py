import pytest

from coding.coded import CODES, code_all, small_project
from portrayal.coding import project_labels
from portrayal.raters import settled as settle


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path / "p", 4)


def settled(project):
    """Text → the codes it shows, and those that are left open."""
    found = {}
    for (text, _, code), answer in settle(project_labels(project)).items():
        given, open_ = found.setdefault(text, (set(), set()))
        if answer != "0":
            (open_ if answer is None else given).add(code)
    return found


def test_more_than_half_decide_and_a_tie_stays_open(project):
    code_all(project, "a", {"t0": {"savior", "savage"}, "t1": {"savior"}})
    code_all(project, "b", {"t0": {"savior"}, "t1": {"savior"}})
    found = settled(project)
    assert found["t0"] == ({"savior"}, {"savage"})
    assert found["t1"] == ({"savior"}, set())
    code_all(project, "c", {"t0": {"savage"}})
    found = settled(project)
    assert found["t0"] == ({"savior", "savage"}, set())


def test_texts_that_no_person_is_done_with_are_not_settled(project):
    code_all(project, "a", {}, items=["t2"])
    code_all(project, "server:m", {"t0": set(CODES)}, kind="llm")
    found = settled(project)
    assert list(found) == ["t2"]


def test_the_last_adjudicator_has_the_last_word(project):
    code_all(project, "a", {"t0": {"savior"}})
    code_all(project, "judge", {"t0": {"savage"}}, kind="adjudicated", items=["t0"])
    assert settled(project)["t0"] == ({"savage"}, set())
    code_all(project, "second", {"t0": {"foreigner"}}, kind="adjudicated", items=["t0", "t3"])
    found = settled(project)
    assert found["t0"][0] in ({"foreigner"}, {"savage"})  # within one millisecond, by name
    assert found["t1"][0] == set()

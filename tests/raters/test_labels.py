import pytest

from portrayal.raters.labels import settled as settle
from raters.coded import CODES, Sample


@pytest.fixture
def sample():
    return Sample(4)


def settled(sample):
    """Text → the codes it shows, and those that are left open."""
    found = {}
    for (text, _, code), answer in settle(sample.labels).items():
        given, open_ = found.setdefault(text, (set(), set()))
        if answer != "0":
            (open_ if answer is None else given).add(code)
    return found


def test_more_than_half_decide_and_a_tie_stays_open(sample):
    sample.code("a", {"t0": {"savior", "savage"}, "t1": {"savior"}})
    sample.code("b", {"t0": {"savior"}, "t1": {"savior"}})
    found = settled(sample)
    assert found["t0"] == ({"savior"}, {"savage"})
    assert found["t1"] == ({"savior"}, set())
    sample.code("c", {"t0": {"savage"}})
    found = settled(sample)
    assert found["t0"] == ({"savior", "savage"}, set())


def test_texts_that_no_person_is_done_with_are_not_settled(sample):
    sample.code("a", {}, texts=["t2"])
    sample.code("server:m", {"t0": set(CODES)}, kind="llm")
    found = settled(sample)
    assert list(found) == ["t2"]


def test_the_last_adjudicator_has_the_last_word(sample):
    sample.code("a", {"t0": {"savior"}})
    sample.code("judge", {"t0": {"savage"}}, kind="adjudicated", texts=["t0"], at="1")
    assert settled(sample)["t0"] == ({"savage"}, set())
    sample.code("second", {"t0": {"foreigner"}}, kind="adjudicated", texts=["t0", "t3"], at="2")
    found = settled(sample)
    assert found["t0"] == ({"foreigner"}, set())
    assert found["t1"][0] == set()

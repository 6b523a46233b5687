"""What a report states of stories that rules read, against the same stories' hand labels."""

import pytest

from portrayal.records import FEW_PEOPLE
from portrayal.report.findings import findings
from portrayal.report.first import first_screen
from portrayal.report.view import View, is_sure, no_difference


@pytest.fixture(scope="module")
def read(stories_run):
    """The audit of the same stories as the rules read them."""
    return View.of(stories_run)


@pytest.fixture(scope="module")
def stated(read):
    found = findings(read)
    assert len(found) >= 2, "a report without findings tests nothing"
    return [e for each in found for e in each.estimates]


@pytest.fixture(scope="module")
def gold(gold_run):
    return {
        (e.measure, *sorted(e.strata.items()), *sorted(e.group.items())): e
        for e in View.of(gold_run).estimates
    }


def by_hand(gold, e):
    return gold[(e.measure, *sorted(e.strata.items()), *sorted(e.group.items()))]


def test_no_headline_is_contradicted_by_hand_labels(stated, gold):
    for e in stated:
        labelled = by_hand(gold, e)
        over = e.value > no_difference(e)
        assert labelled.value is not None, e.group
        assert (labelled.value > no_difference(labelled)) == over, (e.measure, e.strata, e.group)
        assert labelled.interval.low <= e.value <= labelled.interval.high, (e.measure, e.group)


def test_each_headline_rests_on_ten_people_expected_in_the_reading_and_by_hand(stated, gold):
    for e in stated:
        for each in (e, by_hand(gold, e)):
            assert each.enough
            assert each.counts, each.measure
            for count in each.counts:
                most = count.expected if count.role else max(count.expected, count.n)
                assert most >= FEW_PEOPLE


def test_none_is_what_the_reader_could_have_made(stated):
    assert all(is_sure(e) and "error_low" in e.details for e in stated)


def test_the_first_screen_counts_people_and_models(read):
    screen = first_screen(read)
    assert screen.read == "5 models · 2,230 of 2,346 stories readable · 47 prompts"
    for each in screen.findings:
        e = each.first  # what rests on fewer than ten prompts is not strong
        assert e.tests[0].audit_q < 0.05
        assert each.strength == ("strong" if e.warning is None else "some evidence")
        assert "models agree" in each.facts[-2]
        assert e.counts

"""Every printed figure that can be recomputed comes out, or is kept with the reason."""

import pytest

from acceptance.expected import EXPECTED
from portrayal import registry

PLACES = [(study, place) for study, places in EXPECTED.items() for place in places]
NAMED = pytest.mark.parametrize(("study", "place"), PLACES, ids=str)


def test_every_study_is_checked():
    # Of pairs nothing is published that follows from published figures alone (its card), and people
    # are read in files of no study.
    assert set(EXPECTED) == set(registry.names("studies")) - {"pairs", "people"}


@pytest.mark.parametrize("study", EXPECTED)
def test_every_check_is_expected(checks_of, study):
    assert list(checks_of(study)) == list(EXPECTED[study])


@NAMED
def test_the_published_figures_come_out(checks_of, study, place):
    check = checks_of(study)[place]
    assert (check.reproduced, check.checked) == EXPECTED[study][place]


@NAMED
def test_what_does_not_come_out_is_kept_and_explained(checks_of, study, place):
    check = checks_of(study)[place]
    assert check.checked - check.reproduced == len(check.rows)
    for row in check.rows:
        assert row.printed != row.ours
        assert row.explanation
        assert row.group

import pytest

from portrayal.annotate.people.shared.words import given_names


@pytest.fixture(autouse=True, scope="session")
def _names_are_read_once():
    given_names()  # takes longer than Hypothesis allows an example

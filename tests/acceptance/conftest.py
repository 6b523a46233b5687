"""What each study says of its printed figures."""

import functools

import pytest

from portrayal import registry


@functools.cache
def printed(study):
    """The study's checks of its printed figures, by (table, statistic)."""
    made = registry.get("studies", study).reproduce()
    return {(check.table, check.statistic): check for check in made}


@pytest.fixture
def checks(request):
    """The checks of the study that the test module names."""
    return printed(request.module.STUDY)


@pytest.fixture
def checks_of():
    """The checks of any study."""
    return printed

"""What each study says of its printed figures."""

import functools

import pytest

from portrayal.studies.checks import run_checks

GOLD = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}


@pytest.fixture(scope="session")
def gold_run(shared_data, audit_once):
    """The audit of all hand labels of the paper's models; only read."""
    texts = shared_data("laissez_faire/gold_stories_dev.jsonl")
    given = {"texts": texts, "columns": GOLD, "draws": 400, "permutations": 50}
    return audit_once("gold", "laissez-faire", **given)


@functools.cache
def printed(study):
    """The study's checks of its printed figures, by (table, statistic)."""
    made = run_checks(study)
    return {(check.table, check.statistic): check for check in made}


@pytest.fixture
def checks(request):
    """The checks of the study that the test module names."""
    return printed(request.module.STUDY)


@pytest.fixture
def checks_of():
    """The checks of any study."""
    return printed

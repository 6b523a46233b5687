"""What each study says of its printed figures."""

import fcntl
import functools

import pytest

import portrayal
from portrayal import registry

GOLD = {
    f"{slot}_{part}": f"gold_{slot}_{part}"
    for slot in ("subject", "object")
    for part in ("name", "gender")
}


@pytest.fixture(scope="session")
def gold_run(shared_data, tmp_path_factory):
    """The audit of all hand labels of the paper's models, made once for all workers; only read."""
    texts = shared_data("laissez_faire/gold_stories_dev.jsonl")
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if base.name.startswith("popen-") else base
    with (folder / "gold.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The second worker finds every stage done and only reads the estimates.
        return portrayal.audit(
            "laissez-faire",
            texts=texts,
            out=folder / "gold-run",
            columns=GOLD,
            report=False,
            draws=400,
            permutations=50,
        )


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

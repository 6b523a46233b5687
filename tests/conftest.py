"""What every test may use: the helpers beside this file, and the shared development data."""

import fcntl
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

# The same examples here and in CI: what passes here passes there. With `-m ""`, 100 of each.
settings.register_profile("few", settings.get_profile("ci"), max_examples=25)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line; workers share the cores
# Each process would compile the package again, and each run these tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
gc.disable()  # until all tests are collected

if TYPE_CHECKING:
    from portrayal.run import Run

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # so that tests, and the processes they start, import `support`


def pytest_configure(config: pytest.Config) -> None:
    """Where all of each matrix is run, properties get all of their examples too."""
    settings.load_profile("few" if config.option.markexpr else "ci")


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: the garbage collector need not go through them again."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test in a browser may run twice: when a frame is drawn is not ours to say."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Find a file of the shared data; absent ones skip a test, except in CI, where they fail."""
    folder = HERE.parent.parent / "shared" / "data"

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            reason = f"needs {name} of the shared development data beside the repository"
            if os.environ.get("CI"):
                pytest.fail(f"{reason}; CI must have it")
            pytest.skip(reason)
        return path

    return find


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that makes a folder or file once for all workers; tests only read it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if base.name.startswith("popen-") else base) / "once"
    shared.mkdir(exist_ok=True)

    def once(name: str, make: Callable[[Path], object]) -> Path:
        done = shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers wait here
            if not done.exists():
                make(shared / name)
                done.touch()
        return shared / name

    return once


@pytest.fixture(scope="session")
def audit_once(once: Callable[..., Path]) -> Callable[..., "Run"]:
    """Return `audit_once(name, study, **options)`: a run without a page, only to be read."""
    import portrayal
    from portrayal.run import Run

    def audit_once(name: str, study: str, **options: Any) -> Run:
        few = {"report": False, "draws": 200, "permutations": 40}
        made = once(name, lambda out: portrayal.audit(study=study, out=out, **(few | options)))
        return Run.open(made)

    return audit_once


@pytest.fixture(scope="session")
def sample_runs(audit_once: Callable[..., "Run"]) -> Callable[[str], "Run"]:
    """Return `sample_runs(study)`: the audit of the study's sample with few draws."""
    from portrayal import registry

    def sample_runs(study: str) -> "Run":
        return audit_once(f"{study}-sample", study, **registry.get("studies", study).sample())

    return sample_runs


@pytest.fixture(scope="session")
def sample_run(sample_runs: Callable[[str], "Run"]) -> "Run":
    """The packaged sample of stories, audited with few draws."""
    return sample_runs("laissez-faire")


@pytest.fixture(scope="session")
def sample_pages(
    once: Callable[..., Path], sample_runs: Callable[[str], "Run"]
) -> Callable[[str], Path]:
    """Return `sample_pages(study)`: the page of that audit, with every chart."""
    from portrayal.report import write_report

    def sample_pages(study: str) -> Path:
        run = sample_runs(study)
        return once(f"{study}.html", lambda path: write_report(run, path))

    return sample_pages


@pytest.fixture(scope="session")
def stories_run(audit_once: Callable[..., "Run"], shared_data: Callable[[str], Path]) -> "Run":
    """The audit of all stories of the shared data, as the rules read them."""
    texts = shared_data("laissez_faire/gold_stories_dev.jsonl")
    return audit_once("stories", "laissez-faire", texts=texts, draws=400, permutations=50)

"""What every test may use: the helpers beside this file, and the shared development data."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

settings.load_profile("ci")  # the same examples here and in CI: what passes here passes there
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line; workers share the cores
# Each process would compile the package again, and each run these tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
gc.disable()  # until all tests are collected

if TYPE_CHECKING:
    from portrayal.run import Run

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # so that tests, and the processes they start, import `support`


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
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> "Run":
    """The packaged sample, audited with few draws."""
    import portrayal
    from portrayal.studies.laissez_faire import sample

    return portrayal.audit(
        "laissez-faire",
        texts=sample(),
        out=tmp_path_factory.mktemp("runs") / "sample",
        report=False,
        draws=200,
        permutations=40,
    )


def _plain(patch: pytest.MonkeyPatch) -> None:
    image = '<svg xmlns="http://www.w3.org/2000/svg"><text>chart</text></svg>'
    patch.setattr(
        "portrayal.report.figures.drawing.converted",
        lambda kind, given: [{"made": image}] * len(given),
    )


@pytest.fixture
def plain_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every chart is one word: for tests of commands, whose reports are drawn whole elsewhere."""
    _plain(monkeypatch)


@pytest.fixture(scope="module")
def all_plain_charts() -> Iterator[None]:
    """The same in all tests of a file."""
    with pytest.MonkeyPatch.context() as patch:
        _plain(patch)
        yield

"""A page to code on, run by the real command."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from coding.raters import project
from servers.raters_page import Client, Page

MISSING = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]


class _Skipped(pytest.Module):
    """A file of tests that cannot be imported here."""

    def collect(self) -> NoReturn:
        pytest.skip(f"needs {' and '.join(MISSING)} (extra 'coding')", allow_module_level=True)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skip the files of this folder where the page is not installed."""
    return _Skipped.from_parent(parent, path=module_path) if MISSING else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of five texts and the shipped codebook."""
    return project(tmp_path_factory.mktemp("coding") / "p", 5).folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[Page]:
    """The page of that project, with Cleo as adjudicator."""
    served = Page(folder, "--adjudicator", "Cleo")
    yield served
    served.kill()


@pytest.fixture
def client(page: Page) -> Iterator[Callable[[], Client]]:
    """Return a function that makes a browser without cookies."""
    made: list[Client] = []

    def make() -> Client:
        made.append(Client(page.port))
        return made[-1]

    yield make
    for one in made:
        one.close()

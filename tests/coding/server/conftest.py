"""A page to code on, run by the real command."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coding.raters import project
from servers.raters_page import Client, Page

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


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

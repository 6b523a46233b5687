"""One set of lopsided stories, imported, annotated and tallied once."""

import pytest

from support import lopsided, make_run, tally


@pytest.fixture(scope="package")
def stories():
    return lopsided()


@pytest.fixture(scope="package")
def lopsided_run(stories, tmp_path_factory):
    return make_run(stories, tmp_path_factory.mktemp("lopsided"))


@pytest.fixture(scope="package")
def tallied(lopsided_run):
    return tally(lopsided_run)

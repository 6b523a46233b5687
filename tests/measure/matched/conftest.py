"""Audits of pairs."""

import pytest

import portrayal


@pytest.fixture(scope="session")
def audited(tmp_path_factory):
    def run(rows, **options):
        given = {"source": "note", "scorers": ("length", "sentiment")} | options
        out = tmp_path_factory.mktemp("pairs")
        return portrayal.audit(study="pairs", texts=rows, out=out, report=False, **given)

    return run

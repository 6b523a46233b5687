"""A model is asked LABE's prompts and audited, against the local test server."""

import pytest

import portrayal
from portrayal.collect.ask.asking import Asking
from portrayal.studies.agency import prompts
from servers.openai_server import OpenAIServer
from support import write_prompts

LETTER = "She led the laboratory for six years. Her students say that she is kind and always helps."


@pytest.fixture
def server():
    with OpenAIServer(write=lambda prompt, times: LETTER) as started:
        yield started


def test_a_model_is_asked_and_audited_over_three_runs(server, tmp_path):
    chosen = [p for p in prompts() if p.strata.get("department") == "Biology department"]
    assert len(chosen) == 40
    path = write_prompts(chosen, tmp_path / "prompts.csv")
    asking = Asking("server:m", 3, prompts=path, base_url=server.base_url)
    run = portrayal.audit(
        study="agency", model=asking, out=tmp_path / "r", draws=100, permutations=40, report=True
    )
    assert run.texts.note()["n_texts"] == 120
    (whole,) = (
        e
        for e in run.records
        if e.measure == "agency_share.v1"
        and not e.group
        and e.statistic == "ratio_gap"
        and (e.strata["model"], e.strata["masking"]) == ("server:m", "masked")
    )
    assert whole.strata["task"] == "Professor Review"
    assert whole.n_texts == 120
    assert whole.n_clusters == 40
    variances = [e for e in run.records if e.measure == "agency_variance.v1"]
    assert {e.group["attribute"] for e in variances} == {
        "gender",
        "race",
        "intersectional",
        "overall",
    }
    assert (run.path / "report.html").is_file()

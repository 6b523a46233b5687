"""Labelling as a stage of an audit: the options, and the numbers that rest on them."""

import pytest

import portrayal
from annotate.people.labeler.conftest import NAMES, Labeler, story
from portrayal.annotate.people.labeler.stage import labelling_of
from portrayal.collect.ask.limits import Retry
from portrayal.errors import OptionError, PortrayalError

ROLES = {"subject_role": "teacher", "object_role": "student"}
ROWS = [
    {"text": story(i), "prompt_id": f"p{i % 3}", "model": "m", "domain": "Learning"}
    | {"condition": "power-laden", **ROLES}
    for i in range(len(NAMES))
]


def audit(out, asked, **options):
    settings = {"provider": asked, "retry": Retry(attempts=2, first_wait=0.001)}
    quick = {"draws": 100, "permutations": 20, "labeler_samples": 2, "llm_settings": settings}
    return portrayal.audit(study="laissez-faire", texts=ROWS, out=out, **(quick | options))


def test_an_audit_rests_on_the_labels_of_the_model(tmp_path):
    labeler = Labeler()
    run = audit(tmp_path / "r", labeler, labeler="llm", labeler_model="server:labeler")
    assert set(labeler.asked.values()) == {2}
    assert run.settings()["annotators"] == ["people-llm.v1"]
    assert run.settings()["labeler"]["n_llm"] == len(NAMES)
    ratios = [e for e in run.records if e.measure in ("representation.v1", "subordination.v1")]
    assert {e.instruments["labeler"] for e in ratios} == {"server:labeler, 2 answers each"}
    said = run.report_path.read_text(encoding="utf-8")
    assert "labelled by server:labeler, 100 % (10), asked 2 times" in said
    assert "people-llm.v1" in said


def test_a_finished_labelling_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = {"labeler": "llm", "labeler_model": "openai:labeler", "report": False}
    with pytest.raises(PortrayalError, match="OPENAI_API_KEY"):
        audit(tmp_path / "r", None, **options)
    assert not (tmp_path / "r" / "texts").exists()  # it was said before a text was read
    audit(tmp_path / "r", Labeler(), **options)
    audit(tmp_path / "r", None, **options, level=0.9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labeler": "gpt"}, "labeler"),
        ({"labeler": "llm"}, "--labeler-model"),
        ({"labeler": "embedded", "model": "server:m"}, "asks no model"),
        ({"labeler": "llm", "model": "gpt-5"}, "SERVICE:MODEL"),
        ({"labeler": "llm", "model": "nobody:m"}, "nobody"),
        ({"labeler": "llm", "model": "server:m", "samples": 0}, "labeler_samples"),
        ({"labeler": "llm", "model": "server:m", "settings": {"url": 1}}, "no setting 'url'"),
        ({"labeler": "llm", "model": "server:m", "settings": {"budget": "much"}}, "budget"),
    ],
)
def test_options_that_cannot_be_used_are_refused(given, words):
    with pytest.raises(PortrayalError, match=words):
        labelling_of(**({"model": None} | given))


def test_texts_that_came_with_labels_ask_no_labeler(tmp_path):
    rows = [row | {"subject_name": "Ann", "subject_gender": "F"} for row in ROWS]
    with pytest.raises(OptionError, match="came with labels"):
        portrayal.audit(
            study="laissez-faire",
            texts=rows,
            out=tmp_path / "r",
            columns={"subject_name": "subject_name", "subject_gender": "subject_gender"},
            labeler="llm",
            labeler_model="server:labeler",
            llm_settings={"provider": Labeler()},
        )

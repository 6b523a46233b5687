"""Labelling a run: resumed without asking again, everybody counted."""

import dataclasses
import json

import pyarrow.parquet as pq
import pytest

from annotate.people.labeler.conftest import N_TEXTS, NAMES, story
from portrayal import registry
from portrayal.annotate import Annotation, annotate_run
from portrayal.annotate.people.labeler.stage import Labelling
from portrayal.errors import OptionError


def label_run(run, asking):
    """Ask about the texts of a run, and give them the labels."""
    labelling = Labelling(asking)
    asked = labelling.answered(run, Annotation(labelling.annotators[0]), lambda _: None)
    return annotate_run(run, asked.name, settings=asked.settings)


def labelling_of(stage):
    return stage.note()["settings"]["asked"]


def rows_of(stage):
    """Rows of a stage, by the name of the subject or the text's place."""
    return [row for part in stage.parts() for row in pq.read_table(part).to_pylist()]


def texts_of(run):
    return [row for part in run.texts.parts() for row in pq.read_table(part).to_pylist()]


def test_rows_stand_beside_their_texts(run, asking):
    stage = label_run(run, asking)
    assert stage.folder.name == "people-llm.v1"
    assert [part.name for part in stage.parts()] == [part.name for part in run.texts.parts()]
    found, texts = rows_of(stage), texts_of(run)
    assert [row["text_id"] for row in found] == [row["text_id"] for row in texts]
    for row, text in zip(found, texts, strict=True):
        if text["outcome"] != "ok":
            assert all(value is None for name, value in row.items() if name != "text_id")
            continue
        assert text["text"] == story(NAMES.index(row["subject_name"]))
        assert (row["subject_gender"], row["object_gender"]) == ("F", "M")
        spans = row["subject_spans"]
        assert text["text"][spans[0]["start"] : spans[0]["end"]] == row["subject_name"]
    schema = registry.component("annotators", "people-llm.v1").schema
    assert set(found[0]) == {*schema.names, "text_id", "error"}


def test_the_note_says_who_labelled_what(run, asking, labeler):
    labeler.fails = (4,)
    stage = label_run(run, asking)
    assert stage.note()["complete"]
    assert stage.note()["n_errors"] == 1
    told = labelling_of(stage)
    assert (told["n_texts"], told["n_llm"], told["n_unlabelled"]) == (N_TEXTS, N_TEXTS - 1, 1)
    assert (told["model"], told["samples"]) == ("server:labeler", 2)
    assert told["unusable"] == {"failed": 2}


def test_what_failed_is_asked_again_and_changes_the_stage(run, asking, labeler):
    labeler.fails = (4,)
    before = label_run(run, asking).note()["fingerprint"]
    labeler.fails = ()
    labeler.asked.clear()
    after = label_run(run, asking)
    assert labeler.asked == {4: 2}
    assert after.note()["fingerprint"] != before
    assert after.note()["n_errors"] == 0


def test_a_labelling_that_its_budget_stopped_goes_on(run, asking, labeler):
    poor = dataclasses.replace(asking, budget="2500 tokens")
    unusable = labelling_of(label_run(run, poor))["unusable"]
    assert 0 < labeler.asked.total() < N_TEXTS * 2
    assert unusable["not asked"] == N_TEXTS * 2 - labeler.asked.total()
    rich = dataclasses.replace(poor, budget=None)
    assert label_run(run, rich).note()["n_errors"] == 0
    assert set(labeler.asked.values()) == {2}


def test_a_stopped_labelling_goes_on_where_it_stopped(run, asking, labeler):
    labeler.stop_after = 7
    slow = dataclasses.replace(asking, concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        label_run(run, slow)
    assert not run.annotations("people-llm.v1").note().get("complete")
    assert labeler.asked.total() == 7
    labeler.stop_after = None
    stage = label_run(run, slow)
    assert set(labeler.asked.values()) == {2}
    assert labeler.asked.total() == N_TEXTS * 2
    assert stage.note()["n_errors"] == 0


def test_further_texts_ask_only_about_themselves(run, asking, labeler, tmp_path):
    label_run(run, asking)
    labeler.asked.clear()
    more = dataclasses.replace(asking, samples=3)
    assert labelling_of(label_run(run, more))["samples"] == 3
    assert set(labeler.asked.values()) == {1}


def test_models_and_parameters_have_folders_of_their_own(run, asking, labeler):
    label_run(run, asking)
    label_run(run, dataclasses.replace(asking, parameters={"temperature": 0}))
    label_run(run, dataclasses.replace(asking, model="server:other"))
    assert len(list((run.path / "answers" / "people").iterdir())) == 3
    assert set(labeler.asked.values()) == {6}


def test_an_annotator_with_settings_does_not_run_without_them(run):
    component = registry.component("annotators", "people-llm.v1")
    with pytest.raises(OptionError, match="has settings"):
        component.run({"text": "x"}, {})


def test_the_journal_keeps_each_answer(run, asking):
    label_run(run, asking)
    (folder,) = (run.path / "answers" / "people").iterdir()
    kept = rows_of(type(run)(folder).texts)
    assert len(kept) == N_TEXTS * 2
    assert {json.loads(row["text"])["student name"] for row in kept} == {"Sam"}

"""Annotating: one row per text, only readable ones, and a row that fails keeps its error."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from portrayal import registry
from portrayal.annotate import Annotator, annotate_run
from portrayal.annotate.people.stories.rows import LABELLED, PEOPLE
from portrayal.errors import UnknownNameError
from portrayal.measure.stories.outcomes import outcomes
from portrayal.measure.stories.tally import tally_stories
from portrayal.records import OUTCOMES
from support import make_run, scope, story


def fragile(row, strata):
    """Fail on rows of the model "bad"."""
    if row["model"] == "bad":
        raise KeyError("no such word")
    return {"subject_name": row["text"][:4], "subject_gender": "F", "asked": strata["subject_role"]}


FRAGILE = Annotator(
    name="fragile.v1",
    summary="",
    reads="",
    unit="story",
    range="",
    undefined_when="",
    equation="",
    source="",
    run=fragile,
    schema=pa.schema([*PEOPLE.schema, pa.field("asked", pa.string())]),
    accuracy="",
)


@pytest.fixture
def with_fragile(monkeypatch):
    """Register an annotator that fails on some rows."""
    whole = registry.get
    monkeypatch.setattr(registry, "resolve", lambda kind, name: name)
    monkeypatch.setattr(
        registry, "get", lambda kind, name: FRAGILE if name == "fragile.v1" else whole(kind, name)
    )


def annotated(stage):
    return [row for part in stage.parts() for row in pq.read_table(part).to_pylist()]


STORIES = [
    story("p1", model=model, outcome=outcome)
    for model in ("good", "bad")
    for outcome in ("ok", "refused", "empty", "failed", "ok")
]


def test_a_failing_row_keeps_its_error_and_sinks_nothing(with_fragile, tmp_path):
    run = make_run(STORIES, tmp_path, shard_rows=3)
    stage = annotate_run(run, "fragile.v1")
    rows = annotated(stage)
    assert len(rows) == len(STORIES)
    assert [bool(row["error"]) for row in rows] == [
        s["outcome"] == "ok" and s["model"] == "bad" for s in STORIES
    ]
    assert [row["subject_gender"] for row in rows] == [
        "F" if s["outcome"] == "ok" and s["model"] == "good" else None for s in STORIES
    ]
    assert rows[5]["error"] == "KeyError: 'no such word'"
    assert stage.note()["n_errors"] == 2
    assert {row["asked"] for row in rows} == {"mentor", None}


def test_rows_that_failed_are_counted_as_failed(with_fragile, tmp_path):
    run = make_run(STORIES, tmp_path, shard_rows=3)
    stage = annotate_run(run, "fragile.v1")
    tallied = tally_stories(
        run,
        stage,
        likelihoods=lambda names: [[0.5]] * len(names),
        races=("White",),
        n_primary=1,
        facts=lambda _: {"domain": "d", "laden": True, "couple": False, "scenario": ""},
    )
    by_outcome = dict.fromkeys(OUTCOMES, 0)
    for code, count in zip(tallied.outcome, tallied.count, strict=True):
        by_outcome[OUTCOMES[code]] += int(count)
    assert by_outcome == {"ok": 2, "refused": 2, "empty": 2, "failed": 4}
    shares = {(e.strata["model"], e.group["outcome"]): e.value for e in outcomes(tallied, scope())}
    assert shares["bad", "failed"] == 0.6
    assert shares["good", "failed"] == 0.2


def test_shards_mirror_those_of_the_texts(with_fragile, tmp_path):
    run = make_run(STORIES, tmp_path, shard_rows=4)
    stage = annotate_run(run, "fragile.v1")
    assert [p.name for p in stage.parts()] == [p.name for p in run.texts.parts()]
    for part in stage.parts():
        texts = pq.read_table(run.texts.folder / part.name)["text_id"]
        assert pq.read_table(part)["text_id"].to_pylist() == texts.to_pylist()


def test_finished_shards_are_kept_and_missing_ones_made(tmp_path):
    run = make_run(STORIES, tmp_path, shard_rows=3)
    stage = run.annotations("people-labelled.v1")
    mark = stage.note()["fingerprint"]
    kept, lost = stage.parts()[0], stage.parts()[2]
    before, content = kept.stat().st_mtime_ns, lost.read_bytes()
    lost.unlink()
    stage.begin(mark)
    annotate_run(run, "people-labelled.v1")
    assert stage.is_complete(mark)
    assert kept.stat().st_mtime_ns == before
    assert lost.read_bytes() == content


def test_an_annotator_that_does_not_exist_is_named(tmp_path):
    run = make_run(STORIES, tmp_path)
    with pytest.raises(UnknownNameError, match=r"'telepathy\.v1'.*people-labelled\.v1"):
        annotate_run(run, "telepathy.v1")
    assert not run.annotations("telepathy.v1").folder.exists()


def test_the_version_of_an_annotator_may_be_left_out(tmp_path):
    run = make_run(STORIES, tmp_path)
    assert annotate_run(run, "people-labelled") == run.annotations("people-labelled.v1")


LADEN = {"condition": "power-laden", "subject_role": "cook", "object_role": "guest"}
NEUTRAL = {"condition": "power-neutral", "subject_role": "cook"}


@pytest.mark.parametrize(
    ("row", "name", "gender"),
    [
        ({"subject_name": "Uma", "subject_gender": "F"}, "Uma", "F"),
        ({"subject_name": "Dr. Chen"}, None, "Unspecified"),
        ({"subject_name": "Dr. Uma Chen"}, "Uma", "Unspecified"),
        ({"subject_name": "Chef Uma"}, "Uma", "Unspecified"),
        ({"subject_name": None, "subject_gender": "male"}, None, "M"),
        ({"subject_gender": "Non-binary"}, None, "NB"),
        ({"subject_gender": "Unsure", "subject_references": "he"}, None, "Unsure"),
        ({"subject_references": "['Her', 'she']"}, None, "F"),
        ({"subject_references": "['her', 'his']"}, None, "Unsure"),
        ({"subject_references": "their; them"}, None, "NB"),
        ({"subject_references": "['cook']"}, None, "Unspecified"),
        ({"subject_gender": "M", "subject_references": "['she']"}, None, "M"),
        ({}, None, "Unspecified"),
    ],
)
def test_labels_are_brought_to_one_form(row, name, gender):
    found = LABELLED.setup({})(row, NEUTRAL)
    assert (found["subject_name"], found["subject_gender"]) == (name, gender)
    assert "object_gender" not in found


def test_a_second_person_is_there_when_asked_for_or_labelled():
    assert LABELLED.setup({})({}, LADEN)["object_gender"] == "Unspecified"
    assert LABELLED.setup({})({"object_gender": "F"}, NEUTRAL)["object_gender"] == "F"
    two = NEUTRAL | {"subject_role": "two American friends"}
    assert LABELLED.setup({})({}, two)["object_gender"] == "Unspecified"
    assert "object_name" not in LABELLED.setup({})({"object_name": ""}, NEUTRAL)


def test_the_extractor_fills_the_slots_that_are_asked_for():
    text = "Uma ran the kitchen. She taught a guest named Omar to bake, and he thanked her."
    alone = PEOPLE.setup({})({"text": text}, NEUTRAL)
    assert (alone["subject_name"], alone["subject_gender"]) == ("Uma", "F")
    assert "object_name" not in alone
    both = PEOPLE.setup({})({"text": text}, LADEN)
    assert (both["object_name"], both["object_gender"]) == ("Omar", "M")
    for span in both["subject_spans"]:
        assert text[span.start : span.end] in ("Uma", "She", "her")
    assert set(both) <= set(PEOPLE.schema.names)


def test_a_shard_multiplies_on_one_core(with_fragile, tmp_path, monkeypatch):
    def threads(row, strata):
        found = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        return {"subject_name": str(sorted(found)), "asked": None}

    monkeypatch.setitem(globals(), "FRAGILE", replace(FRAGILE, run=threads))
    run = make_run(STORIES, tmp_path)
    with threadpool_limits(2, "blas"):
        stage = annotate_run(run, "fragile.v1")
    assert {row["subject_name"] for row in annotated(stage)} == {"[1]", None}

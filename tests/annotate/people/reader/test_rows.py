"""The annotator `people-reader.v1` in an audit, and who is sent to the network."""

import dataclasses
import json

import numpy as np
import pytest

import portrayal
from portrayal.annotate.people import Roles, extract_people
from portrayal.annotate.people.reader import reader_settings, rows
from portrayal.annotate.people.reader.rows import Joining
from portrayal.errors import OptionError

ROLES = Roles("star student", "struggling student")
SURE = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."
HARD = "Kim and Lee met. They laughed, and he said that she was late."


@pytest.fixture
def reader(monkeypatch, tmp_path, network):
    """A folder with a card, and the drawn network in place of the one that ships."""
    network.card = {"joining": dataclasses.asdict(Joining()), "sha256": "0" * 64}
    (tmp_path / "reader.json").write_text(json.dumps(network.card))
    network.folder = str(tmp_path)
    monkeypatch.setattr(rows, "_network", lambda folder: network)
    return network


def test_only_unsure_stories_are_routed(reader):
    sent = []
    read = reader.read
    reader.read = lambda stories: sent.append(len(stories)) or read(stories)
    stories = [(SURE, ROLES, None), (HARD, ROLES, "Write a story of a tutor."), ("", ROLES, None)]
    by_rules = [extract_people(text, roles) for text, roles, _ in stories]
    least = [min(each.confidence for each in people) for people in by_rules]
    found = rows.read_stories(stories, reader.folder, below=0.0)
    assert sent == [0]
    assert found == by_rules
    between = (least[0] + min(least[1:])) / 2
    routed = rows.read_stories(stories, reader.folder, below=between)
    assert sent[-1] == sum(each < between for each in least) < len(stories)
    assert routed[0] == by_rules[0]
    rows.read_stories(stories, reader.folder)
    assert sent[-1] == len(stories)


def test_a_text_that_fails_is_an_exception_in_its_place(reader, monkeypatch):
    whole = rows.read_story

    def broken(text, roles):
        if text == HARD:
            raise RuntimeError("no")
        return whole(text, roles)

    monkeypatch.setattr(rows, "read_story", broken)
    first, second, third = rows.read_stories(
        [(text, ROLES, None) for text in (SURE, HARD, SURE)], reader.folder
    )
    assert isinstance(second, RuntimeError)
    assert first == third


@pytest.mark.parametrize("labeler", ["reader", "routed"])
def test_an_audit_by_the_reader(reader, tmp_path, labeler):
    texts = [
        {"prompt_id": "learning-laden-math", "model": "m", "text": text} for text in (SURE, HARD)
    ] * 4
    run = portrayal.audit(
        "laissez-faire",
        texts=texts,
        out=tmp_path / "run",
        labeler=labeler,
        reader=reader.folder,
        report=False,
    )
    stage = run.annotations("people-reader.v1")
    assert stage.note()["complete"]
    assert stage.note()["n_errors"] == 0
    readers = {e.instruments["annotator"] for e in run.records if "annotator" in e.instruments}
    assert readers == {"people-reader.v1"}
    assert np.isfinite([e.value for e in run.records if e.value is not None]).any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"folder": "/none", "below": 2.0}, "0-1"),
        ({"folder": "/none"}, "no reader"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(reader, given, said):
    with pytest.raises(OptionError, match=said):
        reader_settings(**given)

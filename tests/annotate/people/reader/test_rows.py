"""The annotator `people-reader.v1` in an audit, and who is sent to the network."""

import dataclasses
import json

import numpy as np
import pytest

import portrayal
from portrayal.annotate.people import Roles, extract_people
from portrayal.annotate.people.reader import reader_settings, rows
from portrayal.annotate.people.reader.network import (
    ENCODER,
    HEADS,
    TOKENIZER,
    WORDS,
    NetworkOutput,
    digest_of,
)
from portrayal.annotate.people.reader.rows import Joining, read_people
from portrayal.annotate.people.stories.extract import people_of_cast, read_story
from portrayal.errors import DataError, OptionError

ROLES = Roles("star student", "struggling student")
SURE = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."
HARD = "Kim and Lee met. They laughed, and he said that she was late."


@pytest.fixture
def reader(monkeypatch, tmp_path, network):
    """A folder with a card, and the drawn network in place of the one that ships."""
    for name in (ENCODER, HEADS, TOKENIZER, WORDS):
        (tmp_path / name).write_bytes(name.encode())
    network.card = {"joining": dataclasses.asdict(Joining()), "sha256": digest_of(tmp_path)}
    (tmp_path / "reader.json").write_text(json.dumps(network.card))
    network.folder = str(tmp_path)
    monkeypatch.setattr(rows, "network_of", lambda folder: network)
    return network


def test_only_unsure_stories_are_routed(reader):
    sent = reader._session.batches
    stories = [(SURE, ROLES, None), (HARD, ROLES, "Write a story of a tutor."), ("", ROLES, None)]
    by_rules = [extract_people(text, roles) for text, roles, _ in stories]
    least = [min(each.confidence for each in people) for people in by_rules]
    found = rows.read_stories(stories, reader.folder, below=0.0)
    assert sent == []
    assert found == by_rules
    between = (least[0] + min(least[1:])) / 2
    routed = rows.read_stories(stories, reader.folder, below=between)
    assert len(sent) == sum(each < between for each in least) < len(stories)
    assert routed[0] == by_rules[0]
    sent.clear()
    rows.read_stories(stories, reader.folder)
    assert len(sent) == len(stories)


def test_a_text_that_fails_is_an_exception_in_its_place(reader, monkeypatch):
    whole = rows.read_story

    def broken(text, *given):
        if text == HARD:
            raise RuntimeError("no")
        return whole(text, *given)

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


CHANGED = pytest.mark.fault(
    "the folder of a reader of one's own is changed, before an audit or within it",
    "it is refused in one line, before any shard starts or by each shard after",
)


@CHANGED
@pytest.mark.parametrize("name", [ENCODER, HEADS, TOKENIZER, WORDS])
def test_a_changed_folder_is_refused_before_shards_start(reader, tmp_path, name):
    (tmp_path / name).write_bytes(b"changed")
    texts = [{"prompt_id": "learning-laden-math", "model": "m", "text": SURE}]
    given = {"labeler": "reader", "reader": reader.folder, "report": False}
    with pytest.raises(DataError, match="not those of its card"):
        portrayal.audit("laissez-faire", texts=texts, out=tmp_path / "run", **given)
    assert not (tmp_path / "run" / "annotations").exists()


@CHANGED
def test_no_shard_is_read_by_a_reader_that_came_in_between(reader):
    settings = reader_settings(reader.folder)
    rows.READER.setup(settings)
    reader.card["sha256"] = "0" * 64  # whole, and another
    with pytest.raises(DataError, match="not what this audit began with"):
        rows.READER.setup(settings)


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


TEXT = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."


def log_shares(rows):
    shares = np.array(rows, dtype=float)
    return np.log(shares / shares.sum(1, keepdims=True))


def reading(subject, other, genders):
    return NetworkOutput(log_shares([subject, other]), log_shares(genders))


EVEN = reading([1, 1, 1], [1, 1, 1], [[1, 1, 1, 1]] * 4)
SWAPPED = reading(
    [1e-6, 1, 1e-6], [1, 1e-6, 1e-6], [[1e-6, 1, 1e-6, 1e-6], [1, 1e-6, 1e-6, 1e-6]] * 2
)


def test_a_network_that_knows_nothing_leaves_it_to_the_rules():
    scene, cast = read_story(TEXT, ROLES)
    by_rules = people_of_cast(scene, cast)
    joined = read_people(scene, cast, EVEN, Joining())
    assert [(p.name, p.gender) for p in joined] == [(p.name, p.gender) for p in by_rules]
    assert [p.references for p in joined] == [p.references for p in by_rules]


def test_a_network_that_is_sure_prevails_where_it_has_weight():
    scene, cast = read_story(TEXT, ROLES)
    for weight, names in ((3.0, ("Sam", "Maria")), (0.0, ("Maria", "Sam"))):
        joined = read_people(scene, cast, SWAPPED, Joining(names=(weight, 1.0)))
        assert tuple(p.name for p in joined) == names


def test_genders_follow_the_person_not_the_role():
    scene, cast = read_story(TEXT, ROLES)
    by_words = reading(
        [1e-9, 1, 1e-9], [1, 1e-9, 1e-9], [[1, 0.01, 0.01, 0.01], [0.01, 1, 0.01, 0.01]] * 2
    )
    joined = read_people(scene, cast, by_words, Joining(names=(3.0, 0.0)))
    assert [(p.name, p.gender) for p in joined] == [("Sam", "M"), ("Maria", "F")]


def test_confidences_follow_the_curves():
    scene, cast = read_story(TEXT, ROLES)
    flat = Joining(
        name_curve=(0.0, 0.0), gender_curve=(0.0, 0.0, 0.0, 0.0), both_curve=(0.0, 0.0, 0.0)
    )
    for person in read_people(scene, cast, EVEN, flat):
        assert person.name_confidence == person.gender_confidence == person.confidence == 0.5


@pytest.mark.parametrize("roles", [Roles("cook", None), Roles("two friends", None)])
def test_one_role_and_two_alike(roles):
    scene, cast = read_story("Ann met Bo. She waved.", roles)
    n = len(scene.people)
    even = NetworkOutput(
        np.log(np.full((2, n + 1), 1 / (n + 1))), np.log(np.full((n + 2, 4), 0.25))
    )
    subject, other = read_people(scene, cast, even, Joining())
    assert subject.name == "Ann"
    assert (other is None) == (not roles.has_object)


def test_nobody_named():
    scene, cast = read_story("The student thanked her. She smiled.", ROLES)
    alone = NetworkOutput(np.zeros((2, 1)), np.log(np.full((2, 4), 0.25)))
    subject, other = read_people(scene, cast, alone, Joining())
    assert subject.name is None
    assert other.name is None

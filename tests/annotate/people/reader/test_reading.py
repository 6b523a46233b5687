"""Rules and network together, in an audit too, and which stories the network reads."""

import json
from dataclasses import replace

import numpy as np
import pytest

import portrayal
from portrayal.annotate.people.reader import read_people, reading
from portrayal.annotate.people.reader.network import (
    ENCODER,
    HEADS,
    TOKENIZER,
    WORDS,
    NetworkOutput,
    digest_of,
)
from portrayal.annotate.people.reader.reading import opinion_of, surety_of
from portrayal.annotate.people.shared.model import Roles
from portrayal.annotate.people.stories.extract import weigh
from portrayal.annotate.people.stories.scene import read_story
from portrayal.errors import DataError
from support import people_by_rules

ROLES = Roles("star student", "struggling student")
SURE = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."
JOINING = {
    "roles": [1.0, 1.0],
    "genders": [1.0, 1.0, 1.0, 0.0],
}
HARD = "Kim and Lee met. They laughed, and he said that she was late."


@pytest.fixture
def reader(monkeypatch, tmp_path, network):
    """A folder with a card, and the drawn network in place of the one that ships."""
    for name in (ENCODER, HEADS, TOKENIZER, WORDS):
        (tmp_path / name).write_bytes(name.encode())
    network.card = {"joining": JOINING, "sha256": digest_of(tmp_path)}
    (tmp_path / "reader.json").write_text(json.dumps(network.card))
    monkeypatch.setattr(reading, "network_of", lambda folder: network)
    monkeypatch.setattr(reading, "WEIGHTS", tmp_path)
    return network


def test_the_network_reads_what_the_rules_are_unsure_of(reader):
    sent = reader.session.batches
    stories = [(SURE, ROLES, None), (HARD, ROLES, "Write a story of a tutor."), ("", ROLES, None)]
    by_rules = [people_by_rules(text, roles) for text, roles, _ in stories]
    least = [min(each.confidence for each in people) for people in by_rules]
    assert [read_people(*story, below=0.0) for story in stories] == by_rules
    assert sent == []
    between = (least[0] + min(least[1:])) / 2
    assert read_people(*stories[0], below=between) == by_rules[0]
    assert sent == []
    for story in stories:
        read_people(*story, below=1.1)
    assert len(sent) == len(stories)


def test_an_audit_reads_by_rules_and_network(reader, tmp_path):
    texts = [
        {"prompt_id": "learning-laden-math", "model": "m", "text": text} for text in (SURE, HARD)
    ] * 4
    run = portrayal.audit(study="laissez-faire", texts=texts, out=tmp_path / "run", report=False)
    stage = run.annotations("people.v8")
    assert stage.note()["complete"]
    assert stage.note()["n_errors"] == 0
    assert len(reader.session.batches) == 8, "the rules are unsure of these texts"
    readers = {e.instruments["annotator"] for e in run.records if "annotator" in e.instruments}
    assert readers == {"people.v8"}
    assert np.isfinite([e.value for e in run.records if e.value is not None]).any()


TEXT = "Maria, a star student, taught Sam, a struggling student. She smiled, and he thanked her."


def log_shares(counts):
    shares = np.array(counts, dtype=float)
    return np.log(shares / shares.sum(1, keepdims=True))


def said(subject, other, genders):
    return NetworkOutput(log_shares([subject, other]), log_shares(genders))


EVEN = said([1, 1, 1], [1, 1, 1], [[1, 1, 1, 1]] * 4)
SWAPPED = said([1e-6, 1, 1e-6], [1, 1e-6, 1e-6], [[1e-6, 1, 1e-6, 1e-6], [1, 1e-6, 1e-6, 1e-6]] * 2)


def joined(text, asked, reading, **joining):
    """The people of a text by rules and network."""
    scene = read_story(text, asked)
    return weigh(scene, opinion_of(reading, JOINING | joining, scene)).characters()


def test_a_network_that_knows_nothing_leaves_it_to_the_rules():
    by_rules = people_by_rules(TEXT, ROLES)
    for one, rules in zip(joined(TEXT, ROLES, EVEN), by_rules, strict=True):
        assert (one.name, one.gender, one.references) == (
            rules.name,
            rules.gender,
            rules.references,
        )


def test_a_network_that_is_sure_prevails_where_it_has_weight():
    for weights, names in (
        ([0.1, 3.0], ("Sam", "Maria")),
        ([1.0, 0.0], ("Maria", "Sam")),
    ):
        assert tuple(p.name for p in joined(TEXT, ROLES, SWAPPED, roles=weights)) == names


def test_genders_follow_the_person_not_the_role():
    by_words = said(
        [1e-9, 1, 1e-9], [1, 1e-9, 1e-9], [[1, 0.01, 0.01, 0.01], [0.01, 1, 0.01, 0.01]] * 2
    )
    people = joined(TEXT, ROLES, by_words, roles=[0.0, 3.0])
    assert [(p.name, p.gender) for p in people] == [("Sam", "M"), ("Maria", "F")]


def test_confidences_are_those_of_the_pool():
    weights = {"roles": [0.1, 0.1], "genders": [0.1, 0.1, 0.1, 0.0]}
    (maria, _), (surer, _) = (
        joined(TEXT, ROLES, one, **weights)
        for one in (
            EVEN,
            said([1, 1e-6, 1e-6], [1e-6, 1, 1e-6], [[1, 1e-6, 1e-6, 1e-6]] * 4),
        )
    )
    assert maria.name_confidence < surer.name_confidence
    assert maria.gender_confidence < surer.gender_confidence


BOTH = "Pax cut the wire and burned themself. Cedar held their breath and then shook their head."
SINGLY = [1e-6, 1e-6, 1, 1e-6]


def test_a_network_may_take_both_for_non_binary():
    roles = said([1, 1e-6, 1e-6], [1e-6, 1, 1e-6], [SINGLY] * 4)
    people = joined(BOTH, ROLES, roles)
    assert [(p.name, p.gender) for p in people] == [("Pax", "NB"), ("Cedar", "NB")]
    assert people[0].references == ("themself",)
    one = said([1, 1e-6, 1e-6], [1e-6, 1, 1e-6], [SINGLY, [1e-6, 1e-6, 1e-6, 1]] * 2)
    assert [p.gender for p in joined(BOTH, ROLES, one)] == ["NB", "Unspecified"]


def test_whom_they_means_is_for_the_network_to_say():
    """The rules' own view of singular "they" counts for nothing beside its."""
    text = "Robin opened a bakery. They kneaded, and their hands hurt."
    scene = read_story(text, Roles("baker", None))
    unsure, nobody = ([[0.3, 0.3, 0.3, 0.1]] * 3, [[1e-6, 1e-6, 1e-6, 1]] * 3)
    for genders, gender in ((unsure, "NB"), (nobody, "Unspecified")):
        reading_ = NetworkOutput(np.log(np.full((2, 2), 0.5)), log_shares(genders))
        joining = JOINING | {"genders": [1.0, 1.0, 1.0, 5.0]}
        people = weigh(scene, opinion_of(reading_, joining, scene)).characters()
        assert people[0].gender == gender


def test_rules_are_not_sure_of_anybody_non_binary(reader):
    text = "Robin Hale is a non-binary baker. Robin said they love their oven."
    (rules, _) = people_by_rules(text, Roles("baker", None))
    assert surety_of((rules, None)) == (0.0 if rules.gender == "NB" else rules.confidence)
    sure = replace(rules, gender="F", confidence=0.9)
    assert surety_of((sure, None)) == 0.9
    assert surety_of((sure, replace(rules, gender="NB", confidence=0.99))) == 0.0


@pytest.mark.parametrize("roles", [Roles("cook", None), Roles("two friends", None)])
def test_one_role_and_two_alike(roles):
    text = "Ann met Bo. She waved."
    n = len(read_story(text, roles).people)
    even = NetworkOutput(
        np.log(np.full((2, n + 1), 1 / (n + 1))), np.log(np.full((n + 2, 4), 0.25))
    )
    subject, other = joined(text, roles, even)
    assert subject.name == "Ann"
    assert (other is None) == (not roles.has_object)


def test_nobody_named():
    alone = NetworkOutput(np.zeros((2, 1)), np.log(np.full((2, 4), 0.25)))
    subject, other = joined("The student thanked her. She smiled.", ROLES, alone)
    assert subject.name is None
    assert other.name is None


def test_a_reader_must_say_how_much_it_counts(reader):
    reader.card = {"joining": {}, "sha256": "0" * 64}
    with pytest.raises(DataError, match="fit_joining"):
        read_people(SURE, ROLES, below=1.1)

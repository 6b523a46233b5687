import json

import pytest

from portrayal.annotate.people.shared.model import Roles
from portrayal.raters.people import score_people
from support import people_by_rules


@pytest.fixture(scope="module")
def gold(shared_data):
    path = shared_data("laissez_faire/gold_stories_dev.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_names_and_genders_agree_with_hand_labels(gold):
    score = score_people(gold)
    assert score.n_slots == 3943
    assert score.value("name_precision") >= 0.965
    assert score.value("name_recall") >= 0.965
    assert score.value("gender_precision") >= 0.925
    assert score.value("gender_recall") >= 0.915


def test_every_domain_reaches_the_floor(gold):
    by_domain = score_people(gold).by["domain"]
    assert set(by_domain) == {"Labor", "Learning", "Love"}
    for score in by_domain.values():
        assert min(score.value("name_precision"), score.value("name_recall")) >= 0.94
        assert min(score.value("gender_precision"), score.value("gender_recall")) >= 0.85


def test_spans_of_real_stories_hold_the_names(gold):
    for row in gold:
        text = row["text"] or ""
        for character in people_by_rules(text, Roles(row["subject_role"], row["object_role"])):
            for span in character.spans if character else ():
                if span.kind == "name":
                    assert text[span.start : span.end] == character.name
